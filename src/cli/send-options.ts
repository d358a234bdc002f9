/** Options of messages to devices: recipients, time and content. */

import { type Command, InvalidArgumentError } from 'commander';
import { OperatorError, UsageError } from '../base/operator-error.ts';
import { readAtMost } from '../base/permissions.ts';
import { readWireTime } from '../core/calendar.ts';
import { HWID, readHwid } from '../core/formats.ts';
import { REQUEST_BOUNDS, readJsonObject, splitList } from '../core/json-input.ts';
import { scheduleAt } from '../core/message/schedule.ts';
import { CUSTOM_SETTING_KEY } from '../core/message/settings.ts';
import { TARGET_HWID_COUNT_MAX, TARGET_OS } from '../core/message/target.ts';
import { isRefused } from '../core/outcome.ts';
import type { ConfirmOptions } from './confirm.ts';
import { type CliContext, settingsFor } from './context.ts';
import { type FiguresOptions, figuresFields, wishOf } from './figures.ts';
import { PROVIDER, type ProviderOptions } from './provider-name.ts';

export interface SendOptions extends ConfirmOptions, FiguresOptions, ProviderOptions {
  all?: boolean;
  os?: string[];
  hwid?: string[];
  /** Returns the minute in a zone, UTC ms. */
  at?: (offsetMinutes: number) => number;
  dryRun?: boolean;
  preview?: boolean;
}

function hwidsValue(text: string): string[] {
  const hwids = splitList(text);
  const isRight = hwids.length > 0 && hwids.length <= TARGET_HWID_COUNT_MAX;
  if (isRight && !hwids.some((hwid) => isRefused(readHwid(hwid)))) return hwids;
  throw new InvalidArgumentError(
    `give 1 to ${TARGET_HWID_COUNT_MAX} HWIDs, separated by commas; a HWID is ${HWID.rule}`,
  );
}

function systemsValue(text: string): string[] {
  const systems = splitList(text.toLowerCase());
  const known: readonly string[] = TARGET_OS;
  if (systems.length > 0 && systems.every((os) => known.includes(os))) return systems;
  throw new InvalidArgumentError(`systems are ${TARGET_OS.join(' and ')}, separated by commas`);
}

/** Reads the keys of settings. */
export function keysValue(text: string): string[] {
  const keys = splitList(text);
  if (keys.length > 0 && keys.every((key) => CUSTOM_SETTING_KEY.test(key))) return keys;
  throw new InvalidArgumentError('keys of settings are separated by commas');
}

function minuteValue(text: string): (offsetMinutes: number) => number {
  const minute = `${text.replace('T', ' ')}:00`;
  if (readWireTime(minute, 0) === null) {
    throw new InvalidArgumentError(`'${text}' is not a minute such as "2026-12-01 10:00"`);
  }
  return (offsetMinutes) => readWireTime(minute, offsetMinutes) as number;
}

/** Adds the options of every send. */
export function addSendOptions(command: Command): Command {
  return command
    .option(...PROVIDER)
    .option('--all', 'to all linked devices with iOS or Android')
    .option('--os <systems>', 'to linked devices with ios or android', systemsValue)
    .option(
      '--hwid <hwids>',
      `to these HWIDs, at most ${TARGET_HWID_COUNT_MAX}; use that of your own phone for a test`,
      hwidsValue,
    )
    .option(
      '--at <minute>',
      'the time, such as "2026-12-01 10:00" in server.output_zone; at once if omitted',
      minuteValue,
    )
    .option('--dry-run', 'count the devices that the message reaches, and send nothing')
    .option('--preview', 'print the message as each app would show it, and send nothing');
}

/** The recipients as fields of a request. */
type Targeted = Readonly<Record<string, unknown>>;

/** Returns the recipients as fields of a request. Throws {@link UsageError} unless one is given. */
export function targetFields({ all, os, hwid, preview, ...options }: SendOptions): Targeted {
  const figures = figuresFields(options);
  const isFigured = wishOf(options) !== null;
  const given = [all, os, hwid, isFigured || undefined].filter((option) => option !== undefined);
  // The text is the same for all.
  if (preview && (given.length === 0 || isFigured)) return { os: [...TARGET_OS] };
  if (given.length !== 1) {
    throw new UsageError('give one of --all, --os and --hwid, or a filter of subscriptions');
  }
  if (isFigured) return figures;
  return hwid === undefined
    ? { os: os ?? [...TARGET_OS], specific_device_toggle: false }
    : { hwid: hwid.join(','), specific_device_toggle: true };
}

/** Returns the time as fields of a request. */
export function scheduleFields(context: CliContext, { at, ...options }: SendOptions) {
  if (at === undefined) return {};
  return scheduleAt(at(settingsFor(context, options).outputOffsetMinutes));
}

/** Reads a file, or standard input for `-`, up to the size limit of a request. */
function contentOf(path: string): Buffer {
  const { bytesMax } = REQUEST_BOUNDS;
  const read = readAtMost(path, bytesMax);
  if (read === null) throw new OperatorError(`${path} is larger than ${bytesMax} bytes`);
  if ('problem' in read) throw new OperatorError(read.problem);
  return read.bytes;
}

/** Reads a text from a file, without its last line feed. Throws {@link OperatorError}. */
export function textIn(path: string): string {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(contentOf(path));
    return text.replace(/\r?\n$/, '');
  } catch (error) {
    if (error instanceof OperatorError) throw error;
    throw new OperatorError(`${path} is not a text in UTF-8`);
  }
}

/** Reads a JSON object from a file. Throws {@link OperatorError}. */
export function objectIn(path: string): Record<string, unknown> {
  const value = readJsonObject(contentOf(path), REQUEST_BOUNDS, path);
  if (isRefused(value)) throw new OperatorError(value.detail);
  return value;
}

/** Options of commands for the policy of slots (core/slot.ts), and its output. */

import { type Command, InvalidArgumentError, Option } from 'commander';
import { COOL_DOWN_HOURS, INACTIVE_DAYS, type WholeFormat } from '../core/formats.ts';
import { isRefused } from '../core/outcome.ts';
import {
  type OwnPolicy,
  type Policy,
  SAME_PHONE,
  WHEN_FULL,
  WITHOUT_HWID,
} from '../core/port/slot.ts';
import { policyOf } from '../core/slot.ts';

type PolicyOf<T> = { [Field in keyof Policy]: Policy[Field] | T };

const ON = { on: 1, off: 0 } as const;

/** Options of a policy: an omitted one changes nothing, `default` inherits the value again. */
export interface PolicyOptions extends Partial<Omit<PolicyOf<'default'>, 'enforce'>> {
  enforce?: keyof typeof ON | 'default';
}

function wholeOrDefault(name: string, { read, rule }: WholeFormat) {
  return (text: string): number | 'default' => {
    if (text === 'default') return text;
    const value = read(text);
    if (isRefused(value)) throw new InvalidArgumentError(`${name} are ${rule}, or default`);
    return value as number;
  };
}

/** Adds the options of a policy. */
export function addPolicy(command: Command): Command {
  return command
    .option(
      '--inactive-days <days>',
      'days unseen after which a slot is freed for a new device, 0 for never, or default',
      wholeOrDefault('inactive days', INACTIVE_DAYS),
    )
    .addOption(
      new Option('--when-full <way>', 'the answer to a new device on a full link').choices([
        ...WHEN_FULL,
        'default',
      ]),
    )
    .option(
      '--cool-down-hours <hours>',
      'hours between two replacements, or default',
      wholeOrDefault('cool-down hours', COOL_DOWN_HOURS),
    )
    .addOption(
      new Option('--enforce <state>', 'off only counts the devices over the limit').choices([
        ...Object.keys(ON),
        'default',
      ]),
    )
    .addOption(
      new Option(
        '--without-hwid <way>',
        'the answer of the gate to apps without a HWID; count gives them one slot together',
      ).choices([...WITHOUT_HWID, 'default']),
    )
    .addOption(
      new Option(
        '--same-phone <way>',
        'on a full link: whether a phone with a new HWID gets its silent slot, or you are asked',
      ).choices([...SAME_PHONE, 'default']),
    );
}

/** Returns the parts of a policy that the options set. */
export function givenPolicy(options: PolicyOptions): Partial<OwnPolicy> {
  const { inactiveDays, whenFull, coolDownHours, enforce, withoutHwid, samePhone } = options;
  return {
    ...(inactiveDays !== undefined && { inactiveDays: orNull(inactiveDays) }),
    ...(whenFull !== undefined && { whenFull: orNull(whenFull) }),
    ...(coolDownHours !== undefined && { coolDownHours: orNull(coolDownHours) }),
    ...(enforce !== undefined && { enforce: enforce === 'default' ? null : ON[enforce] }),
    ...(withoutHwid !== undefined && { withoutHwid: orNull(withoutHwid) }),
    ...(samePhone !== undefined && { samePhone: orNull(samePhone) }),
  };
}

const orNull = <T>(value: T | 'default'): T | null => (value === 'default' ? null : value);

/** Returns a policy as JSON. */
export function policyView<T>(own: PolicyOf<T>) {
  return {
    inactive_days: own.inactiveDays,
    when_full: own.whenFull,
    cool_down_hours: own.coolDownHours,
    enforce: own.enforce,
    without_hwid: own.withoutHwid,
    same_phone: own.samePhone,
  };
}

/**
 * Returns an effective policy as text, with the origin of inherited values. For a link `above` is
 * the policy of its provider; for a provider it is empty.
 */
export function policySheet(own: OwnPolicy, above: OwnPolicy): Record<string, string> {
  const source = (field: keyof Policy) => {
    if (own[field] !== null) return '';
    return above[field] === null ? ' (default)' : ' (of the provider)';
  };
  const policy = policyOf(own, above);
  const { inactiveDays, whenFull, coolDownHours, enforce, withoutHwid, samePhone } = policy;
  return {
    inactive_days: `${inactiveDays === 0 ? 'never' : inactiveDays}${source('inactiveDays')}`,
    when_full: `${whenFull}${source('whenFull')}`,
    cool_down_hours: `${coolDownHours}${source('coolDownHours')}`,
    enforce: `${enforce === 1 ? 'on' : 'off'}${source('enforce')}`,
    without_hwid: `${withoutHwid}${source('withoutHwid')}`,
    same_phone: `${samePhone}${source('samePhone')}`,
  };
}

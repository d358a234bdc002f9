/** The targets of a distribution: HWIDs, or operating systems of attached devices. */

import { counted } from '../counted.ts';
import { readHwid } from '../formats.ts';
import { isAbsent, readBoolean, splitList } from '../json-input.ts';
import { isRefused, type Misfit, malformed, Refused } from '../outcome.ts';
import type { Segment } from '../port/device-search.ts';

/** The operating systems that can be targeted, in the order of lists. */
export const TARGET_OS = ['ios', 'android'] as const;
type TargetOs = (typeof TARGET_OS)[number];

/** Either list has at least one item and no duplicates. */
export type NamedTargets = { hwids: string[] } | { os: TargetOs[] };
export type Targets = NamedTargets | { segment: Segment };

/** Most HWIDs of one distribution: specification, "Limits". */
export const TARGET_HWID_COUNT_MAX = 5;
/** Room for these, blanks and some duplicates. */
const HWID_LIST_LENGTH_MAX = 4096;
/** Room for a HWID and a comma, where more are allowed. */
const HWID_LENGTH_MAX = 129;
/** Room for operating systems and some duplicates. */
const OS_COUNT_MAX = 64;
const OS_LIST_LENGTH_MAX = 1024;

/**
 * Reads the targets of a notification: `hwid` if it is given, else `os`. Refuses `device_not_found`
 * for a malformed HWID, `no_devices_found` with neither field, and `malformed` for more than
 * `countMax` HWIDs or another operating system.
 */
export function readNotificationTargets(
  body: Readonly<Record<string, unknown>>,
  countMax = TARGET_HWID_COUNT_MAX,
): NamedTargets | Refused<'device_not_found' | 'no_devices_found' | 'malformed'> {
  const refusal = () => new Refused('no_devices_found', { detail: 'os or hwid is required' });
  return readHwids(body['hwid'], countMax) ?? readOs(body['os']) ?? refusal();
}

/**
 * Reads the targets of a command by `specific_device_toggle` (or `specific-device-toggle`): on
 * takes `hwid`, off takes `os`, and the other field is ignored. A missing toggle is on if `hwid` is
 * given.
 *
 * Refuses `target_hwid_required` and `target_os_required` if that field is missing,
 * `device_not_found` for a malformed HWID, and `malformed` for another toggle, more than `countMax`
 * HWIDs or another operating system.
 */
export function readCommandTargets(
  body: Readonly<Record<string, unknown>>,
  countMax = TARGET_HWID_COUNT_MAX,
):
  | NamedTargets
  | Refused<'target_hwid_required' | 'target_os_required' | 'device_not_found' | 'malformed'> {
  const underscored = body['specific_device_toggle'];
  const given = isAbsent(underscored) ? body['specific-device-toggle'] : underscored;
  const toggle = isAbsent(given) ? !isAbsent(body['hwid']) : readBoolean(given);
  if (toggle === null) return malformed('specific_device_toggle must be true or false');
  return toggle
    ? (readHwids(body['hwid'], countMax) ?? new Refused('target_hwid_required'))
    : (readOs(body['os']) ?? new Refused('target_os_required'));
}

/** Reads the HWIDs of a comma-separated string without duplicates; null: there are none. */
function readHwids(
  value: unknown,
  countMax: number,
): { hwids: string[] } | Refused<'device_not_found'> | Misfit | null {
  if (isAbsent(value)) return null;
  if (typeof value !== 'string') return malformed('hwid must be a string of HWIDs between commas');
  const lengthMax = Math.max(HWID_LIST_LENGTH_MAX, countMax * HWID_LENGTH_MAX);
  if (value.length > lengthMax) {
    return malformed(`hwid must not be longer than ${lengthMax} characters`);
  }
  const hwids = [...new Set(splitList(value))];
  if (hwids.length === 0) return null;
  if (hwids.length > countMax) {
    return malformed(`hwid must name at most ${counted(countMax, 'HWID')}`);
  }
  return hwids.some((hwid) => isRefused(readHwid(hwid)))
    ? new Refused('device_not_found')
    : { hwids };
}

/** Reads the operating systems of an array or a comma-separated string; null: there are none. */
function readOs(value: unknown): { os: TargetOs[] } | Misfit | null {
  if (isAbsent(value)) return null;
  const rule = malformed(`os must be an array of ${TARGET_OS.join(' and ')}`);
  if (typeof value === 'string' && value.length > OS_LIST_LENGTH_MAX) return rule;
  const items = typeof value === 'string' ? splitList(value) : value;
  if (!Array.isArray(items) || items.length > OS_COUNT_MAX) return rule;
  const named = new Set<string>();
  for (const item of items as unknown[]) {
    if (isAbsent(item)) continue;
    if (typeof item !== 'string' || item.length > OS_LIST_LENGTH_MAX) return rule;
    named.add(item.trim().toLowerCase());
  }
  const os = TARGET_OS.filter((known) => named.has(known));
  if (os.length < named.size) return rule;
  return os.length === 0 ? null : { os };
}

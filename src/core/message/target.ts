/** The targets of a distribution: devices by HWID, or all of a provider's by operating system. */

import { readHwid } from '../formats.ts';
import { isAbsent, readBoolean, splitList } from '../json-input.ts';
import { isRefused, type Misfit, malformed, Refused } from '../outcome.ts';

/** The operating systems that can be targeted, in the order in which they are listed. */
export const TARGET_OS = ['ios', 'android'] as const;
type TargetOs = (typeof TARGET_OS)[number];

/** Either list has at least one item, and each item once. */
export type Targets = { hwids: string[] } | { os: TargetOs[] };

/** Most HWIDs of one distribution: specification, "Limits". */
export const TARGET_HWID_COUNT_MAX = 5;
/** Room for them, for blanks, and for some that are there twice. */
const HWID_LIST_LENGTH_MAX = 4096;
/** Room for operating systems, likewise. */
const OS_COUNT_MAX = 64;
const OS_LIST_LENGTH_MAX = 1024;

/**
 * Reads whom a notification is for: `hwid` if it is given, else `os`.
 *
 * Refuses `device_not_found` for what cannot be anybody's HWID, `no_devices_found` with neither
 * field; more than five HWIDs or another operating system is `malformed`.
 */
export function readNotificationTargets(
  body: Readonly<Record<string, unknown>>,
): Targets | Refused<'device_not_found' | 'no_devices_found' | 'malformed'> {
  const refusal = () => new Refused('no_devices_found', { detail: 'os or hwid is required' });
  return readHwids(body['hwid']) ?? readOs(body['os']) ?? refusal();
}

/**
 * Reads whom a command is for, by `specific_device_toggle` (`specific-device-toggle` is the same
 * field): on takes `hwid`, off takes `os`, and the other one is not looked at. A missing toggle is
 * on when `hwid` is given and off when not.
 *
 * Refuses `target_hwid_required` and `target_os_required` when what the toggle asks for is missing,
 * `device_not_found` for what cannot be anybody's HWID; another toggle, more than five HWIDs or
 * another operating system is `malformed`.
 */
export function readCommandTargets(
  body: Readonly<Record<string, unknown>>,
):
  | Targets
  | Refused<'target_hwid_required' | 'target_os_required' | 'device_not_found' | 'malformed'> {
  const underscored = body['specific_device_toggle'];
  const given = isAbsent(underscored) ? body['specific-device-toggle'] : underscored;
  const toggle = isAbsent(given) ? !isAbsent(body['hwid']) : readBoolean(given);
  if (toggle === null) return malformed('specific_device_toggle must be true or false');
  return toggle
    ? (readHwids(body['hwid']) ?? new Refused('target_hwid_required'))
    : (readOs(body['os']) ?? new Refused('target_os_required'));
}

/** The HWIDs in a comma-separated string, each once; null if there is none. */
function readHwids(
  value: unknown,
): { hwids: string[] } | Refused<'device_not_found'> | Misfit | null {
  if (isAbsent(value)) return null;
  if (typeof value !== 'string') return malformed('hwid must be a string of HWIDs between commas');
  if (value.length > HWID_LIST_LENGTH_MAX) {
    return malformed(`hwid must not be longer than ${HWID_LIST_LENGTH_MAX} characters`);
  }
  const hwids = [...new Set(splitList(value))];
  if (hwids.length === 0) return null;
  if (hwids.length > TARGET_HWID_COUNT_MAX) {
    return malformed(`hwid must name at most ${TARGET_HWID_COUNT_MAX} HWIDs`);
  }
  return hwids.some((hwid) => isRefused(readHwid(hwid)))
    ? new Refused('device_not_found')
    : { hwids };
}

/**
 * The operating systems in an array or a comma-separated string, each once; null if there is none.
 */
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

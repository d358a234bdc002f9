/**
 * Several phones that send one HWID, by the rule `copiedHwid` of the link. core/phones.ts
 * distinguishes them; a further phone is one that is certain.
 *
 * | `copiedHwid` | A further phone | The event `hwid.copied` |
 * |---|---|---|
 * | `off` | has the slot of the HWID | no |
 * | `tell` | has the slot of the HWID | once a week for a slot |
 * | `count` | is a device of its own, {@link derivedHwid}, by the rule of core/slot.ts | the same |
 * | `refuse` | is refused: `copied_hwid` | the same |
 *
 * A phone that has a slot of its own keeps it under each rule until the slot ends. `count` and
 * `refuse` begin 30 days after the facts of a slot were in doubt: none were known, they may be
 * those of another link, or a call that names no link changed them. The first phone then need not
 * be the owner's.
 *
 * The slots of a device at a provider share its facts. Before these become those of another phone,
 * slots on other links keep their first one; so does a new slot whose facts would be another's.
 *
 * Apps without a HWID share one slot ({@link sharedHwid}). With `withoutHwid` and `copiedHwid`
 * `count` the known apps among them, and their systems, are phones too.
 */

import { appNameOf } from './app/find.ts';
import { DAY_MS } from './calendar.ts';
import { osName, tidyFacts } from './device.ts';
import { derivedFrom, derivedHwid } from './formats.ts';
import type { Sighting } from './phones.ts';
import type { DeviceFacts } from './port/device.ts';
import type { Door, Policy } from './port/slot.ts';

const DOUBT_MS = 30 * DAY_MS;
/** In place of the end of the doubt: the facts of the device may be those of another link. */
export const NOT_ITS_OWN = -1;
/** The least time between two events about one slot. */
const TOLD_MS = 7 * DAY_MS;
/** The most events `hwid.copied` of a provider on a UTC day; then one has their number. */
export const EVENTS_PER_DAY = 20;

/** Returns whether an event about a slot may be due again. */
export const isDue = (phones: readonly { toldAtMs: number }[], nowMs: number): boolean =>
  phones.every(({ toldAtMs }) => nowMs - toldAtMs >= TOLD_MS);

/** Numbers of derived HWIDs: a slot has 8 phones at most, but other devices may have such names. */
const NUMBER_MAX = 99;

/** Lists the HWIDs that a further phone may have, in their order. */
export function derivedHwids(hwid: string, number: number): string[] {
  const numbers = Array.from({ length: NUMBER_MAX + 1 - number }, (_, n) => number + n);
  return numbers.map((one) => derivedHwid(hwid, one)).filter((name) => name !== null);
}

/** Returns the rule of a link for a HWID; `isShared`: that of its apps that send none. */
export function copyRule(
  { copiedHwid, withoutHwid }: Policy,
  isShared: boolean,
): Policy['copiedHwid'] {
  if (!isShared) return copiedHwid;
  return copiedHwid === 'count' && withoutHwid === 'count' ? 'count' : 'off';
}

/** Returns the time until which a first phone is in doubt whose facts came at a time. */
export const doubtUntil = (nowMs: number): number => nowMs + DOUBT_MS;

/** Returns the traits of an app without a HWID: its name and system, and no model. */
export function sharedSighting(seen: Sighting): Sighting {
  const family = [seen.app, seen.family].filter((word) => word !== '').join(' ');
  return { ...seen, family, app: '', modelHash: '' };
}

/**
 * Returns whether the door of a HWID depends on which of its phones asks: several are known, the
 * HWID may be that of a further phone, one may be barred, or the report differs from the facts of
 * the device.
 */
export function dependsOnPhone(
  door: Pick<Door, 'device' | 'hasBars' | 'hasPhones' | 'mayBeDerived'>,
  hwid: string,
  reported: DeviceFacts,
): boolean {
  const { device, hasBars, hasPhones, mayBeDerived } = door;
  if (hasPhones) return true;
  if (mayBeDerived && derivedFrom(hwid) !== null) return true;
  if (device === null) return hasBars === true;
  // Cleaning the facts of each call would cost as much as reading the door.
  const isSaid =
    reported.userAgent === device.userAgent &&
    reported.deviceName === device.deviceName &&
    osName(reported.os) === device.os;
  if (isSaid) return false;
  const { os, deviceName, userAgent } = tidyFacts(reported);
  const differs = (said: string, known: string) => said !== '' && said !== known;
  if (differs(os, device.os) || differs(deviceName, device.deviceName)) return true;
  const isOtherAgent = differs(userAgent, device.userAgent);
  return isOtherAgent && appNameOf(userAgent) !== appNameOf(device.userAgent);
}

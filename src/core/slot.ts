/**
 * The life of slots. A newcomer is a HWID without a slot on the link; a device that lost its slot
 * counts as new. A HWID that is barred there is refused first: core/bar.ts. Each part of the policy
 * is the link's, else its provider's, else the default.
 *
 * | The link | The oldest slot, not seen for longest | A newcomer |
 * |---|---|---|
 * | enforces its limit, with `whenNew` `refuse` | | is refused: `not_named` |
 * | has a free slot | | takes the free slot |
 * | is full and only counts, with less than 100 devices | | takes a slot over the limit: `over` |
 * | holds more devices than its limit | | is refused |
 * | is full, `samePhone` `replace`, past its cool-down | | takes its former slot: `same_phone` |
 * | is full, and gets a lower limit as devices leave | | is refused |
 * | is full | was not seen for `inactiveDays` | takes the oldest slot: `inactive` |
 * | is full, `replace-oldest`, past its cool-down | was seen | takes the oldest slot: `replaced` |
 * | is full | otherwise | is refused |
 *
 * A HWID that several phones send is one device, or with `copiedHwid` `count` one for each phone:
 * see core/copied-hwid.ts. With `refuse` only the first phone is admitted.
 */

import { DAY_MS, HOUR_MS, lastMsOfDay } from './calendar.ts';
import { usualOf } from './field.ts';
import { INSTALL_ACTIVE, type LinkTermsAndKey } from './port/link.ts';
import type { OwnRideTerms } from './port/ride.ts';
import type { Door, FullLink, LinkRefusal, OwnPolicy, Policy } from './port/slot.ts';
import { LINK_TERMS, OWN_POLICY_TERMS, POLICY_TERMS, RIDE_TERMS } from './terms.ts';

/** A policy that overrides nothing. */
export const NO_POLICY = usualOf<OwnPolicy>(OWN_POLICY_TERMS);
export const NO_TERMS: LinkTermsAndKey = { ...usualOf(LINK_TERMS), subscriptionKeyHash: null };
export const NO_RIDE_TERMS = usualOf<OwnRideTerms>(RIDE_TERMS);

const DEFAULT_POLICY = usualOf<Policy>(POLICY_TERMS);

/** The most devices on a link that only counts; no limit is higher. */
export const DEVICES_MAX = 100;

/**
 * Returns the effective policy of a link; `enforces` applies if neither link nor provider has
 * `enforce`.
 */
export function policyOf(link: OwnPolicy, provider: OwnPolicy, enforces = true): Policy {
  const byDefault = enforces ? DEFAULT_POLICY.enforce : 0;
  return {
    inactiveDays: link.inactiveDays ?? provider.inactiveDays ?? DEFAULT_POLICY.inactiveDays,
    whenFull: link.whenFull ?? provider.whenFull ?? DEFAULT_POLICY.whenFull,
    coolDownHours: link.coolDownHours ?? provider.coolDownHours ?? DEFAULT_POLICY.coolDownHours,
    enforce: link.enforce ?? provider.enforce ?? byDefault,
    withoutHwid: link.withoutHwid ?? provider.withoutHwid ?? DEFAULT_POLICY.withoutHwid,
    samePhone: link.samePhone ?? provider.samePhone ?? DEFAULT_POLICY.samePhone,
    samePhoneHours: link.samePhoneHours ?? provider.samePhoneHours ?? DEFAULT_POLICY.samePhoneHours,
    copiedHwid: link.copiedHwid ?? provider.copiedHwid ?? DEFAULT_POLICY.copiedHwid,
    whenNew: link.whenNew ?? provider.whenNew ?? DEFAULT_POLICY.whenNew,
  };
}

/**
 * Reasons to admit: the device has a slot, a slot is free, the link only counts, a slot can be
 * freed.
 */
const ADMISSIONS = ['known', 'room', 'over', 'same_phone', 'inactive', 'replaced'] as const;
export type Admission = (typeof ADMISSIONS)[number];
export type DoorVerdict = Admission | LinkRefusal['says'];

/** Returns true unless the verdict is a refusal. */
export function isAdmitted(verdict: DoorVerdict): verdict is Admission {
  return (ADMISSIONS as readonly string[]).includes(verdict);
}

/** Returns true if the policy can free a slot, or compares slots with the device. */
export function looksAtSlots({ inactiveDays, whenFull, samePhone }: Policy): boolean {
  return inactiveDays > 0 || whenFull === 'replace-oldest' || samePhone !== 'off';
}

/** Decides whether a device is admitted on a link: the only such rule. */
export function judge(
  { link, isBound, isDerived, barredUntilMs, device, full, counts, isClosed, phone }: Door,
  nowMs: number,
): DoorVerdict {
  if (!isBound) return 'link_domain_not_bound';
  if (link.status !== INSTALL_ACTIVE) return 'link_disabled';
  if (isDerived) return 'hwid_required';
  if (barredUntilMs !== undefined && nowMs < barredUntilMs) return 'barred';
  if (phone?.isRefused) return 'copied_hwid';
  if (device !== null) return 'known';
  if (isClosed) return 'not_named';
  if (link.deviceCount < link.installLimit) return 'room';
  if (counts) return link.deviceCount < DEVICES_MAX ? 'over' : 'link_limit_reached';
  // Replacing a slot would keep the link over its limit.
  if (link.deviceCount > link.installLimit) return 'link_limit_reached';
  return (full && freed(full, nowMs)) ?? 'link_limit_reached';
}

/** Returns the time from which a newcomer may replace a slot again. */
const coolMs = ({ policy, replacedAtMs }: Pick<FullLink, 'policy' | 'replacedAtMs'>) =>
  replacedAtMs === null ? 0 : replacedAtMs + policy.coolDownHours * HOUR_MS;

/** Returns the HWID of the slot that the new device probably had; null: no such slot is silent. */
export function formerHwid(full: FullLink | null, nowMs: number): string | null {
  if (full === null || full.former === null) return null;
  const { former, policy } = full;
  // A slot is seen once a day.
  const silentMs = lastMsOfDay(former.lastSeenAtMs) + policy.samePhoneHours * HOUR_MS;
  return nowMs >= silentMs ? former.hwid : null;
}

/** Returns the reason to free a slot of a full link; null: there is none. */
function freed(full: FullLink, nowMs: number): 'same_phone' | 'inactive' | 'replaced' | null {
  const { inactiveMs, replacedMs } = freeFrom(full);
  const isPhone = full.policy.samePhone === 'replace' && nowMs >= coolMs(full);
  if (isPhone && formerHwid(full, nowMs) !== null) return 'same_phone';
  if (inactiveMs !== null && nowMs >= inactiveMs) return 'inactive';
  return replacedMs !== null && nowMs >= replacedMs ? 'replaced' : null;
}

/** Returns the times from which the oldest slot is inactive or replaceable; null: never. */
export function freeFrom(full: Omit<FullLink, 'former'>): {
  inactiveMs: number | null;
  replacedMs: number | null;
} {
  const { limitWanted, policy, oldest } = full;
  // A newcomer would keep the slot that is to go.
  if (limitWanted !== null) return { inactiveMs: null, replacedMs: null };
  const { inactiveDays, whenFull } = policy;
  const inactiveMs =
    inactiveDays > 0 ? lastMsOfDay(oldest.lastSeenAtMs) + inactiveDays * DAY_MS : null;
  return { inactiveMs, replacedMs: whenFull === 'replace-oldest' ? coolMs(full) : null };
}

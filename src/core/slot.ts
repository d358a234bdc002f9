/**
 * The life of slots. A newcomer is a new HWID at a link; of its policy each part is the link's own,
 * else its provider's, else the default.
 *
 * | The link | The slot not seen for longest | A newcomer |
 * |---|---|---|
 * | has room | stays, however old | takes a slot |
 * | is full | was not seen for `inactiveDays` | takes its place: it was inactive |
 * | is full, `replace-oldest` | was seen, the last was replaced `coolDownHours` ago | replaces it |
 * | is full | otherwise | is refused |
 *
 * Whose slot was freed is a newcomer as others are.
 */

import { DAY_MS, HOUR_MS, lastMsOfDay } from './calendar.ts';
import { INSTALL_ACTIVE, type InstallTerms } from './port/install.ts';
import type { Door, FullLink, OwnPolicy, Policy, TurnedAway } from './port/slot.ts';

/** Policy of a link or provider that goes by the one above it. */
export const NO_POLICY: OwnPolicy = { inactiveDays: null, whenFull: null, coolDownHours: null };
export const NO_TERMS: InstallTerms = { ...NO_POLICY, subscriptionKeyHash: null };

const DEFAULT_POLICY: Policy = { inactiveDays: 0, whenFull: 'refuse', coolDownHours: 24 };

/** The policy that holds on a link of the provider. */
export function policyOf(link: OwnPolicy, provider: OwnPolicy): Policy {
  return {
    inactiveDays: link.inactiveDays ?? provider.inactiveDays ?? DEFAULT_POLICY.inactiveDays,
    whenFull: link.whenFull ?? provider.whenFull ?? DEFAULT_POLICY.whenFull,
    coolDownHours: link.coolDownHours ?? provider.coolDownHours ?? DEFAULT_POLICY.coolDownHours,
  };
}

/** A device is let in: it has a slot, there is room, or another's slot is freed, and why. */
export type Welcome = 'known' | 'room' | 'inactive' | 'replaced';
export type Verdict = Welcome | TurnedAway['says'];

/** Tells an admission from a refusal. */
export function isWelcome(verdict: Verdict): verdict is Welcome {
  return (
    verdict === 'known' || verdict === 'room' || verdict === 'inactive' || verdict === 'replaced'
  );
}

/** True if the policy ever frees a slot. */
export function freesSlots({ inactiveDays, whenFull }: Policy): boolean {
  return inactiveDays > 0 || whenFull === 'replace-oldest';
}

/** The only rule of who is let in on a link. A HWID that holds a slot needs no room. */
export function judge({ link, isBound, device, full }: Door, nowMs: number): Verdict {
  if (!isBound) return 'link_domain_not_bound';
  if (link.status !== INSTALL_ACTIVE) return 'link_disabled';
  if (device !== null) return 'known';
  if (link.deviceCount < link.installLimit) return 'room';
  return (full && freed(full, nowMs)) ?? 'link_limit_reached';
}

/** Reason for which the oldest slot of a full link is free for a newcomer; null: it is not. */
function freed(full: FullLink, nowMs: number): 'inactive' | 'replaced' | null {
  const { inactiveMs, replacedMs } = freeFrom(full);
  if (inactiveMs !== null && nowMs >= inactiveMs) return 'inactive';
  return replacedMs !== null && nowMs >= replacedMs ? 'replaced' : null;
}

/** Instants from which the oldest slot is free, as inactive or to be replaced; null: never so. */
export function freeFrom({ policy, oldest, replacedAtMs }: FullLink): {
  inactiveMs: number | null;
  replacedMs: number | null;
} {
  const { inactiveDays, whenFull, coolDownHours } = policy;
  const inactiveMs =
    inactiveDays > 0 ? lastMsOfDay(oldest.lastSeenAtMs) + inactiveDays * DAY_MS : null;
  const coolMs = replacedAtMs === null ? 0 : replacedAtMs + coolDownHours * HOUR_MS;
  return { inactiveMs, replacedMs: whenFull === 'replace-oldest' ? coolMs : null };
}

/**
 * When a dispatch that failed is tried again: pushes within minutes, as a message grows old; events
 * within days, as a bot may be down over a weekend. Every wait is spread at random, so that what
 * failed together does not come back together.
 */

import { HOUR_MS } from '../calendar.ts';

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;

/** Attempts at one dispatch before it counts as failed. */
export const ATTEMPTS_MAX = 10;

const PUSH_BACKOFF = { firstMs: SECOND_MS, longestMs: 10 * MINUTE_MS };

const EVENT_WAITS_LAST_MS = 24 * HOUR_MS;
/** Waits after each failed attempt to tell a webhook: about three days in all. */
const EVENT_WAITS_MS = [
  ...[5 * SECOND_MS, 5 * MINUTE_MS, 30 * MINUTE_MS, 2 * HOUR_MS, 5 * HOUR_MS, 10 * HOUR_MS],
  ...[14 * HOUR_MS, 20 * HOUR_MS, EVENT_WAITS_LAST_MS],
];
/** The most by which such a wait is made longer. */
const EVENT_SPREAD = 0.1;

/** The longest wait that the other side may ask for by `Retry-After`, ms. */
const ASKED_MAX_MS = { push: HOUR_MS, event: 24 * HOUR_MS } as const;

/** Time after which a dispatch waits no more for a receiver that asks it to, ms. */
export const ASKED_WAITS_MAX_MS = 72 * HOUR_MS;
/** The least part of its age by which a push waits that is asked to, time and again. */
const AGE_SHARE = 1 / 10;

/** Gives a number from 0 up to 1, as `Math.random` does. */
export type Random = () => number;

/** Exponential backoff: the wait after `nth` failures, of which the last half is at random; ms. */
function backoffMs(nth: number, { firstMs, longestMs }: typeof PUSH_BACKOFF, random: Random) {
  const wholeMs = Math.min(longestMs, firstMs * 2 ** Math.min(nth - 1, 30));
  return Math.round(wholeMs * (0.5 + random() / 2));
}

/** The wait that the other side asked for, as far as it is heeded, ms; 0 for null: for none. */
export function heededMs(kind: 'push' | 'event', askedMs: number | null): number {
  return Math.min(Math.max(askedMs ?? 0, 0), ASKED_MAX_MS[kind]);
}

/**
 * Time at which a push is tried again whose gateway asked for a wait, UTC ms: after an hour at the
 * latest, as that costs no attempt. The wait grows with the age of the push, so that a push service
 * that always asks for a second gets few calls.
 */
export function askedWaitEndMs(queuedAtMs: number, askedMs: number, nowMs: number): number {
  const leastMs = Math.max(
    SECOND_MS,
    Math.min((nowMs - queuedAtMs) * AGE_SHARE, ASKED_MAX_MS.push),
  );
  const waitMs = Math.max(heededMs('push', askedMs), leastMs);
  return Math.round(Math.min(nowMs + waitMs, queuedAtMs + ASKED_WAITS_MAX_MS));
}

/**
 * Wait after the `nth` failed attempt, from 1 on, ms. `askedMs`: as the other side asked, null if
 * it did not.
 */
export function waitMs(
  kind: 'push' | 'event',
  nth: number,
  askedMs: number | null,
  random: Random,
): number {
  const leastMs = heededMs(kind, askedMs);
  if (kind === 'push') return Math.max(backoffMs(nth, PUSH_BACKOFF, random), leastMs);
  const plannedMs = EVENT_WAITS_MS[nth - 1] ?? EVENT_WAITS_LAST_MS;
  return Math.max(Math.round(plannedMs * (1 + EVENT_SPREAD * random())), leastMs);
}

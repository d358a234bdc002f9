/**
 * The waits before retries: minutes for pushes, as messages grow old; days for events, as a bot may
 * be down over a weekend. Waits are randomised, so that dispatches that failed together do not
 * return together.
 */

import { HOUR_MS } from '../calendar.ts';

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;

/** Attempts at one dispatch before it fails. */
export const ATTEMPTS_MAX = 10;

const PUSH_BACKOFF = { firstMs: SECOND_MS, longestMs: 10 * MINUTE_MS };

const EVENT_WAITS_LAST_MS = 24 * HOUR_MS;
/** Waits after each failed attempt at an event: about three days in all. */
const EVENT_WAITS_MS = [
  ...[5 * SECOND_MS, 5 * MINUTE_MS, 30 * MINUTE_MS, 2 * HOUR_MS, 5 * HOUR_MS, 10 * HOUR_MS],
  ...[14 * HOUR_MS, 20 * HOUR_MS, EVENT_WAITS_LAST_MS],
];
/** Largest random share that is added to such a wait. */
const EVENT_SPREAD = 0.1;

/** Longest wait that `Retry-After` may ask for, ms. */
const ASKED_MAX_MS = { push: HOUR_MS, event: 24 * HOUR_MS } as const;

/** Age at which a dispatch fails whose receiver asks for another wait, ms. */
export const ASKED_WAITS_MAX_MS = 72 * HOUR_MS;
/** Least wait that a gateway can ask for, as a share of the push's age. */
const AGE_SHARE = 1 / 10;

/** Returns a number from 0 up to 1, as `Math.random` does. */
export type Random = () => number;

/** Returns the exponential backoff after `nth` failures, of which one half is random; ms. */
function backoffMs(nth: number, { firstMs, longestMs }: typeof PUSH_BACKOFF, random: Random) {
  const wholeMs = Math.min(longestMs, firstMs * 2 ** Math.min(nth - 1, 30));
  return Math.round(wholeMs * (0.5 + random() / 2));
}

/** Returns the asked wait within its bounds, ms; 0 if none was asked for. */
export function heededMs(kind: 'push' | 'event', askedMs: number | null): number {
  return Math.min(askedMs ?? 0, ASKED_MAX_MS[kind]);
}

/**
 * Returns the time of the next attempt at a push whose gateway asked for a wait, UTC ms. The wait,
 * which counts as no attempt, grows with the age of the push up to an hour, so that a gateway that
 * always asks for one second gets few calls.
 */
export function askedWaitEndMs(queuedAtMs: number, askedMs: number, nowMs: number): number {
  const leastMs = Math.max(
    SECOND_MS,
    Math.min((nowMs - queuedAtMs) * AGE_SHARE, ASKED_MAX_MS.push),
  );
  const waitMs = Math.max(heededMs('push', askedMs), leastMs);
  return Math.round(Math.min(nowMs + waitMs, queuedAtMs + ASKED_WAITS_MAX_MS));
}

/** Returns the wait after the `nth` failed attempt, counted from 1, ms; `askedMs` null: none. */
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

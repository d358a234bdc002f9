/** How long to wait before the next attempt. */

/** Longest wait that `Retry-After` may ask for here; who calls may allow less, ms. */
const RETRY_AFTER_MS_MAX = 24 * 3_600_000;

/**
 * The wait that a `Retry-After` header asks for (RFC 9110, 10.2.3: seconds, or a date), ms, never
 * longer than a day. Null: there is none, or it says nothing that can be understood.
 */
export function retryAfterMs(header: string | null, nowMs: number): number | null {
  const given = header?.trim() ?? '';
  if (/^\d{1,10}$/.test(given)) return Math.min(Number(given) * 1000, RETRY_AFTER_MS_MAX);
  // Date.parse takes much more than the dates of HTTP, bare numbers among it.
  if (!/^[A-Z][a-z]{2,8},? /.test(given)) return null;
  const atMs = Date.parse(given);
  if (Number.isNaN(atMs)) return null;
  return Math.min(Math.max(atMs - nowMs, 0), RETRY_AFTER_MS_MAX);
}

export interface Backoff {
  /** Wait after the first failure, ms. */
  firstMs: number;
  /** Longest wait, ms. */
  longestMs: number;
}

/**
 * The wait after `failureCount` failures in a row (from 1): doubled each time, and of that a random
 * part between a half and all, so that those that failed together do not come back together.
 * `random` is in [0, 1).
 */
export function backoffMs(
  failureCount: number,
  { firstMs, longestMs }: Backoff,
  random: number,
): number {
  const doublings = Math.min(Math.max(failureCount, 1) - 1, 50);
  const whole = Math.min(firstMs * 2 ** doublings, longestMs);
  return Math.round(whole * (0.5 + random / 2));
}

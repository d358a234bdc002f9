/** The wait that another server asks for. */

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
  if (!/^[A-Z][a-z]{2,8},? [\w -]+ \d\d:\d\d:\d\d(?: \d{4}| GMT)+$/.test(given)) return null;
  // The oldest of the three forms does not say its zone.
  const atMs = Date.parse(given.endsWith('GMT') ? given : `${given} GMT`);
  if (Number.isNaN(atMs)) return null;
  return Math.min(Math.max(atMs - nowMs, 0), RETRY_AFTER_MS_MAX);
}

/** Longest wait that is returned, ms; callers may allow less. */
const RETRY_AFTER_MS_MAX = 24 * 3_600_000;

/**
 * Reads the wait of a `Retry-After` header (RFC 9110, 10.2.3: seconds or a date), ms, at most a
 * day. Returns null if the header is absent or malformed.
 *
 * @example retryAfterMs('120', 0) // 120_000
 */
export function retryAfterMs(header: string | null, nowMs: number): number | null {
  const given = header?.trim() ?? '';
  if (/^\d{1,10}$/.test(given)) return Math.min(Number(given) * 1000, RETRY_AFTER_MS_MAX);
  // Date.parse accepts more than the dates of HTTP, such as bare numbers.
  if (!/^[A-Z][a-z]{2,8},? [\w -]+ \d\d:\d\d:\d\d(?: \d{4}| GMT)+$/.test(given)) return null;
  // The oldest of the three formats has no zone.
  const atMs = Date.parse(given.endsWith('GMT') ? given : `${given} GMT`);
  if (Number.isNaN(atMs)) return null;
  return Math.min(Math.max(atMs - nowMs, 0), RETRY_AFTER_MS_MAX);
}

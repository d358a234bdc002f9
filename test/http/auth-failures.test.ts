import { beforeEach, describe, expect, test } from 'bun:test';
import { makeLog } from '../../src/base/log.ts';
import { AuthFailures, FAILURE_DELAY_MS } from '../../src/http/bound/auth-failures.ts';
import { parseSharedAddresses } from '../../src/http/request/address.ts';

const SHARED = ['192.0.2.99', '2001:db8:9::/48'];
const START_MS = 1_000_000;
let lines: string[];
const failuresOf = (perMinuteMax: number) =>
  new AuthFailures(
    { authFailuresPerMinuteMax: perMinuteMax, sharedAddresses: parseSharedAddresses(SHARED) },
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

test.each([
  ['a code of 8 to 11 characters', 'aB3dE5g7', 10],
  ['a code of 12', 'LinkCode0001', 1],
  ['a text that can be no code', 'aB3', 1],
  ['no code', undefined, 1],
])('a guess at %s counts as the failures of its length', (_, code, times) => {
  const failures = failuresOf(20);
  const guesses = Array.from({ length: 21 }, () => failures.record('a', START_MS, { code }));
  expect(guesses.filter((ms) => ms === 0)).toHaveLength(20 / times);
});

describe('failures at an address that many customers share', () => {
  const freeOf = (failures: AuthFailures, client: string, guess: object) =>
    Array.from({ length: 50 }, () => failures.record(client, START_MS, guess)).filter(
      (ms) => ms === 0,
    ).length;

  test.each(['192.0.2.99', '2001:db8:9:7::/64'])('%s: ten times as many are free', (client) => {
    const failures = failuresOf(2);
    expect(freeOf(failures, client, {})).toBe(20);
    expect(freeOf(failures, client, { isKey: true })).toBe(2);
    expect(freeOf(failures, client, { account: 'anna' })).toBe(2);
    expect(freeOf(failures, '192.0.2.98', {})).toBe(2);
  });

  test('a short code counts ten there too', () => {
    expect(freeOf(failuresOf(2), '192.0.2.99', { code: 'aB3dE5g7' })).toBe(2);
  });

  test('elsewhere keys and codes count together', () => {
    const failures = failuresOf(2);
    expect(freeOf(failures, '192.0.2.1', { isKey: true })).toBe(2);
    expect(freeOf(failures, '192.0.2.1', {})).toBe(0);
  });
});

describe('guesses at accounts', () => {
  const guess = (failures: AuthFailures, client: string, account: string) =>
    failures.record(client, START_MS, { account });

  test('are late for the pair of account and client, and nowhere else', () => {
    const failures = failuresOf(2);
    const late = FAILURE_DELAY_MS;
    const delays = [1, 2, 3].map(() => guess(failures, '203.0.113.1', 'anna'));
    expect(delays).toEqual([0, 0, late]);
    expect(guess(failures, '203.0.113.1', 'boris')).toBe(0);
    expect(guess(failures, '198.51.100.1', 'anna')).toBe(0);
    expect(failures.record('203.0.113.1', START_MS)).toBe(0);
  });

  test.each([
    ['addresses of a /24', (n: number) => `203.0.113.${n}`, '203.0.114.1'],
    ['networks of a /48', (n: number) => `2001:db8:1:${n}::/64`, '2001:db8:2:1::/64'],
  ])('are late for %s in all, whatever the names', (_, clientAt, elsewhere) => {
    const failures = failuresOf(2);
    const delays = Array.from({ length: 21 }, (__, n) => guess(failures, clientAt(n), `name-${n}`));
    expect(delays.slice(0, 20).every((ms) => ms === 0)).toBe(true);
    expect(delays[20]).toBe(FAILURE_DELAY_MS);
    expect(guess(failures, elsewhere, 'anna')).toBe(0);
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

  test('is filled by no network at the cost of others', () => {
    const failures = failuresOf(1);
    failures.record('192.0.2.1', START_MS);
    const clientAt = (n: number) => `2001:db8:1:${n.toString(16)}::/64`;
    for (let n = 0; n < 20_000; n += 1) failures.record(clientAt(n), START_MS + 1);
    expect(failures.record('192.0.2.1', START_MS + 2)).toBe(FAILURE_DELAY_MS);
    // Its own oldest went.
    expect(failures.record(clientAt(19_999), START_MS + 2)).toBe(FAILURE_DELAY_MS);
    expect(failures.record(clientAt(1), START_MS + 2)).toBe(0);
    // Another network takes the place of its newest.
    failures.record('198.51.100.1', START_MS + 2);
    expect(failures.record('198.51.100.1', START_MS + 2)).toBe(FAILURE_DELAY_MS);
    expect(failures.record(clientAt(1), START_MS + 2)).toBe(0);
    expect(failures.record(clientAt(19_998), START_MS + 2)).toBe(FAILURE_DELAY_MS);
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

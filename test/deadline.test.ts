/** Deadlines of many calls: each ends by itself, and one timer serves them all. */

import { afterEach, expect, spyOn, test } from 'bun:test';
import { type Countdown, Deadline, Deadlines } from '../src/base/deadline.ts';
import { FakeClock } from './support/clock.ts';

const never = () => new Promise<never>(() => undefined);
const opened: Deadlines[] = [];

function make(timeMs: number, clock: FakeClock, onPassed = () => new Error('over')): Deadlines {
  const deadlines = new Deadlines(timeMs, clock.steadyMs, onPassed);
  opened.push(deadlines);
  return deadlines;
}

afterEach(() => {
  for (const deadlines of opened.splice(0)) deadlines.close();
});

test('a call that is answered in time has its answer, or its fault', async () => {
  const deadlines = make(60_000, new FakeClock());
  expect(await deadlines.within(async () => 7)).toBe(7);
  const failed = deadlines.within(() => Promise.reject(new Error('its own')));
  expect(failed).rejects.toThrow('its own');
});

test('the time that is over rejects the call and ends what it waits for', async () => {
  const clock = new FakeClock();
  const deadlines = make(5, clock);
  let countdown: Countdown | null = null;
  let signal: AbortSignal | null = null;
  const call = deadlines.within((mine) => {
    countdown = mine;
    signal = mine.signal;
    return never();
  });
  expect((countdown as Countdown | null)?.leftMs()).toBe(5);
  clock.advance(5);
  await expect(call).rejects.toThrow('over');
  expect((signal as AbortSignal | null)?.aborted).toBe(true);
  // Also for who asks for it afterwards.
  expect((countdown as Countdown | null)?.signal.aborted).toBe(true);
});

test('those that are over together share one fault, and later ones go on', async () => {
  const clock = new FakeClock();
  let passedCount = 0;
  const deadlines = make(20, clock, () => {
    passedCount += 1;
    return new Error('over');
  });
  const first = [1, 2, 3].map(() => deadlines.within(never).catch((fault) => fault));
  clock.advance(15);
  let isOver = false;
  const later = deadlines.within(never).catch(() => {
    isOver = true;
  });
  clock.advance(5);
  const faults = await Promise.all(first);
  expect(new Set(faults).size).toBe(1);
  expect([passedCount, isOver]).toEqual([1, false]);
  clock.advance(15);
  await later;
  expect(passedCount).toBe(2);
});

test('one timer serves all calls, and ends with them', async () => {
  const set = spyOn(globalThis, 'setTimeout');
  const clear = spyOn(globalThis, 'clearTimeout');
  try {
    const deadlines = make(600_000, new FakeClock());
    await Promise.all(Array.from({ length: 100 }, () => deadlines.within(async () => undefined)));
    const made = set.mock.calls.filter(([, ms]) => ms === 600_000);
    expect(made).toHaveLength(1);
    deadlines.close();
    expect(clear).toHaveBeenCalledTimes(1);
  } finally {
    set.mockRestore();
    clear.mockRestore();
  }
});

test('the caller of a step ends it before its time', () => {
  const caller = new AbortController();
  const deadline = new Deadline(60_000, caller.signal, new FakeClock().steadyMs);
  caller.abort();
  expect(deadline.signal.aborted).toBe(true);
  expect(deadline.isOver).toBe(false);
  deadline.end();
});

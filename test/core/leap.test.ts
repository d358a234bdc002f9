/** The rule of leaps, with two clocks that move apart. */

import { expect, test } from 'bun:test';
import {
  begun,
  isSpent,
  isSuspended,
  type LeapChange,
  leadText,
  stepped,
  type TimeState,
} from '../../src/core/leap.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const YEARS_MS = 3_653 * DAY_MS;
const T0 = Date.UTC(2026, 10, 20);

/** A machine with its two clocks. */
class Machine {
  wallMs = T0;
  state: TimeState = begun(null, T0).state;

  /** Lets time pass, in steps of a minute at most; returns what became of leaps. */
  pass(ms: number): LeapChange[] {
    const changes: LeapChange[] = [];
    for (let left = ms; left > 0; ) {
      const step = Math.min(left, 60_000);
      left -= step;
      this.wallMs += step;
      const { state, change } = stepped(this.state, this.wallMs, step);
      this.state = state;
      if (change !== null) changes.push(change);
    }
    return changes;
  }

  leap(ms: number): LeapChange[] {
    this.wallMs += ms;
    return this.pass(1_000);
  }

  /** Stops and starts after `pauseMs`, in which the clock leaps by `leapMs`. */
  restart(pauseMs: number, leapMs = 0): LeapChange {
    this.wallMs += pauseMs + leapMs;
    const { state, change } = begun(this.state, this.wallMs);
    this.state = state;
    return change;
  }

  get isSuspended(): boolean {
    return isSuspended(this.state);
  }
}

test.each([
  ['ten years ahead', YEARS_MS],
  ['ten years back', -YEARS_MS],
  ['61 minutes ahead', HOUR_MS + 60_000],
  ['61 minutes back', -HOUR_MS - 60_000],
])('%s is a leap, until the clock is back', (_, ms) => {
  const machine = new Machine();
  expect(machine.pass(HOUR_MS)).toEqual([]);
  expect(machine.leap(ms)).toEqual(['leapt']);
  expect(machine.isSuspended).toBe(true);
  expect(machine.pass(23 * HOUR_MS)).toEqual([]);
  expect(machine.isSuspended).toBe(true);
  expect(machine.leap(-ms)).toEqual(['back']);
  expect(machine.isSuspended).toBe(false);
  expect(machine.state.atMs).toBe(machine.wallMs);
});

test.each([
  ['59 minutes ahead', HOUR_MS - 60_000],
  ['59 minutes back', 60_000 - HOUR_MS],
])('%s is none, and the steady time follows within a day', (_, ms) => {
  const machine = new Machine();
  expect(machine.leap(ms)).toEqual([]);
  expect(Math.abs(machine.state.atMs - machine.wallMs)).toBeGreaterThan(50 * 60_000);
  expect(machine.pass(DAY_MS)).toEqual([]);
  expect(Math.abs(machine.state.atMs - machine.wallMs)).toBeLessThan(2);
});

test('a clock that creeps by half an hour each hour leaps all the same', () => {
  const machine = new Machine();
  const changes = Array.from({ length: 4 }, () => [
    ...machine.leap(HOUR_MS / 2),
    ...machine.pass(HOUR_MS),
  ]);
  expect(changes.flat()).toEqual(['leapt']);
});

test('24 hours of running make a leap right, not the time in which nothing ran', () => {
  const machine = new Machine();
  machine.leap(YEARS_MS);
  machine.pass(12 * HOUR_MS);
  expect(machine.restart(20 * HOUR_MS)).toBeNull();
  expect(machine.isSuspended).toBe(true);
  expect(machine.pass(11 * HOUR_MS)).toEqual([]);
  expect(machine.pass(2 * HOUR_MS)).toEqual(['trusted']);
  expect(machine.isSuspended).toBe(false);
  expect(machine.state.atMs).toBe(machine.wallMs);
});

test('another leap begins its 24 hours anew', () => {
  const machine = new Machine();
  machine.leap(YEARS_MS);
  machine.pass(23 * HOUR_MS);
  expect(machine.leap(2 * HOUR_MS)).toEqual(['leapt']);
  expect(machine.pass(23 * HOUR_MS)).toEqual([]);
  expect(machine.pass(2 * HOUR_MS)).toEqual(['trusted']);
});

test.each([
  ['30 days later', 30 * DAY_MS, null],
  ['over 30 days later', 30 * DAY_MS + HOUR_MS, 'leapt'],
  ['a second before', -1_000, null],
  ['two minutes before', -120_000, 'leapt'],
  ['ten years before', -YEARS_MS, 'leapt'],
] as const)('a start %s than the last time stored', (_, ms, change) => {
  const machine = new Machine();
  machine.pass(HOUR_MS);
  expect(machine.restart(ms)).toBe(change);
  expect(machine.isSuspended).toBe(change === 'leapt');
});

test.each([
  // Leap of the run before, pause, leap meanwhile, and what a start makes of it.
  ['stays ahead', YEARS_MS, HOUR_MS, 0, null],
  ['is right again', YEARS_MS, HOUR_MS, -YEARS_MS, 'back'],
  ['was behind and is right again', -YEARS_MS, HOUR_MS, YEARS_MS, 'back'],
  ['stays behind', -YEARS_MS, HOUR_MS, 0, null],
  ['is a day ahead, and may be right after a day', DAY_MS, DAY_MS, -DAY_MS, null],
  ['is a day ahead, and is right after an hour', DAY_MS, HOUR_MS, -DAY_MS, 'back'],
] as const)('a clock that leapt, after a restart, %s', (_, leapMs, pauseMs, undoMs, change) => {
  const machine = new Machine();
  machine.leap(leapMs);
  expect(machine.restart(pauseMs, undoMs)).toBe(change);
  expect(machine.isSuspended).toBe(change === null);
});

test('a clock of the past is right once it shows a time soon after the last stored', () => {
  const machine = new Machine();
  machine.pass(HOUR_MS);
  expect(machine.restart(3 * DAY_MS, -YEARS_MS)).toBe('leapt');
  expect(machine.pass(HOUR_MS)).toEqual([]);
  // It was off for three days: that is not its steady time, but no leap.
  expect(machine.leap(YEARS_MS)).toEqual(['back']);
});

test('a leap each day suspends for 48 hours of 30 days', () => {
  const machine = new Machine();
  let suspendedMs = 0;
  for (let hour = 0; hour < 29 * 24; hour++) {
    if (hour % 20 === 0) machine.leap(hour % 40 === 0 ? YEARS_MS : -YEARS_MS);
    if (machine.isSuspended) suspendedMs += HOUR_MS;
    machine.pass(HOUR_MS);
  }
  expect(suspendedMs).toBeGreaterThan(46 * HOUR_MS);
  expect(suspendedMs).toBeLessThanOrEqual(49 * HOUR_MS);
  expect(isSpent(machine.state)).toBe(true);
  expect(Object.keys(machine.state.spentMs).length).toBeLessThan(32);
  // Quiet days give the time back.
  machine.pass(60 * DAY_MS);
  expect(isSpent(machine.state)).toBe(false);
});

test('the words of a leap', () => {
  expect(leadText(YEARS_MS)).toBe('it is 3653 days ahead');
  expect(leadText(-90 * 60_000)).toBe('it is 1.5 h behind');
  expect(leadText(47 * HOUR_MS)).toBe('it is 47 h ahead');
  expect(leadText(48 * HOUR_MS)).toBe('it is 2 days ahead');
});

/** What rides to a device, and when. */

import { describe, expect, test } from 'bun:test';
import { COMMAND, PUSH } from '../../src/core/port/distribution.ts';
import type { Ride, RideLevel } from '../../src/core/port/ride.ts';
import { dueRides, lowerLevel } from '../../src/core/ride/due.ts';

const ride = (more: Partial<Ride> = {}): Ride => ({
  distributionId: 1,
  notificationType: PUSH,
  os: 'ios',
  part: 'message',
  payload: '{}',
  createdAtMs: 50,
  fromMs: 100,
  untilMs: 200,
  ...more,
});
const COMMAND_TO_ALL = { notificationType: COMMAND, part: 'set:ping-type' };

interface Case {
  rides?: Ride[];
  os?: string;
  homeSinceMs?: number | null;
  level?: RideLevel;
  ridesOnDesktop?: boolean;
  nowMs?: number;
}

/** What rides, as `id phase`, in its order. */
function due({ rides = [ride()], os = 'ios', homeSinceMs = null, nowMs = 150, ...more }: Case) {
  const terms = { level: 'on' as RideLevel, ridesOnDesktop: false, ...more };
  return dueRides(rides, { os, homeSinceMs }, terms, nowMs).map(
    (one) => `${one.ride.distributionId} ${one.phase}`,
  );
}

describe('the time', () => {
  test.each([
    [99, []],
    [100, ['1 rides']],
    [199, ['1 rides']],
    [200, ['1 clears']],
    [299, ['1 clears']],
    [300, []],
  ])('of a notification at %p: %p', (nowMs, is) => expect(due({ nowMs })).toEqual(is));

  test.each([
    [199, ['1 rides']],
    [200, []],
  ])('of a command at %p: %p, and it is never cleared', (nowMs, is) => {
    const rides = [ride({ ...COMMAND_TO_ALL, os: null })];
    expect(due({ rides, homeSinceMs: 0, nowMs })).toEqual(is);
  });
});

describe('a general notification', () => {
  test.each([
    ['ios', false, ['1 rides']],
    ['android', false, []],
    ['Windows', false, []],
    ['', false, []],
    ['ios', true, ['1 rides']],
    ['android', true, []],
    ['Windows', true, ['1 rides']],
    ['', true, ['1 rides']],
  ])('for iOS, on %p, for desktops too %p: %p', (os, ridesOnDesktop, is) => {
    expect(due({ os, ridesOnDesktop })).toEqual(is);
    // On any link, since any time.
    expect(due({ os, ridesOnDesktop, homeSinceMs: 140 })).toEqual(is);
  });

  test('the newest comes first: a desktop shows that of any system', () => {
    const rides = [
      ride({ distributionId: 1 }),
      ride({ distributionId: 4, os: 'android', fromMs: 120 }),
      ride({ distributionId: 3, os: 'android', fromMs: 120 }),
    ];
    const all = due({ rides, os: 'Linux', ridesOnDesktop: true });
    expect(all).toEqual(['4 rides', '3 rides', '1 rides']);
  });
});

describe('what is for the home link alone', () => {
  const named = ride({ os: null });
  const toAll = ride(COMMAND_TO_ALL);
  test.each([
    ['a notification that names devices', named],
    ['a command that names devices', ride({ ...COMMAND_TO_ALL, os: null })],
    ['a command to all', toAll],
  ])('%s rides there, if the slot is older than the message', (_what, one) => {
    const rides = [one];
    expect(due({ rides, homeSinceMs: 49 })).toEqual(['1 rides']);
    expect(due({ rides, homeSinceMs: 50 })).toEqual([]);
    expect(due({ rides, homeSinceMs: null })).toEqual([]);
  });

  test('a command to all keeps to its system; what names devices does not', () => {
    const desktop = { os: 'Windows', ridesOnDesktop: true, homeSinceMs: 0 };
    expect(due({ ...desktop, rides: [toAll] })).toEqual([]);
    expect(due({ ...desktop, rides: [named] })).toEqual(['1 rides']);
  });
});

test('the level', () => {
  const rides = [ride(), ride({ ...COMMAND_TO_ALL, distributionId: 2 })];
  const at = (level: RideLevel) => due({ rides, homeSinceMs: 0, level });
  expect(at('off')).toEqual([]);
  expect(at('notifications')).toEqual(['1 rides']);
  expect(at('on')).toEqual(['2 rides', '1 rides']);
  expect(lowerLevel('on', null)).toBe('on');
  expect(lowerLevel('on', 'notifications')).toBe('notifications');
  expect(lowerLevel('off', 'notifications')).toBe('off');
});

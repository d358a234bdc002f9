/** How a message comes to a device, over all that decides it. */

import { expect, test } from 'bun:test';
import {
  addWays,
  carriersOf,
  carriersOfParts,
  isForHomes,
  NO_WAYS,
} from '../../src/core/device-reach.ts';
import { COMMAND, PUSH } from '../../src/core/port/distribution.ts';
import type { RideLevel } from '../../src/core/port/ride.ts';

const HAPP = 'Happ/3.1';
const silent = {
  isReachable: false,
  hasStream: false,
  gateway: null,
  userAgent: HAPP,
  hasSlot: true,
  isAtHome: true,
} as const;
const rules = { gateways: ['fcm'], carriers: new Set(['Happ']), isForHomes: true } as const;
const note = { body: 'x', type_push: 'optional', expire_days: 1 } as const;
const terms = (level: RideLevel) => ({
  level,
  hasProviderId: false,
  hosts: [],
  withinHours: 12,
  isGuess: true,
});

test.each([
  ['inbox', { isReachable: true }, {}],
  ['stream', { isReachable: true, hasStream: true }, {}],
  ['inbox', { isReachable: true, gateway: 'apns' }, {}],
  ['push', { isReachable: true, hasStream: true, gateway: 'fcm' }, {}],
  ['fetch', {}, {}],
  ['none', { isAtHome: false }, {}],
  ['fetch', { isAtHome: false }, { isForHomes: false }],
  ['none', { isAtHome: false, hasSlot: false }, { isForHomes: false }],
  ['none', { userAgent: 'Karing/1' }, {}],
  ['none', { userAgent: '' }, {}],
  ['fetch', { userAgent: '' }, { carriers: new Set([null]) }],
] as const)('%s: %j, %j', (way, facts, more) => {
  const group = { ...silent, ...facts, count: 3 };
  expect(addWays(NO_WAYS, [group], { ...rules, ...more })).toEqual({ ...NO_WAYS, [way]: 3 });
});

test('the apps to which a message rides: by level, by what apps read, by what the file allows', () => {
  const notified = carriersOf(PUSH, note, true, terms('notifications'));
  expect([notified.has('Happ'), notified.has(null), notified.has('Karing')]).toEqual([
    ...[true, true, false],
  ]);
  expect(carriersOf(PUSH, note, true, terms('off')).size).toBe(0);
  const update = { action_type: 'update-subscription' } as const;
  expect(carriersOf(COMMAND, update, true, terms('notifications')).size).toBe(0);
  expect(carriersOf(COMMAND, update, true, terms('on')).has('Karing')).toBe(true);
  const url = { action_type: 'sub-change', change_type: 'url', change_value: 'https://a.example/' };
  const allowed = { ...terms('on'), hasProviderId: true, hosts: ['a.example'] };
  expect([...carriersOf(COMMAND, url as never, false, allowed)]).toEqual(['Happ']);
  expect(carriersOf(COMMAND, url as never, true, allowed).size).toBe(0);
  expect(carriersOf(COMMAND, url as never, false, { ...allowed, hosts: [] }).size).toBe(0);
});

test('of what rides already: the apps that read one of its parts', () => {
  expect(carriersOfParts([]).size).toBe(0);
  expect(carriersOfParts(['set:no-limit-enabled'])).toEqual(new Set(['INCY']));
  expect(carriersOfParts(['message']).has(null)).toBe(true);
});

test('commands, and what names devices, ride on home links alone', () => {
  const all = ([PUSH, COMMAND] as const).flatMap((type) => [
    isForHomes(type, true),
    isForHomes(type, false),
  ]);
  expect(all).toEqual([false, true, true, true]);
});

/** How a message comes to a device, over all that decides it. */

import { expect, test } from 'bun:test';
import {
  addWays,
  carriersOf,
  carriersOfParts,
  isForHomes,
  NO_CARRIERS,
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
const rules = {
  gateways: ['fcm'],
  carriers: { apps: new Set(['Happ']), others: 'unknown' },
  isForHomes: true,
} as const;
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
  ['unknown', { userAgent: '' }, {}],
  ['unknown', { userAgent: 'Shadowrocket/2701 CFNetwork/1494.0.7' }, {}],
  ['unknown', { userAgent: 'NewApp/1' }, {}],
  ['none', { userAgent: 'NewApp/1', hasSlot: false, isAtHome: false }, {}],
  ['inbox', { userAgent: 'NewApp/1', isReachable: true }, {}],
  ['none', { userAgent: 'NewApp/1' }, { carriers: NO_CARRIERS }],
  ['fetch', { userAgent: 'NewApp/1' }, { carriers: { ...NO_CARRIERS, others: 'fetch' } }],
] as const)('%s: %j, %j', (way, facts, more) => {
  const group = { ...silent, ...facts, count: 3 };
  expect(addWays(NO_WAYS, [group], { ...rules, ...more })).toEqual({ ...NO_WAYS, [way]: 3 });
});

test('the apps to which a message rides: by level, by what apps read, by what the file allows', () => {
  const notified = carriersOf(PUSH, note, true, terms('notifications'));
  expect([...notified.apps]).toEqual([
    ...['Happ', 'INCY', 'FlClashX', 'Koala Clash', 'v2RayTun', 'Prizrak-Box'],
    ...['Clod Clash for Android', 'Clod Clash'],
  ]);
  expect(notified.others).toBe('unknown');
  expect(carriersOf(PUSH, note, true, terms('off'))).toEqual(NO_CARRIERS);
  const update = { action_type: 'update-subscription' } as const;
  expect(carriersOf(COMMAND, update, true, terms('notifications'))).toEqual(NO_CARRIERS);
  const updated = carriersOf(COMMAND, update, true, terms('on'));
  expect([updated.apps.has('Karing'), updated.others]).toEqual([true, 'fetch']);
  const url = { action_type: 'sub-change', change_type: 'url', change_value: 'https://a.example/' };
  const allowed = { ...terms('on'), hasProviderId: true, hosts: ['a.example'] };
  const apps = ['Happ', 'Prizrak-Box', 'Clod Clash for Android', 'Clod Clash'];
  expect(carriersOf(COMMAND, url as never, false, allowed)).toEqual({
    apps: new Set(apps),
    others: 'none',
  });
  expect(carriersOf(COMMAND, url as never, true, allowed)).toEqual(NO_CARRIERS);
  const nowhere = { ...allowed, hosts: [] };
  expect(carriersOf(COMMAND, url as never, false, nowhere)).toEqual(NO_CARRIERS);
});

test('of what rides already: the apps that read one of its parts', () => {
  expect(carriersOfParts([])).toEqual(NO_CARRIERS);
  const limits = { apps: new Set(['Happ', 'INCY']), others: 'none' } as const;
  expect(carriersOfParts(['set:no-limit-enabled'])).toEqual(limits);
  const message = carriersOfParts(['message']);
  expect([message.apps.has('Shadowrocket'), message.others]).toEqual([false, 'unknown']);
  expect(carriersOfParts(['update']).others).toBe('fetch');
});

test('commands, and what names devices, ride on home links alone', () => {
  const all = ([PUSH, COMMAND] as const).flatMap((type) => [
    isForHomes(type, true),
    isForHomes(type, false),
  ]);
  expect(all).toEqual([false, true, true, true]);
});

/** How much rides for a provider over all of its ways. */

import { expect, test } from 'bun:test';
import type { RideLevel } from '../../src/core/port/ride.ts';
import { ridingOf } from '../../src/core/ride/ways.ts';
import { WIDE_LIMITS } from '../support/bounds.ts';

const way = (provider: string, ride: RideLevel, updateIntervalHours = 0, providerIdFile = '') => {
  return { provider, ride, updateIntervalHours, providerIdFile };
};
const provider = { code: 'Provide1', ride: null };

test('nothing rides where no way lets it', () => {
  expect(ridingOf(WIDE_LIMITS, provider)).toEqual({
    level: 'off',
    hasProviderId: false,
    hosts: [],
    withinHours: 12,
    isGuess: false,
  });
});

test('the most of its ways, the slowest of those on which anything rides', () => {
  const upstreams = [
    way('Provide1', 'notifications', 6),
    way('Provide1', 'on', 4, 'id'),
    way('Provide1', 'off', 99),
    way('Provide2', 'on', 100),
  ];
  const settings = { ...WIDE_LIMITS, gateUpstreams: upstreams };
  const both = { hasProviderId: true, withinHours: 6, isGuess: false };
  expect(ridingOf(settings, provider)).toMatchObject({ level: 'on', ...both });
  const less = { ...provider, ride: 'notifications' } as const;
  expect(ridingOf(settings, less)).toMatchObject({ level: 'notifications', ...both });
  expect(ridingOf(settings, { ...provider, ride: 'off' }).level).toBe('off');
  const other = ridingOf(settings, { ...provider, code: 'Provide3' });
  expect(other).toMatchObject({ level: 'off', hasProviderId: false });
});

test('twelve hours are a guess where the panel sets them', () => {
  const gate = { ...WIDE_LIMITS, gateRide: 'on', rideHosts: ['a.example'] } as const;
  expect(ridingOf(gate, provider)).toEqual({
    level: 'on',
    hasProviderId: false,
    hosts: ['a.example'],
    withinHours: 12,
    isGuess: true,
  });
});

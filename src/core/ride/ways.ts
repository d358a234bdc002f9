/** The terms of a provider for messages that ride: how much rides, and how soon devices get it. */

import { RIDE_LEVELS, type RideLevel, type RideTerms } from '../port/ride.ts';
import type { Way, Ways } from '../port/way.ts';

/** The assumed hours between two fetches where the panel sets them: the value of most panels. */
const USUAL_INTERVAL_HOURS = 12;

/** The terms of a provider over all its upstreams and the gate. */
export interface RidingTerms {
  level: RideLevel;
  hasProviderId: boolean;
  /** Hosts that a command may move subscriptions to. */
  hosts: readonly string[];
  /** The hours within which apps fetch again, on the slowest of the ways. */
  withinHours: number;
  /** True: a panel sets the hours, so `withinHours` is a guess. */
  isGuess: boolean;
}

/** Returns the terms of a provider over all ways: the way of a device is unknown. */
export function ridingOf(
  { gateRide, gateProviderIdFile, gateUpdateIntervalHours, gateUpstreams, rideHosts }: Ways,
  { code, ride }: { code: string } & Pick<RideTerms, 'ride'>,
): RidingTerms {
  const gate: Way = {
    ride: gateRide,
    providerIdFile: gateProviderIdFile,
    updateIntervalHours: gateUpdateIntervalHours,
  };
  const most = RIDE_LEVELS.indexOf(ride ?? 'on');
  const levelOf = (way: Way) => Math.min(most, RIDE_LEVELS.indexOf(way.ride));
  const own = gateUpstreams.filter(({ provider }) => provider === code);
  const riding = [gate, ...own].filter((way) => levelOf(way) > 0);
  const hours = riding.map((way) => way.updateIntervalHours || USUAL_INTERVAL_HOURS);
  return {
    level: RIDE_LEVELS[Math.max(0, ...riding.map(levelOf))] ?? 'off',
    hasProviderId: riding.some(({ providerIdFile }) => providerIdFile !== ''),
    hosts: rideHosts,
    withinHours: riding.length === 0 ? USUAL_INTERVAL_HOURS : Math.max(...hours),
    isGuess: riding.some(({ updateIntervalHours }) => updateIntervalHours === 0),
  };
}

/** How much rides on the subscriptions of a provider, and how soon devices have it. */

import { RIDE_LEVELS, type RideLevel, type RideTerms } from '../port/ride.ts';
import type { Way, Ways } from '../port/way.ts';

/** Hours between two fetches where the panel sets them: what most panels send. */
const USUAL_INTERVAL_HOURS = 12;

/** What holds for a provider on any of its ways. */
export interface RidingTerms {
  level: RideLevel;
  hasProviderId: boolean;
  /** Hosts that a command may move subscriptions to. */
  hosts: readonly string[];
  /** Hours within which apps fetch again, on the slowest way where anything rides. */
  withinHours: number;
  /** True: a panel sets those hours, so that they are a guess. */
  isGuess: boolean;
}

/** Returns what rides for a provider: which way a device takes is not known. */
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

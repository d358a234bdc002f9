/**
 * Ways: the gate and the upstreams, by which subscriptions go out. The operator's settings of rides
 * on each.
 */

import type { RideLevel } from './ride.ts';

export interface Way {
  readonly ride: RideLevel;
  /** The file with the Provider ID of Happ; empty: none. */
  readonly providerIdFile: string;
  /** Hours between two fetches of an app; 0: the panel sets them. */
  readonly updateIntervalHours: number;
}

/** The settings of all ways. */
export interface Ways {
  readonly gateRide: RideLevel;
  readonly gateProviderIdFile: string;
  readonly gateUpdateIntervalHours: number;
  /** The upstreams, each with the code of its provider. */
  readonly gateUpstreams: readonly (Way & {
    readonly provider: string;
    readonly host?: string;
    /** True: codes of the provider's links may be keys of subscriptions. */
    readonly codesAsKeys?: boolean;
    /** True: users of the panel may get other credentials. */
    readonly cutOff?: boolean;
  })[];
  /** Hosts that a command may move subscriptions to. */
  readonly rideHosts: readonly string[];
}

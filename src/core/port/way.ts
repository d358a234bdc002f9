/** Ways: how the subscriptions of providers go out. The operator's settings of what rides there. */

import type { RideLevel } from './ride.ts';

export interface Way {
  readonly ride: RideLevel;
  /** The file with the Provider ID of Happ; empty: none. */
  readonly providerIdFile: string;
  /** Hours between two fetches of an app; 0: as the panel says. */
  readonly updateIntervalHours: number;
}

/** The settings of all ways. */
export interface Ways {
  readonly gateRide: RideLevel;
  readonly gateProviderIdFile: string;
  readonly gateUpdateIntervalHours: number;
  /** Each belongs to the provider with a code. */
  readonly gateUpstreams: readonly (Way & { readonly provider: string; readonly host?: string })[];
  /** Hosts that a command may move subscriptions to. */
  readonly rideHosts: readonly string[];
}

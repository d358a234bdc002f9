/** The part of the port that counts for operators. */

import type { DeviceFilter } from './device.ts';

/** How much a provider owns: what goes when it is removed. */
export interface Holdings {
  links: number;
  hwids: number;
  domains: number;
  distributions: number;
}

export interface CountStore {
  /** How many devices a list without its limit would show. */
  countDevices(filter: Omit<DeviceFilter, 'countMax'>): Promise<number>;
  /** How many distributions there are of one provider, or of all. */
  countDistributions(providerCode: string | null): Promise<number>;
  /** Null: no such provider. */
  countHoldings(providerCode: string): Promise<Holdings | null>;
}

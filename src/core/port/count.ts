/** The part of the port that counts records for operators. */

import type { DeviceFilter } from './device.ts';

/** The numbers of records that the removal of a provider deletes. */
export interface Holdings {
  links: number;
  hwids: number;
  domains: number;
  distributions: number;
}

export interface CountStore {
  /** Counts the devices that match the filter. */
  countDevices(filter: Omit<DeviceFilter, 'countMax'>): Promise<number>;
  /** Counts the distributions of a provider; null: of all providers. */
  countDistributions(providerCode: string | null): Promise<number>;
  /** Counts the records of a provider. Returns null if there is no such provider. */
  countHoldings(providerCode: string): Promise<Holdings | null>;
}

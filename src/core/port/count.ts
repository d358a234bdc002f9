/** The part of the port that counts for operators. */

import type { DeviceFilter } from './device.ts';

/** Counts of all that a provider owns and that goes when it is removed. */
export interface Holdings {
  links: number;
  hwids: number;
  domains: number;
  distributions: number;
}

export interface CountStore {
  /** Counts the devices that a list without its limit would show. */
  countDevices(filter: Omit<DeviceFilter, 'countMax'>): Promise<number>;
  /** Counts the distributions of one provider, or of all. */
  countDistributions(providerCode: string | null): Promise<number>;
  /** Counts what a provider owns; null: there is no such provider. */
  countHoldings(providerCode: string): Promise<Holdings | null>;
}

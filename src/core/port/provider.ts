/** Providers: their records, and the part of the port that remembers them. */

import type { Act } from './audit.ts';
import type { Maybe } from './maybe.ts';
import type { OwnPolicy } from './slot.ts';

export const PLANS = ['basic', 'pro', 'enterprise'] as const;

export type Plan = (typeof PLANS)[number];

export interface Provider extends OwnPolicy {
  id: number;
  code: string;
  name: string;
  plan: Plan;
  /** First instant at which the subscription is over; null: it has no end. */
  activeUntilMs: number | null;
  suspendedAtMs: number | null;
  /** Cap on limited links; null: the appliance's `linksPerProviderMax`. */
  installCountMax: number | null;
  installCount: number;
  createdAtMs: number;
  /** SHA-256 of the key. */
  keyHash: Uint8Array;
  /** SHA-256 of the key before the last rotation, good until `previousKeyUntilMs`. */
  previousKeyHash: Uint8Array | null;
  previousKeyUntilMs: number | null;
}

/** A change by `provider set`; an absent field stays as it is. */
export interface ProviderChange extends Partial<OwnPolicy> {
  name?: string;
  plan?: Plan;
  activeUntilMs?: number | null;
  installCountMax?: number | null;
  suspendedAtMs?: number | null;
}

/** A provider that is to be; parts of a policy that are absent are null. */
export interface NewProvider extends Partial<OwnPolicy> {
  code: string;
  keyHash: Uint8Array;
  name: string;
  plan: Plan;
  activeUntilMs: number | null;
  installCountMax: number | null;
  createdAtMs: number;
}

export interface ProviderStore {
  addProvider(draft: NewProvider, act: Act): Promise<'ok' | 'provider_code_exists'>;
  findProvider(code: string): Maybe<Readonly<Provider> | null>;
  listProviders(): Promise<Provider[]>;
  updateProvider(
    code: string,
    change: ProviderChange,
    act: Act,
  ): Promise<'ok' | 'provider_not_found'>;
  /** The key until now stays good until `previousUntilMs`. */
  rotateKey(
    code: string,
    keyHash: Uint8Array,
    previousUntilMs: number,
    act: Act,
  ): Promise<'ok' | 'provider_not_found'>;
  /** Closes a provider for good: none of its keys opens anything, its subscription is over. */
  closeProvider(code: string, act: Act): Promise<{ id: number } | 'provider_not_found'>;
  /**
   * Deletes a bounded part of what a closed provider owns, and with the last of it the provider;
   * devices stay known. `more`: there is something left.
   */
  removeProvider(id: number): Promise<'more' | 'ok' | 'provider_not_found'>;
}

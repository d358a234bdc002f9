/** Further keys of a provider besides its main key: their records and their part of the port. */

import type { Act } from './audit.ts';
import type { Maybe } from './maybe.ts';
import type { Provider } from './provider.ts';

/**
 * The scopes of keys: reading; reading and links; reading, notifications and commands; reading and
 * ties of keys to links; as `links`, and cut-offs; as `send`, and figures of subscriptions.
 */
export const SCOPES = ['read', 'links', 'send', 'ties', 'cuts', 'figures'] as const;

export type Scope = (typeof SCOPES)[number];

/** The scopes of rights that the main key has not, because a bot has it. */
export const FURTHER_SCOPES = ['ties', 'cuts', 'figures'] as const satisfies Scope[];

export type FurtherScope = (typeof FURTHER_SCOPES)[number];

export interface ProviderKey {
  id: number;
  name: string;
  scope: Scope;
  /** SHA-256 of the key. */
  keyHash: Uint8Array;
  createdAtMs: number;
  /** The first instant after its validity; null: unlimited. */
  untilMs: number | null;
  /** When it first used a right that the main key has not; null: it has not, or has none. */
  firstUsedAtMs: number | null;
}

interface NewProviderKey extends Omit<ProviderKey, 'id' | 'firstUsedAtMs'> {
  providerId: number;
  /** The most keys of the provider. */
  countMax: number;
}

export interface ProviderKeyStore {
  /** Adds a key. Returns `key_limit_reached` at `countMax`. */
  addKey(draft: NewProviderKey, act: Act): Promise<{ id: number } | 'key_limit_reached'>;
  /** Finds a key of a provider by its hash; null: none. The key may have expired. */
  findKey(providerId: number, keyHash: Uint8Array): Maybe<ProviderKey | null>;
  /**
   * Saves that a key used its right, and tells provider and operator, unless it did before or was
   * removed.
   */
  noteFirstUse(
    provider: Pick<Provider, 'id' | 'code'>,
    key: Pick<ProviderKey, 'id' | 'name' | 'keyHash'> & { scope: FurtherScope },
    nowMs: number,
  ): Promise<void>;
  /** Lists the keys of a provider, oldest first. */
  listKeys(providerId: number): Maybe<ProviderKey[]>;
  /** Removes a key. Returns false if the provider has none with the id. */
  removeKey(providerId: number, id: number, act: Act): Promise<boolean>;
}

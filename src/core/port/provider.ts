/** Providers: their records and their part of the port. */

import type { Act } from './audit.ts';
import type { Maybe } from './maybe.ts';
import type { OwnMy, OwnMyCut } from './my.ts';
import type { ChangedButtons, OwnQuiet } from './reminder.ts';
import type { OwnRideTerms } from './ride.ts';
import type { OwnPolicy } from './slot.ts';
import type { OwnFigures } from './subscription-figures.ts';

export const PLANS = ['basic', 'pro', 'enterprise'] as const;

export const RC2_BODY = ['on', 'off'] as const;

export type Plan = (typeof PLANS)[number];

/** The terms of `add-install` for the bot of a provider. */
export interface OwnBot {
  /**
   * `on`: `rc` 2 is for the provider's own links alone, and its body names the link; `off`: as the
   * contract has it; null: as `legacy.rc2_body` of the operator says.
   */
  rc2Body: (typeof RC2_BODY)[number] | null;
  /** 1: codes of 8 to 11 signs are accepted, see `CHOSEN_CODE` of core/formats.ts. */
  shortCodes: 0 | 1;
}

/** The fields that a provider itself may set. */
export interface OwnTerms extends OwnPolicy, OwnRideTerms, OwnMy, OwnBot, OwnFigures, OwnQuiet {}

/** The fields of a provider that can be set. */
export interface ProviderTerms extends OwnTerms, OwnMyCut {
  name: string;
  plan: Plan;
  /** First moment after the subscription; null: it has no end. */
  activeUntilMs: number | null;
  suspendedAtMs: number | null;
  /** Cap on limited links; null: the appliance's `linksPerProviderMax`. */
  installCountMax: number | null;
}

export interface Provider extends ProviderTerms, ChangedButtons {
  id: number;
  code: string;
  installCount: number;
  createdAtMs: number;
  /** Until when a person looked through what keys changed: core/unconfirmed.ts. */
  confirmedAtMs: number;
  /** SHA-256 of the key. */
  keyHash: Uint8Array;
  /** SHA-256 of the previous key, which is valid until `previousKeyUntilMs`. */
  previousKeyHash: Uint8Array | null;
  previousKeyUntilMs: number | null;
}

/** A change of a provider; absent fields stay unchanged. */
export type ProviderChange = Partial<ProviderTerms>;

/** The terms of a new provider; absent ones have their usual value. */
export type GivenProviderTerms = ProviderChange &
  Pick<ProviderTerms, 'name' | 'plan' | 'activeUntilMs' | 'installCountMax'>;

export type NewProvider = GivenProviderTerms & Pick<Provider, 'code' | 'keyHash' | 'createdAtMs'>;

/** The sessions and invitations that a rotation of the main key ends. */
export interface EndedByRotation {
  sessionCount: number;
  invitationCount: number;
}

export interface ProviderStore {
  /** Adds a provider. Returns `provider_code_exists` if another one has the code. */
  addProvider(draft: NewProvider, act: Act): Promise<'ok' | 'provider_code_exists'>;
  /** Finds a provider by its code; null: there is none. */
  findProvider(code: string): Maybe<Readonly<Provider> | null>;
  /** Lists all providers. */
  listProviders(): Promise<Provider[]>;
  /** Lists at most `countMax` providers with an id above `afterId`, in the order of their ids. */
  pageProviders(afterId: number, countMax: number): Promise<Provider[]>;
  /** Changes a provider. Returns `provider_not_found` if none has the code. */
  updateProvider(
    code: string,
    change: ProviderChange,
    act: Act,
  ): Promise<'ok' | 'provider_not_found'>;
  /**
   * Gives a provider a new key; the present one stays valid until `previousUntilMs`, but the
   * sessions that it opened and the open invitations to the provider end. Returns
   * `provider_not_found` if none has the code.
   */
  rotateKey(
    code: string,
    keyHash: Uint8Array,
    previousUntilMs: number,
    act: Act,
  ): Promise<EndedByRotation | 'provider_not_found'>;
  /**
   * Ends a provider for good: revokes its keys, ends its subscription, disables its webhooks.
   * Returns `provider_not_found` if none has the code.
   */
  closeProvider(code: string, act: Act): Promise<{ id: number } | 'provider_not_found'>;
  /**
   * Deletes some records of a closed provider, and the provider with the last of them; devices
   * stay. Returns `more` if records are left, `notified` if 50 devices
   * were notified too, and `provider_not_found` if no provider has the id.
   */
  removeProvider(id: number): Promise<'more' | 'notified' | 'ok' | 'provider_not_found'>;
}

/** Ends of limited links: their part of the port. */

import type { Act } from './audit.ts';
import type { AddRefusal } from './link.ts';
import type { Maybe } from './maybe.ts';

export type EndedName = Extract<
  AddRefusal,
  'install_code_exists' | 'install_code_ended' | 'subscription_key_ended'
>;

/** The slots that a link had when it ended. */
export interface FreedSlots {
  freedCount: number;
}

export interface RevokedLink extends FreedSlots {
  /** True if it had a subscription key, which no longer belongs to it. */
  hadKey: boolean;
  /** Devices whose tokens may have ended. */
  deviceIds: readonly number[];
}

/**
 * The code and subscription key of a removed or revoked link cannot make a link again while its
 * tombstone is kept. Each method returns `install_not_found` if the provider has no link with the
 * id.
 */
export interface LinkEndStore {
  /**
   * Frees the slots of a link that were taken since a time, or all, with their ends in its history.
   */
  freeSlots(
    providerId: number,
    installId: number,
    act: Act,
    sinceMs?: number,
  ): Promise<FreedSlots | 'install_not_found'>;
  /**
   * Gives a link another code and no subscription key, frees its slots, and deletes the
   * registrations that it claimed. Searches all registrations, with a `turn` every
   * few ms. Returns `install_code_exists` if another link has or had the code.
   */
  revokeLink(
    providerId: number,
    installId: number,
    installCode: string,
    act: Act,
    turn?: () => Promise<void>,
  ): Promise<RevokedLink | 'install_not_found' | 'install_code_exists'>;
  /**
   * Removes a link. Messages to its devices, and their registrations, stay. With `keepsKey` another
   * link may have its subscription key.
   */
  removeLink(
    providerId: number,
    installId: number,
    act: Act,
    keepsKey?: boolean,
  ): Promise<FreedSlots | 'install_not_found'>;
  /**
   * Returns the refusal of a new link because an ended link had the code, or at this provider the
   * subscription key of this hash; null: no such link.
   */
  findEnded(
    providerId: number,
    name: { installCode: string } | { subscriptionKeyHash: string },
  ): Maybe<EndedName | null>;
  /** Deletes some tombstones from before a time, oldest first. Returns false if there were none. */
  forgetTombstones(endedBeforeMs: number): Promise<boolean>;
}

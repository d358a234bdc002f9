/** Ends of limited links: their part of the port. */

import type { Act } from './audit.ts';
import type { AddRefusal } from './install.ts';
import type { Maybe } from './maybe.ts';

export type EndedName = Extract<
  AddRefusal,
  'install_code_exists' | 'install_code_ended' | 'subscription_key_ended'
>;

/** The slots that a link had when it ended. */
export interface FreedSlots {
  freedCount: number;
}

export interface RevokedInstall extends FreedSlots {
  /** True if it had a subscription key, which is no longer its key. */
  hadKey: boolean;
  /** Devices whose tokens may have died. */
  deviceIds: readonly number[];
}

/**
 * A code or subscription key of a link that was removed or revoked makes no link again, for as long
 * as its tombstone is kept. Each method returns `install_not_found` if the provider has no link
 * with the id.
 */
export interface LinkEndStore {
  /** Frees all slots of a link, with their ends in its history. */
  freeSlots(
    providerId: number,
    installId: number,
    act: Act,
  ): Promise<FreedSlots | 'install_not_found'>;
  /**
   * Gives a link another code and no subscription key, frees its slots, and deletes the
   * registrations that it claimed; they are searched for among all, with a `turn` after each piece
   * of some ms. Returns `install_code_exists` if the code is, or was, that of another link.
   */
  revokeInstall(
    providerId: number,
    installId: number,
    installCode: string,
    act: Act,
    turn?: () => Promise<void>,
  ): Promise<RevokedInstall | 'install_not_found' | 'install_code_exists'>;
  /** Removes a link. What was sent to its devices, and their registrations, stay. */
  removeInstall(
    providerId: number,
    installId: number,
    act: Act,
  ): Promise<FreedSlots | 'install_not_found'>;
  /**
   * Returns the refusal of a new link with this code, or of the provider with the subscription key
   * of this hash, because a link with it has ended; null: there is none.
   */
  findEnded(
    providerId: number,
    name: { installCode: string } | { subscriptionKeyHash: string },
  ): Maybe<EndedName | null>;
  /** Deletes some tombstones from before a time, oldest first. Returns false if there were none. */
  forgetTombstones(endedBeforeMs: number): Promise<boolean>;
}

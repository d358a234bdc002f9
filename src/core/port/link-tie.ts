/** Ties: keys of a panel that become those of links with a code. Their part of the port. */

import type { Act } from './audit.ts';
import type { LinkSelector } from './link.ts';
import type { Maybe } from './maybe.ts';

/**
 * `waits`: the provider must agree; `tied`: what was is kept; `undone`: only the provider may tie
 * it again.
 */
export const TIE_STATES = ['waits', 'tied', 'undone'] as const;
export type TieState = (typeof TIE_STATES)[number];

/** A fetch of a subscription key with the code of a link. */
export interface TieFetch {
  providerId: number;
  /** SHA-256 of the key, hexadecimal. */
  keyHash: string;
  /** The code in the request. */
  installCode: string;
  hwid: string;
}

/** The facts by which `judgeTie` of core/link-tie.ts decides. */
export interface TieFacts {
  /** False: the provider has not switched ties on. */
  isOn: boolean;
  /** Null: this fetch is the first one of its key and code. */
  tie: { state: TieState; atMs: number } | null;
  /** The link of the code; null: the provider has none. */
  link: { status: number; installLimit: number; deviceCount: number; hasKey: boolean } | null;
  /** The other link that has the key; null: none has. */
  former: FormerLink | null;
  /** True: a link with the key was removed or revoked. */
  isEnded: boolean;
  /** Ties of the provider within the last hour. */
  hourCount: number;
}

interface FormerLink {
  isOfGate: boolean;
  deviceCount: number;
  /** Its devices without a slot on the link of the code. */
  outsideCount: number;
  /** True if the device that asks is one of its devices. */
  hasCaller: boolean;
}

/** A tie in a list. */
export interface Tie {
  id: number;
  state: TieState;
  /** The link of the code. */
  installId: number;
  note: string | null;
  /** When a fetch last asked for it, to a day; that of a tie: when it was made. */
  atMs: number;
  /** The link that has the key now, or had it until the tie; null: none. */
  formerId: number | null;
  /** Devices of that link that move, or moved, to the link of the code. */
  movingCount: number;
  /** Those of them for which it has no slot, and who lose, or lost, theirs. */
  leftCount: number;
}

/** A tie that was made. */
export interface MadeTie {
  done: 'tied';
  movedCount: number;
  leftCount: number;
}

/** Reasons for which no tie is made. */
export type TieRefusal =
  /** The provider has no such link, or no such tie. */
  | 'install_not_found'
  | 'tie_not_found'
  /** The link has another key. */
  | 'link_has_key'
  /** Another link has or had the key, and the proxy did not make it. */
  | 'subscription_key_exists'
  /** The links are no longer what they were. */
  | 'tie_changed'
  /** The provider has used up its ties of the hour. */
  | 'ties_limit_reached';

export interface LinkTieStore {
  /** Finds the facts about a fetch; null: its code names no link without a key. */
  findTieFacts(fetch: TieFetch, nowMs: number): Maybe<TieFacts | null>;
  /**
   * Ties the key of a fetch to the link of its code, or notes that it waits, by `judgeTie`. Returns
   * whether the key was tied.
   */
  tieByFetch(fetch: TieFetch, act: Act): Promise<boolean>;
  /** Makes a tie that waits or was undone, for its provider. */
  agreeTie(providerId: number, id: number, act: Act): Promise<MadeTie | TieRefusal>;
  /**
   * Gives a link a key for its provider. A link that the proxy made for the key is joined with it.
   * `done` is `same` if it has the key, and `given` if no link had it.
   */
  giveKey(
    providerId: number,
    install: LinkSelector,
    keyHash: string,
    act: Act,
  ): Promise<MadeTie | { done: 'given' | 'same' } | TieRefusal>;
  /**
   * Undoes a tie, and gives the former link back with its devices, but for those that left the link
   * since; or ends one that waits. Neither is made by a fetch again.
   */
  undoTie(providerId: number, id: number, act: Act): Promise<{ done: 'undone' } | TieRefusal>;
  /** Lists the provider's ties in a state, oldest first. */
  listTies(
    providerId: number,
    state: TieState,
    page: { afterId: number; sinceMs?: number; countMax: number },
  ): Maybe<Tie[]>;
  /** Returns whether fetches may tie keys of the provider; null: there is no such provider. */
  findTiesSwitch(providerId: number): Maybe<boolean | null>;
  /** Switches the ties by fetches on or off. */
  switchTies(providerId: number, isOn: boolean, act: Act): Promise<void>;
  /** Deletes some ties from before a time, oldest first. Returns false if there were none. */
  forgetTies(beforeMs: number): Promise<boolean>;
}

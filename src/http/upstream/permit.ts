/** The permission of a request to ask a panel, and what its answer gives. */

import type { FullLinkRefused } from '../../core/full-link.ts';
import type { AdmittedDevice } from '../../core/port/install.ts';
import type { Maybe } from '../../core/port/maybe.ts';
import type { GateReason } from '../gate/texts.ts';
import type { Obstacle, Outcome } from './answers.ts';

/**
 * Runs `make` unless the client has reached its limit of new links; counts it if the outcome is
 * `isMade`. Null: the limit is reached.
 */
export type LinkLimit = <T>(
  make: () => Promise<T>,
  isMade: (outcome: T) => boolean,
) => Promise<T | null>;

/** A refusal with a text for the user. */
export interface Denied {
  reason: GateReason;
  /** The name under which it is counted, unless that is `reason`. */
  outcome?: Outcome;
  isGuess?: boolean;
  /** True if no link was looked for, or none has the name. */
  isUnnamed?: boolean;
  /** The refusal of a full link. */
  full?: FullLinkRefused;
  /** True for a browser at the address of an open link: the page of users opens by it. */
  opensPage?: boolean;
}

/** The permission to ask the panel, and the steps after its answer. */
export interface Passage {
  /**
   * Judges the request after a subscription of the panel, which proves the token in its path;
   * until then it counts nothing, and its failures are guesses. Null: it is judged.
   */
  judge: ((nowMs: number) => Promise<Passage | Denied>) | null;
  /**
   * Takes the slot, and creates the link of a new key, after the panel has answered; returns the
   * link, or a refusal that arose since. Null: the request takes no slot.
   */
  admit: (() => Promise<AdmittedDevice | Denied | Obstacle>) | null;
  /** True if the answer must be a subscription for a slot: GET of a device without one. */
  takesSlot: boolean;
  /** True if a panel without a name may also prove the key by another answer. */
  believesOther: boolean;
  /** The refusal of a device without a slot after an answer that proves nothing. */
  unknown: Denied;
  /** Returns whether the device gets an answer that does not prove its token. */
  passesUnproven(): Maybe<boolean>;
  /** The key that a subscription of the panel proves; null: none names the link. */
  key: string | null;
  /** True if the page of users opens by the address of the request. */
  opensPage: boolean;
  /** The link that would admit the device, which takes a slot; null: none yet, or no slot. */
  link: AdmittedDevice | null;
  /** True: the app sends no HWID, and shares a slot with its kind. */
  isShared: boolean;
  /** True if the device has its slot: it is seen even if the panel answers 304. */
  holdsSlot: boolean;
  /** True for a key or code without a link: a guess if the panel does not know it either. */
  isNewKey: boolean;
  /** True for an unlisted path without a key: a guess if the panel has nothing there. */
  isOtherPath: boolean;
  /** True if the answer must be a page. */
  isForPage: boolean;
  /** True if the answer is for every client. */
  isForAll: boolean;
}

const UNKNOWN: Denied = { reason: 'link_not_found', isGuess: true };
/** The answer to an app without a HWID must not reveal whether the link exists. */
const UNKNOWN_UNNAMED: Denied = { reason: 'hwid_required', isGuess: true };
export const JUDGED: Passage = {
  judge: null,
  admit: null,
  key: null,
  takesSlot: false,
  believesOther: false,
  unknown: UNKNOWN,
  passesUnproven: () => false,
  opensPage: true,
  link: null,
  isShared: false,
  holdsSlot: false,
  isNewKey: false,
  isOtherPath: false,
  isForPage: false,
  isForAll: false,
};
export const FREELY: Passage = { ...JUDGED, isForAll: true };
export const BY_OTHER_PATH: Passage = { ...FREELY, isOtherPath: true };
export const FOR_PAGE: Passage = { ...JUDGED, isForPage: true };

/** The refusal of a key that is not known, to a device with this HWID. */
export const unknownTo = (hwid: string | null): Denied =>
  hwid === null ? UNKNOWN_UNNAMED : UNKNOWN;

/** Returns whether a refusal is that of a request that names no link. */
export const isOfStranger = ({ isGuess, isUnnamed, reason }: Denied): boolean =>
  reason === 'link_not_found' || isGuess === true || isUnnamed === true;

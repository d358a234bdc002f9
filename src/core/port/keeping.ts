/** The part of the port that deletes what is over: ledgers, distributions, strangers. */

import type { Cursor } from './page.ts';

/** Position of a look at what has finished. */
export type FinishedCursor = Cursor<'finished'>;

/** Position of a look at strangers. */
export type StrangerCursor = Cursor<'stranger'>;

export interface KeepingStore {
  /**
   * Deletes the ledger, and what they say, of some distributions that finished before and have
   * expired, going on from `after`. Says where to go on; null: there is nothing more.
   */
  pruneLedger(
    finishedBeforeMs: number,
    nowMs: number,
    after: FinishedCursor | null,
  ): Promise<FinishedCursor | null>;
  /** Deletes some distributions that finished before, of what was pruned. False: none was left. */
  forgetDistributions(finishedBeforeMs: number): Promise<boolean>;
  /** Notes that a device showed a token: it checked in where the token has a place. */
  noteSeen(deviceId: number, tokenId: number, nowMs: number): Promise<void>;
  /**
   * Deletes what some devices said at providers where they were not seen since and are on no link
   * or binding, and with it their registration there, unless its device was seen since. False: none
   * was left.
   */
  forgetVisits(seenBeforeMs: number): Promise<boolean>;
  /**
   * Deletes some strangers, which are devices on no link and tied to no binding: those that were
   * not seen since, and, if there are more than `countMax`, those not seen for longest. Of these,
   * all that hold no token go before the first that does. Says where to go on; null: there is
   * nothing more.
   */
  forgetStrangers(
    bounds: { seenBeforeMs: number; countMax: number },
    after: StrangerCursor | null,
  ): Promise<StrangerCursor | null>;
}

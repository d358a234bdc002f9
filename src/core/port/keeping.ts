/** The part of the port that deletes old records: ledgers, distributions, unattached devices. */

import type { Cursor } from './page.ts';

/** Position of `pruneLedger`. */
export type FinishedCursor = Cursor<'finished'>;

/** Position of `forgetModels`. */
export type ModelCursor = Cursor<'model'>;

/** Position of `forgetStrangers`. */
export type StrangerCursor = Cursor<'stranger'>;

export interface KeepingStore {
  /**
   * Deletes ledger and payload of some distributions after the position that finished before a time
   * and have expired. Returns the next position; null: it is done.
   */
  pruneLedger(
    finishedBeforeMs: number,
    nowMs: number,
    after: FinishedCursor | null,
  ): Promise<FinishedCursor | null>;
  /**
   * Deletes some distributions with a pruned ledger that finished before a time. Returns false if
   * there were none.
   */
  forgetDistributions(finishedBeforeMs: number): Promise<boolean>;
  /** Records that a device showed a token: a check-in with the providers of the token. */
  noteSeen(deviceId: number, tokenId: number, nowMs: number): Promise<void>;
  /**
   * Deletes the facts that some devices reported to providers which have not seen them since a time
   * and to which they are not attached; and their registrations there, unless the device was seen
   * since. Returns false if there were none.
   */
  forgetVisits(seenBeforeMs: number): Promise<boolean>;
  /**
   * Empties the models of some devices and refused devices after the position, and shortens their
   * `User-Agent`, as `withoutModel` of core/privacy.ts does. Returns the next position; null: it is
   * done.
   */
  forgetModels(after: ModelCursor | null): Promise<ModelCursor | null>;
  /**
   * Deletes some strangers, which are devices attached to no link or binding: those not seen since
   * a time, and beyond `countMax` those not seen for longest; devices without a token go first.
   * Returns the next position; null: it is done.
   */
  forgetStrangers(
    bounds: { seenBeforeMs: number; countMax: number },
    after: StrangerCursor | null,
  ): Promise<StrangerCursor | null>;
}

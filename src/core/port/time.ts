/** The time by the steady clock of each machine that serves: records and their part of the port. */

import type { Act } from './audit.ts';
import type { Maybe } from './maybe.ts';
import type { Cursor } from './page.ts';

/** Position of `cutFuture`. */
export type FutureCursor = Cursor<'future'>;

/** A leap of a machine's clock, which is not over. */
export interface Leap {
  /** Time by which the clock was ahead of the steady time when it leapt, ms; below 0: behind it. */
  leadMs: number;
  /** {@link KeptTime.ranMs} at that moment. */
  sinceRanMs: number;
  /** Time by which a clock that is right may be ahead of the steady time, ms. */
  slackMs: number;
}

export interface KeptTime {
  /** Name of the node; empty: the one machine of a file. */
  name: string;
  /** The steady time, UTC ms. */
  atMs: number;
  /** Time for which servers ran, ms. */
  ranMs: number;
  leap: Leap | null;
  /** Time for which leaps suspended deletion, ms, by the day of {@link ranMs}. */
  spentMs: Readonly<Record<string, number>>;
}

export interface TimeStore {
  /** Lists the times of all machines, the latest first. */
  listTimes(): Maybe<KeptTime[]>;
  /**
   * Stores the time of a machine. Returns false if its leap is not `leap` in the store: the
   * operator has confirmed it. Beyond a hundred machines those with the earliest time are deleted.
   */
  saveTime(time: KeptTime, leap: Leap | null): Promise<boolean>;
  /** Takes the clocks that leapt for right. Returns their number. */
  trustClocks(act: Act): Promise<number>;
  /**
   * Cuts some records after the position that were made after `nowMs` to their longest life. Only
   * for a clock that is right. Returns the next position; null: it is done.
   */
  cutFuture(nowMs: number, after: FutureCursor | null): Promise<FutureCursor | null>;
}

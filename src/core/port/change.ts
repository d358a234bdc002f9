/** The newest rows, by which an open page learns of changes; `core/changes.ts` compares them. */

/** The most rows of each kind. */
export const NEWEST_COUNT = 100;

/** A row with a mark that changes when the shown part of the row changes. */
export interface Marked {
  id: number;
  mark: string;
}

/** The newest rows of all providers, newest first. */
export interface NewestOfAll {
  slots: { id: number; installId: number; providerId: number }[];
  /** Blocks of the audit log after a number; `entries` is null if they are long. */
  blocks: { number: number; entries: string | null }[];
}

/** The newest rows of a provider, newest first. */
export interface NewestOfProvider {
  /** Slots that ended. */
  slotEnds: { id: number; installId: number }[];
  /** The newest distributions, and unfinished ones. */
  messages: Marked[];
  jobs: (Marked & { isOver: number })[];
  /** Changes with each deed that has no entry in the audit log yet. */
  unlisted: string;
  /** Changes with the figures about messages of the day. */
  figures: string;
}

export interface ChangeStore {
  /** Returns a text that changes with each commit of any process; it may change without one. */
  readCommitMark(): Promise<string>;
  /** Reads slots with an id above `slotId`, and blocks after `blockNumber`. */
  readNewestOfAll(after: { slotId: number; blockNumber: number }): Promise<NewestOfAll>;
  /** Reads the newest rows of a provider; `day`: days since 1970. */
  readNewestOf(providerId: number, day: number): Promise<NewestOfProvider>;
}

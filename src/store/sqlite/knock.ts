/**
 * Turns of processes at the database. SQLite knows no queue for its lock: whoever commits batch
 * after batch leaves gaps of microseconds, and somebody who tries every millisecond or two could
 * miss all of them. So those who wait knock, and those who are busy listen for it and leave a gap
 * that is wide enough. A knock moves the time of the lock file, which nobody reads.
 */

import { statSync, utimesSync } from 'node:fs';

export interface Knock {
  /** Tells the others that somebody waits. */
  knock(): void;
  /** True if anybody has knocked since this was asked last. */
  hasKnocked(): boolean;
}

/** A door that nobody else comes to: a database of one process alone. */
export const NOBODY_ELSE: Knock = { knock: () => undefined, hasKnocked: () => false };

/** Knocks at `file`, the same for all who share the database; at none while it is not there. */
export function knockAt(file: string): Knock {
  let heardMs = timeOf(file);
  return {
    knock: () => {
      // Another time is all it takes: no clock is asked.
      const seconds = (timeOf(file) + 1) / 1000;
      try {
        utimesSync(file, seconds, seconds);
      } catch {
        // On a disk that takes nothing any more there is nothing to wait for either.
      }
    },
    hasKnocked: () => {
      const timeMs = timeOf(file);
      const isNew = timeMs !== heardMs;
      heardMs = timeMs;
      return isNew;
    },
  };
}

function timeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

/**
 * Requests for SQLite's write lock, which has no queue: a process that commits batch after batch
 * leaves gaps too short for others. So a waiting process changes the time of the lock file, and a
 * busy process that notices it leaves a longer gap.
 */

import { statSync, utimesSync } from 'node:fs';

export interface LockRequests {
  /** Requests the lock from the process that holds it. */
  request(): void;
  /** Returns true if there was a request since the last call. */
  takeRequest(): boolean;
}

/** For a database that one process uses alone. */
export const NO_REQUESTS: LockRequests = { request: () => undefined, takeRequest: () => false };

/** Requests by `file`, the same for all processes that use the database. */
export function lockRequestsBy(file: string): LockRequests {
  let seenMs = timeOf(file);
  return {
    request: () => {
      // Any other time works.
      const seconds = (timeOf(file) + 1) / 1000;
      try {
        utimesSync(file, seconds, seconds);
      } catch {
        // A disk that cannot be changed accepts no writes either.
      }
    },
    takeRequest: () => {
      const timeMs = timeOf(file);
      const isNew = timeMs !== seenMs;
      seenMs = timeMs;
      return isNew;
    },
  };
}

function timeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

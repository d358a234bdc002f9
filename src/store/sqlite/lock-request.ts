/**
 * Requests for SQLite's write lock, which has no queue: a process that commits batch after batch
 * leaves gaps too short for others. So one that waits changes the time of the lock file, and a busy
 * one that sees it leaves a gap that is wide enough.
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
      // Any other time will do.
      const seconds = (timeOf(file) + 1) / 1000;
      try {
        utimesSync(file, seconds, seconds);
      } catch {
        // A disk that takes no change takes no write either.
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

/**
 * Watches changes by other processes: a check once a second reads SQLite's counter of their
 * commits.
 */

import type { Store } from '../../core/port/store.ts';
import type { Context } from './context.ts';
import type { Processes } from './node.ts';

/** Time between two checks, and so the longest delay of another process's change, ms. */
const CHECK_MS = 1_000;

export function watchStore(
  { db, clock }: Context,
  processes: Processes,
): Pick<Store, 'watch' | 'readCommitMark'> {
  const counter = db.compile<{ data_version: number }>('PRAGMA data_version');

  /** Null if it cannot be read: then anything may have changed. */
  function commitCount(): number | null {
    try {
      db.read();
      return counter.get()?.data_version ?? null;
    } catch {
      return null;
    }
  }

  return {
    readCommitMark: async () => `${db.version()}`,
    watch: (onChange) => {
      let known = commitCount();
      let isOver = false;
      const check = () => {
        if (isOver) return;
        const count = commitCount();
        if (count === null || count !== known) onChange('all');
        known = count;
        // A failed check is retried by the next.
        const released = processes.releaseDead().catch(() => false);
        void released.then((isOne) => isOne && !isOver && onChange([]));
        void clock.sleep(CHECK_MS).then(check);
      };
      void clock.sleep(CHECK_MS).then(check);
      return () => {
        isOver = true;
      };
    },
  };
}

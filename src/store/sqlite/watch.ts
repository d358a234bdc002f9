/**
 * Changes of other processes. SQLite tells nobody of a commit, so a watched database is looked at
 * once a second, by its counter of commits of other connections. One that nobody watches is left
 * alone.
 */

import type { Store } from '../../core/port/store.ts';
import type { Context } from './context.ts';
import type { Processes } from './node.ts';

/** Time between two looks, and so the longest until a change of others takes effect, ms. */
const LOOK_MS = 1_000;

export function watchStore({ db, clock }: Context, processes: Processes): Pick<Store, 'watch'> {
  const counter = db.compile<{ data_version: number }>('PRAGMA data_version');

  /** Null when it cannot be read: then anything may have changed. */
  function commitCount(): number | null {
    try {
      db.read();
      return counter.get()?.data_version ?? null;
    } catch {
      return null;
    }
  }

  return {
    watch: (onChange) => {
      let known = commitCount();
      let isOver = false;
      const look = () => {
        if (isOver) return;
        const count = commitCount();
        if (count === null || count !== known) onChange('all');
        known = count;
        // What fails is tried again with the next look.
        const released = processes.releaseDead().catch(() => false);
        void released.then((isOne) => isOne && !isOver && onChange([]));
        void clock.sleep(LOOK_MS).then(look);
      };
      void clock.sleep(LOOK_MS).then(look);
      return () => {
        isOver = true;
      };
    },
  };
}

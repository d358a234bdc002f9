/**
 * Carries the write-ahead log into the database. SQLite would do so within the commit that makes
 * the log 1000 pages long, before that is answered; this is done between two turns, when the
 * answers of the last commit have left.
 */

import type { Connection } from './connection.ts';

/** Pages that the log takes at least before they are carried … */
const STEP_PAGES_MIN = 1_000;
/** … and at most: a log that is read costs the more the longer it is. */
const STEP_PAGES_MAX = 4_000;
/** Beyond this SQLite carries them at a commit; only if it must not be done here, pages. */
const STEP_PAGES_AT_COMMIT = 2 * STEP_PAGES_MAX;
/**
 * Longest time that everybody may wait for it, ms: where the same pages are written again and
 * again, four times the log takes hardly longer, and there are fewer pages to carry in all.
 */
const TOOK_MAX_MS = 4;

export class Checkpoints {
  readonly #run: () => void;
  #stepPages = STEP_PAGES_MIN;
  /** Pages left in the log by the last one. */
  #leftPages = 0;

  constructor(
    private readonly db: Connection,
    private readonly steadyMs: () => number,
  ) {
    db.native.run(`PRAGMA wal_autocheckpoint = ${STEP_PAGES_AT_COMMIT}`);
    const statement = db.compile('PRAGMA wal_checkpoint(PASSIVE)');
    this.#run = () => {
      db.beFree();
      statement.all();
    };
  }

  isDue(): boolean {
    const pages = this.db.pagesToCarry();
    // Others carry too, and a log begins anew: what was left is not there for ever.
    if (pages < this.#leftPages) this.#leftPages = Math.max(pages, 0);
    return pages >= this.#leftPages + this.#stepPages;
  }

  /** Carries pages, outside of a write; those that others still read are left for the next time. */
  carry(): void {
    const beganMs = this.steadyMs();
    try {
      this.#run();
    } catch {
      // The disk is full, say. The log has everything: nothing is lost, and it is tried again.
    }
    const isLong = this.steadyMs() - beganMs > TOOK_MAX_MS;
    const step = isLong ? this.#stepPages / 2 : this.#stepPages * 2;
    this.#stepPages = Math.min(Math.max(step, STEP_PAGES_MIN), STEP_PAGES_MAX);
    this.#leftPages = this.db.pagesToCarry();
  }
}

/**
 * Makes checkpoints of the write-ahead log between two turns: SQLite's own would delay an answer.
 */

import type { Connection } from './connection.ts';

/** Pages in the log before a checkpoint: at least … */
const STEP_PAGES_MIN = 1_000;
/** … and at most: reads cost more with a longer log. */
const STEP_PAGES_MAX = 4_000;
/** Pages above which SQLite makes a checkpoint at a commit, in case none can be made here. */
const STEP_PAGES_AT_COMMIT = 2 * STEP_PAGES_MAX;
/** Longest time of a checkpoint, ms. If the same pages are written often, longer logs cost less. */
const TOOK_MAX_MS = 4;

export class Checkpoints {
  readonly #checkpoint: () => void;
  #stepPages = STEP_PAGES_MIN;
  /** Pages that the last checkpoint left in the log. */
  #leftPages = 0;

  constructor(
    private readonly db: Connection,
    private readonly steadyMs: () => number,
  ) {
    db.native.run(`PRAGMA wal_autocheckpoint = ${STEP_PAGES_AT_COMMIT}`);
    const statement = db.compile('PRAGMA wal_checkpoint(PASSIVE)');
    this.#checkpoint = () => {
      db.endAll();
      statement.all();
    };
  }

  isDue(): boolean {
    const pages = this.db.logPages();
    // Other processes make checkpoints too, and a log starts again from the beginning.
    if (pages < this.#leftPages) this.#leftPages = Math.max(pages, 0);
    return pages >= this.#leftPages + this.#stepPages;
  }

  /** Makes a checkpoint, outside of a write. Pages that others still read stay in the log. */
  run(): void {
    const beganMs = this.steadyMs();
    try {
      this.#checkpoint();
    } catch {
      // For example, the disk is full. The log has everything, and the next turn retries.
    }
    const isLong = this.steadyMs() - beganMs > TOOK_MAX_MS;
    const step = isLong ? this.#stepPages / 2 : this.#stepPages * 2;
    this.#stepPages = Math.min(Math.max(step, STEP_PAGES_MIN), STEP_PAGES_MAX);
    this.#leftPages = this.db.logPages();
  }
}

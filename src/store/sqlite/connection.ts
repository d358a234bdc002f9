/**
 * A connection whose reads of one run of promise callbacks share one snapshot: those of a request,
 * say. Outside a transaction, every SELECT takes and drops a lock of its own, which for a look-up
 * by key costs twice the look-up. A snapshot never lasts until the event loop looks for new
 * requests: one that comes after another process's commit sees it.
 */

import type { Database, SQLQueryBindings, Statement } from 'bun:sqlite';

type Compiled = Statement<unknown, SQLQueryBindings[]>;

/** How many steps of promise callbacks after its last read a snapshot ends. */
const IDLE_STEPS_MAX = 12;

export class Connection {
  readonly #statements: Compiled[] = [];
  readonly #begin: Compiled;
  readonly #end: Compiled;
  readonly #rollback: Compiled;
  #isReading = false;
  /** Why a transaction that failed is still open: nobody may see what it left half done. */
  #stuckBy: unknown = null;
  #idleSteps = 0;

  constructor(readonly native: Database) {
    this.#begin = this.compile('BEGIN');
    this.#end = this.compile('COMMIT');
    this.#rollback = this.compile('ROLLBACK');
  }

  get inTransaction(): boolean {
    return this.native.inTransaction;
  }

  /** Compiles a statement, which lives as long as the connection. */
  compile<Row = unknown>(text: string): Statement<Row, SQLQueryBindings[]> {
    const statement = this.native.prepare<Row, SQLQueryBindings[]>(text);
    this.#statements.push(statement as Compiled);
    return statement;
  }

  /** To be called before a read: begins a snapshot, unless a transaction is open. */
  read(): void {
    this.#idleSteps = 0;
    if (this.#isReading) return;
    if (this.native.inTransaction) {
      if (this.#stuckBy !== null) this.beFree();
      return;
    }
    this.#begin.run();
    this.#isReading = true;
    queueMicrotask(this.#step);
  }

  #step = (): void => {
    if (!this.#isReading) return;
    this.#idleSteps += 1;
    if (this.#idleSteps > IDLE_STEPS_MAX) this.endReads();
    else queueMicrotask(this.#step);
  };

  /** Ends the snapshot. */
  endReads(): void {
    if (!this.#isReading) return;
    this.#isReading = false;
    if (!this.native.inTransaction) return;
    try {
      this.#end.run();
    } catch {
      // A snapshot that stays open would answer for ever with what it saw.
      this.rollBack();
    }
  }

  /**
   * Takes back what is open. Never throws: if that fails, every read and write does until it has
   * been taken back.
   */
  rollBack(): void {
    this.#stuckBy = null;
    if (!this.native.inTransaction) return;
    try {
      this.#rollback.run();
    } catch (error) {
      this.#stuckBy = error;
    }
  }

  /** Ends what is open, so that a write may begin. Throws when it cannot be ended. */
  beFree(): void {
    this.endReads();
    if (this.#stuckBy !== null) this.rollBack();
    if (this.#stuckBy === null) return;
    throw new Error('a write that failed cannot be taken back', { cause: this.#stuckBy });
  }

  /**
   * A database with statements left does not really close: its last writes stay in the write-ahead
   * log, and whoever copies the file alone misses them.
   */
  close(): void {
    this.endReads();
    for (const statement of this.#statements) statement.finalize();
    this.native.close();
  }
}

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
  #isReading = false;
  #idleSteps = 0;

  constructor(readonly native: Database) {
    this.#begin = this.compile('BEGIN');
    this.#end = this.compile('COMMIT');
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
    if (this.#isReading || this.native.inTransaction) return;
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

  /** Ends the snapshot, so that a write may begin. */
  endReads(): void {
    if (!this.#isReading) return;
    this.#isReading = false;
    if (!this.native.inTransaction) return;
    try {
      this.#end.run();
    } catch {
      // A snapshot that stays open would answer for ever with what it saw.
      this.native.run('ROLLBACK');
    }
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

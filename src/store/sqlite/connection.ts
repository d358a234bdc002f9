/**
 * A connection whose reads of one event-loop turn share one snapshot. Outside a transaction, every
 * SELECT takes and drops a lock of its own, which for a look-up by key costs twice the look-up.
 */

import type { Database, SQLQueryBindings, Statement } from 'bun:sqlite';

type Compiled = Statement<unknown, SQLQueryBindings[]>;

export class Connection {
  readonly #statements: Compiled[] = [];
  readonly #begin: Compiled;
  readonly #end: Compiled;
  #isReading = false;

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

  /** To be called before a read: begins this turn's snapshot, unless a transaction is open. */
  read(): void {
    if (this.#isReading || this.native.inTransaction) return;
    this.#begin.run();
    this.#isReading = true;
    setImmediate(() => this.endReads());
  }

  /** Ends this turn's snapshot, so that a write may begin. */
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

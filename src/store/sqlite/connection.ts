/**
 * A connection whose reads of one turn of the event loop share one snapshot. Outside a transaction,
 * every SELECT takes and drops a lock of its own, which for a look-up by key costs ten times the
 * look-up. A run of code that waits for nothing reads from one snapshot throughout, and none begins
 * with one that is older than a commit of anybody: the header of the WAL index tells. Where that
 * cannot be looked at, a snapshot ends with the run that began it.
 */

import type { Database, SQLQueryBindings, Statement } from 'bun:sqlite';
import type { SQL } from 'drizzle-orm';
import { type Statement as Prepared, statementOn } from './statement.ts';
import type { WalIndex } from './wal-index.ts';

type Compiled = Statement<unknown, SQLQueryBindings[]>;

export class Connection {
  readonly #statements: Compiled[] = [];
  readonly #begin: Compiled;
  readonly #end: Compiled;
  readonly #rollback: Compiled;
  #index: WalIndex | null;
  /** Moves on with each commit that was noticed. */
  #version = 0;
  #isReading = false;
  /** True if the snapshot was looked at in this run of code. */
  #isCurrent = false;
  #endsWithTurn = false;
  /** The reason that a failed transaction is still open: nobody may see what it left half done. */
  #stuckBy: unknown = null;

  constructor(
    readonly native: Database,
    index: WalIndex | null = null,
  ) {
    this.#begin = this.compile('BEGIN');
    this.#end = this.compile('COMMIT');
    this.#rollback = this.compile('ROLLBACK');
    this.#index = index;
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

  /** Compiles a template of SQL, which lives as long as the connection. */
  prepare<Row = unknown>(query: SQL): Prepared<Row> {
    return statementOn<Row>(this, query);
  }

  /**
   * A number that is another after each commit of anybody: what was read at one, outside of a
   * write, holds for as long as it stays. Not to be asked in the middle of a step.
   */
  version(): number {
    if (this.#index?.isAsNoted() !== true) {
      // Before the header is noted: a snapshot that is open may be of an older one.
      this.endReads();
      this.#index?.note();
      this.#version += 1;
    }
    return this.#version;
  }

  /** Number of pages in the log alone; 0 where that is not known. */
  pagesToCarry(): number {
    return this.#index?.pagesToCarry() ?? 0;
  }

  /** Sees to a snapshot before a read, unless a transaction is open. */
  read(): void {
    if (this.#isCurrent) return;
    if (!this.#isReading && this.native.inTransaction) {
      if (this.#stuckBy !== null) this.beFree();
      return;
    }
    this.version();
    if (!this.#isReading) {
      this.#begin.run();
      this.#isReading = true;
    }
    this.#isCurrent = true;
    queueMicrotask(this.#endRun);
  }

  #endRun = (): void => {
    this.#isCurrent = false;
    if (this.#index === null) {
      this.endReads();
    } else if (this.#isReading && !this.#endsWithTurn) {
      // Before the event loop waits: an idle process must not hold up those that tidy the log.
      this.#endsWithTurn = true;
      setImmediate(this.#endTurn);
    }
  };

  #endTurn = (): void => {
    this.#endsWithTurn = false;
    this.endReads();
  };

  /** Ends the snapshot. */
  endReads(): void {
    this.#isCurrent = false;
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
    // Closing takes the mapping away.
    this.#index = null;
    for (const statement of this.#statements) statement.finalize();
    this.native.close();
  }
}

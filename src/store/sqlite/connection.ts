/**
 * A connection whose reads within one run of code share one snapshot: outside a transaction every
 * SELECT takes a lock, which costs ten times a look-up by key. A snapshot is never older than the
 * last commit, which the header of the WAL index shows; if the header cannot be read, the snapshot
 * ends with the run.
 */

import type { Database, SQLQueryBindings, Statement } from 'bun:sqlite';
import { dirname } from 'node:path';
import type { SQL } from 'drizzle-orm';
import { fullDisk } from '../../disk/fault.ts';
import { isBusy } from '../../disk/lock.ts';
import { describeLock } from '../../disk/lock-holder.ts';
import type { StoreOptions } from '../kind.ts';
import { Troubles } from '../troubles.ts';
import { type Statement as Prepared, statementOn } from './statement.ts';
import type { WalIndex } from './wal-index.ts';

type Compiled = Statement<unknown, SQLQueryBindings[]>;

export class Connection {
  readonly #statements: Compiled[] = [];
  readonly #begin: Compiled;
  readonly #end: Compiled;
  readonly #rollback: Compiled;
  #index: WalIndex | null;
  /** Grows with each commit that was noticed. */
  #version = 0;
  #isReading = false;
  /** True if the snapshot was checked in this run of code. */
  #isCurrent = false;
  #endsWithTurn = false;
  /** The error of a rollback: until a rollback succeeds, reads would see unfinished writes. */
  #stuckBy: unknown = null;
  readonly #troubles: Troubles<string>;

  constructor(
    readonly native: Database,
    index: WalIndex | null = null,
    onTrouble?: StoreOptions['onTrouble'],
  ) {
    this.#troubles = new Troubles(() => describeLock(native.filename), onTrouble);
    this.#begin = this.compile('BEGIN');
    this.#end = this.compile('COMMIT');
    this.#rollback = this.compile('ROLLBACK');
    this.#index = index;
  }

  get inTransaction(): boolean {
    return this.native.inTransaction;
  }

  /** Returns the error for the caller: of a held lock or a full disk it is the store's own. */
  met(error: unknown): unknown {
    if (isBusy(error)) return this.#troubles.busy(this.#troubles.holder());
    const full = fullDisk(error, dirname(this.native.filename));
    return full === null ? error : this.#troubles.full(full.message);
  }

  /** Compiles a statement; it lives as long as the connection. */
  compile<Row = unknown>(text: string): Statement<Row, SQLQueryBindings[]> {
    const statement = this.native.prepare<Row, SQLQueryBindings[]>(text);
    this.#statements.push(statement as Compiled);
    return statement;
  }

  /** Compiles a template of SQL; it lives as long as the connection. */
  prepare<Row>(query: SQL<Row>): Prepared<Row> {
    return statementOn<Row>(this, query);
  }

  /** Returns a number that changes with each commit of any process; not for use within a step. */
  version(): number {
    if (this.#index?.isAsNoted() !== true) {
      // Before the header is noted, because an open snapshot may be older.
      this.endReads();
      this.#index?.note();
      this.#version += 1;
    }
    return this.#version;
  }

  /** Returns the number of pages in the log only; 0 if unknown. */
  logPages(): number {
    return this.#index?.logPages() ?? 0;
  }

  /** Begins or renews the snapshot before a read, unless a transaction is open. */
  read(): void {
    if (this.#isCurrent) return;
    if (!this.#isReading && this.native.inTransaction) {
      if (this.#stuckBy !== null) this.endAll();
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
      // Before the event loop waits, because an idle process must not delay checkpoints.
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
      // A snapshot that stays open would return old rows for ever.
      this.rollBack();
    }
  }

  /** Rolls back. Never throws: if it fails, every read and write throws until it succeeds. */
  rollBack(): void {
    this.#stuckBy = null;
    if (!this.native.inTransaction) return;
    try {
      this.#rollback.run();
    } catch (error) {
      this.#stuckBy = error;
    }
  }

  /**
   * Ends the snapshot and rolls back an open transaction, before a write. Throws when that fails.
   */
  endAll(): void {
    this.endReads();
    if (this.#stuckBy !== null) this.rollBack();
    if (this.#stuckBy === null) return;
    throw new Error('a write that failed cannot be taken back', { cause: this.#stuckBy });
  }

  /** Finalizes all statements and closes: a remaining one would keep the file and its log open. */
  close(): void {
    this.endReads();
    // Closing removes the mapping.
    this.#index = null;
    for (const statement of this.#statements) statement.finalize();
    this.native.close();
  }
}

/**
 * Group commit. The writes of one turn of the event loop run in one `BEGIN IMMEDIATE`, each in a
 * savepoint of its own, and none is answered before the commit is on disk. Under load, one fsync
 * pays for many writes; alone, a write costs what it always did.
 */

import { SQLiteError } from 'bun:sqlite';
import { WriteFailed } from '../../core/outcome.ts';
import type { Connection } from './connection.ts';

/** How long a write waits for another process that holds the database, ms. */
const LOCK_WAIT_MAX_MS = 10_000;
/** Pause between two attempts at the lock, ms: between this and twice this. */
const LOCK_PAUSE_MS = 2;

/** What the writes of a batch note, to be saved with them in one piece. */
export interface BatchNotes {
  /** How much is noted now. */
  mark(): number;
  /** Forgets what was noted since `mark`: the write that noted it was taken back. */
  undo(mark: number): void;
  /** Saves what is noted, within the transaction. */
  seal(): void;
  /** The batch is over, saved or not. */
  clear(): void;
}

/**
 * Told of every commit: how many writes were in it, for how long it had the lock, ms, and whether
 * it is on disk. One that did not get the lock had it for 0 ms.
 */
export type CommitObserver = (writeCount: number, tookMs: number, isSaved: boolean) => void;

interface Job {
  work: () => unknown;
  resolve: (value: unknown) => void;
  reject: (reason: unknown) => void;
}

export interface WriterOptions {
  notes?: BatchNotes | null;
  onCommit?: CommitObserver | null | undefined;
  /** How long a batch waits for the lock, ms. */
  lockWaitMaxMs?: number;
}

export class GroupWriter {
  #queue: Job[] = [];
  #isScheduled = false;
  /** Since when the lock is waited for, on the process's own steady clock; null: it is not. */
  #waitingSinceMs: number | null = null;
  #onIdle: (() => void)[] = [];
  readonly #db: Connection;
  readonly #batchMax: number;
  readonly #notes: BatchNotes | null;
  readonly #lockWaitMaxMs: number;
  readonly #sql: TransactionSql;
  readonly #onCommit: CommitObserver | null;
  #beganMs = 0;

  /** `batchMax`: the most writes in one commit; 1 is one commit per write. */
  constructor(
    db: Connection,
    batchMax: number,
    { notes = null, onCommit = null, lockWaitMaxMs = LOCK_WAIT_MAX_MS }: WriterOptions = {},
  ) {
    this.#db = db;
    this.#batchMax = batchMax;
    this.#notes = notes;
    this.#onCommit = onCommit;
    this.#lockWaitMaxMs = lockWaitMaxMs;
    this.#sql = prepareTransactionSql(db);
  }

  /**
   * Runs `work`, which must be synchronous, as one atomic write. Settles after the commit. Rejects
   * with {@link WriteFailed} when it could not be saved, else with what `work` threw.
   */
  run<T>(work: () => T): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#queue.push({ work, resolve: resolve as (value: unknown) => void, reject });
      if (!this.#isScheduled) this.#schedule();
    });
  }

  /** Settles when everything asked for so far is on disk or has failed. */
  async idle(): Promise<void> {
    if (this.#isScheduled) await new Promise<void>((resolve) => this.#onIdle.push(resolve));
  }

  #schedule(): void {
    this.#isScheduled = true;
    setImmediate(() => this.#turn());
  }

  #turn(): void {
    const batch = this.#queue.splice(0, this.#batchMax);
    if (!this.#begin(batch)) return;
    this.#commit(
      batch,
      batch.map((job) => runInSavepoint(this.#db, this.#sql, this.#notes, job)),
    );
    this.#goOn();
  }

  #goOn(): void {
    if (this.#queue.length > 0) {
      this.#schedule();
    } else {
      this.#isScheduled = false;
      for (const resolve of this.#onIdle.splice(0)) resolve();
    }
  }

  /** False: there is no lock; another attempt has been arranged, or the batch was refused. */
  #begin(batch: Job[]): boolean {
    this.#db.endReads();
    try {
      this.#sql.begin.run();
      this.#waitingSinceMs = null;
      this.#beganMs = performance.now();
      return true;
    } catch (error) {
      // Each attempt waits in SQLite too, so adding up the pauses would not give the time.
      const nowMs = performance.now();
      this.#waitingSinceMs ??= nowMs;
      if (isBusy(error) && nowMs - this.#waitingSinceMs < this.#lockWaitMaxMs) {
        this.#queue.unshift(...batch);
        setTimeout(() => this.#turn(), LOCK_PAUSE_MS * (1 + Math.random()));
        return false;
      }
      this.#waitingSinceMs = null;
      const fault = new WriteFailed('the database could not be locked for writing', {
        cause: error,
      });
      for (const job of batch) job.reject(fault);
      this.#onCommit?.(batch.length, 0, false);
      // What came in meanwhile gets its own chance.
      this.#goOn();
      return false;
    }
  }

  #commit(batch: Job[], results: Result[]): void {
    try {
      // A full disk can make SQLite roll the whole transaction back by itself.
      if (!this.#db.inTransaction) {
        const faults = results.map((result) => 'fault' in result && result.fault);
        const cause = faults.find((fault) => fault instanceof WriteFailed);
        throw new Error('SQLite rolled the transaction back', { cause });
      }
      this.#notes?.seal();
      this.#sql.commit.run();
    } catch (error) {
      if (this.#db.inTransaction) this.#sql.rollback.run();
      const fault = new WriteFailed('the commit failed', { cause: error });
      for (const job of batch) job.reject(fault);
      this.#onCommit?.(batch.length, performance.now() - this.#beganMs, false);
      return;
    } finally {
      this.#notes?.clear();
    }
    this.#onCommit?.(batch.length, performance.now() - this.#beganMs, true);
    batch.forEach((job, i) => {
      const result = results[i] as Result;
      if ('fault' in result) job.reject(result.fault);
      else job.resolve(result.value);
    });
  }
}

type Result = { value: unknown } | { fault: unknown };

/** Prepared once: they run with every write. */
function prepareTransactionSql(db: Connection) {
  return {
    begin: db.compile('BEGIN IMMEDIATE'),
    commit: db.compile('COMMIT'),
    rollback: db.compile('ROLLBACK'),
    savepoint: db.compile('SAVEPOINT job'),
    release: db.compile('RELEASE job'),
    rollbackTo: db.compile('ROLLBACK TO job'),
  };
}

type TransactionSql = ReturnType<typeof prepareTransactionSql>;

function runInSavepoint(
  db: Connection,
  transaction: TransactionSql,
  notes: BatchNotes | null,
  job: Job,
): Result {
  // An earlier job lost the transaction; #commit tells everybody.
  if (!db.inTransaction) return { fault: null };
  const mark = notes?.mark() ?? 0;
  try {
    transaction.savepoint.run();
    const value = job.work();
    transaction.release.run();
    return { value };
  } catch (error) {
    notes?.undo(mark);
    if (db.inTransaction) {
      transaction.rollbackTo.run();
      transaction.release.run();
    }
    return { fault: isStorageFault(error) ? asWriteFailed(error) : error };
  }
}

function asWriteFailed(error: unknown): WriteFailed {
  return new WriteFailed('a write failed', { cause: error });
}

function isBusy(error: unknown): boolean {
  return error instanceof SQLiteError && (error.code ?? '').startsWith('SQLITE_BUSY');
}

/** The storage gave way, as opposed to a mistake of ours such as a broken constraint. */
function isStorageFault(error: unknown): boolean {
  return (
    error instanceof SQLiteError &&
    /^SQLITE_(FULL|IOERR|BUSY|LOCKED|READONLY|CORRUPT|NOMEM|CANTOPEN|PROTOCOL)/.test(
      error.code ?? '',
    )
  );
}

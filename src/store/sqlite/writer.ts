/**
 * Group commit. The writes of one turn of the event loop run in one `BEGIN IMMEDIATE`, and none is
 * answered before the commit is on disk. Under load, one fsync pays for many writes; alone, a write
 * costs what it always did. A write that throws takes no other with it: the batch is taken back and
 * done again, each write in a savepoint of its own. Savepoints in the first place would cost every
 * write what only a fault needs.
 */

import { SQLiteError } from 'bun:sqlite';
import { WriteFailed } from '../../core/port/store.ts';
import { isBusy } from '../../disk/lock.ts';
import type { CommitObserver } from '../kind.ts';
import { Refusal } from '../refusal.ts';
import type { Connection } from './connection.ts';
import { type Knock, NOBODY_ELSE } from './knock.ts';

/** Longest wait of a write for another process that holds the database, ms. */
const LOCK_WAIT_MAX_MS = 10_000;
/** Pause between two attempts at the lock, ms: between this and three times this, at random. */
const LOCK_PAUSE_MS = 1;
/** Interval at which one who writes without a pause listens for others who wait, ms … */
const LISTEN_INTERVAL_MS = 20;
/** … and for how long it then leaves the lock to them, ms: longer than they pause. */
const GIVE_WAY_MS = 5;

/** Notes of the writes of a batch, saved in its transaction. */
export interface BatchNotes<Mark = unknown> {
  /** Returns the state of the notes, for {@link undo}. */
  mark(): Mark;
  /** Forgets what was noted since `mark`: the write that noted it was taken back. */
  undo(mark: Mark): void;
  /** Saves what is saved at the end of each write. */
  endWrite(): void;
  /** Saves what is saved at the end of the batch. */
  seal(): void;
  /** The batch is over. */
  clear(isSaved: boolean): void;
}

interface Job {
  work: () => unknown;
  resolve: (value: unknown) => void;
  reject: (reason: unknown) => void;
}

/** Work to be done now and then between commits, when nobody waits for an answer. */
interface Upkeep {
  isDue(): boolean;
  carry(): void;
}

export interface WriterOptions {
  notes?: BatchNotes;
  upkeep?: Upkeep | null;
  onCommit?: CommitObserver | null | undefined;
  /** Other processes that write. */
  others?: Knock;
  /** Longest wait of a batch for the lock, ms. */
  lockWaitMaxMs?: number;
  /** The process's own steady clock. */
  steadyMs?: () => number;
  /** Runs something after so many milliseconds. */
  later?: (run: () => void, ms: number) => void;
}

export class GroupWriter {
  #queue: Job[] = [];
  #isScheduled = false;
  /** Number of the first in the queue that ran beside a write that threw, and are done again. */
  #repeatCount = 0;
  /** Time from which the lock is waited for; null: it is not. */
  #waitingSinceMs: number | null = null;
  #listenedMs = Number.NEGATIVE_INFINITY;
  #beganMs = 0;
  #endedMs = Number.NEGATIVE_INFINITY;
  #onIdle: (() => void)[] = [];
  readonly #db: Connection;
  readonly #batchMax: number;
  readonly #notes: BatchNotes | null;
  readonly #upkeep: Upkeep | null;
  readonly #onCommit: CommitObserver | null;
  readonly #others: Knock;
  #lockWaitMaxMs: number;
  readonly #steadyMs: () => number;
  readonly #later: NonNullable<WriterOptions['later']>;
  readonly #sql: TransactionSql;

  /** `batchMax`: the most writes in one commit; 1 is one commit per write. */
  constructor(db: Connection, batchMax: number, options: WriterOptions = {}) {
    this.#db = db;
    this.#batchMax = batchMax;
    this.#notes = options.notes ?? null;
    this.#upkeep = options.upkeep ?? null;
    this.#onCommit = options.onCommit ?? null;
    this.#others = options.others ?? NOBODY_ELSE;
    this.#lockWaitMaxMs = options.lockWaitMaxMs ?? LOCK_WAIT_MAX_MS;
    this.#steadyMs = options.steadyMs ?? (() => performance.now());
    this.#later = options.later ?? setTimeout;
    this.#sql = prepareTransactionSql(db);
  }

  /**
   * Runs `work` as one atomic write. It must be synchronous, and change nothing but the database:
   * it runs again when a write beside it throws. Settles after the commit. Rejects with
   * {@link WriteFailed} when it could not be saved, else with what `work` threw; a {@link Refusal}
   * takes the write back and settles it with its value.
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

  /** Lets nothing wait for another process any longer than that; 0: a held lock refuses at once. */
  hasten(lockWaitMaxMs = 0): void {
    this.#lockWaitMaxMs = lockWaitMaxMs;
  }

  #schedule(): void {
    this.#isScheduled = true;
    setImmediate(() => this.#turn());
  }

  #turn(): void {
    if (this.#upkeep?.isDue()) this.#upkeep.carry();
    if (this.#queue.length === 0) {
      this.#goOn();
      return;
    }
    if (this.#mustGiveWay()) {
      this.#later(() => this.#turn(), GIVE_WAY_MS);
      return;
    }
    const isRepeated = this.#repeatCount > 0;
    const batch = this.#queue.splice(0, isRepeated ? this.#repeatCount : this.#batchMax);
    const hindrance = this.#begin();
    if (hindrance === null) {
      const isSettled = this.#save(batch, isRepeated);
      this.#repeatCount = isSettled ? 0 : batch.length;
      if (!isSettled) this.#queue.unshift(...batch);
    } else if (this.#mayWait(hindrance)) {
      this.#queue.unshift(...batch);
      this.#others.knock();
      this.#later(() => this.#turn(), LOCK_PAUSE_MS * (1 + 2 * Math.random()));
      return;
    } else {
      const cause = hindrance;
      this.#refuse(
        batch,
        new WriteFailed('the database could not be locked for writing', { cause }),
      );
      this.#repeatCount = 0;
      this.#onCommit?.(batch.length, 0, false);
    }
    this.#waitingSinceMs = null;
    // Writes that came in meanwhile get a chance of their own.
    this.#goOn();
  }

  #goOn(): void {
    if (this.#queue.length > 0 || this.#upkeep?.isDue()) {
      this.#schedule();
    } else {
      this.#isScheduled = false;
      for (const resolve of this.#onIdle.splice(0)) resolve();
    }
  }

  /** True if another process waits while this one writes without a pause. */
  #mustGiveWay(): boolean {
    const nowMs = this.#steadyMs();
    const hasPaused = nowMs - this.#endedMs >= GIVE_WAY_MS || this.#waitingSinceMs !== null;
    if (hasPaused || nowMs - this.#listenedMs < LISTEN_INTERVAL_MS) return false;
    this.#listenedMs = nowMs;
    return this.#others.hasKnocked();
  }

  /** Null: the lock is ours; else what was in the way. */
  #begin(): unknown {
    try {
      this.#db.beFree();
      this.#sql.begin.run();
      this.#beganMs = this.#steadyMs();
      return null;
    } catch (error) {
      return error;
    }
  }

  #mayWait(hindrance: unknown): boolean {
    const nowMs = this.#steadyMs();
    // The event loop may come late, so adding up the pauses would not give the time.
    this.#waitingSinceMs ??= nowMs;
    const isInTime = nowMs - this.#waitingSinceMs < this.#lockWaitMaxMs;
    return isInTime && isBusy(hindrance);
  }

  /** Saves a batch. False: a write threw, and it is to be done again with savepoints. */
  #save(batch: Job[], isRepeated: boolean): boolean {
    let results: Result[] = [];
    let fault: WriteFailed | null = null;
    let isSaved = false;
    try {
      if (isRepeated) results = batch.map((job) => this.#runInSavepoint(job));
      else if (!this.#runAll(batch, results)) {
        this.#db.rollBack();
        return false;
      }
      // A full disk can make SQLite roll the whole transaction back by itself.
      if (!this.#db.inTransaction) throw lostTransaction(results);
      this.#notes?.seal();
      this.#sql.commit.run();
      isSaved = true;
    } catch (cause) {
      fault = new WriteFailed('the commit failed', { cause });
      this.#db.rollBack();
    } finally {
      this.#notes?.clear(isSaved);
    }
    this.#endedMs = this.#steadyMs();
    this.#onCommit?.(batch.length, this.#endedMs - this.#beganMs, isSaved);
    if (fault === null) answer(batch, results);
    else this.#refuse(batch, fault);
    return true;
  }

  /** Runs the writes in turn. Returns false if one threw: those behind it did not run. */
  #runAll(batch: Job[], results: Result[]): boolean {
    try {
      for (const job of batch) {
        results.push({ value: job.work() });
        this.#notes?.endWrite();
      }
      return true;
    } catch {
      return false;
    }
  }

  #runInSavepoint(job: Job): Result {
    // An earlier job lost the transaction; #save tells everybody.
    if (!this.#db.inTransaction) return { fault: null };
    const mark = this.#notes?.mark();
    try {
      this.#sql.savepoint.run();
      const value = job.work();
      this.#notes?.endWrite();
      this.#sql.release.run();
      return { value };
    } catch (error) {
      this.#notes?.undo(mark);
      if (this.#db.inTransaction) {
        this.#sql.rollbackTo.run();
        this.#sql.release.run();
      }
      if (error instanceof Refusal) return { value: error.value };
      return { fault: isStorageFault(error) ? asWriteFailed(error) : error };
    }
  }

  #refuse(batch: Job[], fault: WriteFailed): void {
    for (const job of batch) job.reject(fault);
  }
}

type Result = { value: unknown } | { fault: unknown };

function answer(batch: Job[], results: Result[]): void {
  batch.forEach((job, i) => {
    const result = results[i] as Result;
    if ('fault' in result) job.reject(result.fault);
    else job.resolve(result.value);
  });
}

function lostTransaction(results: Result[]): Error {
  const faults = results.map((result) => 'fault' in result && result.fault);
  const cause = faults.find((fault) => fault instanceof WriteFailed);
  return new Error('SQLite rolled the transaction back', { cause });
}

/** Statements that run with every write, prepared once. */
function prepareTransactionSql(db: Connection) {
  return {
    begin: db.compile('BEGIN IMMEDIATE'),
    commit: db.compile('COMMIT'),
    savepoint: db.compile('SAVEPOINT job'),
    release: db.compile('RELEASE job'),
    rollbackTo: db.compile('ROLLBACK TO job'),
  };
}

type TransactionSql = ReturnType<typeof prepareTransactionSql>;

function asWriteFailed(error: unknown): WriteFailed {
  return new WriteFailed('a write failed', { cause: error });
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

/**
 * Group commit. The writes of one turn run in one `BEGIN IMMEDIATE`, and none is answered before
 * the commit is on disk: one fsync serves many. When a write throws, the batch is rolled back and
 * repeated with a savepoint for each write; savepoints from the start would cost every write.
 */

import { SQLiteError } from 'bun:sqlite';
import { StoreAway, WriteFailed } from '../../core/port/store.ts';
import { isBusy } from '../../disk/lock.ts';
import type { CommitObserver } from '../kind.ts';
import { Refusal } from '../refusal.ts';
import type { Connection } from './connection.ts';
import { type LockRequests, NO_REQUESTS } from './lock-request.ts';

/** Longest wait of a write for another process that holds the database, ms. */
const LOCK_WAIT_MAX_MS = 10_000;
/** Pause between two attempts at the lock, ms: a random time from this to three times this. */
const LOCK_PAUSE_MS = 1;
/** Interval at which a process that writes without a pause checks for requests of others, ms … */
const REQUEST_INTERVAL_MS = 20;
/** … and the time for which it then leaves the lock to them, ms: longer than they pause. */
const GIVE_WAY_MS = 5;

/** Notes of the writes of a batch, saved in its transaction. */
export interface BatchNotes<Mark = unknown> {
  /** Returns the state of the notes, for {@link undo}. */
  mark(): Mark;
  /** Drops the notes since `mark`, because their write was rolled back. */
  undo(mark: Mark): void;
  /** Saves the notes that are saved at the end of each write. */
  endWrite(): void;
  /** Saves the notes that are saved at the end of the batch. */
  seal(): void;
  /** Called after the batch. */
  clear(isSaved: boolean): void;
}

interface Job {
  work: () => unknown;
  resolve: (value: unknown) => void;
  reject: (reason: unknown) => void;
}

/** Work between two turns, after the answers of the last commit were sent. */
interface Upkeep {
  isDue(): boolean;
  run(): void;
}

export interface WriterOptions {
  notes?: BatchNotes;
  upkeep?: Upkeep | null;
  onCommit?: CommitObserver | null | undefined;
  /** Requests of other processes for the lock. */
  requests?: LockRequests;
  /** Longest wait of a batch for the lock, ms. */
  lockWaitMaxMs?: number;
  /** The process's own steady clock. */
  steadyMs?: () => number;
  /** Runs a function after some milliseconds. */
  later?: (run: () => void, ms: number) => void;
}

const DEFAULTS = {
  requests: NO_REQUESTS,
  lockWaitMaxMs: LOCK_WAIT_MAX_MS,
  steadyMs: () => performance.now(),
  later: (run: () => void, ms: number): unknown => setTimeout(run, ms),
};

export class GroupWriter {
  #queue: Job[] = [];
  #isScheduled = false;
  /** Writes at the head of the queue that ran in a batch with a failed write, and are repeated. */
  #repeatCount = 0;
  /** Time since which the writer waits for the lock; null: it does not wait. */
  #waitingSinceMs: number | null = null;
  #checkedMs = Number.NEGATIVE_INFINITY;
  #beganMs = 0;
  #endedMs = Number.NEGATIVE_INFINITY;
  #onIdle: (() => void)[] = [];
  readonly #options: WriterOptions & typeof DEFAULTS;
  readonly #sql: Record<'begin' | 'commit' | 'savepoint' | 'release' | 'rollbackTo', Sql>;

  /** `batchMax`: most writes in one commit; 1 is a commit for each write. */
  constructor(
    private readonly db: Connection,
    private readonly batchMax: number,
    options: WriterOptions = {},
  ) {
    this.#options = { ...DEFAULTS, ...options };
    this.#sql = {
      begin: db.compile('BEGIN IMMEDIATE'),
      commit: db.compile('COMMIT'),
      savepoint: db.compile('SAVEPOINT job'),
      release: db.compile('RELEASE job'),
      rollbackTo: db.compile('ROLLBACK TO job'),
    };
  }

  /**
   * Runs `work` as one atomic write. It must be synchronous and change nothing but the database: it
   * runs again when another write of its batch throws. Settles after the commit. Rejects with
   * {@link WriteFailed} when it could not be saved, else with the error of `work`; a
   * {@link Refusal} rolls the write back and settles it with its value.
   */
  run<T>(work: () => T): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#queue.push({ work, resolve: resolve as (value: unknown) => void, reject });
      if (!this.#isScheduled) this.#schedule();
    });
  }

  /** Settles when all writes queued so far are on disk or have failed. */
  async idle(): Promise<void> {
    if (this.#isScheduled) await new Promise<void>((resolve) => this.#onIdle.push(resolve));
  }

  /** Limits the wait for another process's lock; 0: a held lock refuses at once. */
  limitWait(lockWaitMaxMs = 0): void {
    this.#options.lockWaitMaxMs = lockWaitMaxMs;
  }

  #schedule(): void {
    this.#isScheduled = true;
    setImmediate(() => this.#turn());
  }

  #turn(): void {
    if (this.#options.upkeep?.isDue()) this.#options.upkeep.run();
    if (this.#queue.length === 0) {
      this.#continue();
      return;
    }
    if (this.#mustGiveWay()) {
      this.#options.later(() => this.#turn(), GIVE_WAY_MS);
      return;
    }
    const isRepeated = this.#repeatCount > 0;
    const batch = this.#queue.splice(0, isRepeated ? this.#repeatCount : this.batchMax);
    const obstacle = this.#begin();
    if (obstacle === null) {
      const isSettled = this.#save(batch, isRepeated);
      this.#repeatCount = isSettled ? 0 : batch.length;
      if (!isSettled) this.#queue.unshift(...batch);
    } else if (this.#mayWait(obstacle)) {
      this.#queue.unshift(...batch);
      this.#options.requests.request();
      this.#options.later(() => this.#turn(), LOCK_PAUSE_MS * (1 + 2 * Math.random()));
      return;
    } else {
      const cause = this.db.met(obstacle);
      this.#refuse(
        batch,
        new WriteFailed('the database could not be locked for writing', { cause }),
      );
      this.#repeatCount = 0;
      this.#options.onCommit?.(batch.length, 0, false);
    }
    this.#waitingSinceMs = null;
    this.#continue();
  }

  #continue(): void {
    if (this.#queue.length > 0 || this.#options.upkeep?.isDue()) {
      this.#schedule();
    } else {
      this.#isScheduled = false;
      for (const resolve of this.#onIdle.splice(0)) resolve();
    }
  }

  /** True if another process waits while this one writes without a pause. */
  #mustGiveWay(): boolean {
    const nowMs = this.#options.steadyMs();
    const hasPaused = nowMs - this.#endedMs >= GIVE_WAY_MS || this.#waitingSinceMs !== null;
    if (hasPaused || nowMs - this.#checkedMs < REQUEST_INTERVAL_MS) return false;
    this.#checkedMs = nowMs;
    return this.#options.requests.takeRequest();
  }

  /** Takes the lock. Null: it is taken; else the error. */
  #begin(): unknown {
    try {
      this.db.endAll();
      this.#sql.begin.run();
      this.#beganMs = this.#options.steadyMs();
      return null;
    } catch (error) {
      return error;
    }
  }

  #mayWait(obstacle: unknown): boolean {
    const nowMs = this.#options.steadyMs();
    // The event loop may be late, so the sum of the pauses is not the time.
    this.#waitingSinceMs ??= nowMs;
    const isInTime = nowMs - this.#waitingSinceMs < this.#options.lockWaitMaxMs;
    return isInTime && isBusy(obstacle);
  }

  /** Saves a batch. Returns false if a write threw: then it is repeated with savepoints. */
  #save(batch: Job[], isRepeated: boolean): boolean {
    let results: Result[] = [];
    let fault: WriteFailed | null = null;
    let isSaved = false;
    try {
      if (isRepeated) results = batch.map((job) => this.#runInSavepoint(job));
      else if (!this.#runAll(batch, results)) {
        this.db.rollBack();
        return false;
      }
      // On a full disk SQLite may roll back the whole transaction.
      if (!this.db.inTransaction) throw lostTransaction(results);
      this.#options.notes?.seal();
      this.#sql.commit.run();
      isSaved = true;
    } catch (error) {
      fault = new WriteFailed('the commit failed', { cause: this.db.met(error) });
      this.db.rollBack();
    } finally {
      this.#options.notes?.clear(isSaved);
    }
    this.#endedMs = this.#options.steadyMs();
    this.#options.onCommit?.(batch.length, this.#endedMs - this.#beganMs, isSaved);
    if (fault === null) answer(batch, results);
    else this.#refuse(batch, fault);
    return true;
  }

  /** Runs the writes in turn. Returns false if one threw: then the later ones did not run. */
  #runAll(batch: Job[], results: Result[]): boolean {
    try {
      for (const job of batch) {
        results.push({ value: job.work() });
        this.#options.notes?.endWrite();
      }
      return true;
    } catch {
      return false;
    }
  }

  #runInSavepoint(job: Job): Result {
    // An earlier write lost the transaction; #save refuses all.
    if (!this.db.inTransaction) return { fault: null };
    const mark = this.#options.notes?.mark();
    try {
      this.#sql.savepoint.run();
      const value = job.work();
      this.#options.notes?.endWrite();
      this.#sql.release.run();
      return { value };
    } catch (error) {
      this.#options.notes?.undo(mark);
      if (this.db.inTransaction) {
        this.#sql.rollbackTo.run();
        this.#sql.release.run();
      }
      if (error instanceof Refusal) return { value: error.value };
      const cause = this.db.met(error);
      return {
        fault: isStorageFault(cause) ? new WriteFailed('a write failed', { cause }) : error,
      };
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

type Sql = ReturnType<Connection['compile']>;

/** Returns true for an error of the storage, as opposed to a broken constraint. */
function isStorageFault(error: unknown): boolean {
  if (error instanceof StoreAway) return true;
  return (
    error instanceof SQLiteError &&
    /^SQLITE_(FULL|IOERR|LOCKED|READONLY|CORRUPT|NOMEM|CANTOPEN|PROTOCOL)/.test(error.code ?? '')
  );
}

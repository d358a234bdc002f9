/**
 * Writes: short transactions at READ COMMITTED, repeated when they conflict with others or lose
 * their connection before the commit.
 *
 * All transactions and groups take locks in one order, which prevents deadlocks: providers by id,
 * links by id, devices by HWID or id, rows of devices at providers, tokens, distributions,
 * recipients, destinations, the outbox, webhooks. A statement sees commits from before it began: a
 * write that depends on a row locks it first and reads it by a later statement. One that finds too
 * late which row it needs is repeated and locks it in its turn (`readLocked` of dialect.ts).
 */

import { type Clock, systemClock } from '../../base/clock.ts';
import type { Countdown } from '../../base/deadline.ts';
import { StoreAway, StoreBusy, WriteFailed } from '../../core/port/store.ts';
import type { NeededRows } from '../backend.ts';
import type { LeastMs, StoreOptions } from '../kind.ts';
import type { FigureCounter } from '../noun/figure-counter.ts';
import { noteStatements, WriteNotes } from '../noun/notes.ts';
import { Refusal } from '../refusal.ts';
import type { Database } from './database.ts';
import { LocksOutOfOrder, runOn, STATEMENTS, waitFor } from './dialect.ts';
import { isConflict, isLost, isStorageFault, retryReason } from './fault.ts';
import type { Sealer } from './sealer.ts';
import type { Signals } from './signals.ts';
import type { Bound, QueryResult, Runner } from './statement.ts';

/** Attempts at one write. */
const ATTEMPTS_MAX = 8;
/** Longest pause before the second attempt, ms; each further attempt adds as much. */
const PAUSE_MS = 5;

/** The parts that writes are made of. */
interface WriteParts {
  /** Runs reads, and (`db.writing`) writes of one statement. */
  db: Database;
  /** The figures of this process. */
  figures: FigureCounter;
  /** Puts entries into the chain of the audit log. */
  sealer: Sealer;
  /** Signals to other nodes. */
  signals: Signals;
  observers: Omit<StoreOptions, 'dataDir' | 'create' | 'commitBatchMax'>;
  /** Longest time of one statement, ms. */
  statementMs: number;
}

/** The parts that fast paths, and what has no noun, are built on. */
export interface Context extends WriteParts {
  /** Runs a short transaction. */
  write<T>(work: (w: Write) => Promise<T>): Promise<T>;
  clock: Clock;
  /** The time by the database's clock, UTC ms: leases end by it. */
  storeNowMs(): number;
  /** Returns the database's time, UTC ms, when this machine's clock says `atMs`. */
  storeMs(atMs: number): number;
  leastMs: LeastMs;
}

/** Statements of notes, the same in every transaction. */
export const NOTES = noteStatements(STATEMENTS);

/** A transaction with its notes. */
export class Write implements Runner {
  readonly notes: WriteNotes;

  constructor(
    { figures, sealer, signals, observers }: WriteParts,
    private readonly on: Runner,
    readonly locksFirst?: NeededRows,
  ) {
    this.notes = new WriteNotes(NOTES, {
      figures,
      addEntries: (entries) => sealer.add(entries),
      signal: (deviceIds) => waitFor((runner) => signals.notify(runner, deviceIds)),
      onEntries: () => sealer.raise(),
      onOutbox: observers.onOutbox,
      onDistributionEnd: observers.onDistributionEnd,
      onWebhookDisabled: observers.onWebhookDisabled,
      onEnded: observers.onEnded,
    });
  }

  ask<Row>(text: string, params: readonly Bound[]): Promise<QueryResult<Row>> {
    return this.on.ask(text, params);
  }

  /** Saves what was noted. */
  async seal(): Promise<void> {
    await runOn(this, this.notes.endWrite());
    await runOn(this, this.notes.seal());
  }
}

/**
 * Runs `work` as one atomic write. It may run again, so it must change nothing except through the
 * {@link Write}. Throws {@link WriteFailed} if it was not saved or the outcome is unknown, else the
 * error of `work`.
 */
export async function write<T>(parts: WriteParts, work: (w: Write) => Promise<T>): Promise<T> {
  try {
    return await parts.db.within((call) => repeating(parts, work, call));
  } catch (fault) {
    throw fault instanceof StoreAway ? new WriteFailed(fault.message, { cause: fault }) : fault;
  }
}

async function repeating<T>(
  parts: WriteParts,
  work: (w: Write) => Promise<T>,
  call: Countdown,
): Promise<T> {
  const { db, observers } = parts;
  const beganMs = systemClock.steadyMs();
  let locksFirst: NeededRows | undefined;
  for (let attempt = 1; ; attempt++) {
    let own: Write | null = null;
    try {
      const value = await db.transaction(async (on) => {
        own = new Write(parts, on, locksFirst);
        const done = await work(own);
        await own.seal();
        return done;
      }, call);
      (own as Write | null)?.notes.clear(true);
      const tookMs = systemClock.steadyMs() - beganMs;
      observers.onCommit?.(1, tookMs, true);
      observers.onStatement?.('transaction', tookMs, 1);
      return value;
    } catch (fault) {
      (own as Write | null)?.notes.clear(false);
      if (fault instanceof Refusal) return fault.value as T;
      if (fault instanceof LocksOutOfOrder && attempt < ATTEMPTS_MAX && call.leftMs() > 0) {
        locksFirst = fault.rows;
        continue;
      }
      if (isRepeatable(fault) && attempt < ATTEMPTS_MAX && call.leftMs() > 0) {
        observers.onRetry?.(retryReason(fault));
        await pause(attempt);
        continue;
      }
      if (!isStorageFault(fault)) throw fault;
      observers.onCommit?.(1, systemClock.steadyMs() - beganMs, false);
      if (fault instanceof WriteFailed) throw fault;
      throw new WriteFailed(wordsOf(fault), { cause: fault });
    }
  }
}

/** Returns true if nothing was committed and another attempt may succeed. */
const isRepeatable = (fault: unknown) =>
  isConflict(fault) || (fault instanceof StoreAway && isLost(fault.cause));

function wordsOf(fault: unknown): string {
  if (fault instanceof StoreBusy) return fault.message;
  return fault instanceof StoreAway ? 'the database is away' : 'the transaction failed';
}

/** Waits for a random time, so that two writes do not conflict again. */
const pause = (attempt: number) =>
  new Promise<void>((resolve) => setTimeout(resolve, Math.random() * PAUSE_MS * attempt));

/**
 * Writes: short transactions at READ COMMITTED, done again when they conflict with others or lose
 * their connection before the commit.
 *
 * One order of locks holds in every transaction and every group, so that none waits for another in
 * a circle: providers by id, links by id, devices by HWID or id, what devices have at providers,
 * tokens, distributions, recipients, destinations, the outbox, webhooks. A statement sees what was
 * committed before it began: whoever depends on a row locks it first, and looks afterwards.
 */

import { systemClock } from '../../clock.ts';
import { StoreAway, StoreBusy, WriteFailed } from '../../core/port/store.ts';
import type { Countdown } from '../../deadline.ts';
import type { StoreOptions } from '../kind.ts';
import { Refusal } from '../refusal.ts';
import { AuditNotes } from './audit-trail.ts';
import type { Database } from './database.ts';
import { EventNotes } from './event-trail.ts';
import { isConflict, isLost, isStorageFault, retryReason } from './fault.ts';
import { FigureNotes, type FigureTrail } from './figure-trail.ts';
import type { Raising } from './notes.ts';
import type { Sealer } from './sealer.ts';
import type { Signals } from './signals.ts';
import type { Answer, Bound, Runner } from './statement.ts';

/** Attempts at one write. */
const ATTEMPTS_MAX = 8;
/** Longest pause before the second attempt, ms; before each further one it is longer by as much. */
const PAUSE_MS = 5;

/** The parts that writes are made of. */
export interface WriteParts {
  /** Reads, and (`db.writing`) statements that write by themselves. */
  db: Database;
  /** Counts what was saved. */
  figures: FigureTrail;
  /** Links what was noted in the audit log. */
  sealer: Sealer;
  /** Tells other nodes. */
  signals: Signals;
  observers: Omit<StoreOptions, 'dataDir' | 'create' | 'commitBatchMax'>;
  /** Longest time of one statement, ms. */
  statementMs: number;
}

/** A transaction, as the steps of the nouns see it. */
export class Write implements Raising {
  readonly audit: AuditNotes;
  readonly events: EventNotes;
  readonly figures: FigureNotes;
  readonly #on: Runner;
  readonly #parts: WriteParts;
  readonly #endStatuses: number[] = [];
  readonly #deviceIds = new Set<number>();
  #putCount = 0;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(parts: WriteParts, on: Runner) {
    this.#parts = parts;
    this.#on = on;
    this.audit = new AuditNotes(parts.sealer);
    this.events = new EventNotes(this);
    this.figures = new FigureNotes(parts.figures);
  }

  ask<Row>(text: string, params: readonly Bound[]): Promise<Answer<Row>> {
    return this.#on.ask(text, params);
  }

  /** Runs a step once those before it have ended: none sees another one half done. */
  inTurn<T>(step: () => Promise<T>): Promise<T> {
    const done = this.#turn.then(step);
    this.#turn = done.catch(() => undefined);
    return done;
  }

  /** Takes the write back, which answers `value` all the same. */
  refuse(value: unknown): never {
    throw new Refusal(value);
  }

  /** Notes that something was put into the outbox. */
  raiseOutbox(): void {
    this.#putCount += 1;
  }

  /** Notes the status with which a distribution ended. */
  noteEnd(status: number): void {
    this.#endStatuses.push(status);
  }

  /** Notes devices for which other nodes have something to do: see watch.ts. */
  notify(deviceIds: readonly number[]): void {
    for (const id of deviceIds) this.#deviceIds.add(id);
  }

  /** Saves what was noted. */
  async seal(): Promise<void> {
    await this.events.seal();
    await this.audit.seal(this);
    await this.#parts.signals.notify(this, [...this.#deviceIds]);
  }

  /** The transaction is over. */
  clear(isSaved: boolean): void {
    this.audit.clear(isSaved);
    this.figures.clear(isSaved);
    if (!isSaved) return;
    const { observers } = this.#parts;
    if (this.#putCount > 0) observers.onOutbox?.();
    for (const status of this.#endStatuses) observers.onDistributionEnd?.(status);
  }
}

/**
 * Runs `work` as one atomic write. It may run again, so it changes nothing but through the
 * {@link Write}. Throws {@link WriteFailed} when it could not be saved, or nobody knows, else what
 * `work` threw.
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
  for (let attempt = 1; ; attempt++) {
    let own: Write | null = null;
    try {
      const value = await db.transaction(async (on) => {
        own = new Write(parts, on);
        const done = await work(own);
        await own.seal();
        return done;
      }, call);
      (own as Write | null)?.clear(true);
      const tookMs = systemClock.steadyMs() - beganMs;
      observers.onCommit?.(1, tookMs, true);
      observers.onStatement?.('transaction', tookMs, 1);
      return value;
    } catch (fault) {
      (own as Write | null)?.clear(false);
      if (fault instanceof Refusal) return fault.value as T;
      if (isRepeatable(fault) && attempt < ATTEMPTS_MAX && call.leftMs() > 0) {
        observers.onRetry?.(retryReason(fault));
        await pause(attempt);
        continue;
      }
      if (fault instanceof WriteFailed || isStorageFault(fault)) {
        observers.onCommit?.(1, systemClock.steadyMs() - beganMs, false);
        throw fault instanceof WriteFailed
          ? fault
          : new WriteFailed(wordsOf(fault), { cause: fault });
      }
      throw fault;
    }
  }
}

/** True if nothing was committed, and another attempt may succeed. */
const isRepeatable = (fault: unknown) =>
  isConflict(fault) || (fault instanceof StoreAway && isLost(fault.cause));

function wordsOf(fault: unknown): string {
  if (fault instanceof StoreBusy) return fault.message;
  return fault instanceof StoreAway ? 'the database is away' : 'the transaction failed';
}

/** Waits for a moment at random: those who met once are not to meet again. */
const pause = (attempt: number) =>
  new Promise<void>((resolve) => setTimeout(resolve, Math.random() * PAUSE_MS * attempt));

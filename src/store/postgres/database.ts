/**
 * The way to PostgreSQL: pools of connections, and a deadline for every statement. While the
 * database is away every call is refused at once (outage.ts); a read whose connection went is
 * repeated: it changed nothing.
 */

import type { SQL } from 'bun';
import { systemClock } from '../../clock.ts';
import { StoreAway, WriteFailed } from '../../core/port/store.ts';
import { nextTurn } from '../../core/turn.ts';
import { type Ban, type DatabaseOptions, transactionsOf } from './database-options.ts';
import { Deadlines } from './deadline.ts';
import {
  isConflict,
  isLost,
  isRefusedBefore,
  isStorageFault,
  OutcomeUnknown,
  retryReason,
} from './fault.ts';
import { Outages, type Place } from './outage.ts';
import { Places, TOO_LONG, TOO_MANY } from './places.ts';
import { answerOf, type Connection, Pools, sendOn } from './pools.ts';
import type { Answer, Bound, Runner } from './statement.ts';

/** Statements that may be under way or wait for a connection; one more is refused at once. */
const WAITING_MAX = 2_000;
/** Time that a statement has beyond what the server gives it: then the way there is silent, ms. */
const SILENCE_MS = 500;
/** Attempts at a statement of which nothing is kept: it conflicted, or only read. */
const ATTEMPTS_MAX = 4;

export class Database implements Runner {
  #underWay = 0;
  #onIdle: (() => void)[] = [];
  readonly #pools: Pools;
  readonly #outages: Outages;
  readonly #places: Places;
  readonly #deadlines: Deadlines;
  /** The same for calls of several steps. */
  readonly #calls: Deadlines;
  /** The same for those that wait for a place: that says nothing about the database. */
  readonly #queue: Deadlines;
  readonly #options: DatabaseOptions;
  /** The most time of a call, with all that it waits for, ms. */
  readonly callMs: number;
  /** Runs a statement that writes by itself: it is not repeated if it may have run. */
  readonly writing: Runner;

  constructor(options: DatabaseOptions) {
    this.#options = options;
    this.#places = new Places(transactionsOf(options));
    this.#pools = new Pools(options);
    this.callMs = options.statementMs + SILENCE_MS;
    this.#deadlines = new Deadlines(this.callMs, () => this.#outages.beSilent());
    this.#outages = new Outages({
      pools: this.#pools,
      inTime: (asked) => this.#deadlines.within(asked),
      findBan: options.findBan,
      onAway: options.onAway,
      onBack: options.onBack,
    });
    this.#calls = new Deadlines(this.callMs, () => new StoreAway(TOO_LONG));
    this.#queue = new Deadlines(options.statementMs, () => new StoreAway(TOO_MANY));
    this.writing = { ask: (text, params) => this.#askWriting(text, params) };
  }

  get isPooled(): boolean {
    return this.#options.isPooled;
  }

  /** Opens a connection beside the pools. `onLost` is called when it goes. */
  connectBeside(onLost: () => void): SQL {
    return this.#pools.openBeside(onLost);
  }

  /** The present outage; null: the database answers, and takes what it is asked. */
  get outage(): Outages['present'] {
    return this.#outages.present;
  }

  /** Refuses all calls as long as the database has a reason for that. */
  ban(reason: Ban): void {
    this.#outages.ban(reason);
  }

  /** Reads. Throws {@link StoreAway} when the database does not answer. */
  ask<Row>(text: string, params: readonly Bound[]): Promise<Answer<Row>> {
    return this.during(() =>
      this.#repeating(() => this.#askOnce<Row>('read', text, params), isLost),
    );
  }

  /**
   * Runs `work` in a transaction of its own, on a connection of its own. Throws
   * {@link OutcomeUnknown} if it is unknown whether it was committed, {@link StoreAway} if the
   * connection was lost (its cause says so), the database is away or it is later than `endsMs` of
   * the steady clock, else what `work` threw.
   */
  async transaction<T>(
    work: (on: Runner) => Promise<T>,
    endsMs = Number.POSITIVE_INFINITY,
  ): Promise<T> {
    this.#refuseIfAway('transacting');
    await this.#places.take((taken) => this.#queue.within(taken));
    try {
      this.#refuseIfAway('transacting');
      return await this.#transact(work, endsMs);
    } finally {
      this.#places.giveBack();
    }
  }

  /** Runs something that is to be finished before the pools are closed. */
  async during<T>(work: () => Promise<T>): Promise<T> {
    this.#underWay += 1;
    try {
      return await work();
    } finally {
      this.#underWay -= 1;
      if (this.#underWay === 0) for (const resolve of this.#onIdle.splice(0)) resolve();
    }
  }

  /** The same for something of several steps, which has as much time in all as one statement. */
  within<T>(work: () => Promise<T>): Promise<T> {
    return this.#calls.within(this.during(work));
  }

  /** Finishes what is under way, and what this turn of the event loop has yet to begin. */
  async close(): Promise<void> {
    for (let turns = 0; turns < 2; turns++) {
      await nextTurn();
      if (this.#underWay === 0) continue;
      await new Promise<void>((resolve) => this.#onIdle.push(resolve));
      turns = -1;
    }
    this.#outages.close();
    this.#deadlines.close();
    this.#queue.close();
    this.#calls.close();
    await this.#pools.close();
  }

  async #askWriting<Row>(text: string, params: readonly Bound[]): Promise<Answer<Row>> {
    try {
      return await this.during(() =>
        this.#repeating(() => this.#askOnce<Row>('write', text, params), isRefusedBefore),
      );
    } catch (fault) {
      if (!isStorageFault(fault)) throw fault;
      throw new WriteFailed('the statement failed', { cause: fault });
    }
  }

  async #askOnce<Row>(
    kind: 'read' | 'write',
    text: string,
    params: readonly Bound[],
  ): Promise<Answer<Row>> {
    this.#refuseIfAway('plain');
    const beganMs = systemClock.steadyMs();
    const query = sendOn(this.#pools.plain, text, params);
    const answer = await this.#deadlines.within(answerOf<Row>(query));
    const tookMs = systemClock.steadyMs() - beganMs;
    this.#options.onStatement?.(kind, tookMs, callCount(params));
    return answer;
  }

  /** Repeats what conflicts with others, and what `mayRepeat` after a lost connection. */
  async #repeating<T>(run: () => Promise<T>, mayRepeat: (fault: unknown) => boolean): Promise<T> {
    const endsMs = systemClock.steadyMs() + this.callMs;
    for (let attempt = 1; ; attempt++) {
      try {
        return await (attempt === 1 ? run() : this.#until(endsMs, run()));
      } catch (fault) {
        const isOver = attempt >= ATTEMPTS_MAX;
        if (isOver || !(isConflict(fault) || mayRepeat(fault)))
          throw this.#outages.meet(fault, 'plain');
        this.#options.onRetry?.(retryReason(fault));
      }
    }
  }

  /** Settles as `promise` does, or is rejected at that moment: an attempt that came late. */
  async #until<T>(endsMs: number, promise: Promise<T>): Promise<T> {
    let timer: Timer | undefined;
    const over = new Promise<never>((_, reject) => {
      const leftMs = Math.max(0, endsMs - systemClock.steadyMs());
      timer = setTimeout(() => reject(new StoreAway(TOO_LONG)), leftMs);
    });
    try {
      return await Promise.race([promise, over]);
    } finally {
      clearTimeout(timer);
    }
  }

  async #transact<T>(work: (on: Runner) => Promise<T>, endsMs: number): Promise<T> {
    const connection = await this.#reserve();
    const send = <Row>(text: string, params: readonly Bound[] = []) =>
      this.#deadlines.within(answerOf<Row>(sendOn(connection, text, params)));
    let isOver = false;
    let isCommitting = false;
    const ask = <Row>(text: string, params: readonly Bound[]): Promise<Answer<Row>> => {
      // A step that was left behind must not run in whatever the connection does next.
      if (isOver) return Promise.reject(new Error('the transaction is over'));
      if (systemClock.steadyMs() > endsMs) return Promise.reject(new StoreAway(TOO_LONG));
      const asked = send<Row>(text, params);
      // Several may be under way: whoever waits hears of the first that fails.
      asked.catch(() => undefined);
      return asked;
    };
    try {
      // Not waited for: the first statement goes right behind it.
      const begun = ask('BEGIN', []);
      const value = await work({ ask });
      await begun;
      if (systemClock.steadyMs() > endsMs) throw new StoreAway(TOO_LONG);
      isOver = true;
      isCommitting = true;
      await send('COMMIT');
      return value;
    } catch (fault) {
      const isUnanswered = isLost(fault) || fault instanceof StoreAway;
      if (!isLost(fault)) await send('ROLLBACK').catch(() => undefined);
      const met = this.#outages.meet(fault, 'transacting');
      if (!isCommitting || !isUnanswered) throw met;
      throw new OutcomeUnknown('it is unknown whether it was committed', { cause: met });
    } finally {
      isOver = true;
      connection.release();
    }
  }

  async #reserve(): Promise<Connection> {
    try {
      return await this.#deadlines.within(this.#pools.transacting.reserve());
    } catch (fault) {
      throw this.#outages.meet(fault, 'transacting');
    }
  }

  #refuseIfAway(place: Place): void {
    this.#outages.refuse(place);
    if (this.#deadlines.waitingCount >= WAITING_MAX) throw new StoreAway(TOO_MANY);
  }
}

/** Calls that share a statement: it has a value of each in an array. */
function callCount(params: readonly Bound[]): number {
  for (const param of params) if (Array.isArray(param)) return param.length;
  return 1;
}

/** The connections to PostgreSQL, with a deadline for each statement. Lost reads are repeated. */

import type { SQL } from 'bun';
import { systemClock } from '../../base/clock.ts';
import { type Countdown, Deadlines } from '../../base/deadline.ts';
import { messageOf } from '../../base/operator-error.ts';
import { type Leave, Places } from '../../base/queue.ts';
import { StoreAway, StoreBusy, WriteFailed } from '../../core/port/store.ts';
import { nextTurn } from '../../core/turn.ts';
import { OutcomeUnknown } from '../refusal.ts';
import { Troubles } from '../troubles.ts';
import { type Ban, type DatabaseOptions, plainLockMs, transactionsOf } from './database-options.ts';
import {
  isConflict,
  isLocked,
  isLost,
  isRefusedBefore,
  isStorageFault,
  isTooLong,
  retryReason,
} from './fault.ts';
import { TOO_LONG, TOO_MANY } from './group.ts';
import { findHolder } from './holder.ts';
import { Outages, type Place } from './outage.ts';
import { currentParty } from './party.ts';
import { answerOf, type Connection, Pools, sendOn } from './pools.ts';
import type { Bound, QueryResult, Runner } from './statement.ts';

/** Most calls of all parties that wait for single statements, and for transactions. */
const WAITING_MAX = 8_000;
/** Statements sent on one connection before the first is answered. */
const STATEMENTS_PER_CONNECTION = 4;
/**
 * Time beyond the server's own limit for a statement after which the connection counts as silent,
 * ms.
 */
const SILENCE_MS = 250;
/** Time of a call beyond that of a statement, ms, for its commit. */
const LAST_MS = 500;
/** Most attempts at a statement that conflicted, or that only reads. */
const ATTEMPTS_MAX = 4;

export class Database implements Runner {
  #underWay = 0;
  #onIdle: (() => void)[] = [];
  readonly #pools: Pools;
  readonly #outages: Outages;
  readonly #troubles: Troubles<Promise<string | null>>;
  /** Places of transactions, one for each connection, and of single statements. */
  readonly #transactions: Places;
  readonly #statements: Places;
  /** Deadlines of statements: if one passes, the connection is silent. */
  readonly #deadlines: Deadlines;
  /** Deadlines of calls including their waits, which say nothing about the database. */
  readonly #calls: Deadlines;
  #onClose: (() => void)[] = [];
  /** Longest time of a call including its waits, ms. */
  readonly callMs: number;
  /** Runs a statement that is a complete write: it is not repeated if it may have run. */
  readonly writing: Runner = { ask: (text, params) => this.#askWriting(text, params) };

  constructor(private readonly options: DatabaseOptions) {
    const placesMax = transactionsOf(options);
    const plainMax = (options.connections - placesMax) * STATEMENTS_PER_CONNECTION;
    this.#transactions = new Places(() => ({ placesMax, waitingMax: WAITING_MAX }));
    this.#statements = new Places(() => ({ placesMax: plainMax, waitingMax: WAITING_MAX }));
    this.#pools = new Pools(options);
    this.#troubles = new Troubles(() => findHolder(this.#pools), options.onTrouble);
    const { steadyMs } = systemClock;
    const silenceMs = options.statementMs + SILENCE_MS;
    this.#deadlines = new Deadlines(silenceMs, steadyMs, () => this.#outages.noteSilence());
    this.#outages = new Outages({
      pools: this.#pools,
      inTime: (asked) => this.inTime(asked),
      ...options,
    });
    this.callMs = options.statementMs + LAST_MS;
    this.#calls = new Deadlines(this.callMs, steadyMs, () => new StoreBusy(TOO_LONG));
  }

  get isPooled(): boolean {
    return this.options.isPooled;
  }

  /** Gives what was asked on such a connection the deadline of a statement. */
  inTime<T>(asked: Promise<T>): Promise<T> {
    return this.#deadlines.within(() => asked);
  }

  /** Opens a connection outside the pools. `onLost` is called when it is lost. */
  connectBeside(onLost: () => void): SQL {
    return this.#pools.openBeside(onLost);
  }

  /** The present outage; null: the database answers and takes writes. */
  get outage(): Outages['present'] {
    return this.#outages.present;
  }

  /** Refuses all calls while the database has this reason. */
  ban(reason: Ban): void {
    this.#outages.ban(reason);
  }

  /** Reads. Throws {@link StoreAway} when the database does not answer. */
  ask<Row>(text: string, params: readonly Bound[]): Promise<QueryResult<Row>> {
    return this.#askAgain('read', text, params, isLost);
  }

  /**
   * Runs `work` in a transaction on one connection. Throws {@link OutcomeUnknown} if it is unknown
   * whether it was committed, {@link StoreAway} if the connection was lost (its cause says so) or
   * the database is away, {@link StoreBusy} if too many calls wait or the time of `call` is over,
   * else the error of `work`.
   */
  async transaction<T>(work: (on: Runner) => Promise<T>, call: Countdown): Promise<T> {
    this.#outages.refuse('transacting');
    const leave = await this.#placeIn(this.#transactions, currentParty() ?? '', call);
    try {
      this.#outages.refuse('transacting');
      return await this.#transact(work, call);
    } finally {
      leave();
    }
  }

  /** Runs `work`; {@link close} waits for it. */
  async during<T>(work: () => Promise<T>): Promise<T> {
    this.#underWay += 1;
    try {
      return await work();
    } finally {
      this.#underWay -= 1;
      if (this.#underWay === 0) for (const resolve of this.#onIdle.splice(0)) resolve();
    }
  }

  /** As {@link during}, with one deadline for everything that the call does and waits for. */
  within<T>(work: (call: Countdown) => Promise<T>): Promise<T> {
    return this.#calls.within((call) => this.during(() => work(call)));
  }

  /** Registers `end`, which is called when the pools are closed. */
  onClose(end: () => void): void {
    this.#onClose.push(end);
  }

  /**
   * Waits for calls in flight and for those of this turn of the event loop, then closes the pools.
   */
  async close(): Promise<void> {
    for (let turns = 0; turns < 2; turns++) {
      await nextTurn();
      if (this.#underWay === 0) continue;
      await new Promise<void>((resolve) => this.#onIdle.push(resolve));
      turns = -1;
    }
    this.#outages.close();
    this.#deadlines.close();
    this.#calls.close();
    for (const end of this.#onClose) end();
    await this.#pools.close();
  }

  async #askWriting<Row>(text: string, params: readonly Bound[]): Promise<QueryResult<Row>> {
    try {
      return await this.#askAgain('write', text, params, isRefusedBefore);
    } catch (fault) {
      if (!isStorageFault(fault)) throw fault;
      throw new WriteFailed('the statement failed', { cause: fault });
    }
  }

  async #askOnce<Row>(
    kind: 'read' | 'write',
    text: string,
    params: readonly Bound[],
    call: Countdown,
  ): Promise<QueryResult<Row>> {
    this.#outages.refuse('plain');
    const party = currentParty();
    const leave = party === null ? null : await this.#placeIn(this.#statements, party, call);
    try {
      this.#outages.refuse('plain');
      const beganMs = systemClock.steadyMs();
      const query = sendOn(this.#pools.plain, text, params);
      const answer = await this.#deadlines.within(() => answerOf<Row>(query));
      const tookMs = systemClock.steadyMs() - beganMs;
      this.options.onStatement?.(kind, tookMs, callCount(params));
      return answer;
    } finally {
      leave?.();
    }
  }

  /** Waits for a place. Throws {@link StoreBusy} if too many wait, or the deadline passes. */
  async #placeIn(places: Places, party: string, call: Countdown): Promise<Leave> {
    const leave = places.takeAtOnce(party) ?? (await places.take(party, call.signal));
    if (typeof leave === 'string') throw new StoreBusy(TOO_MANY);
    return leave;
  }

  /**
   * Repeats statements that conflict with others, those that `mayRepeat` after a lost connection,
   * and until the deadline those that wait for a lock: in between others on the connection run.
   */
  #askAgain<Row>(
    kind: 'read' | 'write',
    text: string,
    params: readonly Bound[],
    mayRepeat: (fault: unknown) => boolean,
  ): Promise<QueryResult<Row>> {
    return this.within(async (call) => {
      for (let attempt = 1; ; attempt++) {
        try {
          return await this.#askOnce<Row>(kind, text, params, call);
        } catch (fault) {
          const isOver = attempt >= ATTEMPTS_MAX;
          const isRepeated = isLocked(fault)
            ? call.leftMs() > 2 * plainLockMs(this.options)
            : !isOver && (isConflict(fault) || mayRepeat(fault));
          if (!isRepeated) throw await this.#meet(fault, 'plain');
          this.options.onRetry?.(retryReason(fault));
        }
      }
    });
  }

  async #transact<T>(work: (on: Runner) => Promise<T>, call: Countdown): Promise<T> {
    const isLate = () => call.leftMs() < LAST_MS;
    if (isLate()) throw new StoreBusy(TOO_LONG);
    const connection = await this.#reserve();
    const send = <Row>(text: string, params: readonly Bound[] = []) =>
      this.inTime(answerOf<Row>(sendOn(connection, text, params)));
    let isOver = false;
    let isCommitting = false;
    const ask = <Row>(text: string, params: readonly Bound[]): Promise<QueryResult<Row>> => {
      // A step that was abandoned must not run in the next transaction of the connection.
      if (isOver) return Promise.reject(new Error('the transaction is over'));
      const asked = isLate() ? Promise.reject(new StoreBusy(TOO_LONG)) : send<Row>(text, params);
      // Several may be in flight: the caller gets the first error.
      asked.catch(() => undefined);
      return asked;
    };
    try {
      // Not awaited: the first statement is sent at once.
      const begun = ask('BEGIN', []);
      const value = await work({ ask });
      await begun;
      if (isLate()) throw new StoreBusy(TOO_LONG);
      isOver = true;
      isCommitting = true;
      await send('COMMIT');
      return value;
    } catch (fault) {
      // Steps beside the failed one must not run after the rollback.
      isOver = true;
      const isUnanswered = isLost(fault) || fault instanceof StoreAway;
      if (!isLost(fault)) await send('ROLLBACK').catch(() => undefined);
      const met = await this.#meet(fault, 'transacting');
      if (!isCommitting || !isUnanswered) throw met;
      throw new OutcomeUnknown('it is unknown whether it was committed', { cause: met });
    } finally {
      isOver = true;
      connection.release();
    }
  }

  /** Returns the error for the caller. */
  async #meet(fault: unknown, place: Place): Promise<unknown> {
    if (!isTooLong(fault)) return this.#outages.meet(fault, place);
    const holder = await this.#troubles.holder();
    return this.#troubles.busy([messageOf(fault), holder].filter(Boolean).join('; '));
  }

  async #reserve(): Promise<Connection> {
    try {
      return await this.#deadlines.within(() => this.#pools.transacting.reserve());
    } catch (fault) {
      throw this.#outages.meet(fault, 'transacting');
    }
  }
}

/** Counts the calls that share a statement: an array has one value of each. */
function callCount(params: readonly Bound[]): number {
  for (const param of params) if (Array.isArray(param)) return param.length;
  return 1;
}

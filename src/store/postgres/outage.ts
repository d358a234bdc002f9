/** Outages of the database: the error of a call begins one and reports it once; a probe ends it. */

import { systemClock } from '../../base/clock.ts';
import { messageOf } from '../../base/operator-error.ts';
import type { Unfitness } from '../../core/port/health.ts';
import { StoreAway, StoreFull } from '../../core/port/store.ts';
import type { Ban, DatabaseOptions } from './database-options.ts';
import {
  isFullDisk,
  isLost,
  isOutOfMeans,
  isReadOnly,
  isRefusedBefore,
  isTerminated,
  isUnanswered,
  sqlStateOf,
} from './fault.ts';
import { answerOf, type Pools, runnerOn, sendOn } from './pools.ts';
import type { Runner } from './statement.ts';

/** Pause between two probes, ms. */
const PROBE_PAUSE_MS = 200;
/** As {@link PROBE_PAUSE_MS}, if a probe writes or only an operator can end the outage. */
const SLOW_PAUSE_MS = 1_000;
/**
 * Time without a write that failed by a full disk: a probe may find room where larger writes do
 * not.
 */
const QUIET_MS = 3_000;

const TAKES_NO_WRITES = 'it takes no writes';
const PROBLEMS: Readonly<Record<Ban, string>> = {
  schema_newer: 'a newer version of the program has changed it',
  database_moved: 'its data moved elsewhere, or have not all arrived',
};

/** The pool of a call: single statements, or transactions. */
export type Place = 'plain' | 'transacting';

interface Outage {
  sinceMs: number;
  /** Time of the last call that failed because of it. */
  metMs: number;
  refusedCount: number;
  problem: string;
  /** Null: a server answers; `problem` is its message. */
  reason: Unfitness | null;
  /** Calls that are refused without an attempt; none if some of them succeed. */
  refuses: 'all' | 'transactions' | 'none';
}

interface OutageOptions extends Pick<DatabaseOptions, 'findBan' | 'onAway' | 'onBack'> {
  pools: Pools;
  /** Adds the deadline of a statement to a probe. */
  inTime: <T>(asked: Promise<T>) => Promise<T>;
}

const PROBE = `SELECT pg_is_in_recovery() OR current_setting('transaction_read_only')::bool
  AS "takesNoWrites"`;
/** Takes disk space and frees it. */
const TAKE_ROOM = `CREATE TEMPORARY TABLE gatepost_room ON COMMIT DROP AS
  SELECT repeat('x', 1000) AS filler FROM generate_series(1, 256)`;

export class Outages {
  #present: Outage | null = null;
  #timer: Timer | null = null;
  #isClosed = false;
  #isReconnecting = false;

  constructor(private readonly options: OutageOptions) {}

  /** Null: the database answers and takes writes. */
  get present(): Readonly<Pick<Outage, 'reason' | 'problem'>> | null {
    return this.#present;
  }

  /** Throws {@link StoreAway} if the outage refuses such calls. */
  refuse(place: Place): void {
    const outage = this.#present;
    if (outage === null || outage.refuses === 'none') return;
    if (outage.refuses === 'transactions' && place === 'plain') return;
    outage.refusedCount += 1;
    throw new StoreAway(outage.problem);
  }

  /** Returns the error for the caller, and notes what it shows about the database. */
  meet(fault: unknown, place: Place): unknown {
    const problem = messageOf(fault);
    if (isReadOnly(fault)) this.#takesNoWrites();
    else if (isOutOfMeans(fault)) this.#begin({ problem, reason: null, refuses: 'none' });
    else if (isRefusedBefore(fault) && isUnanswered(fault)) this.#unreachable(problem);
    else if (isRefusedBefore(fault)) this.#noConnection(problem, place);
    else if (isTerminated(fault)) return new StoreAway(problem, { cause: fault });
    else if (isLost(fault)) this.#reconnect();
    else return fault;
    if (this.#present !== null) this.#present.refusedCount += 1;
    const Away = isFullDisk(fault) ? StoreFull : StoreAway;
    return new Away(this.#present?.problem ?? problem, { cause: fault });
  }

  /** Begins an outage because no answer comes; replaces all connections. */
  noteSilence(): StoreAway {
    const problem = 'it does not answer';
    this.#unreachable(problem);
    this.options.pools.renew();
    if (this.#present !== null) this.#present.refusedCount += 1;
    return new StoreAway(problem);
  }

  /** Refuses all calls until the reason is gone. */
  ban(reason: Ban): void {
    this.#begin({ problem: PROBLEMS[reason], reason, refuses: 'all' });
  }

  close(): void {
    this.#isClosed = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
  }

  #unreachable(problem: string): void {
    this.#begin({ problem, reason: 'database_unreachable', refuses: 'all' });
  }

  #takesNoWrites(): void {
    const isNew = this.#present?.problem !== TAKES_NO_WRITES;
    this.#begin({ problem: TAKES_NO_WRITES, reason: 'database_read_only', refuses: 'all' });
    // The address may lead to another server now.
    if (isNew) this.options.pools.renew();
  }

  /** The server answers but accepts no new connection; open ones still work. */
  #noConnection(problem: string, place: Place): void {
    const refuses = place === 'plain' ? 'all' : 'transactions';
    this.#begin({ problem, reason: null, refuses });
  }

  #begin(what: Pick<Outage, 'problem' | 'reason' | 'refuses'>): void {
    if (this.#isClosed) return;
    const nowMs = systemClock.steadyMs();
    const { onAway } = this.options;
    if (this.#present === null) {
      this.#present = { sinceMs: nowMs, metMs: nowMs, refusedCount: 0, ...what };
      onAway?.(what.problem);
      this.#timer = setTimeout(this.#probe, this.#pauseMs());
      return;
    }
    this.#present.metMs = nowMs;
    // Keeps the outage that refuses more; it ends when both are over.
    const ranks = ['none', 'transactions', 'all'];
    const isMore = ranks.indexOf(what.refuses) > ranks.indexOf(this.#present.refuses);
    if (isMore) Object.assign(this.#present, what);
  }

  #pauseMs(): number {
    const isSlow = this.#present?.refuses === 'none' || (this.#present?.reason ?? '') in PROBLEMS;
    return isSlow ? SLOW_PAUSE_MS : PROBE_PAUSE_MS;
  }

  /** After a lost connection: begins an outage if no new connection can be opened. */
  #reconnect(): void {
    if (this.#present?.refuses === 'all' || this.#isReconnecting || this.#isClosed) return;
    this.#isReconnecting = true;
    void this.#tryConnection().finally(() => {
      this.#isReconnecting = false;
    });
  }

  /** Never rejects. */
  async #tryConnection(): Promise<void> {
    const connection = this.options.pools.openBeside(() => undefined);
    try {
      const query = sendOn(connection, PROBE);
      const asked = answerOf<{ takesNoWrites: boolean }>(query);
      const { rows } = await this.options.inTime(asked);
      if (rows[0]?.takesNoWrites !== false) this.#takesNoWrites();
    } catch (fault) {
      const isRefused = isRefusedBefore(fault) && !isUnanswered(fault);
      // A server that refuses new connections may still serve the open ones.
      if (!isRefused && !isTerminated(fault)) this.#unreachable(messageOf(fault));
    } finally {
      connection.close({ timeout: 0 }).catch(() => undefined);
    }
  }

  /** Ends the outage if its cause is gone; otherwise probes again later. */
  #probe = async (): Promise<void> => {
    const outage = this.#present;
    if (outage === null || this.#isClosed) return;
    try {
      const problem = await this.#problemNow(outage);
      const quietMs = systemClock.steadyMs() - outage.metMs;
      const isOver = problem === null && (outage.refuses !== 'none' || quietMs >= QUIET_MS);
      if (isOver) {
        this.#present = null;
        this.options.onBack?.(systemClock.steadyMs() - outage.sinceMs, outage.refusedCount);
        return;
      }
    } catch (fault) {
      this.#update(outage, fault);
    }
    if (!this.#isClosed) this.#timer = setTimeout(this.#probe, this.#pauseMs());
  };

  /**
   * Runs a statement like the refused calls. Null: the outage is over. Throws the error that they
   * would get.
   */
  async #problemNow(outage: Outage): Promise<string | null> {
    const { pools, inTime, findBan } = this.options;
    const on: Runner = { ask: (...query) => inTime(runnerOn(pools.plain).ask(...query)) };
    const { rows } = await on.ask<{ takesNoWrites: boolean }>(PROBE, []);
    if (rows[0]?.takesNoWrites !== false) {
      Object.assign(outage, { problem: TAKES_NO_WRITES, reason: 'database_read_only' });
      // New connections may reach another server.
      pools.renew();
      return TAKES_NO_WRITES;
    }
    const ban = (await findBan?.(on)) ?? null;
    if (ban !== null) {
      Object.assign(outage, { problem: PROBLEMS[ban], reason: ban, refuses: 'all' });
      return outage.problem;
    }
    if (outage.refuses === 'transactions') {
      await inTime(answerOf(sendOn(pools.transacting, 'SELECT 1')));
    }
    if (outage.refuses === 'none') await inTime(takeRoom(pools));
    return null;
  }

  /** Updates an outage whose probe failed. */
  #update(outage: Outage, fault: unknown): void {
    outage.problem = messageOf(fault);
    if (isOutOfMeans(fault)) {
      outage.metMs = systemClock.steadyMs();
      return;
    }
    const isAnswered = isRefusedBefore(fault) && !isUnanswered(fault);
    if (!isAnswered) outage.refuses = 'all';
    outage.reason = isAnswered ? null : 'database_unreachable';
  }
}

/**
 * Throws if the disk is full. A role that may not create tables notices a full disk only by its
 * writes.
 */
async function takeRoom(pools: Pools): Promise<void> {
  try {
    await pools.plain.unsafe(TAKE_ROOM).simple();
  } catch (fault) {
    if (sqlStateOf(fault) !== '42501') throw fault;
  }
}

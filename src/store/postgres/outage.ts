/**
 * Outages of the database. One begins when calls meet it, is told once, and ends when what they
 * met is gone: one look at a time asks what they would ask. A connection that was lost is no outage
 * while a new one can be made.
 */

import { systemClock } from '../../clock.ts';
import type { Unfitness } from '../../core/port/health.ts';
import { StoreAway } from '../../core/port/store.ts';
import type { Ban } from './database-options.ts';
import {
  isLost,
  isOutOfMeans,
  isReadOnly,
  isRefusedBefore,
  isTerminated,
  isUnanswered,
  sqlStateOf,
} from './fault.ts';
import { answerOf, type Pools, sendOn } from './pools.ts';
import type { Bound, Runner } from './statement.ts';

/** Pause between two looks at a database that is away, ms. */
const LOOK_PAUSE_MS = 200;
/** The same where a look writes, or where what it waits for takes people. */
const SLOW_PAUSE_MS = 1_000;
/** Time for which no write met a full disk: the look alone may find room where they find none. */
const QUIET_MS = 3_000;

const TAKES_NO_WRITES = 'it takes no writes';
const PROBLEMS: Readonly<Record<Ban, string>> = {
  schema_newer: 'a newer version of the program has changed it',
  database_moved: 'its data moved elsewhere, or have not all arrived',
};

/** Statements by themselves, and transactions, which have pools of their own. */
export type Place = 'plain' | 'transacting';

interface Outage {
  sinceMs: number;
  /** Time at which a call met it last. */
  metMs: number;
  refusedCount: number;
  problem: string;
  /** Null: a server answers, in whose words the problem is. */
  reason: Unfitness | null;
  /** Calls that are refused without asking: none where some of them succeed. */
  refuses: 'all' | 'transactions' | 'none';
}

interface OutageOptions {
  pools: Pools;
  /** Gives a look the time of a statement. */
  inTime: <T>(asked: Promise<T>) => Promise<T>;
  /** Looks for a ban. */
  findBan: ((on: Runner) => Promise<Ban | null>) | undefined;
  onAway: ((problem: string) => void) | undefined;
  onBack: ((awayMs: number, refusedCount: number) => void) | undefined;
}

/** What every write meets, on whichever server the address leads to now. */
const LOOK = `SELECT pg_is_in_recovery() OR current_setting('transaction_read_only')::bool
  AS "takesNoWrites"`;
/** Takes room on the disk, and gives it back. */
const TAKE_ROOM = `CREATE TEMPORARY TABLE gatepost_room ON COMMIT DROP AS
  SELECT repeat('x', 1000) AS filler FROM generate_series(1, 256)`;

export class Outages {
  #present: Outage | null = null;
  #timer: Timer | null = null;
  #isClosed = false;
  #isSuspecting = false;
  readonly #options: OutageOptions;

  constructor(options: OutageOptions) {
    this.#options = options;
  }

  /** Null: the database answers, and takes what it is asked. */
  get present(): Readonly<Pick<Outage, 'reason' | 'problem'>> | null {
    return this.#present;
  }

  /** Throws {@link StoreAway} while such a call is not to be tried. */
  refuse(place: Place): void {
    const outage = this.#present;
    if (outage === null || outage.refuses === 'none') return;
    if (outage.refuses === 'transactions' && place === 'plain') return;
    outage.refusedCount += 1;
    throw new StoreAway(outage.problem);
  }

  /** The fault as callers are to see it. What it says of the database is noted. */
  meet(fault: unknown, place: Place): unknown {
    const problem = wordsOf(fault);
    if (isReadOnly(fault)) this.#takesNoWrites();
    else if (isOutOfMeans(fault)) this.#begin({ problem, reason: null, refuses: 'none' });
    else if (isRefusedBefore(fault) && isUnanswered(fault)) this.#unreachable(problem);
    else if (isRefusedBefore(fault)) this.#keptOut(problem, place);
    else if (isTerminated(fault)) return new StoreAway(problem, { cause: fault });
    else if (isLost(fault)) this.#suspect();
    else return fault;
    if (this.#present !== null) this.#present.refusedCount += 1;
    return new StoreAway(this.#present?.problem ?? problem, { cause: fault });
  }

  /** Nothing comes back: connections that are there are of no use any more. */
  beSilent(): StoreAway {
    const problem = 'it does not answer';
    this.#unreachable(problem);
    this.#options.pools.renew();
    if (this.#present !== null) this.#present.refusedCount += 1;
    return new StoreAway(problem);
  }

  /** Refuses all calls until the database has this no more. */
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
    const isNews = this.#present?.problem !== TAKES_NO_WRITES;
    this.#begin({ problem: TAKES_NO_WRITES, reason: 'database_read_only', refuses: 'all' });
    // The server behind the address may be another one by now.
    if (isNews) this.#options.pools.renew();
  }

  /** A server answers, and takes no new connection: whoever has one goes on. */
  #keptOut(problem: string, place: Place): void {
    const refuses = place === 'plain' ? 'all' : 'transactions';
    this.#begin({ problem, reason: null, refuses });
  }

  #begin(what: Pick<Outage, 'problem' | 'reason' | 'refuses'>): void {
    if (this.#isClosed) return;
    const nowMs = systemClock.steadyMs();
    const { onAway } = this.#options;
    if (this.#present === null) {
      this.#present = { sinceMs: nowMs, metMs: nowMs, refusedCount: 0, ...what };
      onAway?.(what.problem);
      this.#timer = setTimeout(this.#look, this.#pauseMs());
      return;
    }
    this.#present.metMs = nowMs;
    // Of two at a time the one that refuses more is told: it ends when both are over.
    const ranks = ['none', 'transactions', 'all'];
    const isMore = ranks.indexOf(what.refuses) > ranks.indexOf(this.#present.refuses);
    if (isMore) Object.assign(this.#present, what);
  }

  #pauseMs(): number {
    const isSlow = this.#present?.refuses === 'none' || (this.#present?.reason ?? '') in PROBLEMS;
    return isSlow ? SLOW_PAUSE_MS : LOOK_PAUSE_MS;
  }

  /** A connection was lost: an outage if no new one can be made. */
  #suspect(): void {
    if (this.#present?.refuses === 'all' || this.#isSuspecting || this.#isClosed) return;
    this.#isSuspecting = true;
    void this.#knock().finally(() => {
      this.#isSuspecting = false;
    });
  }

  /** Never rejects. */
  async #knock(): Promise<void> {
    const connection = this.#options.pools.openBeside(() => undefined);
    try {
      const query = sendOn(connection, LOOK);
      const asked = answerOf<{ takesNoWrites: boolean }>(query);
      const { rows } = await this.#options.inTime(asked);
      if (rows[0]?.takesNoWrites !== false) this.#takesNoWrites();
    } catch (fault) {
      const isKeptOut = isRefusedBefore(fault) && !isUnanswered(fault);
      // A newcomer is kept out: those that are in may go on, and find out whether they can.
      if (!isKeptOut && !isTerminated(fault)) this.#unreachable(wordsOf(fault));
    } finally {
      connection.close({ timeout: 0 }).catch(() => undefined);
    }
  }

  /** Looks whether the outage is over. */
  #look = async (): Promise<void> => {
    const outage = this.#present;
    if (outage === null || this.#isClosed) return;
    try {
      const problem = await this.#problemNow(outage);
      const quietMs = systemClock.steadyMs() - outage.metMs;
      const isOver = problem === null && (outage.refuses !== 'none' || quietMs >= QUIET_MS);
      if (isOver) {
        this.#present = null;
        this.#options.onBack?.(systemClock.steadyMs() - outage.sinceMs, outage.refusedCount);
        return;
      }
    } catch (fault) {
      this.#goesOn(outage, fault);
    }
    if (!this.#isClosed) this.#timer = setTimeout(this.#look, this.#pauseMs());
  };

  /** Asks what calls would. Null: all is well. Throws what they would meet. */
  async #problemNow(outage: Outage): Promise<string | null> {
    const { pools, inTime, findBan } = this.#options;
    const on: Runner = {
      ask: <Row>(text: string, params: readonly Bound[]) =>
        inTime(answerOf<Row>(sendOn(pools.plain, text, params))),
    };
    const { rows } = await on.ask<{ takesNoWrites: boolean }>(LOOK, []);
    if (rows[0]?.takesNoWrites !== false) {
      Object.assign(outage, { problem: TAKES_NO_WRITES, reason: 'database_read_only' });
      // Behind the address there may be another one, for new connections.
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

  /** The outage goes on, perhaps as another one. */
  #goesOn(outage: Outage, fault: unknown): void {
    outage.problem = wordsOf(fault);
    if (isOutOfMeans(fault)) {
      outage.metMs = systemClock.steadyMs();
      return;
    }
    const isAnswered = isRefusedBefore(fault) && !isUnanswered(fault);
    if (!isAnswered) outage.refuses = 'all';
    outage.reason = isAnswered ? null : 'database_unreachable';
  }
}

/** Throws if there is no room. A role that may make no such table finds out by its writes alone. */
async function takeRoom(pools: Pools): Promise<void> {
  try {
    await pools.plain.unsafe(TAKE_ROOM).simple();
  } catch (fault) {
    if (sqlStateOf(fault) !== '42501') throw fault;
  }
}

/** What went wrong, without a password. */
function wordsOf(fault: unknown): string {
  return fault instanceof Error ? fault.message : String(fault);
}

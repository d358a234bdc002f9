/** The database's clock, by which leases end: the same one for every node. */

import { sql } from 'drizzle-orm';
import { type Clock, systemClock } from '../../clock.ts';
import { prepare, type Runner } from './statement.ts';

export class DatabaseClock {
  /** Time that the database's clock is ahead of this machine's, ms. */
  offsetMs = 0;
  readonly #on: Runner;
  readonly #clock: Clock;
  readonly #now = prepare<{ nowMs: number }>(
    sql`SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS "nowMs"`,
  );

  constructor(on: Runner, clock: Clock) {
    this.#on = on;
    this.#clock = clock;
  }

  nowMs(): number {
    return this.#clock.nowMs() + this.offsetMs;
  }

  /** Measures the offset. A clock that a test moves stands for the database's too. */
  async measure(): Promise<void> {
    if (this.#clock !== systemClock) return;
    const beforeMs = this.#clock.nowMs();
    const row = await this.#now.get(this.#on);
    const afterMs = this.#clock.nowMs();
    if (row !== null) this.offsetMs = Math.round(row.nowMs - (beforeMs + afterMs) / 2);
  }
}

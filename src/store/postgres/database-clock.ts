/** The database's clock, which leases use and all nodes share. */

import { type Clock, systemClock } from '../../base/clock.ts';
import { sql } from '../statement-text.ts';
import { prepare, type Runner } from './statement.ts';

/** Most measurements, unless an answer comes within this time, ms: a slow answer is inexact. */
const ANSWERS_MAX = 3;
const QUICK_MS = 20;

export class DatabaseClock {
  /** Lead of the database's clock over this machine's, ms. */
  offsetMs = 0;
  readonly #now = prepare<{ nowMs: number }>(
    sql`SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS "nowMs"`,
  );

  constructor(
    private readonly on: Runner,
    private readonly clock: Clock,
  ) {}

  nowMs(): number {
    return this.of(this.clock.nowMs());
  }

  /** Returns the database's time when this machine's clock says `atMs`. */
  of(atMs: number): number {
    return atMs + this.offsetMs;
  }

  /**
   * Measures the offset by the fastest of some answers. A test's clock serves as the database's
   * too.
   */
  async measure(): Promise<void> {
    if (this.clock !== systemClock) return;
    let bestMs = Number.POSITIVE_INFINITY;
    for (let n = 0; n < ANSWERS_MAX && bestMs > QUICK_MS; n++) {
      const beforeMs = this.clock.nowMs();
      const row = await this.#now.get(this.on);
      const afterMs = this.clock.nowMs();
      if (row === null || afterMs - beforeMs >= bestMs) continue;
      bestMs = afterMs - beforeMs;
      this.offsetMs = Math.round(row.nowMs - (beforeMs + afterMs) / 2);
    }
  }
}

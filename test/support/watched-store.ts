/** A store on a PostgreSQL that gives way, and all who hear of it. */

import { expect } from 'bun:test';
import { systemClock } from '../../src/base/clock.ts';
import { makeLog } from '../../src/base/log.ts';
import { isAway, type Store, WriteFailed } from '../../src/core/port/store.ts';
import { Outages } from '../../src/monitor/outages.ts';
import { Readiness } from '../../src/monitor/readiness.ts';
import { openPlace } from './place.ts';
import type { Postgres } from './postgres.ts';
import { freshDatabase, type TestDatabase } from './postgres-data.ts';
import { until } from './until.ts';

/** A store, its log and its readiness, as `serve` puts them together. */
export class WatchedStore {
  private constructor(
    readonly database: TestDatabase,
    readonly store: Store,
    readonly readiness: Readiness,
    /** The lines of the log, from the name of the event on. */
    readonly lines: readonly string[],
  ) {}

  static async open(server: Postgres): Promise<WatchedStore> {
    const database = await freshDatabase(server);
    const lines: string[] = [];
    const log = makeLog(
      { logFormat: 'human', logLevel: 'info' },
      () => 0,
      (line) => lines.push(line.trim().split(' ').slice(2).join(' ')),
    );
    const outages = new Outages(log);
    const { onAway, onBack } = outages;
    const place = { dataDir: '', databaseUrl: database.url };
    const store = await openPlace(place, { clock: systemClock, onAway, onBack });
    const readiness = new Readiness(store, systemClock, log);
    outages.onChange = () => readiness.askAgain();
    readiness.serving();
    return new WatchedStore(database, store, readiness, lines);
  }

  /** The events of the log so far. */
  told(): (string | undefined)[] {
    return this.lines.map((line) => line.split(' ')[0]);
  }

  /** Waits until the store has looked so often whether the outage is over. */
  async looks(pattern: string, count: number): Promise<void> {
    const seen = new Set<number>();
    await until(`it looked ${count} times`, async () => {
      const rows = await this.database.sql`
        SELECT extract(epoch FROM query_start)::float8 AS at FROM pg_stat_activity
        WHERE query LIKE ${pattern} AND pid <> pg_backend_pid()`;
      for (const { at } of rows) seen.add(at);
      return seen.size >= count;
    });
  }

  /** Runs a statement that changes settings of the server. */
  async set(statement: string): Promise<void> {
    await this.database.sql.unsafe(statement);
    await this.database.sql`SELECT pg_reload_conf()`;
  }

  /** Waits for the end of the outage, which is the only one that was told. */
  async expectEnd(call: () => Promise<unknown>): Promise<void> {
    await until('it is ready again', async () => (await this.readiness.problem()) === null);
    await call();
    expect(this.told().toSorted()).toEqual([
      ...['database_away', 'database_back', 'not_ready', 'ready_again'],
    ]);
  }

  async close(): Promise<void> {
    await this.set('ALTER SYSTEM RESET ALL');
    await this.store.close();
    await this.database.drop();
  }
}

/** The faults of so many calls at the same time, each of which has to fail. */
export async function faultsOf(
  count: number,
  call: (n: number) => Promise<unknown>,
): Promise<unknown[]> {
  const settled = await Promise.allSettled(Array.from({ length: count }, (_, n) => call(n)));
  const faults = settled.flatMap((it) => (it.status === 'rejected' ? [it.reason] : []));
  expect(faults).toHaveLength(count);
  return faults;
}

/** Expects of every write that it says that it failed, and makes no line of the log. */
export function expectQuiet(faults: readonly unknown[]): void {
  expect(faults.filter((fault) => !(fault instanceof WriteFailed))).toEqual([]);
  expect(faults.filter((fault) => !isAway(fault))).toEqual([]);
}

/** The connections of a node, and the driver's statements and answers. */

import type { SQL } from 'bun';
import {
  type DatabaseOptions,
  plainLockMs,
  poolOptions,
  transactionsOf,
} from './database-options.ts';
import type { Bound, QueryResult, Runner } from './statement.ts';

/** A connection for one transaction, until it is released. */
export type Connection = Awaited<ReturnType<SQL['reserve']>>;

/** Pools of connections: one for single statements, one for transactions. */
export class Pools {
  plain: SQL;
  transacting: SQL;

  constructor(private readonly options: DatabaseOptions) {
    [this.plain, this.transacting] = this.#open();
  }

  /** Replaces all connections; calls in flight on them fail. */
  renew(): void {
    const old = [this.plain, this.transacting];
    [this.plain, this.transacting] = this.#open();
    for (const pool of old) pool.close({ timeout: 0 }).catch(() => undefined);
  }

  /** Opens a connection outside the pools. `onLost` is called when it is lost. */
  openBeside(onLost: () => void): SQL {
    return new Bun.SQL({ ...poolOptions(this.options, 1), onclose: onLost });
  }

  async close(): Promise<void> {
    await Promise.all([this.plain.close({ timeout: 0 }), this.transacting.close({ timeout: 0 })]);
  }

  #open(): [plain: SQL, transacting: SQL] {
    const count = transactionsOf(this.options);
    const plain = poolOptions(
      this.options,
      this.options.connections - count,
      plainLockMs(this.options),
    );
    return [new Bun.SQL(plain), new Bun.SQL(poolOptions(this.options, count))];
  }
}

/** Turns bigints into numbers: ids and times are below 2^53. */
function withNumbers(row: Record<string, unknown>): unknown {
  for (const name in row) {
    const value = row[name];
    if (typeof value === 'bigint') row[name] = Number(value);
  }
  return row;
}

/** Waits for the answer to a statement that was sent. */
export async function answerOf<Row>(query: Promise<unknown>): Promise<QueryResult<Row>> {
  const rows = (await query) as unknown[] & { count: number };
  const { count } = rows;
  // A plain array: the driver's is a subclass.
  return { rows: Array.from(rows, (row) => withNumbers(row as never)) as Row[], count };
}

/** Sends a statement without waiting for those before it. */
export function sendOn(on: Pick<SQL, 'unsafe'>, text: string, params: readonly Bound[] = []) {
  return on.unsafe(text, params as Bound[]).execute() as unknown as Promise<unknown>;
}

/** Runs statements on a connection that nothing else uses. */
export const runnerOn = (on: Pick<SQL, 'unsafe'>): Runner => ({
  ask: (text, params) => answerOf(sendOn(on, text, params)),
});

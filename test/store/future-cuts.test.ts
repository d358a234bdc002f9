/** Each column that is cut once a clock that was ahead is right again, on either store. */

import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { FutureCursor } from '../../src/core/port/time.ts';
import { FUTURE_CUTS } from '../../src/store/noun/future-cuts.ts';
import { type Engine, openEngine } from '../support/delivery.ts';
import { addOldRows } from '../support/old-rows.ts';

const TEN_YEARS_MS = 3_653 * 86_400_000;
/** The time by which the columns that move with another one are after it, ms. */
const LATER_MS = 90_000;
const laterMs = (column: string) => (column === 'due_at_ms' ? 0 : LATER_MS);

let engine: Engine;
let nowMs: number;

beforeAll(async () => {
  engine = await openEngine();
  nowMs = engine.clock.nowMs();
  addOldRows(engine);
});
afterAll(() => engine.close());

async function cut(): Promise<void> {
  let at: FutureCursor | null = null;
  do at = await engine.core.store.cutFuture(nowMs, at);
  while (at !== null);
}

const read = (table: string) =>
  engine.db.query<Record<string, number>, []>(`SELECT * FROM ${table}`).get();

const setTo = (table: string, times: Readonly<Record<string, number>>) => {
  const columns = Object.entries(times).map(([column, ms]) => `${column} = ${ms}`);
  engine.db.run(`UPDATE ${table} SET ${columns.join(', ')}`);
};

test.each(FUTURE_CUTS.map((one) => [`${one.table}.${one.column}`, one] as const))(
  '%s',
  async (_, { aheadMs = 0, column, shifted = [], table }) => {
    const all = (ms: number) =>
      Object.fromEntries([[column, ms], ...shifted.map((other) => [other, ms + laterMs(other)])]);
    // As early as it may be: nothing is cut.
    setTo(table, all(nowMs + aheadMs));
    const others = FUTURE_CUTS.filter((one) => one.table === table && shifted.includes(one.column));
    if (others.length === 0) {
      await cut();
      expect(read(table)).toMatchObject(all(nowMs + aheadMs));
    }
    setTo(table, all(nowMs + TEN_YEARS_MS));
    await cut();
    const found = read(table);
    expect(found?.[column]).toBe(nowMs + aheadMs);
    for (const other of shifted) {
      expect(found?.[other] ?? 0).toBeLessThanOrEqual(nowMs + aheadMs + LATER_MS);
    }
    // It lives as long as it was to live, unless its own column has a bound.
    if (others.length === 0) expect(found).toMatchObject(all(nowMs + aheadMs));
    setTo(table, all(0));
  },
);

/** How far ahead a right clock can have set each, hours. */
const AHEAD_HOURS: Readonly<Record<string, number>> = {
  'session.until_ms': 12,
  'one_time.until_ms': 10 / 60,
  'provider.previous_key_until_ms': 168,
  'webhook.previous_until_ms': 168,
  'outbox.next_at_ms': 72,
  'destination.retry_at_ms': 72,
  'follow.next_at_ms': 24,
  'ride.from_ms': 10 / 60,
  'ride.until_ms': 2 * 720,
};

test('what a right clock can have set is kept', () => {
  const ahead = FUTURE_CUTS.flatMap(({ table, column, aheadMs }) =>
    aheadMs === undefined ? [] : [[`${table}.${column}`, aheadMs / 3_600_000]],
  );
  expect(Object.fromEntries(ahead)).toEqual(AHEAD_HOURS);
});

test('a send for a time that its provider named keeps it', async () => {
  const times = { created_at_ms: nowMs + 2, due_at_ms: nowMs + TEN_YEARS_MS, expires_at_ms: 1 };
  setTo('distribution', times);
  await cut();
  expect(read('distribution')).toMatchObject(times);
});

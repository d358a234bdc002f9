/** The guard of the clock over starts, kills and the operator's word, on either store. */

import { afterEach, beforeEach, expect, test } from 'bun:test';
import { withMethods } from '../../src/core/port/store.ts';
import { Timekeeper } from '../../src/core/timekeeper.ts';
import { ACT } from '../support/actor.ts';
import { type Engine, makeProvider, openEngine } from '../support/delivery.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const TEN_YEARS_MS = 3_653 * DAY_MS;

let engine: Engine;
let changes: string[];
beforeEach(async () => {
  engine = await openEngine();
  changes = [];
});
afterEach(() => engine.close());

const said = () => changes.splice(0);

async function start(name = ''): Promise<Timekeeper> {
  const keeper = new Timekeeper(engine.clock, name, (change) => changes.push(change));
  await keeper.begin(engine.core.store);
  await keeper.keep(engine.core.store);
  return keeper;
}

async function pass(keeper: Timekeeper, ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= HOUR_MS) {
    engine.clock.advance(Math.min(left, HOUR_MS));
    await keeper.keep(engine.core.store);
  }
}

async function leap(keeper: Timekeeper, ms: number): Promise<void> {
  engine.clock.leap(ms);
  await keeper.keep(engine.core.store);
}

test('each clock, before it is looked at again', async () => {
  const { clock } = engine;
  const keeper = await start();
  const right = clock.nowMs();
  expect([keeper.nowMs(), keeper.ageMs(), keeper.leastMs(7)]).toEqual([right, right, 7]);
  clock.leap(TEN_YEARS_MS);
  expect(keeper.nowMs()).toBe(right + TEN_YEARS_MS);
  expect([keeper.ageMs(), keeper.leastMs(keeper.nowMs())]).toEqual([0, right]);
  clock.leap(-2 * TEN_YEARS_MS);
  expect(keeper.nowMs()).toBe(right);
  expect([keeper.ageMs(), keeper.leastMs(keeper.nowMs())]).toEqual([0, right - TEN_YEARS_MS]);
  clock.leap(TEN_YEARS_MS);
  clock.advance(HOUR_MS);
  expect([keeper.nowMs(), keeper.ageMs()]).toEqual([right + HOUR_MS, right + HOUR_MS]);
});

test('clocks that are finer than a millisecond give whole ones, and their time is stored', async () => {
  const { clock, core } = engine;
  const fine = { steadyMs: () => clock.steadyMs() * 1.0001, bootMs: () => clock.bootMs() * 1.0001 };
  const keeper = new Timekeeper({ ...clock, nowMs: clock.nowMs, ...fine }, '', () => undefined);
  await keeper.begin(core.store);
  for (const aheadMs of [0, -DAY_MS]) {
    clock.leap(aheadMs);
    clock.advance(61_234);
    await keeper.keep(core.store);
    clock.advance(1_234);
    for (const ms of [keeper.nowMs(), keeper.leastMs(keeper.nowMs())]) expect(ms % 1).toBe(0);
    const [stored] = await core.store.listTimes();
    expect([stored?.atMs, stored?.ranMs].map((ms) => (ms ?? 0.5) % 1)).toEqual([0, 0]);
  }
});

test('the time is stored each minute, and at each change', async () => {
  const { clock, core } = engine;
  const keeper = await start();
  const stored = async () => (await core.store.listTimes())[0]?.atMs;
  const firstMs = clock.nowMs();
  expect(await stored()).toBe(firstMs);
  clock.advance(59_000);
  await keeper.keep(core.store);
  expect(await stored()).toBe(firstMs);
  clock.advance(1_000);
  await keeper.keep(core.store);
  expect(await stored()).toBe(firstMs + 60_000);
  await leap(keeper, DAY_MS);
  expect((await core.store.listTimes())[0]?.leap?.leadMs).toBe(DAY_MS);
  expect(said()).toEqual(['leapt']);
});

test('a leap goes on after a restart, and 24 hours of both runs make it right', async () => {
  const first = await start();
  await leap(first, TEN_YEARS_MS);
  await pass(first, 12 * HOUR_MS);
  engine.clock.advance(2 * DAY_MS);
  const second = await start();
  expect(second.leap()).toMatchObject({ isSuspended: true });
  await pass(second, 11 * HOUR_MS);
  expect(second.ageMs()).toBe(0);
  await pass(second, HOUR_MS);
  expect(second.ageMs()).toBe(engine.clock.nowMs());
  expect(said()).toEqual(['leapt', 'trusted']);
});

test.each([
  ['a clock before the last time stored', -TEN_YEARS_MS],
  ['a clock over 30 days after it', 31 * DAY_MS],
])('at a start: %s', async (_, ms) => {
  await start();
  engine.clock.leap(ms);
  const keeper = await start();
  expect(keeper.ageMs()).toBe(0);
  expect(said()).toEqual(['leapt']);
  // The operator knows better, also while nothing runs.
  expect(await engine.core.store.trustClocks(ACT)).toBe(1);
  expect((await start()).leap()).toBeNull();
});

test('the word of the operator reaches a running server', async () => {
  const keeper = await start();
  await leap(keeper, TEN_YEARS_MS);
  await engine.core.store.trustClocks(ACT);
  engine.clock.advance(4_000);
  await keeper.keep(engine.core.store);
  expect(keeper.ageMs()).toBe(0);
  engine.clock.advance(1_000);
  await keeper.keep(engine.core.store);
  expect(keeper.ageMs()).toBe(engine.clock.nowMs());
  expect(said()).toEqual(['leapt', 'trusted']);
  // It is over for the store too.
  await leap(keeper, -HOUR_MS / 2);
  expect((await engine.core.store.listTimes())[0]?.leap).toBeNull();
});

test('records of the future are cut also if a kill comes between', async () => {
  const { clock, core, db } = engine;
  await makeProvider(engine);
  const keeper = await start();
  await leap(keeper, TEN_YEARS_MS);
  db.run(`UPDATE provider SET last_general_at_ms = ${clock.nowMs()}`);
  clock.leap(-TEN_YEARS_MS);
  const dies = async () => {
    throw new Error('killed');
  };
  const dying = withMethods(core.store, { cutFuture: dies });
  await expect(keeper.keep(dying)).rejects.toThrow('killed');
  await start();
  const lastMs = db
    .query<{ atMs: number }, []>('SELECT last_general_at_ms AS "atMs" FROM provider')
    .get()?.atMs;
  expect(lastMs).toBe(clock.nowMs());
});

test('nodes have a clock each; a new one begins by the time of another', async () => {
  const one = await start('one');
  const two = await start('two');
  await leap(one, TEN_YEARS_MS);
  engine.clock.leap(-TEN_YEARS_MS);
  await two.keep(engine.core.store);
  expect(two.leap()).toBeNull();
  expect((await engine.core.store.listTimes()).map(({ leap }) => leap !== null).sort()).toEqual([
    false,
    true,
  ]);
  engine.clock.leap(-TEN_YEARS_MS);
  expect((await start('three')).ageMs()).toBe(0);
});

test('leaps of each day end no deletion: it goes on by the earlier clock', async () => {
  const keeper = await start();
  const { clock } = engine;
  for (let day = 0; day < 6; day++) {
    await leap(keeper, day % 2 === 0 ? TEN_YEARS_MS : -TEN_YEARS_MS - 2 * HOUR_MS);
    await pass(keeper, 20 * HOUR_MS);
  }
  expect(keeper.leap()).toMatchObject({ isSuspended: false, isSpent: true });
  // The clock is behind, and then ahead.
  expect(keeper.ageMs()).toBe(clock.nowMs());
  await leap(keeper, TEN_YEARS_MS);
  const { leadMs = 0 } = keeper.leap() ?? {};
  expect(leadMs).toBeGreaterThan(DAY_MS);
  expect(keeper.ageMs()).toBe(clock.nowMs() - leadMs);
});

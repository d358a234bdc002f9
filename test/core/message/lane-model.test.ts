/**
 * Every order of sending, scheduling, looking, dying and setting the clock, up to a depth: whatever
 * has happened in a lane, nothing that can be delivered waits for something that can not.
 */

import { afterAll, expect, test } from 'bun:test';
import { deliverStep, LEASE_MS } from '../../../src/core/message/deliver.ts';
import { isTerminal, PENDING } from '../../../src/core/message/status.ts';
import type { Targets } from '../../../src/core/message/target.ts';
import type { Provider } from '../../../src/core/port/provider.ts';
import { nextTurn } from '../../../src/core/turn.ts';
import { command, HOUR_MS, MINUTE_MS, makeProvider, openEngine } from '../../support/delivery.ts';
import { STORE } from '../../support/place.ts';
import { scaleOf } from '../../support/scale.ts';

/** A level more takes six times as long. */
const DEPTH = scaleOf(
  'LANE_DEPTH',
  STORE === 'sqlite' ? { short: 5, long: 5 } : { short: 3, long: 4 },
);
/** Sends in an order, at most: more say nothing new about who goes before whom. */
const SENDS_MAX = 2;
const LATER_MS = 30 * MINUTE_MS;

const engine = await openEngine();
afterAll(() => engine.close());
const startMs = engine.clock.nowMs();
const { store } = engine.core;

/** What a lane holds: rows as the database has them, with times as distances from now. */
interface Row {
  id: number;
  status: number;
  is_scheduled: number;
  due_at_ms: number;
  lease_owner: string | null;
  lease_until_ms: number | null;
}
type Lane = readonly Row[];

/** The law of the states has tests of its own; here lanes are put back to where they were. */
if (engine.database === null) {
  engine.db.run('DROP TRIGGER distribution_created');
  engine.db.run('DROP TRIGGER distribution_moved');
  engine.db.run('PRAGMA synchronous = OFF');
} else {
  engine.db.run('ALTER TABLE distribution DISABLE TRIGGER USER');
}
const provider = await makeProvider(engine);
const put = engine.db.prepare(
  `INSERT INTO distribution (provider_id, notification_type, target_os, target_hwid, payload,
     expires_at_ms, reaches_unbound, id, status, created_at_ms, due_at_ms, lease_owner,
     lease_until_ms)
   VALUES (?, 20, 'android', '', '{}', 9e15, 0, ?, ?, ?, ?, ?, ?)`,
);
const read = engine.db.query<Row, [number]>(
  `SELECT id, status, CAST(due_at_ms <> created_at_ms AS integer) AS is_scheduled,
     due_at_ms, lease_owner, lease_until_ms
   FROM distribution WHERE provider_id = ? ORDER BY id`,
);

async function restore(lane: Lane, owner: Provider): Promise<void> {
  engine.clock.set(startMs);
  engine.db.transaction(() => {
    engine.db.run('DELETE FROM distribution');
    for (const row of lane) {
      const untilMs = row.lease_until_ms === null ? null : startMs + row.lease_until_ms;
      const { id, status, lease_owner } = row;
      const dueAtMs = startMs + row.due_at_ms;
      const createdAtMs = row.is_scheduled === 1 ? 0 : dueAtMs;
      put.run(owner.id, id, status, createdAtMs, dueAtMs, lease_owner, untilMs);
    }
  })();
  await nextTurn();
}

/** What has ended is out of the game; the ids of the others only have an order. */
function laneNow(): Lane {
  const nowMs = engine.clock.nowMs();
  return read
    .all(provider.id)
    .filter(({ status }) => !isTerminal(status))
    .map((row, n) => {
      const leftMs = (row.lease_until_ms ?? 0) - nowMs;
      const isHeld = row.lease_owner !== null && leftMs > 0 && leftMs <= LEASE_MS;
      const lease = isHeld ? row.lease_owner : null;
      const due = { id: n + 1, due_at_ms: row.due_at_ms - nowMs };
      return { ...row, ...due, lease_owner: lease, lease_until_ms: isHeld ? leftMs : null };
    });
}

const step = (owner: string) => deliverStep(engine.core, owner, engine.clock.nowMs());
const all: Targets = { os: ['android'] };

const EVENTS: Readonly<Record<string, () => unknown>> = {
  'send now': () => command(engine, provider, all),
  'send later': () => command(engine, provider, all, LATER_MS),
  'one steps': () => step('one'),
  'two steps': () => step('two'),
  /** Whoever gets hold of work and dies never comes back under this name. */
  'a third dies': () =>
    store.claimWork({ owner: 'dead', nowMs: engine.clock.nowMs(), leaseMs: LEASE_MS }),
  'one stops': () => store.releaseWork('one'),
  'a lease ends': () => engine.clock.advance(LEASE_MS),
  'an hour on': () => engine.clock.advance(HOUR_MS),
  'an hour back': () => engine.clock.advance(-HOUR_MS),
};

const isDelivered = ({ status }: Row) => [5, 6, 40].includes(status);
const canGo = (row: Row) => row.is_scheduled === 0 || isDelivered(row) || row.due_at_ms <= 0;

/** All die, their leases end, one more is sent, and a new worker works until it rests. */
async function finish(before: Lane): Promise<void> {
  engine.clock.advance(LEASE_MS);
  const wanted = laneNow().filter(canGo).length;
  const fresh = await command(engine, provider, all);
  const nowMs = engine.clock.nowMs();
  const ids = read.all(provider.id).filter(({ status }) => !isTerminal(status));
  let endedBefore = 0;
  for (let steps = 0; await step('last'); steps++) {
    const rows = read.all(provider.id);
    expect(rows.filter(isDelivered).length).toBeLessThanOrEqual(1);
    if (!isTerminal(rows.find(({ id }) => id === fresh)?.status ?? 0)) {
      endedBefore = rows.filter(({ status }) => isTerminal(status)).length;
    }
    if (steps > 10 * (ids.length + 1)) throw new Error('the worker does not come to rest');
  }
  // Whoever came last went last: nobody who could go has waited for it, or for anything else.
  expect(endedBefore).toBe(wanted);
  const left = read.all(provider.id).filter(({ status }) => !isTerminal(status));
  expect(left.length).toBe(before.length - wanted);
  for (const row of left) {
    expect(row).toMatchObject({ status: PENDING, is_scheduled: 1 });
    expect(row.due_at_ms).toBeGreaterThan(nowMs);
  }
  const next = left.map(({ due_at_ms: dueAtMs }) => dueAtMs);
  expect(await store.findNextDueMs()).toBe(next.length === 0 ? null : Math.min(...next));
}

/** Without waiting for anything: somebody is at it, or can be. */
async function check(lane: Lane): Promise<void> {
  expect(lane.filter(isDelivered).length).toBeLessThanOrEqual(1);
  if (!lane.some(canGo)) return;
  expect(await store.findNextDueMs()).toBe(
    lane.some((row) => row.is_scheduled === 0 || isDelivered(row) || row.status < PENDING)
      ? 0
      : startMs + Math.min(...lane.map((row) => row.due_at_ms)),
  );
  const nowMs = engine.clock.nowMs();
  const claimed = await store.claimWork({ owner: 'new', nowMs, leaseMs: LEASE_MS });
  if (claimed.some(({ isDue }) => isDue)) return;
  expect(lane.filter(canGo).filter((row) => row.lease_owner !== null)).not.toEqual([]);
}

test('nothing that can be delivered waits for what can not, whatever happened before', async () => {
  const known = new Set<string>(['[]']);
  let edge: { lane: Lane; path: string[] }[] = [{ lane: [], path: [] }];
  for (let depth = 1; depth <= DEPTH; depth++) {
    const found: typeof edge = [];
    for (const { lane, path } of edge) {
      for (const [name, happen] of Object.entries(EVENTS)) {
        const way = [...path, name];
        if (way.filter((one) => one.startsWith('send')).length > SENDS_MAX) continue;
        await restore(lane, provider);
        await happen();
        const after = laneNow();
        const key = JSON.stringify(after);
        if (known.has(key)) continue;
        known.add(key);
        found.push({ lane: after, path: way });
        try {
          await restore(after, provider);
          await check(after);
          await restore(after, provider);
          await finish(after);
        } catch (fault) {
          throw new Error(`after ${way.join(', ')}: ${JSON.stringify(after)}`, { cause: fault });
        }
      }
    }
    edge = found;
  }
  expect(known.size).toBeGreaterThan(STORE === 'sqlite' ? 1_000 : 30);
});

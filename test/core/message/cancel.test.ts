/** Cancelling: exactly ten minutes, only one's own, and never together with a delivered message. */

import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { CANCEL_CUTOFF_MS, cancelDistribution } from '../../../src/core/message/cancel.ts';
import { isRefused } from '../../../src/core/outcome.ts';
import type { Provider } from '../../../src/core/port/provider.ts';
import { ACT } from '../../support/actor.ts';
import {
  command,
  deliver,
  deliverUntil,
  type Engine,
  HOUR_MS,
  holderOf,
  inboxOf,
  makeDevices,
  makeProvider,
  notify,
  openEngine,
  putOnLinks,
  statusOf,
} from '../../support/delivery.ts';
import { ROOT } from '../../support/process.ts';
import { Random } from '../../support/random.ts';
import { until } from '../../support/until.ts';

const ROUNDS = 1_000;
const LANES = 10;

let engine: Engine;
beforeEach(async () => {
  engine = await openEngine();
});
afterEach(() => engine.close());

async function seed() {
  const provider = await makeProvider(engine);
  const hwid = `${provider.code}-device`;
  const [device = 0] = makeDevices(engine, [hwid]);
  putOnLinks(engine, provider, [device]);
  return { provider, hwid, device };
}

/** `ok`, or the key of the refusal. */
async function cancel(provider: Provider, id: number): Promise<string> {
  const outcome = await cancelDistribution(engine.core, provider, id, engine.clock.nowMs());
  return isRefused(outcome) ? outcome.says : outcome;
}

describe('ten minutes', () => {
  test('exactly ten minutes before is allowed', async () => {
    const { provider } = await seed();
    const id = await notify(engine, provider, { dueInMs: HOUR_MS });
    await deliver(engine);
    engine.clock.advance(HOUR_MS - CANCEL_CUTOFF_MS);
    expect(await cancel(provider, id)).toBe('ok');
    expect(statusOf(engine, id)).toBe(130);
  });

  test('a millisecond later is not, and it is delivered', async () => {
    const { provider, device } = await seed();
    const id = await notify(engine, provider, { dueInMs: HOUR_MS });
    await deliver(engine);
    engine.clock.advance(HOUR_MS - CANCEL_CUTOFF_MS + 1);
    expect(await cancel(provider, id)).toBe('cancel_too_late');
    expect(statusOf(engine, id)).toBe(30);
    engine.clock.advance(CANCEL_CUTOFF_MS);
    await deliver(engine);
    expect(await inboxOf(engine, device)).toEqual([id]);
  });

  test('what was not scheduled cannot be cancelled, in no status', async () => {
    const { provider } = await seed();
    for (const status of [10, 20, 5, 40]) {
      const id = await command(engine, provider);
      await deliverUntil(engine, id, status);
      expect(await cancel(provider, id)).toBe('cancel_too_late');
      engine.clock.advance(-HOUR_MS);
      expect(await cancel(provider, id)).toBe('cancel_too_late');
      expect(statusOf(engine, id)).toBe(status);
      await deliver(engine);
    }
  });

  test('under way or past its time is too late, whatever the clock says', async () => {
    const { provider } = await seed();
    for (const status of [5, 40]) {
      const id = await notify(engine, provider, { dueInMs: HOUR_MS });
      engine.clock.advance(HOUR_MS);
      await deliverUntil(engine, id, status);
      engine.clock.advance(-HOUR_MS);
      expect(await cancel(provider, id)).toBe('cancel_too_late');
      await deliver(engine);
      expect(statusOf(engine, id)).toBe(100);
    }
  });
});

describe('refusals', () => {
  test('what has ended: sent, failed, cancelled, blocked', async () => {
    const { provider } = await seed();
    const ended: number[] = [];
    ended.push(await notify(engine, provider, { dueInMs: HOUR_MS }));
    engine.clock.advance(HOUR_MS);
    await deliver(engine);
    const cancelled = await notify(engine, provider, { dueInMs: HOUR_MS });
    expect(await cancel(provider, cancelled)).toBe('ok');
    const blocked = await notify(engine, provider, { dueInMs: HOUR_MS });
    await engine.core.store.blockDistribution(blocked, [10], engine.clock.nowMs(), ACT);
    const failed = await notify(engine, provider, { dueInMs: HOUR_MS });
    engine.db.run('DELETE FROM install_device');
    engine.clock.advance(HOUR_MS);
    await deliver(engine);
    ended.push(failed, cancelled, blocked);
    const statuses = ended.map((id) => statusOf(engine, id));
    expect(statuses).toEqual([100, 120, 130, 140]);
    for (const id of ended) expect(await cancel(provider, id)).toBe('cancel_failed');
    expect(ended.map((id) => statusOf(engine, id))).toEqual(statuses);
  });

  test('another provider\u2019s and what does not exist look the same', async () => {
    const { provider } = await seed();
    const stranger = await makeProvider(engine);
    const id = await notify(engine, provider, { dueInMs: HOUR_MS });
    expect(await cancel(stranger, id)).toBe('notification_not_found');
    expect(await cancel(stranger, id + 1)).toBe('notification_not_found');
    expect(statusOf(engine, id)).toBe(10);
  });
});

test(`${ROUNDS} cancellations race a worker in another process`, async () => {
  // The canceller's clock is behind, the worker's says that everything is due.
  const nowMs = engine.clock.nowMs();
  const worker = Bun.spawn(
    [
      process.execPath,
      join(ROOT, 'test/support/delivery-worker.ts'),
      JSON.stringify(engine.place),
      String(nowMs + HOUR_MS),
    ],
    { stdin: 'pipe', stdout: 'pipe', stderr: 'inherit' },
  );
  const random = new Random(3);
  const outcomes = { ok: 0, late: 0 };
  const problems: unknown[] = [];

  async function lane(rounds: number): Promise<void> {
    const { provider, hwid, device } = await seed();
    // Turns of the event loop before it: more of them after an ok, fewer after a refusal.
    let patience = 20;
    for (let round = 0; round < rounds; round++) {
      const id = await command(engine, provider, { hwids: [hwid] }, HOUR_MS);
      const turns = random.int(0, patience);
      for (let turn = 0; turn < turns; turn++) await new Promise(setImmediate);
      const said = await cancel(provider, id);
      patience = said === 'ok' ? Math.min(2_000, patience * 2) : Math.ceil(patience / 2);
      await until('the end of a round', () => (statusOf(engine, id) ?? 0) >= 100);
      const status = statusOf(engine, id);
      const isDelivered = (await inboxOf(engine, device)).includes(id);
      if (said === 'ok') outcomes.ok += 1;
      else outcomes.late += 1;
      const isRight =
        said === 'ok' ? status === 130 && !isDelivered : status === 100 && isDelivered;
      if (!isRight) problems.push({ id, said, status, isDelivered });
      const done = [{ id, state: 'received' as const, detail: null }];
      await engine.core.store.acknowledge(holderOf(engine, device), done, nowMs);
    }
  }
  try {
    await Promise.all(Array.from({ length: LANES }, () => lane(ROUNDS / LANES)));
  } finally {
    await worker.stdin.end();
    await worker.exited;
  }
  expect(problems).toEqual([]);
  expect(outcomes.ok + outcomes.late).toBe(ROUNDS);
  // Both happened, or there was no race.
  expect(Math.min(outcomes.ok, outcomes.late)).toBeGreaterThan(ROUNDS / 50);
  const odd = engine.db
    .query(
      `SELECT x.id FROM distribution x LEFT JOIN recipient r ON r.distribution_id = x.id
       WHERE x.status NOT IN (100, 130) OR (x.status = 130) <> (r.id IS NULL)`,
    )
    .all();
  expect(odd).toEqual([]);
});

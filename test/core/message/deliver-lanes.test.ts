/** Order, turns and leases: several providers, several workers, one database. */

import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { makeLog } from '../../../src/base/log.ts';
import type { Core } from '../../../src/core/core.ts';
import { deliverStep, LEASE_MS } from '../../../src/core/message/deliver.ts';
import { withMethods } from '../../../src/core/port/store.ts';
import { nextTurn } from '../../../src/core/turn.ts';
import { makeWorker, type Worker } from '../../../src/jobs/deliver.ts';
import { WIDE_LIMITS } from '../../support/bounds.ts';
import {
  command,
  deliver,
  deliverUntil,
  type Engine,
  HOUR_MS,
  inboxOf,
  ledgerOf,
  MINUTE_MS,
  makeDevices,
  notify,
  openCoreOn,
  openEngine,
  putOnLinks,
  seedDevices,
  statusOf,
  stepOnce,
} from '../../support/delivery.ts';
import { until } from '../../support/until.ts';

let engine: Engine;
let second: Core;
beforeEach(async () => {
  engine = await openEngine();
  second = await openCoreOn(engine.place, engine.clock);
});
afterEach(async () => {
  await second.store.close();
  await engine.close();
});

const seed = (count: number) => seedDevices(engine, count);

describe('order', () => {
  test('a device gets a provider\u2019s messages in the order of their times', async () => {
    const { provider, hwids, first } = await seed(2_500);
    const [hwid = ''] = hwids;
    const later = await command(engine, provider, { hwids: [hwid] }, 2 * MINUTE_MS);
    const sooner = await command(engine, provider, { os: ['android'] }, MINUTE_MS);
    const large = await notify(engine, provider);
    const small = await command(engine, provider, { hwids: [hwid] });
    await deliver(engine);
    engine.clock.advance(5 * MINUTE_MS);
    const last = await command(engine, provider, { hwids: [hwid] });
    await deliver(engine);
    expect(await inboxOf(engine, first)).toEqual([large, small, sooner, later, last]);
  });

  test('of a provider one distribution is in delivery at a time', async () => {
    const { provider } = await seed(2_500);
    const ids = [];
    for (let n = 0; n < 4; n++) ids.push(await command(engine, provider));
    const inDelivery = engine.db.query<{ count: number }, []>(
      'SELECT count(*) AS count FROM distribution WHERE status IN (5, 6, 40)',
    );
    const counts = new Set<number>();
    while (await stepOnce(engine)) counts.add(inDelivery.get()?.count ?? 0);
    expect([...counts].sort()).toEqual([0, 1]);
    expect(ids.map((id) => statusOf(engine, id))).toEqual([100, 100, 100, 100]);
  });
});

describe('turns', () => {
  /** Steps until `id` has ended; the clock goes on as it does in life. */
  async function stepsToEnd(id: number): Promise<number> {
    for (let steps = 0; steps < 1_000; steps++) {
      if (statusOf(engine, id) === 100) return steps;
      await stepOnce(engine);
      engine.clock.advance(1);
    }
    throw new Error('never');
  }

  test('large sends of twenty providers do not hold up a small one', async () => {
    const large = [];
    for (let n = 0; n < 20; n++) {
      const { provider } = await seed(200);
      // As many small steps as a large audience takes.
      putOnLinks(engine, provider, makeDevices(engine, ['shared']));
      for (let k = 0; k < 10; k++) large.push(await command(engine, provider));
    }
    for (let n = 0; n < 30; n++) {
      await stepOnce(engine);
      engine.clock.advance(1);
    }
    const { provider, first } = await seed(1);
    const small = await notify(engine, provider);
    const steps = await stepsToEnd(small);
    expect(await inboxOf(engine, first)).toEqual([small]);
    const unfinished = large.filter((id) => statusOf(engine, id) !== 100).length;
    expect(unfinished).toBeGreaterThan(large.length / 2);
    // Its four moves are small; its three bulky steps wait for a round of the twenty each time.
    expect(steps).toBeLessThan(30);
  });

  test('600 due commands of one provider do not hide what another sends', async () => {
    const { provider, hwids } = await seed(1);
    const backlog = [];
    for (let n = 0; n < 600; n++) backlog.push(command(engine, provider, { hwids }));
    const ids = await Promise.all(backlog);
    engine.clock.advance(1);
    const other = await seed(1);
    const id = await notify(engine, other.provider);
    expect(await stepsToEnd(id)).toBeLessThan(10);
    expect(ids.filter((one) => statusOf(engine, one) === 100).length).toBeLessThan(200);
  });

  test('a large send and many by HWID of another provider go on side by side', async () => {
    const alone = await seed(5_000);
    const stepsAlone = await stepsToEnd(await notify(engine, alone.provider));
    const { provider, hwids } = await seed(1);
    const ids: number[] = [];
    for (let n = 0; n < 400; n++) ids.push(await command(engine, provider, { hwids }));
    const large = await notify(engine, alone.provider);
    expect(await stepsToEnd(large)).toBeLessThanOrEqual(stepsAlone + 1);
    // On a busy machine the milliseconds of a step are over after one small send.
    const doneCount = ids.filter((id) => statusOf(engine, id) === 100).length;
    expect(doneCount).toBeGreaterThanOrEqual(stepsAlone);
    await deliver(engine);
    expect(ids.every((id) => statusOf(engine, id) === 100)).toBe(true);
  });
});

describe('leases', () => {
  test('two workers side by side: nothing twice, nothing lost', async () => {
    const seeds = [await seed(2_500), await seed(1_500), await seed(3)];
    const ids: number[] = [];
    for (const { provider } of seeds) {
      ids.push(await notify(engine, provider));
      ids.push(await command(engine, provider));
    }
    const work = async (core: Core, owner: string) => {
      let done = 0;
      await until('all are sent', async () => {
        engine.clock.advance(1);
        if (await deliverStep(core, owner, engine.clock.nowMs())) done += 1;
        return ids.every((id) => statusOf(engine, id) === 100);
      });
      return done;
    };
    await Promise.all([work(engine.core, 'first'), work(second, 'second')]);
    for (const [i, id] of ids.entries()) {
      const count = seeds[Math.floor(i / 2)]?.devices.length ?? 0;
      expect(await ledgerOf(engine, id)).toMatchObject({
        sent: count,
        sentCount: count,
        recipientCount: count,
        failedCount: 0,
      });
    }
    for (const [i, { first }] of seeds.entries()) {
      expect(await inboxOf(engine, first)).toEqual(ids.slice(2 * i, 2 * i + 2));
    }
  });

  test('held by a worker, it is nobody else\u2019s, until the lease has ended', async () => {
    const { provider } = await seed(2_500);
    const id = await notify(engine, provider);
    await deliverUntil(engine, id, 40, 'first');
    engine.clock.advance(LEASE_MS - 1);
    expect(await stepOnce(engine, 'second', second)).toBe(false);
    engine.clock.advance(1);
    expect(await stepOnce(engine, 'second', second)).toBe(true);
    // The first one wakes up and finds that it was taken over.
    expect(await stepOnce(engine, 'first')).toBe(false);
    await deliver(engine, 'second', second);
    expect(await ledgerOf(engine, id)).toMatchObject({ status: 100, sentCount: 2_500 });
  });

  test('a step that comes after the take-over changes nothing', async () => {
    const { provider } = await seed(2_500);
    const id = await notify(engine, provider);
    await deliverUntil(engine, id, 5, 'first');
    const nowMs = engine.clock.nowMs();
    engine.clock.advance(LEASE_MS);
    await stepOnce(engine, 'second', second);
    const before = await ledgerOf(engine, id);
    const lease = { id, owner: 'first', nowMs, leaseMs: LEASE_MS };
    const { store } = engine.core;
    expect(await store.loadRecipients(lease, WIDE_LIMITS.ledgerRowsMax)).toBeNull();
    expect(await store.sendRecipients(lease, 1_000, [])).toBeNull();
    expect(await store.moveDistribution(lease, before.status, 40)).toBe(false);
    expect(await ledgerOf(engine, id)).toEqual(before);
  });

  test('a worker that works for longer than a lease keeps what it holds', async () => {
    const { provider } = await seed(5_000);
    const id = await notify(engine, provider);
    let steps = 0;
    while (await stepOnce(engine, 'first')) {
      steps += 1;
      engine.clock.advance(LEASE_MS - 1);
      expect(await stepOnce(engine, 'second', second)).toBe(false);
    }
    expect(steps).toBeGreaterThan(5);
    expect(statusOf(engine, id)).toBe(100);
  });

  test('a worker that stops gives back what it holds: 5 becomes 6 at once', async () => {
    const { provider } = await seed(5_000);
    const id = await notify(engine, provider);
    const log = makeLog({ logFormat: 'json', logLevel: 'debug' }, engine.clock.nowMs, () => {});
    const worker = makeWorker(engine.core, engine.clock, log);
    worker.wake();
    // Each step takes a turn at least: none goes by unseen.
    while (statusOf(engine, id) !== 5) await nextTurn();
    await worker.stop();
    expect(statusOf(engine, id)).toBe(5);
    await deliverUntil(engine, id, 6, 'next');
    await deliver(engine, 'next');
    expect(await ledgerOf(engine, id)).toMatchObject({ status: 100, sentCount: 5_000 });
  });
});

describe('the worker of a process', () => {
  const makeOne = (core: Core, lines: string[] = []) =>
    makeWorker(
      core,
      engine.clock,
      makeLog({ logFormat: 'json', logLevel: 'debug' }, engine.clock.nowMs, (line) =>
        lines.push(line),
      ),
    );

  /** A second passes: the store looks for what others changed, and the bell rings. */
  async function aSecondOf(worker: Worker): Promise<void> {
    engine.clock.advance(1_000);
    await nextTurn();
    await worker.tick();
  }

  test('rests until something is due, and finds what another process accepted', async () => {
    const { provider } = await seed(1);
    const worker = makeOne(second);
    await worker.tick();
    const now = await notify(engine, provider);
    await until('the first is sent', async () => {
      await aSecondOf(worker);
      return statusOf(engine, now) === 100;
    });
    const later = await command(engine, provider, { os: ['android'] }, HOUR_MS);
    await until('the second waits for its time', async () => {
      await aSecondOf(worker);
      return statusOf(engine, later) === 30;
    });
    engine.clock.advance(HOUR_MS);
    await until('the second is sent', async () => {
      await worker.tick();
      return statusOf(engine, later) === 100;
    });
    await worker.stop();
  });

  test('tells whoever waits of what another process changed, from before the first bell on', async () => {
    const { provider, first } = await seed(1);
    const worker = makeOne(second);
    let toldCount = 0;
    second.signals.onMessages(first, () => {
      toldCount += 1;
    });
    await notify(engine, provider);
    await deliver(engine);
    await until('it is told', async () => {
      await aSecondOf(worker);
      return toldCount > 0;
    });
    await aSecondOf(worker);
    // A store that is asked over a network may tell more often than needed.
    if (engine.database === null) expect(toldCount).toBe(1);
    await notify(engine, provider);
    await worker.stop();
    const toldBefore = toldCount;
    await aSecondOf(worker);
    expect(toldCount).toBe(toldBefore);
  });

  test('a bell that fails half way is made up for by the next', async () => {
    const { provider, first } = await seed(1);
    const lines: string[] = [];
    const worker = makeOne(second, lines);
    let toldCount = 0;
    second.signals.onMessages(first, () => {
      toldCount += 1;
      if (toldCount === 1) throw new Error('whoever waits is on fire');
    });
    await notify(engine, provider);
    await deliver(engine);
    const burning = () => lines.filter((line) => line.includes('on fire')).length;
    await until('it fails', async () => {
      await aSecondOf(worker);
      return burning() === 1;
    });
    await until('it is told again', async () => {
      await worker.tick();
      return toldCount >= 2;
    });
    expect(burning()).toBe(1);
    await worker.stop();
  });

  test('after a fault it tries again with the next bell, and says so in the log', async () => {
    const { provider } = await seed(1);
    const id = await notify(engine, provider);
    const lines: string[] = [];
    let faults = 2;
    const store = withMethods(engine.core.store, {
      claimWork: async (...args) => {
        if (faults-- > 0) throw new Error('the disk is on fire');
        return engine.core.store.claimWork(...args);
      },
    });
    const log = makeLog({ logFormat: 'json', logLevel: 'debug' }, engine.clock.nowMs, (line) =>
      lines.push(line),
    );
    const worker = makeWorker({ ...engine.core, store }, engine.clock, log);
    await until('it is sent', async () => {
      await worker.tick();
      return statusOf(engine, id) === 100;
    });
    expect(lines.filter((line) => line.includes('the disk is on fire')).length).toBe(2);
    await worker.stop();
  });
});

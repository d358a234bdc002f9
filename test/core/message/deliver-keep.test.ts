/** The ledger afterwards: what disappears during delivery, what expires, what is pruned. */

import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { LEASE_MS } from '../../../src/core/message/deliver.ts';
import { BLOCKED, statusesBefore } from '../../../src/core/message/status.ts';
import { removeProvider } from '../../../src/core/provider.ts';
import { nextTurn } from '../../../src/core/turn.ts';
import { expireMessages, prune } from '../../../src/jobs/keep.ts';
import { ACT } from '../../support/actor.ts';
import { WIDE_LIMITS } from '../../support/bounds.ts';
import {
  bindDevices,
  command,
  DAY_MS,
  deliver,
  deliverUntil,
  type Engine,
  holderOf,
  inboxOf,
  ledgerOf,
  makeDevices,
  makeProvider,
  notify,
  openEngine,
  seedDevices,
  statusOf,
  stepOnce,
} from '../../support/delivery.ts';

let engine: Engine;
beforeEach(async () => {
  engine = await openEngine();
});
afterEach(() => engine.close());

const seed = (count: number) => seedDevices(engine, count);

const recipients = () =>
  engine.db.query<{ count: number }, []>('SELECT count(*) AS count FROM recipient').get()?.count;

describe('what disappears during delivery', () => {
  test('a device forgotten after loading counts as failed', async () => {
    const { provider, hwids } = await seed(3);
    const id = await notify(engine, provider);
    await deliverUntil(engine, id, 40);
    expect(await engine.core.store.forgetDevice(hwids[1] ?? '', ACT)).toBe('ok');
    await deliver(engine);
    expect(await ledgerOf(engine, id)).toMatchObject({
      status: 110,
      recipientCount: 3,
      sentCount: 2,
      failedCount: 1,
      sent: 2,
    });
  });

  test('a named device forgotten before loading counts as failed', async () => {
    const { provider, hwids } = await seed(2);
    const id = await command(engine, provider, { hwids });
    expect(await engine.core.store.forgetDevice(hwids[0] ?? '', ACT)).toBe('ok');
    await deliver(engine);
    expect(await ledgerOf(engine, id)).toMatchObject({
      status: 110,
      recipientCount: 2,
      sentCount: 1,
      failedCount: 1,
    });
  });

  test('a provider removed in any status takes everything along', async () => {
    for (const status of [10, 20, 5, 40]) {
      const { provider, first } = await seed(2_500);
      const other = await seed(1);
      const id = await notify(engine, provider);
      await deliverUntil(engine, id, status);
      if (status === 40) await stepOnce(engine);
      expect(await removeProvider(engine.core, provider.code, 0)).toBe('ok');
      const untouched = await notify(engine, other.provider);
      await deliver(engine);
      expect(statusOf(engine, id)).toBeUndefined();
      expect(statusOf(engine, untouched)).toBe(100);
      expect(await inboxOf(engine, first)).toEqual([]);
      await removeProvider(engine.core, other.provider.code, 0);
      expect(recipients()).toBe(0);
    }
  });

  test('a binding disabled while its devices are written: the rest is not', async () => {
    const provider = await makeProvider(engine);
    const hwids = Array.from({ length: 5_000 }, (_, n) => `bound-${n}`);
    const devices = makeDevices(engine, hwids);
    const binding = bindDevices(engine, provider, devices);
    const id = await notify(engine, provider);
    await deliverUntil(engine, id, 5);
    await stepOnce(engine);
    engine.db.run('UPDATE domain SET status = 5 WHERE id = ?', [binding]);
    await deliver(engine);
    const ledger = await ledgerOf(engine, id);
    expect(ledger).toMatchObject({ status: 100, sentCount: ledger.recipientCount });
    expect(ledger.recipientCount).toBeGreaterThan(0);
    expect(ledger.recipientCount).toBeLessThan(5_000);
    // What is there already, they cannot read: the provider has no devices any more.
    expect(await inboxOf(engine, devices[0] ?? 0)).toEqual([]);
  });

  test('a worker that dies after writing named recipients does not count them twice', async () => {
    const { provider, hwids, first } = await seed(2);
    const id = await command(engine, provider, { hwids });
    const { store } = engine.core;
    const lease = { id, owner: 'first', nowMs: engine.clock.nowMs(), leaseMs: LEASE_MS };
    // As one of an earlier version, which took such sends step by step.
    await store.claimWork(lease);
    await store.moveDistribution(lease, 10, 20);
    await store.moveDistribution(lease, 20, 5);
    engine.db.run('DELETE FROM install_device WHERE device_id = ?', [first]);
    await nextTurn();
    expect(await store.loadRecipients(lease, WIDE_LIMITS.ledgerRowsMax)).toEqual({ isDone: true });
    engine.clock.advance(LEASE_MS);
    await deliver(engine, 'second');
    expect(await ledgerOf(engine, id)).toMatchObject({
      status: 110,
      recipientCount: 2,
      sentCount: 1,
      failedCount: 1,
      sent: 1,
      failed: 1,
    });
  });
});

describe('expiry', () => {
  test('what nobody acknowledged is marked, in steps, and the rest is not', async () => {
    const { provider, devices, first } = await seed(2_500);
    const id = await notify(engine, provider, { expireDays: 2 });
    await deliver(engine);
    const { store } = engine.core;
    const received = [{ id, state: 'received' as const, detail: null }];
    await nextTurn();
    await store.acknowledge(holderOf(engine, first), received, engine.clock.nowMs());

    engine.clock.advance(2 * DAY_MS - 1);
    await expireMessages(engine.core, engine.clock.nowMs());
    expect(await ledgerOf(engine, id)).toMatchObject({ sent: 2_500, expired: 0 });
    expect(await inboxOf(engine, devices[1] ?? 0)).toEqual([id]);

    engine.clock.advance(1);
    expect(await inboxOf(engine, devices[1] ?? 0)).toEqual([]);
    const part = await store.expireRecipients(engine.clock.nowMs());
    expect((await ledgerOf(engine, id)).expired).toBe(part ?? 0);
    expect(part).toBeGreaterThan(0);
    expect(part).toBeLessThan(2_499);
    await expireMessages(engine.core, engine.clock.nowMs());
    expect(await ledgerOf(engine, id)).toMatchObject({
      status: 100,
      sent: 1,
      expired: 2_499,
      received: 1,
      sentCount: 2_500,
    });
    expect(await store.expireRecipients(engine.clock.nowMs())).toBeNull();
  });

  test('what was blocked half-way expires from the beginning', async () => {
    for (const status of [5, 40]) {
      const { provider } = await seed(2_500);
      const id = await notify(engine, provider, { expireDays: 1 });
      await deliverUntil(engine, id, status);
      await stepOnce(engine);
      const from = statusesBefore(BLOCKED);
      await engine.core.store.blockDistribution(id, from, engine.clock.nowMs(), ACT);
      engine.clock.advance(DAY_MS);
      await expireMessages(engine.core, engine.clock.nowMs());
      expect(await ledgerOf(engine, id)).toMatchObject({ status: 140, queued: 0, sent: 0 });
      const waiting = engine.db.query('SELECT 1 FROM recipient WHERE is_waiting = 1').get();
      expect(waiting).toBeNull();
    }
  });

  test('what expires during delivery is sent to nobody else', async () => {
    const { provider } = await seed(2_500);
    const id = await notify(engine, provider, { expireDays: 1 });
    await deliverUntil(engine, id, 40);
    await stepOnce(engine);
    const { sentCount } = await ledgerOf(engine, id);
    engine.clock.advance(DAY_MS);
    await deliver(engine, 'another');
    expect(sentCount).toBeGreaterThan(0);
    expect(await ledgerOf(engine, id)).toMatchObject({
      status: 110,
      sentCount,
      failedCount: 2_500 - sentCount,
      expired: 2_500 - sentCount,
    });
  });
});

describe('pruning', () => {
  const LEDGER_DAYS = 90;
  const DAYS = { ledgerDays: LEDGER_DAYS, distributionDays: 365, deviceDays: 180 };
  const pruneAll = () => prune(engine.core, DAYS, engine.clock.nowMs());

  test('the rows go after the time, in steps; the distribution and its counts stay', async () => {
    const { provider, first } = await seed(2_500);
    const id = await notify(engine, provider, { expireDays: 2 });
    await deliver(engine);
    engine.clock.advance(LEDGER_DAYS * DAY_MS);
    await expireMessages(engine.core, engine.clock.nowMs());
    await pruneAll();
    expect(recipients()).toBe(2_500);

    engine.clock.advance(1);
    const beforeMs = engine.clock.nowMs() - LEDGER_DAYS * DAY_MS;
    const nowMs = engine.clock.nowMs();
    await engine.core.store.pruneLedger(beforeMs, nowMs, null);
    expect(recipients()).toBeGreaterThan(0);
    expect(recipients()).toBeLessThan(2_500);
    await pruneAll();
    expect(recipients()).toBe(0);
    expect(await ledgerOf(engine, id)).toMatchObject({
      status: 100,
      isPruned: true,
      recipientCount: 2_500,
      sentCount: 2_500,
    });
    const acknowledged = [{ id, state: 'opened' as const, detail: null }];
    await engine.core.store.acknowledge(
      holderOf(engine, first),
      acknowledged,
      engine.clock.nowMs(),
    );
    expect(recipients()).toBe(0);
  });

  test('what can still be fetched, and what has not ended, is kept', async () => {
    const { provider, first } = await seed(1);
    const open = await notify(engine, provider, { expireDays: 365 });
    await deliver(engine);
    const waiting = await notify(engine, provider, { dueInMs: 200 * DAY_MS });
    engine.clock.advance(100 * DAY_MS);
    await pruneAll();
    expect(await inboxOf(engine, first)).toEqual([open]);
    expect(await ledgerOf(engine, waiting)).toMatchObject({ isPruned: false });
  });

  test('what was pruned is listed for a year after its end, and is then forgotten', async () => {
    const { provider } = await seed(1);
    const id = await notify(engine, provider, { expireDays: 1 });
    await deliver(engine);
    engine.clock.advance(365 * DAY_MS);
    await pruneAll();
    expect(await ledgerOf(engine, id)).toMatchObject({ isPruned: true, payload: 'null' });
    engine.clock.advance(1);
    await pruneAll();
    expect(await engine.core.store.findDistribution(id, 1)).toBeNull();
  });
});

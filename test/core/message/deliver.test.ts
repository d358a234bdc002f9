/** The engine by hand: every status is reached, and nothing is delivered that must not be. */

import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { cancelDistribution } from '../../../src/core/message/cancel.ts';
import { LEASE_MS } from '../../../src/core/message/deliver.ts';
import { readSchedule } from '../../../src/core/message/schedule.ts';
import { BLOCKED, statusesBefore } from '../../../src/core/message/status.ts';
import { isRefused } from '../../../src/core/outcome.ts';
import { withMethods } from '../../../src/core/port/store.ts';
import { ACT } from '../../support/actor.ts';
import {
  command,
  DAY_MS,
  deliver,
  deliverUntil,
  type Engine,
  HOUR_MS,
  inboxOf,
  ledgerOf,
  MINUTE_MS,
  makeDevices,
  notify,
  openEngine,
  putOnLinks,
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

describe('a step', () => {
  test('wakes the devices whose inboxes it fills', async () => {
    const { provider, devices } = await seed(3);
    const woken: number[] = [];
    for (const id of devices) engine.core.signals.onMessages(id, () => woken.push(id));
    await notify(engine, provider);
    await deliver(engine);
    expect(woken.sort()).toEqual([...devices].sort());
  });

  test('throws the fault of the small sends after the other work', async () => {
    const { provider } = await seed(1);
    const id = await notify(engine, provider);
    const fault = new Error('of the small sends');
    const store = withMethods(engine.core.store, { deliverNamed: () => Promise.reject(fault) });
    const faulty = { ...engine.core, store };
    await expect(stepOnce(engine, 'worker', faulty)).rejects.toBe(fault);
    expect(statusOf(engine, id)).not.toBe(10);
  });
});

describe('each status is reached', () => {
  test('10, 20, 5, 40, 100: at once, to everybody', async () => {
    const { provider, devices } = await seed(3);
    const id = await notify(engine, provider);
    const seen = [statusOf(engine, id)];
    while (await stepOnce(engine)) seen.push(statusOf(engine, id));
    expect(seen.filter((status, i) => status !== seen[i - 1])).toEqual([10, 20, 5, 40, 100]);
    for (const device of devices) expect(await inboxOf(engine, device)).toEqual([id]);
    expect(await ledgerOf(engine, id)).toMatchObject({ sent: 3, queued: 0, recipientCount: 3 });
  });

  test('30: until its minute, then 20 again', async () => {
    const { provider, first } = await seed(1);
    const id = await notify(engine, provider, { dueInMs: HOUR_MS });
    await deliver(engine);
    expect(statusOf(engine, id)).toBe(30);
    engine.clock.advance(HOUR_MS - 1);
    expect(await stepOnce(engine)).toBe(false);
    engine.clock.advance(1);
    expect(await stepOnce(engine)).toBe(true);
    expect(statusOf(engine, id)).toBe(20);
    await deliver(engine);
    expect(statusOf(engine, id)).toBe(100);
    expect(await inboxOf(engine, first)).toEqual([id]);
  });

  test('6: another worker goes on with loading, and nobody gets it twice', async () => {
    const { provider } = await seed(2_500);
    const id = await notify(engine, provider);
    await deliverUntil(engine, id, 5, 'first');
    await stepOnce(engine, 'first');
    const loaded = (await ledgerOf(engine, id)).recipientCount;
    expect(loaded).toBeGreaterThan(0);
    expect(loaded).toBeLessThan(2_500);

    expect(await stepOnce(engine, 'second')).toBe(false);
    engine.clock.advance(LEASE_MS);
    await deliverUntil(engine, id, 6, 'second');
    expect(await ledgerOf(engine, id)).toMatchObject({ recipientCount: loaded });
    await deliver(engine, 'second');
    expect(await ledgerOf(engine, id)).toMatchObject({
      status: 100,
      sent: 2_500,
      sentCount: 2_500,
    });
  });

  test('110: a named device left the provider before delivery', async () => {
    const { provider, hwids, devices, first } = await seed(2);
    const id = await notify(engine, provider, { targets: { hwids }, dueInMs: HOUR_MS });
    engine.db.run('DELETE FROM install_device WHERE device_id = ?', [first]);
    engine.clock.advance(HOUR_MS);
    await deliver(engine);
    expect(await ledgerOf(engine, id)).toMatchObject({
      status: 110,
      sent: 1,
      failed: 1,
      recipientCount: 2,
      sentCount: 1,
      failedCount: 1,
    });
    expect(await inboxOf(engine, first)).toEqual([]);
    expect(await inboxOf(engine, devices[1] ?? 0)).toEqual([id]);
    const found = await engine.core.store.findDistribution(id, 10);
    expect(found?.missing.find((row) => row.state === 'failed')).toMatchObject({
      hwid: hwids[0] ?? '',
      detail: 'not linked to the provider any more',
    });
  });

  test('120: all of them left', async () => {
    const { provider, hwids } = await seed(2);
    const byHwid = await command(engine, provider, { hwids }, HOUR_MS);
    const byOs = await command(engine, provider, { os: ['android'] }, HOUR_MS);
    engine.db.run('DELETE FROM install_device');
    engine.clock.advance(HOUR_MS);
    await deliver(engine);
    expect(await ledgerOf(engine, byHwid)).toMatchObject({ status: 120, failedCount: 2, sent: 0 });
    expect(await ledgerOf(engine, byOs)).toMatchObject({ status: 120, recipientCount: 0 });
  });

  test('130: cancelled in 10, 20 and 30, and nobody ever gets it', async () => {
    for (const status of [10, 20, 30]) {
      const { provider, first } = await seed(1);
      const id = await notify(engine, provider, { dueInMs: HOUR_MS });
      await deliverUntil(engine, id, status);
      expect(await cancelDistribution(engine.core, provider, id, engine.clock.nowMs())).toBe('ok');
      expect(statusOf(engine, id)).toBe(130);
      engine.clock.advance(DAY_MS);
      await deliver(engine);
      expect(statusOf(engine, id)).toBe(130);
      expect(await inboxOf(engine, first)).toEqual([]);
    }
  });

  test('140: the operator blocks it in each status before 100', async () => {
    const { provider, devices } = await seed(2_500);
    for (const status of [10, 20, 30, 5, 6, 40]) {
      const dueInMs = status === 30 ? HOUR_MS : null;
      const id = await command(engine, provider, { os: ['android'] }, dueInMs);
      if (status === 6) {
        await deliverUntil(engine, id, 5, 'dead');
        engine.clock.advance(LEASE_MS);
      }
      await deliverUntil(engine, id, status);
      if (status === 40) await stepOnce(engine);
      const from = statusesBefore(BLOCKED);
      const block = () => engine.core.store.blockDistribution(id, from, engine.clock.nowMs(), ACT);
      expect(await block()).toBe('ok');
      expect(await block()).toBe(BLOCKED);
      engine.clock.advance(2 * HOUR_MS);
      await deliver(engine);
      expect(statusOf(engine, id)).toBe(BLOCKED);
    }
    // What the devices had got before the last one was blocked, they do not see any more.
    for (const device of devices) expect(await inboxOf(engine, device)).toEqual([]);
  });
});

describe('access is looked at again when the time has come', () => {
  const lapses: [string, 'push' | 'command', (id: number) => void][] = [
    ['suspended', 'push', (id) => set(id, 'suspended_at_ms = 1')],
    ['suspended', 'command', (id) => set(id, 'suspended_at_ms = 1')],
    ['ended', 'push', (id) => set(id, `active_until_ms = ${engine.clock.nowMs() + HOUR_MS}`)],
    ['plan pro', 'push', (id) => set(id, "plan = 'pro'")],
    ['plan basic', 'command', (id) => set(id, "plan = 'basic'")],
  ];
  const set = (id: number, what: string) =>
    engine.db.run(`UPDATE provider SET ${what} WHERE id = ?`, [id]);

  test.each(lapses)('%s: a %s is blocked', async (_, kind, lapse) => {
    const { provider, first } = await seed(1);
    const id =
      kind === 'push'
        ? await notify(engine, provider, { dueInMs: HOUR_MS })
        : await command(engine, provider, { os: ['android'] }, HOUR_MS);
    await deliver(engine);
    expect(statusOf(engine, id)).toBe(30);
    lapse(provider.id);
    engine.clock.advance(HOUR_MS);
    await deliver(engine);
    expect(statusOf(engine, id)).toBe(140);
    expect(await inboxOf(engine, first)).toEqual([]);
    expect(await ledgerOf(engine, id)).toMatchObject({ recipientCount: 0 });
  });

  test('a command on plan pro, and a subscription until a moment later, go out', async () => {
    const { provider } = await seed(1);
    const id = await command(engine, provider, { os: ['android'] }, HOUR_MS);
    set(provider.id, "plan = 'pro'");
    set(provider.id, `active_until_ms = ${engine.clock.nowMs() + HOUR_MS + 1}`);
    engine.clock.advance(HOUR_MS);
    await deliver(engine);
    expect(statusOf(engine, id)).toBe(100);
  });
});

describe('time', () => {
  test('a schedule is a minute in UTC+3', async () => {
    const { provider } = await seed(1);
    const nowMs = Date.UTC(2027, 11, 31, 20, 58, 30);
    engine.clock.set(nowMs);
    const schedule = readSchedule({ send_date: '2028-01-01', send_time: '00:01' }, nowMs);
    if (isRefused(schedule) || schedule.dueAtMs === null) throw new Error('no schedule');
    const dueInMs = schedule.dueAtMs - nowMs;
    const id = await notify(engine, provider, { dueInMs });
    await deliver(engine);
    engine.clock.set(Date.UTC(2027, 11, 31, 21, 0, 59, 999));
    await deliver(engine);
    expect(statusOf(engine, id)).toBe(30);
    engine.clock.advance(1);
    await deliver(engine);
    expect(await ledgerOf(engine, id)).toMatchObject({
      status: 100,
      sentAtMs: Date.UTC(2027, 11, 31, 21, 1),
    });
  });

  test('due within a lease after the call: not a moment late', async () => {
    const { provider } = await seed(1);
    const id = await notify(engine, provider, { dueInMs: 1_000 });
    await deliver(engine);
    expect(statusOf(engine, id)).toBe(30);
    engine.clock.advance(1_000);
    await deliver(engine, 'another');
    expect(statusOf(engine, id)).toBe(100);
  });

  test('recipients by operating system are those at delivery time', async () => {
    const { provider, devices } = await seed(2);
    const id = await notify(engine, provider, { dueInMs: HOUR_MS });
    await deliver(engine);
    const [newcomer = 0] = makeDevices(engine, ['newcomer']);
    const [tablet = 0] = makeDevices(engine, ['tablet'], 'ios');
    putOnLinks(engine, provider, [newcomer, tablet]);
    engine.db.run('DELETE FROM install_device WHERE device_id = ?', [devices[0] ?? 0]);
    engine.clock.advance(HOUR_MS);
    await deliver(engine);
    const got = [];
    for (const device of [...devices, newcomer, tablet]) got.push(await inboxOf(engine, device));
    expect(got).toEqual([[], [id], [id], []]);
  });

  test('after days without a worker what is due goes out, unless it expired', async () => {
    const { provider, first } = await seed(1);
    const late = await notify(engine, provider, { dueInMs: HOUR_MS, expireDays: 7 });
    const expired = await notify(engine, provider, { dueInMs: HOUR_MS, expireDays: 2 });
    engine.clock.advance(3 * DAY_MS);
    await deliver(engine);
    expect(await ledgerOf(engine, late)).toMatchObject({ status: 100, sent: 1 });
    expect(await ledgerOf(engine, expired)).toMatchObject({
      status: 120,
      sent: 0,
      expired: 1,
      sentCount: 0,
      failedCount: 1,
    });
    expect(await inboxOf(engine, first)).toEqual([late]);
  });

  test('a clock set back an hour holds up neither what is under way nor what is sent now', async () => {
    const { provider, first } = await seed(2_500);
    const underWay = await command(engine, provider);
    await deliverUntil(engine, underWay, 40);
    const next = await command(engine, provider);
    engine.clock.advance(-HOUR_MS);
    await deliver(engine);
    expect([statusOf(engine, underWay), statusOf(engine, next)]).toEqual([100, 100]);
    const later = await command(engine, provider);
    await deliver(engine);
    expect(await inboxOf(engine, first)).toEqual([underWay, next, later]);
  });

  test('leases from before the clock was set back do not last', async () => {
    const { provider } = await seed(2_500);
    const id = await command(engine, provider);
    await deliverUntil(engine, id, 5, 'dead');
    engine.clock.advance(-DAY_MS);
    await deliver(engine, 'alive');
    expect(await ledgerOf(engine, id)).toMatchObject({ status: 100, sentCount: 2_500 });
  });

  test('a clock that jumps a day ahead delivers early schedules and takes over once', async () => {
    const { provider } = await seed(2_500);
    const now = await command(engine, provider);
    const tomorrow = await command(engine, provider, { os: ['android'] }, DAY_MS);
    await deliverUntil(engine, now, 5);
    engine.clock.advance(DAY_MS);
    await deliver(engine, 'another');
    for (const id of [now, tomorrow]) {
      expect(await ledgerOf(engine, id)).toMatchObject({ status: 100, sentCount: 2_500 });
    }
    expect(await stepOnce(engine)).toBe(false);
  });
});

test('a schedule exactly a minute later is at most a lease away from its minute', async () => {
  const { provider } = await seed(1);
  const id = await notify(engine, provider, { dueInMs: MINUTE_MS });
  await stepOnce(engine, 'dies while it checks');
  expect(statusOf(engine, id)).toBe(20);
  engine.clock.advance(LEASE_MS);
  await deliver(engine);
  expect(statusOf(engine, id)).toBe(30);
});

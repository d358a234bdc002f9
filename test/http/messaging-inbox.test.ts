/** The inbox: long polls, what is in it for how long, and acknowledgements. */

import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import type { Store } from '../../src/core/port/store.ts';
import type { Credentials } from '../../src/core/provider.ts';
import { nextTurn } from '../../src/core/turn.ts';
import { POLLS_PER_DEVICE_MAX } from '../../src/http/bound/polls.ts';
import { ACT } from '../support/actor.ts';
import { startTestApp, type TestApp } from '../support/app.ts';
import { besideOf } from '../support/beside.ts';
import { GUARD_BOUNDS } from '../support/bounds.ts';
import { ack, byBinding, inbox, notify, order, readable, register } from '../support/messaging.ts';
import { seedShop } from '../support/shop.ts';
import { until } from '../support/until.ts';

const DAY_MS = 86_400_000;
let app: TestApp;
let own: Credentials;
let token: string;
beforeEach(async () => {
  app = await startTestApp({ hasWorker: true });
  own = await seedShop(app);
  token = await register(app, byBinding('phone', own));
});
const beside: Store[] = [];
afterEach(async () => {
  for (const store of beside.splice(0)) await store.close();
  await app.close();
});

/** The store as a second process has it. */
async function besideStore(): Promise<Store> {
  const store = await app.openBeside();
  beside.push(store);
  return store;
}

const waiting = () => app.core.signals.awaited('all').length;
const bodiesOf = (reply: { json: { data: { payload: { body: string } }[] } }) =>
  reply.json.data.map(({ payload }) => payload.body);

describe('a long poll', () => {
  test('is answered when a message comes', async () => {
    const poll = inbox(app, token, 60);
    await until('the poll waits', () => waiting() === 1);
    // No bell rings here: without a signal it would be answered with nothing.
    await notify(app, own, 'hello', { hwid: 'phone' });
    expect(bodiesOf(await poll)).toEqual(['hello']);
    expect(waiting()).toBe(0);
  });

  test('is answered when another process accepted and delivered the message', async () => {
    const store = await besideStore();
    await app.worker?.tick();
    const poll = inbox(app, token, 60);
    await until('the poll waits', () => waiting() === 1);
    const draft = {
      providerId: 1,
      notificationType: 10 as const,
      actionType: null,
      targetOs: null,
      targetHwid: 'phone',
      payload: JSON.stringify({ body: 'from beside' }),
      createdAtMs: app.clock.nowMs(),
      dueAtMs: null,
      reachesUnbound: false,
      expiresAtMs: app.clock.nowMs() + DAY_MS,
      unboundCount: 0,
    };
    await store.addDistribution(
      draft,
      { generalIntervalMs: null, unboundQuota: null, bounds: GUARD_BOUNDS },
      ACT,
    );
    await nextTurn();
    // A store that is not told of others' changes looks once a second.
    app.clock.advance(1_000);
    expect(bodiesOf(await poll)).toEqual(['from beside']);
  });

  test('is answered with nothing at the end of its time', async () => {
    const startMs = performance.now();
    expect((await inbox(app, token, 1)).text).toBe('{"rc":1,"msg":"Ok","data":[]}');
    expect(performance.now() - startMs).toBeGreaterThan(950);
    expect(waiting()).toBe(0);
  });

  test('without wait is answered at once', async () => {
    expect((await inbox(app, token)).text).toBe('{"rc":1,"msg":"Ok","data":[]}');
  });

  test('of a device that is gone is forgotten', async () => {
    const caller = new AbortController();
    const poll = inbox(app, token, 60, caller.signal).catch(() => 'gone');
    await until('the poll waits', () => waiting() === 1);
    caller.abort();
    expect(await poll).toBe('gone');
    await until('nobody waits', () => waiting() === 0);
  });

  test('is not held up by messages of others', async () => {
    const other = await register(app, byBinding('tablet', own));
    const poll = inbox(app, token, 60);
    await until('the poll waits', () => waiting() === 1);
    await notify(app, own, 'for the tablet', { hwid: 'tablet' });
    await until('it was delivered', async () => (await readable(app, other)).length === 1);
    expect(waiting()).toBe(1);
    await notify(app, own, 'for the phone', { hwid: 'phone' });
    expect(bodiesOf(await poll)).toEqual(['for the phone']);
  });

  test('learns that its token was replaced while it waited', async () => {
    const poll = inbox(app, token, 60);
    await until('the poll waits', () => waiting() === 1);
    await register(app, { hwid: 'phone' }, token);
    expect((await poll).text).toBe('{"rc":0,"msg":"Device token error"}');
  });

  test('learns that its device was forgotten, at the next bell', async () => {
    const poll = inbox(app, token, 60);
    await until('the poll waits', () => waiting() === 1);
    await app.worker?.tick();
    const store = await besideStore();
    await store.forgetDevice('phone', ACT);
    // Reads of one turn share a snapshot.
    await nextTurn();
    app.clock.advance(1_000);
    expect((await poll).text).toBe('{"rc":0,"msg":"Device token error"}');
  });

  test('beside another of the same device: both are answered', async () => {
    const polls = [inbox(app, token, 60), inbox(app, token, 60)];
    await until('both wait', () => app.server.pollCount() === 2);
    await notify(app, own, 'hello', { hwid: 'phone' });
    for (const poll of polls) expect(bodiesOf(await poll)).toEqual(['hello']);
  });

  test('too many of one device: the one that waited longest is answered with nothing', async () => {
    const oldest = inbox(app, token, 60);
    await until('the first waits', () => app.server.pollCount() === 1);
    const rest = Array.from({ length: POLLS_PER_DEVICE_MAX }, () => inbox(app, token, 60));
    expect((await oldest).text).toBe('{"rc":1,"msg":"Ok","data":[]}');
    await until('the rest waits', () => app.server.pollCount() === POLLS_PER_DEVICE_MAX);
    await notify(app, own, 'hello', { hwid: 'phone' });
    for (const poll of rest) expect(bodiesOf(await poll)).toEqual(['hello']);
    expect(app.server.pollCount()).toBe(0);
    expect(waiting()).toBe(0);
  });

  test('does not hold up a stop of the server', async () => {
    const twin = await startTestApp();
    const twinToken = await register(twin, { hwid: 'phone' });
    const poll = inbox(twin, twinToken, 60);
    await until('the poll waits', () => twin.core.signals.awaited('all').length === 1);
    await twin.close();
    expect((await poll).text).toBe('{"rc":1,"msg":"Ok","data":[]}');
  });
});

describe('what is in it', () => {
  test('at most 16 KiB, the oldest first, until acknowledged', async () => {
    const ids: number[] = [];
    for (let n = 1; n <= 105; n += 1) ids.push(await notify(app, own, `n${n}`, { hwid: 'phone' }));
    const delivered = () => openDone(app);
    await until('all are delivered', async () => (await delivered()) === 105);
    const first = await inbox(app, token);
    expect(first.text.length).toBeLessThanOrEqual(16 * 1024);
    expect(first.text.length).toBeGreaterThan(15 * 1024);
    const count = first.json.data.length;
    expect(first.json.data.map(({ id }: { id: number }) => id)).toEqual(ids.slice(0, count));
    expect((await inbox(app, token)).text).toBe(first.text);
    const items = ids.slice(0, 100).map((id) => ({ id, state: 'received' }));
    expect((await ack(app, token, items)).text).toBe('{"rc":1,"msg":"Ok"}');
    expect(await readable(app, token)).toEqual(['n101', 'n102', 'n103', 'n104', 'n105']);
  });

  test('until it expires, to the millisecond', async () => {
    await notify(app, own, 'short-lived', { hwid: 'phone' }, { expire_days: 2 });
    await until('it is there', async () => (await readable(app, token)).length === 1);
    app.clock.advance(2 * DAY_MS - 1);
    expect(await readable(app, token)).toEqual(['short-lived']);
    app.clock.advance(1);
    expect(await readable(app, token)).toEqual([]);
  });

  test('not what the operator blocked', async () => {
    const id = await notify(app, own, 'blocked', { hwid: 'phone' });
    await until('it is there', async () => (await readable(app, token)).length === 1);
    await until(
      'it has ended',
      async () => (await app.core.store.readQueueFacts(app.clock.nowMs())).dueCount === 0,
    );
    const db = besideOf(app);
    // From 100 nothing is blocked but in this test.
    db.run('INSERT INTO distribution_transition VALUES (100, 140)');
    db.run('UPDATE distribution SET status = 140 WHERE id = ?', [id]);
    db.close();
    expect(await readable(app, token)).toEqual([]);
  });

  test('every field, in the order of the time', async () => {
    await notify(
      app,
      own,
      '<b>bold</b><script>x</script>',
      { hwid: 'phone' },
      {
        title: '<Title>',
        link_for_open: 'https://example.com',
        locales: { RU: { title: 'Да', 'link-for-open': 'tg://x' } },
      },
    );
    const to = { hwid: 'phone' };
    await order(app, own, { action_type: 'import-data', import_data: 'vless://é', ...to });
    await order(app, own, { action_type: 'update-subscription', ...to });
    await order(app, own, { action_type: 'set-settings', settings: { 'ping-type': 'tcp' }, ...to });
    await order(app, own, {
      action_type: 'sub-change',
      change_type: 'domain',
      change_value: 'example.com',
      ...to,
    });
    await until('all are there', async () => (await readable(app, token)).length === 5);
    const { data } = (await inbox(app, token)).json;
    const common = { created_at: '2026-11-20 15:00:00' };
    const ofCommand = { ...common, notification_type: 20, expires_at: '2026-12-20 15:00:00' };
    expect(data).toEqual([
      {
        id: 1,
        notification_type: 10,
        ...common,
        expires_at: '2026-11-21 15:00:00',
        payload: {
          title: '<Title>',
          body: '<b>bold</b>',
          link_for_open: 'https://example.com',
          locales: { RU: { title: 'Да', 'link-for-open': 'tg://x' } },
          type_push: 'optional',
          expire_days: 1,
        },
      },
      {
        id: 2,
        ...ofCommand,
        payload: { action_type: 'import-data', 'input-data': btoa('vless://Ã©') },
      },
      { id: 3, ...ofCommand, payload: { action_type: 'update-subscription' } },
      {
        id: 4,
        ...ofCommand,
        payload: { action_type: 'set-settings', settings: { 'ping-type': 'tcp' } },
      },
      {
        id: 5,
        ...ofCommand,
        payload: { action_type: 'sub-change', change_type: 'domain', change_value: 'example.com' },
      },
    ]);
  });
});

test('what a set of settings holds reaches the device as it was sent', async () => {
  const settings = {
    'custom-tunnel-config': { routes: [{ to: '10.0.0.0/8', via: null }], mtu: 1280 },
    'color-profile': ['#fff', { dark: '#000' }],
    notice: 'one\r\ntwo',
    'ping-type': '',
    'local-dns-enable': 'ON',
    'fragmentation-length': '10 - 20',
    'my key': 'left out',
  };
  await order(app, own, { action_type: 'set-settings', settings, hwid: 'phone' });
  await until('it is there', async () => (await readable(app, token)).length === 1);
  const [message] = (await inbox(app, token)).json.data;
  const { 'my key': _, ...passedOn } = settings;
  expect(JSON.stringify(message.payload)).toBe(
    JSON.stringify({ action_type: 'set-settings', settings: passedOn }),
  );
});

async function openDone(of: TestApp): Promise<number> {
  const all = await of.core.store.listAllDistributions({ providerCode: null, countMax: 1_000 });
  return all.filter(({ status }) => status === 100).length;
}

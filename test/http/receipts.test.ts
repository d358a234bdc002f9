/** Honest sends: how many of the recipients can get messages, and what became of each. */

import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test';
import type { Receipt } from '../../src/core/port/receipt.ts';
import { withMethods } from '../../src/core/port/store.ts';
import type { Credentials } from '../../src/core/provider.ts';
import { ACT } from '../support/actor.ts';
import { call, seedProvider, startTestApp, type TestApp } from '../support/app.ts';
import { byBinding, post, register } from '../support/messaging.ts';
import { bind, HASH } from '../support/shop.ts';

let app: TestApp;
let own: Credentials;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());
beforeEach(async () => {
  own = await seedProvider(app);
  await bind(app, own);
});

/** A device of a provider, by its binding. */
const aDevice = (hwid: string, by = own, os_name = 'android') =>
  call(app, '/provider', null, { id: by.code, domain_hash: HASH, hwid, os_name });

const anApp = (hwid: string, by = own) => register(app, byBinding(hwid, by));

function send(path: string, body: object, by = own) {
  return call(app, path, by, {}, { method: 'POST', body: JSON.stringify(body) });
}

const command = (target: object, by = own) =>
  send('/remote/command', { action_type: 'update-subscription', ...target }, by);
const toAll = { os: ['android', 'ios'] };
const name = (word: string) => `${word}-of-${own.code}`;
const receiptsOf = async (id: number, more: object = {}, by = own) =>
  (await call(app, '/remote/receipts', by, { id, ...more })).json;

test('the header of an accepted send counts devices and registered apps', async () => {
  await aDevice(name('silent'));
  await aDevice(name('tablet'), own, 'iOS');
  await anApp(name('phone'));
  expect((await command(toAll)).headers.get('x-reach')).toBe(
    'recipients=3; reachable=1; now=1; push=0; fetch=0; cannot=2',
  );
  const form = { body: 'x', type_push: 'optional', expire_days: 1 };
  const notified = await send('/remote/notification', { PushNotificationForm: form, os: ['ios'] });
  expect(notified.text).toMatch(/^\{"rc":1,"msg":"Ok","id":\d+\}$/);
  expect(notified.headers.get('x-reach')).toBe(
    'recipients=1; reachable=0; now=0; push=0; fetch=0; cannot=1',
  );
  const both = await command({ hwid: `${name('phone')},${name('silent')}` });
  expect(both.headers.get('x-reach')).toBe(
    'recipients=2; reachable=1; now=1; push=0; fetch=0; cannot=1',
  );
  // A refusal sends nothing and counts nothing.
  const refused = await command({ hwid: 'stranger' });
  expect([refused.json.rc, refused.headers.get('x-reach')]).toEqual([0, null]);
});

test('details count what was delivered and received', async () => {
  await aDevice(name('silent'));
  const token = await anApp(name('phone'));
  const { id } = (await command(toAll)).json;
  await app.deliver();
  await post(app, '/device/ack', { items: [{ id, state: 'received' }] }, token);
  const [detailed] = (await call(app, '/remote/list', own, { id, details: 1 })).json.data;
  expect(detailed).toMatchObject({
    recipients: 2,
    sent: 2,
    failed: 0,
    reachable: 1,
    received: 1,
    at_least: false,
  });
  const [plain] = (await call(app, '/remote/list', own, { id, details: 0 })).json.data;
  expect(Object.keys(plain)).toHaveLength(7);
  expect((await receiptsOf(id)).data).toMatchObject([
    { hwid: name('phone'), state: 'received', reachable: true },
    { hwid: name('silent'), state: 'sent', reachable: false, received_at: null },
  ]);
});

test('each moment of a receipt stands in the field of its name', async () => {
  const at = (minute: number) => minute * 60_000;
  const receipt: Receipt = {
    id: 7,
    deviceId: 8,
    hwid: 'phone',
    deviceName: 'Pixel',
    isReachable: true,
    state: 'sent',
    queuedAtMs: at(1),
    sentAtMs: at(2),
    receivedAtMs: at(3),
    openedAtMs: at(4),
    executedAtMs: at(5),
    refusedAtMs: at(6),
    failedAtMs: at(7),
    expiredAtMs: at(8),
    carriedAtMs: at(9),
    carried: 'happ: announce',
    detail: 'no room',
    push: { state: 'failed', problem: 'it is away' },
  };
  const listReceipts = () => Promise.resolve([receipt]);
  const wrapped = await startTestApp({}, (core) => ({
    ...core,
    store: withMethods(core.store, { listReceipts }),
  }));
  const { json } = await call(wrapped, '/remote/receipts', await seedProvider(wrapped), { id: 1 });
  await wrapped.close();
  const time = (minute: number) => `1970-01-01 03:0${minute}:00`;
  expect(json.data[0]).toEqual({
    id: 7,
    hwid: 'phone',
    device_name: 'Pixel',
    state: 'received',
    reachable: true,
    queued_at: time(1),
    sent_at: time(2),
    received_at: time(3),
    opened_at: time(4),
    executed_at: time(5),
    refused_at: time(6),
    failed_at: time(7),
    expired_at: time(8),
    carried_at: time(9),
    carried: 'happ: announce',
    detail: 'no room',
    push: 'failed',
    push_problem: 'it is away',
  });
});

test('another provider lists nothing, and its facts are in no receipt', async () => {
  const other = await seedProvider(app);
  await bind(app, other);
  await aDevice(name('shared'));
  await anApp(name('shared'), other);
  const { id } = (await command(toAll)).json;
  const { id: foreign } = (await command(toAll, other)).json;
  await app.deliver();
  expect(await receiptsOf(id)).toMatchObject({ data: [{ reachable: false, state: 'sent' }] });
  expect(await receiptsOf(foreign, {}, other)).toMatchObject({ data: [{ reachable: true }] });
  expect(await receiptsOf(foreign)).toEqual({ rc: 1, msg: 'Ok', data: [] });
  const own1 = (await receiptsOf(id)).data[0].id;
  expect(await receiptsOf(foreign, { before_id: own1 })).toEqual({ rc: 1, msg: 'Ok', data: [] });
});

test('pages continue behind a receipt, over more of them than one answer has', async () => {
  const { store } = app.core;
  const hwids = Array.from({ length: 1_100 }, (_, n) => `${own.code}-${n}`);
  for (const hwid of hwids) {
    const facts = { os: 'android', osVersion: '', deviceName: '', appVersion: '', userAgent: '' };
    const key = { providerCode: own.code, domainHash: HASH, hwid };
    await store.recordCheckIn(key, facts, app.clock.nowMs());
  }
  const { id } = (await command(toAll)).json;
  await app.deliver();
  const first = (await receiptsOf(id)).data;
  expect(first).toHaveLength(1_000);
  const last = first.at(-1);
  const rest = (await receiptsOf(id, { before_id: last.id })).data;
  const seen = [...first, ...rest].map(({ hwid }: { hwid: string }) => hwid);
  expect(seen.toSorted()).toEqual(hwids.toSorted());
  await store.forgetDevice(last.hwid, ACT);
  expect(await receiptsOf(id, { before_id: last.id })).toEqual({ rc: 0, msg: 'Unknown error' });
});

/** The operator's calls about devices and messages of all providers. */

import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Credentials } from '../../../src/core/provider.ts';
import { call, seedProvider, startTestApp, type TestApp } from '../../support/app.ts';
import type { ConsoleBrowser } from '../../support/console.ts';
import { notify } from '../../support/messaging.ts';
import { operatorBrowser } from '../../support/operator.ts';
import { addLink, bind, HASH } from '../../support/shop.ts';

let app: TestApp;
let operator: ConsoleBrowser;
let shop: Credentials;
beforeAll(async () => {
  app = await startTestApp();
  operator = await operatorBrowser(app);
  shop = await seedProvider(app);
  await bind(app, shop);
  await addLink(app, shop);
  for (const [hwid, model] of [
    ['phone-ABC-10', 'Moto'],
    ['phone-ABC-1', 'Pixel 9'],
    ['phone-ABC-2', 'iPhone 17'],
    ['tablet-XYZ', 'Galaxy Tab'],
  ]) {
    const facts = { hwid, device_model: model, os_name: 'android', os_version: '16' };
    await call(app, '/install', null, { id: HASH, installid: 'LinkCode0001', ...facts } as never);
  }
});
afterAll(() => app.close());

const find = async (search: string, beforeId: number | null = null) =>
  operator.get('devices.find', { search, beforeId });

test('a device is found by its HWID, or a part of HWID or model in any case', async () => {
  const hwids = async (search: string) => (await find(search)).rows.map(({ hwid }) => hwid);
  expect(await hwids('')).toEqual([
    ...['tablet-XYZ', 'phone-ABC-2', 'phone-ABC-1', 'phone-ABC-10'],
  ]);
  expect(await hwids('phone-abc')).toEqual(['phone-ABC-2', 'phone-ABC-1', 'phone-ABC-10']);
  expect(await hwids('IPHONE')).toEqual(['phone-ABC-2']);
  expect(await hwids('phone-ABC-1')).toEqual(['phone-ABC-1']);
  expect(await hwids('nothing')).toEqual([]);
});

test('a search goes on where it ended', async () => {
  const { seenMs = app.clock.nowMs() } = {};
  const facts = { os: 'ios', osVersion: '1', deviceName: 'Many', appVersion: '', userAgent: '' };
  for (let n = 0; n < 60; n++) {
    const key = { providerCode: shop.code, domainHash: null, hwid: `many-${n}` };
    await app.core.store.recordCheckIn(key, facts, seenMs);
  }
  const first = await find('many');
  expect(first.rows).toHaveLength(50);
  const rest = await find('many', first.nextId);
  expect(rest).toMatchObject({ nextId: null });
  const all = [...first.rows, ...rest.rows].map(({ hwid }) => hwid);
  expect(all).toEqual(Array.from({ length: 60 }, (_, n) => `many-${59 - n}`));
});

test('a device is shown with all that is kept of it, and forgotten', async () => {
  const shown = await operator.get('devices.show', { hwid: 'tablet-XYZ' });
  expect(shown).toMatchObject({
    device: { deviceName: 'Galaxy Tab', os: 'android' },
    links: [{ installCode: 'LinkCode0001', providerCode: shop.code }],
    seenBy: [{ providerCode: shop.code }],
    refusals: 0,
  });
  expect(JSON.stringify(shown)).not.toMatch(/token_?hash|secret/i);
  expect(await operator.get('devices.forget', { hwid: 'tablet-XYZ' })).toBe('ok');
  for (const name of ['devices.show', 'devices.forget'] as const) {
    expect(await operator.refusal(name, { hwid: 'tablet-XYZ' })).toBe('device_not_found');
  }
  const { rows } = await operator.get('audit.list', {
    provider: null,
    who: 'account',
    group: 'appliance',
    hwid: 'tablet-XYZ',
    sinceMs: null,
    untilMs: null,
    before: null,
  });
  expect(rows).toMatchObject([{ action: 'device.forget', name: 'olga' }]);
});

const send = (more: Record<string, unknown> = {}) =>
  notify(app, shop, 'hello', { hwid: 'phone-ABC-1' }, { title: 'Hi', ...more });
const why = async (id: number) => (await operator.get('sends.show', { id })).waiting;

test('a message says what it waits for', async () => {
  const id = await send();
  expect(await why(id)).toEqual({ why: 'worker' });
  const list = (isUnfinished: boolean) =>
    operator.get('sends.list', { isUnfinished, beforeId: null });
  expect((await list(true)).rows).toMatchObject([{ id, provider: shop.code, title: 'Hi' }]);
  await operator.get('providers.edit', { code: shop.code, isSuspended: true });
  expect(await why(id)).toEqual({ why: 'subscription' });
  await operator.get('providers.edit', { code: shop.code, isSuspended: false, plan: 'pro' });
  expect(await why(id)).toEqual({ why: 'subscription' });
  await operator.get('providers.edit', { code: shop.code, plan: 'enterprise' });
  await app.deliver();
  expect(await why(id)).toBeNull();
  expect((await list(true)).rows).toEqual([]);
  expect((await list(false)).rows).toMatchObject([{ id, sent: 1 }]);
  expect(await operator.refusal('sends.show', { id: id + 100 })).toBe('notification_not_found');
});

test('messages of a provider go one after the other', async () => {
  const { store } = app.core;
  const ids = [await send(), await send()];
  const lease = { owner: 'test', nowMs: app.clock.nowMs(), leaseMs: 60_000 };
  for (const [from, to] of [
    [10, 20],
    [20, 5],
  ] as const) {
    await store.claimWork(lease);
    await store.moveDistribution({ ...lease, id: ids[0] ?? 0 }, from, to);
  }
  expect(await why(ids[0] ?? 0)).toEqual({ why: 'delivering' });
  expect(await why(ids[1] ?? 0)).toEqual({ why: 'behind', id: ids[0] ?? 0 });
  await store.releaseWork('test');
  await app.deliver();
});

test('a message is blocked once, and not after its end', async () => {
  const id = await send();
  expect(await operator.get('sends.block', { id })).toBe('ok');
  expect(await operator.get('sends.show', { id })).toMatchObject({
    state: 'blocked',
    waiting: null,
  });
  expect(await operator.refusal('sends.block', { id })).toBe('message_ended');
  expect(await operator.refusal('sends.block', { id: id + 100 })).toBe('notification_not_found');
});

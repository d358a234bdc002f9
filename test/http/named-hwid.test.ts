/** HWIDs that are named before they come, and links for them alone, through every door. */

import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { hostHash } from '../../src/core/host-name.ts';
import { parseTrustedProxies } from '../../src/http/request/address.ts';
import { detailOf } from '../store/contract/message-fixture.ts';
import { ACT } from '../support/actor.ts';
import { call, seedProvider } from '../support/app.ts';
import { notify } from '../support/messaging.ts';
import { expectOk } from '../support/shop.ts';
import { type Fronted, HOST, KEY, keyPath, startFronted } from '../support/upstream.ts';

const CODE = 'NamedLink001';
const OPTIONS = {
  trustedProxies: parseTrustedProxies(['127.0.0.1']),
  gateKeyPaths: [keyPath('/sub/{key}')],
};

let at: Fronted;
beforeEach(async () => {
  at = await startFronted(undefined, {}, OPTIONS);
  const link = { install_limit: 3, install_code: CODE, subscription_key: KEY };
  await expectOk(call(at.app, '/api/add-install', at.own, link));
});
afterEach(() => at.stop());

type Query = Record<string, string | number>;
type Door = (hwid: string) => Promise<boolean>;
const proxy: Door = async (hwid) => (await at.get(`/sub/${KEY}`, hwid)).status === 200;
const gate: Door = async (hwid) => {
  const about = { 'x-original-uri': `/sub/${KEY}`, 'x-forwarded-host': HOST, 'x-hwid': hwid };
  return (await fetch(`${at.app.url}/gate`, { headers: about })).status === 204;
};
const askInstall = (hwid: string) =>
  call(at.app, '/install', null, { id: hostHash(HOST), installid: CODE, hwid });
const install: Door = async (hwid) => (await askInstall(hwid)).json.rc === 1;
const askRegister = (hwid: string) => {
  const body = JSON.stringify({
    hwid,
    os: 'android',
    install_code: CODE,
    domain_hash: hostHash(HOST),
  });
  return call(at.app, '/device/register', null, {}, { method: 'POST', body });
};
const register: Door = async (hwid) => (await askRegister(hwid)).json.rc === 1;

const DOORS: [string, Door][] = [
  ['the proxy', proxy],
  ['/gate', gate],
  ['/install', install],
  ['/device/register', register],
];

const name = (hwid: string, more: Query = { install_code: CODE }) =>
  call(at.app, '/api/add-hwid', at.own, { ...more, hwid });
const set = (terms: Query) =>
  expectOk(call(at.app, '/api/update-install', at.own, { id: 1, ...terms }));

async function hwids(): Promise<string[]> {
  const request = { install_code: CODE, details: 1 };
  const { json } = await call(at.app, '/api/list-hwid', at.own, request);
  type Row = { hwid: string; named?: string };
  return json.data.map(({ hwid, named }: Row) => (named ? `${hwid}?` : hwid)).sort();
}

describe.each(DOORS)('through %s', (path, door) => {
  test('a named HWID has its place until it comes, and then as any', async () => {
    expect((await name('a,b')).json).toMatchObject({ rc: 1, install_count: 2, added: 2 });
    expect(await door('c')).toBe(true);
    expect(await door('d')).toBe(false);
    expect(await hwids()).toEqual(['a?', 'b?', 'c']);
    expect(await door('a')).toBe(true);
    expect(await door('a')).toBe(true);
    expect(await hwids()).toEqual(['a', 'b?', 'c']);
    await expectOk(call(at.app, '/api/delete-hwid', at.own, { install_code: CODE, hwid: 'b' }));
    expect(await door('d')).toBe(true);
    expect(await door('b')).toBe(false);
  });

  test('with when_new refuse only HWIDs on the link come in', async () => {
    expect(await door('old')).toBe(true);
    await set({ when_new: 'refuse' });
    await name('a');
    expect(await door('c')).toBe(false);
    expect(await door('old')).toBe(true);
    expect(await door('a')).toBe(true);
    expect(await hwids()).toEqual(['a', 'old']);
    await at.app.core.store.saveFigures();
    const { json } = await call(at.app, '/api/list-refused', at.own, { install_code: CODE });
    // As any refusal of a registration, that one is not counted.
    const refused =
      path === '/device/register' ? [] : [{ hwid: 'c', reason: 'not_named', count: 1 }];
    expect(json.data).toMatchObject(refused);
    await set({ enforce: 0 });
    expect(await door('c')).toBe(true);
  });
});

test('/install answers a HWID that is not named as a full link does, and says why', async () => {
  await set({ when_new: 'refuse' });
  const closed = await askInstall('c');
  await set({ when_new: 'default', install_limit: 1 });
  await askInstall('a');
  const full = await askInstall('c');
  expect(closed.text).toBe(full.text);
  for (const header of ['x-hwid-active', 'x-hwid-max-devices-reached', 'x-hwid-limit']) {
    expect(closed.headers.get(header)).toBe(full.headers.get(header));
  }
  expect(closed.headers.get('x-error-detail')).toBe(
    'not_named: the link admits only HWIDs that its provider named',
  );
});

test('apps without a HWID stay outside of a link for named HWIDs, also where they pass', async () => {
  await set({ when_new: 'refuse', without_hwid: 'pass' });
  expect((await at.get(`/sub/${KEY}`, null)).status).not.toBe(200);
  await set({ without_hwid: 'count' });
  expect((await at.get(`/sub/${KEY}`, null)).status).not.toBe(200);
  await set({ when_new: 'admit' });
  expect((await at.get(`/sub/${KEY}`, null)).status).toBe(200);
  await set({ when_new: 'refuse' });
  expect((await at.get(`/sub/${KEY}`, null)).status).toBe(200);
  expect(await hwids()).toEqual(['no-hwid-1']);
});

test('a general send by system reaches no HWID that was named and never came', async () => {
  const { store } = at.app.core;
  const atMs = at.app.clock.nowMs();
  const told = { os: 'ios', osVersion: '26', deviceName: '', appVersion: '', userAgent: '' };
  const times = { registeredAtMs: atMs, firstSeenAtMs: atMs, lastSeenAtMs: atMs };
  const slots = ['named', 'came'].map((hwid) => ({
    hwid,
    ...told,
    ...times,
    isNamed: true as const,
  }));
  const link = { id: null, installCode: CODE, installLimit: 3, status: 10, note: null };
  const rules = { installCountMax: 100, domainCountMax: 100, updates: true };
  await store.importLink(1, { ...link, createdAtMs: atMs, slots }, rules, ACT);
  expect(await hwids()).toEqual(['came?', 'named?']);
  const ios = JSON.stringify({
    hwid: 'came',
    os: 'ios',
    install_code: CODE,
    domain_hash: hostHash(HOST),
  });
  const registered = await call(
    at.app,
    '/device/register',
    null,
    {},
    { method: 'POST', body: ios },
  );
  expect(registered.json.rc).toBe(1);
  expect(await notify(at.app, at.own, 'x', { os: ['ios'] })).toBe(1);
  await at.app.deliver();
  const { distribution } = await detailOf(store, 1);
  expect(distribution).toMatchObject({ status: 100, recipientCount: 1 });
  // One that comes later has not been sent to.
  expect(await proxy('named')).toBe(true);
  expect(await hwids()).toEqual(['came', 'named']);
});

test('who names the HWIDs of others reaches none of them, and learns nothing', async () => {
  const victim = await seedProvider(at.app);
  const domainHash = 'f'.repeat(64);
  await expectOk(call(at.app, '/api/add-domain', victim, { domain_hash: domainHash }));
  const link = { install_code: 'VictimLink01', install_limit: 100 };
  await expectOk(call(at.app, '/api/add-install', victim, link));
  for (const hwid of ['on-link', 'on-link-too']) {
    const query = { id: domainHash, installid: link.install_code, hwid };
    await expectOk(call(at.app, '/install', null, query));
  }
  // Registered with nothing: any provider may send it a first subscription, and no more.
  const init = { method: 'POST', body: JSON.stringify({ hwid: 'unbound', os: 'android' }) };
  await expectOk(call(at.app, '/device/register', null, {}, init));
  await set({ install_limit: 100 });
  const remote = async (path: string, body: object) => {
    const sent = { method: 'POST', body: JSON.stringify(body) };
    const { json, headers } = await call(at.app, path, at.own, {}, sent);
    return [json.rc, json.msg, headers.get('x-reach')];
  };
  const form = { type_push: 'optional', body: 'x', expire_days: 1 };
  const send = (hwid: string) =>
    remote('/remote/notification', { PushNotificationForm: form, hwid });
  const changeUrl = (hwid: string) =>
    remote('/remote/command', {
      action_type: 'sub-change',
      specific_device_toggle: true,
      hwid,
      change_type: 'url',
      change_value: 'https://rival.example/sub',
    });
  const PHONES = ['on-link', 'on-link-too', 'unbound', 'known-nowhere'];
  const before = await Promise.all(
    PHONES.map(async (one) => [await send(one), await changeUrl(one)]),
  );
  const answers: unknown[] = [];
  for (const hwid of PHONES) {
    const { json } = await name(hwid);
    answers.push({ ...json, install_count: 0 });
  }
  expect(new Set(answers.map((one) => JSON.stringify(one))).size).toBe(1);
  const after = await Promise.all(
    PHONES.map(async (one) => [await send(one), await changeUrl(one)]),
  );
  expect(after).toEqual(before);
  expect(after.flat().map(([rc]) => rc)).toEqual(PHONES.flatMap(() => [0, 0]));
  const { store } = at.app.core;
  for (const hwid of PHONES.slice(0, 2)) {
    const device = await store.findDevice(hwid);
    expect(device?.installs.map(({ installCode }) => installCode)).toEqual([link.install_code]);
  }
  expect(await store.findDevice('known-nowhere')).toBeNull();
});

/** Apps that send no HWID, through Gatepost as the proxy and through `/gate`, by the policy. */

import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { hostHash } from '../../src/core/host-name.ts';
import { subscriptionKeyHash } from '../../src/core/secret.ts';
import { NO_TERMS } from '../../src/core/slot.ts';
import { parseTrustedProxies } from '../../src/http/request/address.ts';
import { ACT } from '../support/actor.ts';
import { call } from '../support/app.ts';
import { answer, behaveWell, type PanelCall } from '../support/panel.ts';
import { expectOk } from '../support/shop.ts';
import { type Fronted, HOST, KEY, keyPath, startFronted } from '../support/upstream.ts';

const CODE = 'WithoutHwid1';
const OPTIONS = {
  trustedProxies: parseTrustedProxies(['127.0.0.1']),
  gateKeyPaths: [keyPath('/sub/{key}')],
};

let at: Fronted;
beforeEach(async () => {
  const knows = (asked: PanelCall) =>
    asked.target.includes('wrong') ? asked.send(answer(404)) : behaveWell(asked);
  at = await startFronted(knows, {}, OPTIONS);
  const link = { install_limit: 2, install_code: CODE, subscription_key: KEY };
  await expectOk(call(at.app, '/api/add-install', at.own, link));
});
afterEach(() => at.stop());

type Headers = Record<string, string>;
type Door = (hwid: string | null, path?: string, headers?: Headers) => Promise<boolean>;
const proxy: Door = async (hwid, path = `/sub/${KEY}`, headers = {}) =>
  (await at.get(path, hwid, headers)).status === 200;
const gate: Door = async (hwid, path = `/sub/${KEY}`, headers = {}) => {
  const about = { 'x-original-uri': path, 'x-forwarded-host': HOST, ...headers };
  const own: Headers = hwid === null ? {} : { 'x-hwid': hwid };
  return (await fetch(`${at.app.url}/gate`, { headers: { ...about, ...own } })).status === 204;
};
const DOORS: [string, Door][] = [
  ['the proxy', proxy],
  ['/gate', gate],
];

const set = (without_hwid: string) =>
  expectOk(call(at.app, '/api/update-install', at.own, { id: 1, without_hwid }));
const setForAll = (without_hwid: string) =>
  expectOk(call(at.app, '/api/policy', at.own, { without_hwid }));

async function hwids(install_code = CODE): Promise<string[]> {
  const { json } = await call(at.app, '/api/list-hwid', at.own, { install_code });
  return json.data.map(({ hwid }: { hwid: string }) => hwid).sort();
}

describe.each(DOORS)('through %s', (_, door) => {
  test('they are refused unless the link, else its provider, says otherwise', async () => {
    expect(await door(null)).toBe(false);
    await setForAll('pass');
    expect(await door(null)).toBe(true);
    await set('refuse');
    expect(await door(null)).toBe(false);
    await set('count');
    expect(await door(null)).toBe(true);
    expect(await hwids()).toEqual(['no-hwid-1']);
  });

  test('passing takes no slot, also on a full link, and is for active links alone', async () => {
    await set('pass');
    for (const hwid of ['a', 'b', null, null]) expect(await door(hwid)).toBe(true);
    expect(await door('c')).toBe(false);
    expect(await hwids()).toEqual(['a', 'b']);
    expect(await door(null, `/sub/another?installid=${CODE}`)).toBe(true);
    await expectOk(call(at.app, '/api/update-install', at.own, { id: 1, status: 5 }));
    expect(await door(null)).toBe(false);
  });

  test('counted, all of them together are one device', async () => {
    await set('count');
    for (const hwid of [null, 'a', null, null]) expect(await door(hwid)).toBe(true);
    expect(await door('b')).toBe(false);
    expect(await hwids()).toEqual(['a', 'no-hwid-1']);
    const slot = { install_code: CODE, hwid: 'no-hwid-1' };
    await expectOk(call(at.app, '/api/delete-hwid', at.own, slot));
    expect(await door('b')).toBe(true);
    expect(await door(null)).toBe(false);
  });

  test('no device can say that it is all of them', async () => {
    await set('count');
    for (const hwid of ['no-hwid-1', 'no-hwid-2', 'no-hwid-x']) {
      expect(await door(hwid)).toBe(false);
    }
    expect(await hwids()).toEqual([]);
    expect(await door(null)).toBe(true);
    expect(await door('no-hwid-1')).toBe(false);
  });

  test('a malformed HWID is none that is missing', async () => {
    await set('pass');
    expect(await door('a,b')).toBe(false);
    expect(await door('x'.repeat(129))).toBe(false);
  });

  test('a key that no link has tells them nothing', async () => {
    await set('count');
    expect(await door(null, '/sub/unknown-key-1')).toBe(false);
    expect(await door(null, '/sub/unknown-key-1?installid=NoSuchLink01')).toBe(false);
    expect(await at.links()).toHaveLength(1);
  });
});

test('the HWID of them all opens nothing else either', async () => {
  await set('count');
  expect(await proxy(null)).toBe(true);
  const hwid = 'no-hwid-1';
  const app = { id: hostHash(HOST), installid: CODE, hwid };
  expect((await call(at.app, '/install', null, app)).json.msg).toBe('HWID is required');
  const asked = { id: at.own.code, hwid };
  expect((await call(at.app, '/provider', null, asked)).json.msg).toBe('HWID is required');
  const body = JSON.stringify({ hwid, install_code: CODE, domain_hash: hostHash(HOST) });
  const init = { method: 'POST', body };
  const reply = await call(at.app, '/device/register', null, {}, init);
  expect(reply.json.msg).toBe('HWID is required');
});

test('their slot on a link that moved in is theirs, whatever id the link gets here', async () => {
  const { store } = at.app.core;
  const provider = await store.findProvider(at.own.code);
  const seen = { registeredAtMs: 1, firstSeenAtMs: 1, lastSeenAtMs: 1 };
  const facts = { os: '', osVersion: '', deviceName: '', appVersion: '', userAgent: '' };
  const slots = ['phone', 'no-hwid-999'].map((hwid) => ({ hwid, ...facts, ...seen }));
  const link = { id: null, installCode: 'MovedHere001', installLimit: 2, status: 10, note: null };
  const terms = { ...NO_TERMS, subscriptionKeyHash: subscriptionKeyHash('moved-key-001') };
  const rules = { installCountMax: 100, updates: false };
  const move = () =>
    store.importLink(provider?.id ?? 0, { ...link, createdAtMs: 1, terms, slots }, rules, ACT);
  expect(await move()).toMatchObject({ was: 'added', slotsAdded: 2 });
  await setForAll('count');
  expect(await proxy(null, '/sub/moved-key-001')).toBe(true);
  expect(await hwids('MovedHere001')).toEqual(['no-hwid-2', 'phone']);
  expect(await move()).toMatchObject({ was: 'present', slotsAdded: 0, slotsPresent: 2 });
});

test('a browser is answered as the upstream says, whatever the policy', async () => {
  await set('pass');
  expect(await proxy(null, `/sub/${KEY}`, { Accept: 'text/html' })).toBe(false);
  expect(await proxy(null, `/sub/${KEY}`, { Accept: '*/*' })).toBe(true);
});

describe('a new key of an app without a HWID', () => {
  const codes = async () => {
    const { json } = await call(at.app, '/api/list-install', at.own);
    return json.data.map((link: { install_code: string }) => link.install_code);
  };

  test('makes no link if such apps are refused, or pass', async () => {
    expect(await proxy(null, '/sub/new-key-00001')).toBe(false);
    expect(at.panel.calls).toHaveLength(0);
    await setForAll('pass');
    expect(await proxy(null, '/sub/new-key-00001')).toBe(true);
    expect(await codes()).toEqual([CODE]);
  });

  test('passes by the policy of an active provider at an active binding alone', async () => {
    await setForAll('pass');
    const passes = () => proxy(null, '/sub/new-key-00001');
    expect(await passes()).toBe(true);
    await expectOk(call(at.app, '/api/delete-domain', at.own, { id: 1 }));
    expect(await passes()).toBe(false);
    await call(at.app, '/api/add-domain', at.own, { domain_hash: hostHash(HOST) });
    expect(await passes()).toBe(true);
    const { store } = at.app.core;
    await store.updateProvider(at.own.code, { suspendedAtMs: at.app.clock.nowMs() }, ACT);
    expect(await passes()).toBe(false);
  });

  test('makes one with their slot if they count, once the panel knows the key', async () => {
    await setForAll('count');
    const asked = Array.from({ length: 5 }, () => proxy(null, '/sub/new-key-00002'));
    expect(await Promise.all(asked)).toEqual([true, true, true, true, true]);
    const [code = '', ...others] = await codes();
    expect(others).toEqual([CODE]);
    expect(await hwids(code)).toEqual([expect.stringMatching(/^no-hwid-[2-6]$/)]);
    expect(await proxy(null, '/sub/wrong-key-0003')).toBe(false);
    expect(await codes()).toHaveLength(2);
  });
});

/** Slots held by hashes of HWIDs, and phones with a new HWID, through both ways of the gate. */

import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { DAY_MS } from '../../src/core/calendar.ts';
import { hwidOfHash } from '../../src/core/formats.ts';
import { hostHash } from '../../src/core/host-name.ts';
import { hwidHash, subscriptionKeyHash } from '../../src/core/secret.ts';
import { NO_TERMS } from '../../src/core/slot.ts';
import { parseTrustedProxies } from '../../src/http/request/address.ts';
import { ACT } from '../support/actor.ts';
import { call } from '../support/app.ts';
import { expectOk } from '../support/shop.ts';
import { type Fronted, HOST, KEY, keyPath, startFronted } from '../support/upstream.ts';

const CODE = 'MovedLink001';
const OPTIONS = {
  trustedProxies: parseTrustedProxies(['127.0.0.1']),
  gateKeyPaths: [keyPath('/sub/{key}')],
};
const PHONE = { 'x-device-model': 'Pixel 9', 'x-device-os': 'Android', 'user-agent': 'Happ/3' };

let at: Fronted;
beforeEach(async () => {
  at = await startFronted(undefined, {}, OPTIONS);
});
afterEach(() => at.stop());

type Headers = Record<string, string>;
type Door = (hwid: string, headers?: Headers) => Promise<boolean>;
const proxy: Door = async (hwid, headers = {}) =>
  (await at.get(`/sub/${KEY}`, hwid, headers)).status === 200;
const gate: Door = async (hwid, headers = {}) => {
  const about = { 'x-original-uri': `/sub/${KEY}`, 'x-forwarded-host': HOST, 'x-hwid': hwid };
  const asked = await fetch(`${at.app.url}/gate`, { headers: { ...about, ...headers } });
  return asked.status === 204;
};

const hashed = (hwid: string) => hwidOfHash(hwidHash(hwid));

/** A link of two slots that moved in from a panel, where these HWIDs are known by their hashes. */
async function moveIn(...hwids: string[]): Promise<void> {
  const { store } = at.app.core;
  const provider = await store.findProvider(at.own.code);
  const nowMs = at.app.clock.nowMs();
  const seen = { registeredAtMs: 1, firstSeenAtMs: 1, lastSeenAtMs: nowMs, slotSeenAtMs: nowMs };
  const facts = { os: 'android', osVersion: '', deviceName: 'Pixel 9', appVersion: '' };
  const slots = hwids.map((hwid) => ({ hwid: hashed(hwid), ...facts, userAgent: '', ...seen }));
  const link = { id: null, installCode: CODE, installLimit: 2, status: 10, note: null };
  const terms = { ...NO_TERMS, subscriptionKeyHash: subscriptionKeyHash(KEY) };
  const rules = { installCountMax: 100, updates: false };
  const whole = { ...link, createdAtMs: 1, terms, slots };
  const moved = await store.importLink(provider?.id ?? 0, whole, rules, ACT);
  expect(moved).toMatchObject({ was: 'added', slotsAdded: hwids.length });
}

async function hwids(): Promise<string[]> {
  const { json } = await call(at.app, '/api/list-hwid', at.own, { install_code: CODE });
  return json.data.map(({ hwid }: { hwid: string }) => hwid).sort();
}

const set = (terms: Headers) =>
  expectOk(call(at.app, '/api/update-install', at.own, { id: 1, ...terms }));

describe.each([
  ['the proxy', proxy],
  ['/gate', gate],
] as [string, Door][])('through %s', (_, door) => {
  test('a device whose hash holds a slot gets in, and the slot is its own', async () => {
    await moveIn('a', 'b');
    expect(await door('stranger')).toBe(false);
    // Seen today by the panel, and with the facts that the panel knows.
    expect(await door('a', { ...PHONE, 'user-agent': '' })).toBe(true);
    expect(await hwids()).toEqual(['a', hashed('b')]);
    expect(await door('a')).toBe(true);
    expect(await door('stranger')).toBe(false);
    expect(await hwids()).toEqual(['a', hashed('b')]);
  });

  test('who knows a hash gains nothing, and it is removed as it is shown', async () => {
    await moveIn('a', 'b');
    for (const hwid of [hashed('a'), hwidHash('a'), hashed(hashed('a'))]) {
      expect(await door(hwid)).toBe(false);
    }
    const slot = { install_code: CODE, hwid: hashed('a') };
    await expectOk(call(at.app, '/api/delete-hwid', at.own, slot));
    expect(await door(hashed('a'))).toBe(false);
    expect(await hwids()).toEqual([hashed('b')]);
    expect(await door('stranger')).toBe(true);
    expect(await door('a')).toBe(false);
    expect(await door('b')).toBe(true);
  });

  test('a phone with a new HWID gets its silent slot, if the policy replaces', async () => {
    await moveIn();
    await set({ same_phone: 'replace' });
    expect(await door('old', PHONE)).toBe(true);
    at.app.clock.advance(9 * DAY_MS);
    expect(await door('other', { ...PHONE, 'x-device-model': 'Galaxy' })).toBe(true);
    expect(await door('new', { ...PHONE, 'x-device-model': 'Pixel 8' })).toBe(false);
    expect(await door('new', { ...PHONE, 'user-agent': 'INCY/1' })).toBe(false);
    expect(await door('new', { ...PHONE, 'user-agent': 'Happ/4' })).toBe(true);
    expect(await hwids()).toEqual(['new', 'other']);
    expect(await door('old', PHONE)).toBe(false);
  });

  test('if it asks, the refusal names the slot', async () => {
    await moveIn();
    expect(await door('old', PHONE)).toBe(true);
    at.app.clock.advance(9 * DAY_MS);
    expect(await door('other', { ...PHONE, 'x-device-model': 'Galaxy' })).toBe(true);
    const refused = async () => {
      await at.app.core.store.saveFigures();
      const { json } = await call(at.app, '/api/list-refused', at.own, { install_code: CODE });
      return json.data[0];
    };
    expect(await door('new', PHONE)).toBe(false);
    expect(await refused()).not.toHaveProperty('former_hwid');
    await set({ same_phone: 'ask' });
    expect(await door('new', PHONE)).toBe(false);
    expect(await refused()).toMatchObject({ hwid: 'new', former_hwid: 'old', count: 2 });
  });
});

test('a hash opens nothing else either', async () => {
  await moveIn('a');
  const hwid = hashed('a');
  const app = { id: hostHash(HOST), installid: CODE, hwid };
  expect((await call(at.app, '/install', null, app)).json.msg).toBe('HWID is required');
  const body = JSON.stringify({ hwid, install_code: CODE, domain_hash: hostHash(HOST) });
  const init = { method: 'POST', body };
  const reply = await call(at.app, '/device/register', null, {}, init);
  expect(reply.json.msg).toBe('HWID is required');
  expect((await call(at.app, '/install', null, { ...app, hwid: 'a' })).json).toMatchObject({
    rc: 1,
    install_count: 1,
  });
});

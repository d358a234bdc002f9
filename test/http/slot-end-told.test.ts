/**
 * The end of a slot is told: in whatever way it ends, its device learns the reason on its stream,
 * in its poll and at its next request, and nothing but the reason and the time.
 */

import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { DAY_MS } from '../../src/core/calendar.ts';
import { hostHash } from '../../src/core/host-name.ts';
import { type KeyPath, readKeyPath } from '../../src/core/key-path.ts';
import { freeSlot } from '../../src/core/link.ts';
import type { LinkChange } from '../../src/core/port/link.ts';
import { removeProvider as removeProviderNow } from '../../src/core/provider.ts';
import { hashKey } from '../../src/core/secret.ts';
import { parseTrustedProxies } from '../../src/http/request/address.ts';
import { removeProvider } from '../store/contract/fixture.ts';
import { ACT } from '../support/actor.ts';
import { call, seedProvider } from '../support/app.ts';
import {
  ack,
  byLink,
  inbox,
  notify,
  readable,
  register,
  tryRegister,
} from '../support/messaging.ts';
import { addLink, bind, enter, expectOk, type Link } from '../support/shop.ts';
import { openAs, openStream } from '../support/stream.ts';
import { until } from '../support/until.ts';
import { type Fronted, HOST, KEY, startFronted } from '../support/upstream.ts';

const HASH = hostHash(HOST);
const PHONE = 'the-phone';
const OTHER = 'another-phone';
const CODE = 'LinkCode0001';
const TRUSTING = {
  trustedProxies: parseTrustedProxies(['127.0.0.1']),
  gateKeyPaths: [readKeyPath('/sub/{key}') as KeyPath],
  hasWorker: true,
};

let at: Fronted;
let link: Link;
let token: string;

beforeEach(async () => {
  at = await startFronted(undefined, {}, TRUSTING);
  link = await addLink(at.app, at.own, CODE, 1);
  token = await register(at.app, byLink(PHONE, CODE, HASH));
});
afterEach(() => at.stop());

const providerId = async () => (await at.app.core.store.findProvider(at.own.code))?.id ?? 0;

async function change(more: LinkChange): Promise<void> {
  const changed = await at.app.core.store.updateLink(await providerId(), link.id, more, ACT);
  expect(typeof changed).toBe('object');
}

const api = async (path: string, query: Record<string, string | number> = {}) =>
  void (await expectOk(call(at.app, path, at.own, { install_id: link.id, ...query })));

const REPLACES = { whenFull: 'replace-oldest', coolDownHours: 1 } as const;
const byKey = () =>
  change({ ...REPLACES, subscriptionKeyHash: Buffer.from(hashKey(KEY)).toString('hex') });

/** Has another process do it, as a command does. */
async function beside(work: (store: typeof at.app.core.store) => Promise<unknown>): Promise<void> {
  const store = await at.app.openBeside();
  await work(store).finally(() => store.close());
  // The server looks for commits of others once a second.
  at.app.clock.advance(1_000);
}

const REASONS = ['slot_freed', 'link_ended', 'link_replaced'] as const;
type Reason = (typeof REASONS)[number];

/** How a slot ends. */
const WAYS: Readonly<Record<string, [Reason, () => Promise<void>]>> = {
  'the provider deletes the HWID': ['slot_freed', () => api('/api/delete-hwid', { hwid: PHONE })],
  'the provider frees all slots': ['slot_freed', () => api('/api/free-slots')],
  'the user frees it': [
    'slot_freed',
    async () => {
      const user = { ...at.app.core, actor: () => ({ kind: 'user', name: 'user' }) as never };
      const provider = { id: await providerId() };
      const selector = { installCode: CODE, installId: null };
      await freeSlot(user, provider, selector, PHONE, at.app.clock.nowMs());
    },
  ],
  'a command frees it, in another process': [
    'slot_freed',
    async () => {
      const id = await providerId();
      const selector = { installCode: CODE, installId: null };
      await beside((store) => store.freeSlot(id, selector, PHONE, ACT));
    },
  ],
  'a newcomer at /install, the slot inactive': [
    'slot_freed',
    async () => {
      await change({ inactiveDays: 1 });
      at.app.clock.advance(2 * DAY_MS);
      await enter(at.app, OTHER, CODE, HASH);
    },
  ],
  'a newcomer at /install replaces it': [
    'slot_freed',
    async () => {
      await change(REPLACES);
      await enter(at.app, OTHER, CODE, HASH);
    },
  ],
  'a newcomer that registers replaces it': [
    'slot_freed',
    async () => {
      await change(REPLACES);
      await register(at.app, byLink(OTHER, CODE, HASH));
    },
  ],
  'a newcomer at the gate replaces it': [
    'slot_freed',
    async () => {
      await byKey();
      const forwarded = { 'x-forwarded-host': HOST, 'x-forwarded-uri': `/sub/${KEY}` };
      const headers = { ...forwarded, 'x-hwid': OTHER };
      expect((await fetch(`${at.app.url}/gate`, { headers })).status).toBe(204);
    },
  ],
  'a newcomer at the proxy replaces it': [
    'slot_freed',
    async () => {
      await byKey();
      expect((await at.get(`/sub/${KEY}`, OTHER)).status).toBe(200);
    },
  ],
  'the link is removed': ['link_ended', () => api('/api/remove-install', { id: link.id })],
  'the provider is removed': [
    'link_ended',
    async () => void (await removeProvider(at.app.core.store, at.own.code)),
  ],
  'the link gets another code': [
    'link_replaced',
    () => api('/api/revoke-install', { id: link.id }),
  ],
};

const RUSSIAN = { 'accept-language': 'ru-RU,ru;q=0.9,en;q=0.5' };
const bearer = (of = token) => ({ authorization: `Bearer ${of}` });

/** The refusal with the reason: its own words alone. */
const refusal = (reason: string) => ({
  rc: 0,
  msg: 'Device token error',
  reason,
  at: expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/),
  text: expect.any(String),
});

async function expectRefused(reason: Reason): Promise<void> {
  const { json } = await inbox(at.app, token);
  expect(json).toEqual(refusal(reason));
  expect(Object.keys(json)).toEqual(['rc', 'msg', 'reason', 'at', 'text']);
  expect((await ack(at.app, token, [{ id: 1, state: 'received' }])).json).toEqual(json);
  expect((await tryRegister(at.app, { hwid: PHONE }, token)).json).toEqual(json);
  const upgrade = { connection: 'upgrade', upgrade: 'websocket', 'sec-websocket-version': '13' };
  const headers = { ...bearer(), ...upgrade, 'sec-websocket-key': btoa('0123456789abcdef') };
  const handshake = await fetch(`${at.app.url}/device/stream`, { headers });
  expect([handshake.status, handshake.headers.get('x-ended')]).toEqual([401, reason]);
  expect((await handshake.json()) as unknown).toEqual(json);
  const late = await openAs(at.app);
  late.send({ device_token: token });
  expect(await late.closed).toBe(4004);
  expect([late.reason(), late.frames as unknown]).toEqual([reason, [json]]);
  expect(json.text).not.toMatch(new RegExp(`${CODE}|${PHONE}|${OTHER}`, 'i'));
}

describe.each(Object.entries(WAYS))('%s', (_, [reason, end]) => {
  test('its device is told at once, and its token is refused for a day', async () => {
    const poll = inbox(at.app, token, 60);
    await until('it waits', () => at.app.core.signals.awaited('all').length === 1);
    const stream = await openAs(at.app, { headers: { ...bearer(), ...RUSSIAN } });
    await until('both wait', () => at.app.server.streamCount() === 1);
    await end();
    expect(await stream.closed).toBe(4004);
    expect(stream.reason()).toBe(reason);
    expect(stream.frames as unknown).toEqual([refusal(reason)]);
    expect((stream.frames[0] as unknown as { text: string }).text).toMatch(/[а-я]/);
    expect((await poll).json).toEqual(refusal(reason));
    await expectRefused(reason);
    // An answer may be lost, so the reason stays for a day.
    at.app.clock.advance(DAY_MS - 60_000);
    expect((await inbox(at.app, token)).json).toEqual(refusal(reason));
    at.app.clock.advance(60_000);
    expect((await inbox(at.app, token)).json).toEqual({ rc: 0, msg: 'Device token error' });
  });

  test('a token with another place is told once on its stream and once in its poll', async () => {
    const rival = await seedProvider(at.app);
    await bind(at.app, rival, HASH);
    await addLink(at.app, rival, 'LinkCode0009', 5);
    const both = await register(at.app, byLink(PHONE, 'LinkCode0009', HASH), token);
    const stream = await openStream(at.app, both);
    await end();
    await until('it is told', () => stream.frames.length === 1);
    const { rc, msg, ...told } = refusal(reason);
    expect(stream.frames as unknown).toEqual([{ rc: 1, msg: 'Ok', data: [], ended: [told] }]);
    const id = await notify(at.app, rival, 'still here', { hwid: PHONE });
    await until('the stream holds', () => stream.ids().includes(id));
    expect(stream.frames).toHaveLength(2);
    expect(await readable(at.app, both)).toEqual(['still here']);
    expect((await inbox(at.app, both)).json).not.toHaveProperty('ended');
  });
});

test('in a poll the end is told with the messages, until an answer carried it', async () => {
  const rival = await seedProvider(at.app);
  await bind(at.app, rival, HASH);
  await addLink(at.app, rival, 'LinkCode0009', 5);
  const both = await register(at.app, byLink(PHONE, 'LinkCode0009', HASH), token);
  await notify(at.app, rival, 'hello', { hwid: PHONE });
  await until('it waits', async () => (await readable(at.app, both)).length === 1);
  await api('/api/delete-hwid', { hwid: PHONE });
  const { json } = await inbox(at.app, both);
  expect(json.data).toHaveLength(1);
  expect(json.ended).toMatchObject([{ reason: 'slot_freed' }]);
  expect((await inbox(at.app, both)).json).not.toHaveProperty('ended');
});

describe('a link that is disabled', () => {
  const told = [{ reason: 'link_disabled', at: expect.any(String), text: expect.any(String) }];

  test('is told to its devices, which stay', async () => {
    const stream = await openStream(at.app, token);
    await api('/api/update-install', { id: link.id, status: 5 });
    await until('it is told', () => stream.frames.length === 1);
    expect(stream.frames as unknown).toEqual([{ rc: 1, msg: 'Ok', data: [], ended: told }]);
    expect((await inbox(at.app, token)).json).toEqual({ rc: 1, msg: 'Ok', data: [] });
  });

  test('by an import too, and wakes a poll', async () => {
    const poll = inbox(at.app, token, 60);
    await until('it waits', () => at.app.core.signals.awaited('all').length === 1);
    const { store } = at.app.core;
    const found = await store.findLink(CODE);
    if (found === null) throw new Error('the link is gone');
    const { id, installCode, installLimit, note, createdAtMs } = found;
    const install = { id, installCode, installLimit, note, createdAtMs, status: 5, slots: [] };
    const rules = { installCountMax: 100, updates: true };
    await store.importLink(await providerId(), install, rules, ACT);
    expect((await poll).json).toEqual({ rc: 1, msg: 'Ok', data: [], ended: told });
    expect((await inbox(at.app, token)).json).toEqual({ rc: 1, msg: 'Ok', data: [] });
  });

  test('is not told any more once it is enabled', async () => {
    await change({ status: 5 });
    await change({ status: 10 });
    expect((await inbox(at.app, token)).json).toEqual({ rc: 1, msg: 'Ok', data: [] });
  });
});

test('after the end a registration is that of a newcomer', async () => {
  await change(REPLACES);
  await enter(at.app, OTHER, CODE, HASH);
  await change({ whenFull: 'refuse' });
  const body = byLink(PHONE, CODE, HASH);
  expect((await tryRegister(at.app, body, token)).json).toMatchObject({
    rc: 0,
    reason: 'link_limit_reached',
  });
  await api('/api/delete-hwid', { hwid: OTHER });
  const renewed = await register(at.app, body, token);
  expect(await readable(at.app, renewed)).toEqual([]);
});

test('answers without a token say what they said', async () => {
  const before = await call(at.app, '/provider', null, { id: at.own.code, hwid: PHONE });
  await api('/api/delete-hwid', { hwid: PHONE });
  const after = await call(at.app, '/provider', null, { id: at.own.code, hwid: PHONE });
  expect(before.json).toEqual({ rc: 1, msg: 'Ok', status: 'extended' });
  expect(after.json).toEqual({ rc: 1, msg: 'Ok', status: 'basic' });
  expect([...after.headers.keys()].sort()).toEqual([...before.headers.keys()].sort());
});

test('of the end of a provider 200 devices a second are notified at most', async () => {
  const { core } = at.app;
  await change({ installLimit: 100 });
  const count = 60;
  for (let n = 0; n < count; n += 1)
    await register(at.app, byLink(`of many ${n}`.replaceAll(' ', '-'), CODE, HASH));
  const steps: string[] = [];
  const removeStep = core.store.removeProvider.bind(core.store);
  core.store.removeProvider = async (id) => {
    const left = await removeStep(id);
    steps.push(`${left}`);
    return left;
  };
  const startMs = performance.now();
  expect(await removeProviderNow(core, at.own.code, at.app.clock.nowMs())).toBe('ok');
  // 50 of them, then a quarter of a second, then the rest.
  expect(steps.filter((left) => left === 'notified')).toHaveLength(1);
  expect(performance.now() - startMs).toBeGreaterThanOrEqual(245);
});

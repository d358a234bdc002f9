/** Refused phones reach a chat by every door, and phones with one address are one. */

import { afterEach, beforeEach, expect, test } from 'bun:test';
import { hostHash } from '../../src/core/host-name.ts';
import { parseTrustedProxies } from '../../src/http/request/address.ts';
import { addWebhook } from '../store/contract/webhook.ts';
import { call } from '../support/app.ts';
import { expectOk } from '../support/shop.ts';
import { type Fronted, HOST, KEY, keyPath, startFronted } from '../support/upstream.ts';

const CODE = 'FullLink0001';
const CHAT = { kind: 'telegram', chat: '-100', locale: 'en' } as const;
const MINUTE_MS = 60_000;

let at: Fronted;
let chat: number;
beforeEach(async () => {
  at = await startFronted(
    undefined,
    {},
    {
      trustedProxies: parseTrustedProxies(['127.0.0.1']),
      gateKeyPaths: [keyPath('/sub/{key}')],
    },
  );
  const link = { install_limit: 1, install_code: CODE, subscription_key: KEY };
  await expectOk(call(at.app, '/api/add-install', at.own, link));
  await DOORS.install('first', '192.0.2.1');
  const provider = await at.app.core.store.findProvider(at.own.code);
  const events = { events: ['link.refused'] as const, target: CHAT };
  chat = await addWebhook(at.app.core.store, provider?.id ?? 0, events);
});
afterEach(() => at.stop());

const get = (path: string, headers: Record<string, string>) =>
  fetch(`${at.app.url}${path}`, { headers });

/** The ways by which a phone asks. */
const DOORS = {
  proxy: (hwid: string, from: string) =>
    get(`/sub/${KEY}`, { host: HOST, 'x-hwid': hwid, 'x-forwarded-for': from }),
  gate: (hwid: string, from: string) => {
    const original = { 'x-original-uri': `/sub/${KEY}`, 'x-forwarded-host': HOST };
    return get('/gate', { ...original, 'x-hwid': hwid, 'x-forwarded-for': from });
  },
  install: (hwid: string, from: string) =>
    get(`/install?id=${hostHash(HOST)}&installid=${CODE}&hwid=${hwid}`, {
      'x-forwarded-for': from,
    }),
} as const;
type Door = keyof typeof DOORS;

/** Returns the messages that wait for the chat after a phone came by a door, two minutes later. */
async function messagesAfter(door: Door, hwid: string, from: string): Promise<number> {
  const { app } = at;
  app.clock.set(app.clock.nowMs() + 2 * MINUTE_MS);
  await DOORS[door](hwid, from);
  await app.core.store.saveFigures();
  return (await app.core.store.listDeliveries(chat, 'waiting', null, 99)).length;
}

test.each(['proxy', 'gate', 'install'] as const)('by %s', async (door) => {
  expect(await messagesAfter(door, 'a', '192.0.2.2')).toBe(1);
  expect(await messagesAfter(door, 'b', '192.0.2.2')).toBe(1);
  expect(await messagesAfter(door, 'c', '192.0.2.3')).toBe(2);
  // Without the address of the client that of the proxy is no shared one.
  expect(await messagesAfter(door, 'd', '')).toBe(3);
});

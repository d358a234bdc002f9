/**
 * Each call of a provider, whose answer is lost and which a library repeats: nothing is done twice
 * where the documents say so, and with a key.
 */

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { Credentials } from '../../src/core/provider.ts';
import type { Repeat } from '../../src/http/endpoint.ts';
import { endpoints } from '../../src/http/endpoints/index.ts';
import { call, seedProvider, startTestApp, type TestApp } from '../support/app.ts';
import { startLosingProxy } from '../support/losing-proxy.ts';
import { REPEATERS } from '../support/repeaters.ts';
import { difference, takeSnapshot } from '../support/snapshot.ts';

const HASH = 'a'.repeat(64);
const CODE = 'LinkCode0001';
const form = { body: 'Hello', type_push: 'optional', expire_days: 1 };
const later = { send_date: '2026-11-21', send_time: '15:00' };
const toAndroid = { action_type: 'update-subscription', os: ['android'], ...later };
const key = { idempotency_key: 'order-1' };

interface Asked {
  query?: Record<string, string | number>;
  body?: object;
}

/** What is asked; there are a link, a binding, a phone, a command and a webhook. */
const CALLS: Readonly<Record<string, Asked>> = {
  '/api/add-install': { query: { install_limit: 3, ...key } },
  '/api/update-install': { query: { id: 1, install_limit: 5, note: 'Anna' } },
  '/api/list-install': {},
  '/api/free-slots': { query: { install_id: 1 } },
  '/api/revoke-install': { query: { id: 1 } },
  '/api/remove-install': { query: { id: 1 } },
  '/api/list-ties': {},
  '/api/list-cuts': {},
  '/api/list-bars': { query: { install_id: 1 } },
  '/api/list-refused': { query: { install_id: 1 } },
  '/api/list-hwid': { query: { install_id: 1 } },
  '/api/add-hwid': { query: { install_id: 1, hwid: 'named' } },
  '/api/delete-hwid': { query: { install_id: 1, hwid: 'phone' } },
  '/api/ignore-copies': { query: { install_id: 1, hwid: 'phone' } },
  '/api/policy': { query: { when_full: 'refuse', inactive_days: 9 } },
  '/api/add-domain': { query: { domain_hash: 'b'.repeat(64) } },
  '/api/delete-domain': { query: { id: 1 } },
  '/api/list-domain': {},
  '/remote/notification': { body: { PushNotificationForm: form, os: ['android'], ...key } },
  '/remote/command': { query: key, body: toAndroid },
  '/remote/cancel': { query: { id: 1 } },
  '/remote/list': {},
  '/remote/receipts': { query: { id: 1 } },
  '/api/stats': {},
  '/api/reminder-add': { body: { kind: 'traffic', amount: 90, texts: { en: 'Hi' } } },
  '/api/reminder-list': {},
  '/api/reminder-rounds': {},
  '/api/reminder-set': { query: { id: 1 }, body: { amount: 70 } },
  '/api/reminder-remove': { query: { id: 1 } },
  '/api/webhook-add': { query: { url: 'https://example.com/other' } },
  '/api/webhook-list': {},
  '/api/webhook-update': { query: { id: 1, events: 'link.full' } },
  '/api/webhook-rotate': { query: { id: 1 } },
  '/api/webhook-deliveries': { query: { id: 1 } },
  '/api/webhook-remove': { query: { id: 1 } },
};
/**
 * Calls of a receiver, which sees each; and those that need a key of their own, which the scenarios
 * repeat.
 */
const NOT_TRIED = [
  ...['/api/webhook-test', '/api/webhook-replay'],
  ...['/api/tie-keys', '/api/untie-keys', '/api/set-keys'],
  ...['/api/cancel-cut', '/api/lift-bar'],
];

const providerCalls = endpoints.filter(({ audience }) => audience === 'provider');

test('each call of a provider is tried', () => {
  const tried = [...Object.keys(CALLS), ...NOT_TRIED];
  expect(providerCalls.filter(({ path }) => !tried.includes(path))).toEqual([]);
});

let app: TestApp;
let own: Credentials;
let proxy: Awaited<ReturnType<typeof startLosingProxy>>;
beforeAll(async () => {
  app = await startTestApp();
  proxy = await startLosingProxy(Number(new URL(app.url).port));
});
afterAll(async () => {
  proxy.stop();
  await app.close();
});

async function setStage(): Promise<void> {
  await app.reset();
  own = await seedProvider(app);
  const ask = async (path: string, query: Record<string, string | number>, body?: object) => {
    const init = body && { method: 'POST', body: JSON.stringify(body) };
    const reply = await call(app, path, path === '/install' ? null : own, query, init);
    if (reply.json.rc !== 1) throw new Error(`${path}: ${reply.headers.get('x-error-detail')}`);
  };
  await ask('/api/add-domain', { domain_hash: HASH });
  await ask('/api/add-install', { install_limit: 2, install_code: CODE });
  await ask('/install', { id: HASH, installid: CODE, hwid: 'phone', os_name: 'Android' });
  await ask('/remote/command', {}, toAndroid);
  await ask('/api/webhook-add', { url: 'https://example.com/hook' });
  await ask('/api/reminder-add', {}, { kind: 'traffic', amount: 80, texts: { en: 'Hi' } });
}

/** Rows that calls count in, whatever they do. */
const COUNTED = /^(provider_day|audit|appliance)\b/;

async function lostOnce(path: string, ask: (url: string, body: string | null) => Promise<string>) {
  const { query = {}, body = null } = CALLS[path] as Asked;
  const credentials = { provider_code: own.code, auth_key: own.authKey };
  const all = new URLSearchParams(credentials);
  for (const [name, value] of Object.entries(query)) all.set(name, `${value}`);
  let before: Awaited<ReturnType<typeof takeSnapshot>> = new Map();
  proxy.lose(async () => {
    before = await takeSnapshot(app);
  });
  const text = await ask(`${proxy.url}${path}?${all}`, body && JSON.stringify(body));
  expect(proxy.isWaiting()).toBe(false);
  const changed = difference(before, await takeSnapshot(app));
  return { rc: JSON.parse(text).rc, changed: changed.filter((line) => !COUNTED.test(line)) };
}

const HAS_OK: readonly Repeat[] = ['reads', 'same', 'keyed', 'again'];

for (const [name, start] of Object.entries(REPEATERS)) {
  const library = await start();
  if (library === null) {
    const missing = `${name} is not installed`;
    // It comes with the dependencies; Python's is one of the machine, see make test-tools.
    if (process.env['CI'] === 'true' && !name.startsWith('Python')) throw new Error(missing);
    console.warn(`Tests are skipped: ${missing}.`);
  }
  afterAll(() => library?.stop());
  describe.skipIf(library === null)(`${name} repeats`, () => {
    test.each(providerCalls.filter(({ path }) => path in CALLS))('$path', async (endpoint) => {
      const { path, repeat = 'same' } = endpoint;
      await setStage();
      const { rc, changed } = await lostOnce(path, (url, body) =>
        (library as NonNullable<typeof library>).ask({ url, body }),
      );
      if (HAS_OK.includes(repeat)) expect(rc).toBe(1);
      if (repeat === 'again') expect(changed).not.toEqual([]);
      else expect(changed).toEqual([]);
    });
  });
}

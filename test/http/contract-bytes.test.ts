/**
 * The twelve calls of the contract, byte for byte as 0.22.0 answered them: status, headers and
 * body, while nothing that came later is switched on. The file beside has the answers of 0.22.0,
 * but for `search`, which finds letters of any case since 0.25.0.
 */

import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ACT } from '../support/actor.ts';
import { call, seedProvider, startTestApp, type TestApp } from '../support/app.ts';

const RECORDED = join(import.meta.dir, 'contract-bytes.json');
const HASH = 'a'.repeat(64);
const CODE = 'LinkCode0001';
const FOREIGN = 'LinkCode0002';

const OWN = { code: 'Provide1', authKey: 'own-key_own-key_own-key_own-key_' };
const OTHER = { code: 'Foreign2', authKey: 'other-key_other-key_other-key_12' };

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());
beforeEach(async () => {
  await app.reset();
  for (const credentials of [OWN, OTHER]) await seedProvider(app, credentials);
  const foreign = { install_limit: 2, install_code: FOREIGN };
  await call(app, '/api/add-install', OTHER, foreign);
});

type Query = Record<string, string | number>;
type Step = readonly [path: string, query: Query, body?: object];

const push = (more: object, form: object = {}) => ({
  PushNotificationForm: { body: 'text', type_push: 'optional', expire_days: 3, ...form },
  ...more,
});
const LINK = { install_limit: 2, install_code: CODE, note: 'Анна & co', subscription_key: 'key-1' };

const STEPS: readonly Step[] = [
  ['/api/add-install', LINK],
  ['/api/add-install', LINK],
  ['/api/add-install', { install_limit: 2, install_code: FOREIGN }],
  [
    '/api/add-install',
    { install_limit: 2, install_code: 'LinkCode0003', subscription_key: 'key-1' },
  ],
  ['/api/add-install', { install_limit: 0, install_code: CODE }],
  ['/api/add-install', {}],
  ...['aB3dE5g7', '12345678', 'abcdefghijk', 'LinkCode00012', 'Link-Code001', ''].map(
    (install_code): Step => ['/api/add-install', { install_limit: 'x', install_code }],
  ),
  ...['aB3dE5g7', '12345678', 'abcdefghijk', 'LinkCode00012', 'Link-Code001'].map(
    (install_code): Step => [
      '/api/add-install',
      { install_limit: 2, install_code, note: '\u0001' },
    ],
  ),
  ['/api/add-install', { install_limit: 2, install_code: 'LinkCode0004', odd: 1 }],
  ['/api/add-install', { install_limit: 2, install_code: 'LinkCode0005', idempotency_key: 'one' }],
  ['/api/add-install', { install_limit: 2, install_code: 'LinkCode0005', idempotency_key: 'one' }],
  ['/api/remove-install', { id: 3 }],
  ['/api/add-install', { install_limit: 2, install_code: 'LinkCode0004' }],
  ['/api/add-install', { install_limit: 1, install_code: CODE, idempotency_key: 'one' }],
  ['/api/list-install', {}],
  ['/api/list-install', { install_code: CODE }],
  ['/api/list-install', { install_code: FOREIGN }],
  ['/api/list-install', { search: 'анна' }],
  ['/api/update-install', { id: 2, install_limit: 3, status: 5 }],
  ['/api/update-install', { id: 2, status: 10, note: '' }],
  ['/api/update-install', { id: 1, note: 'x' }],
  ['/api/update-install', { id: 2, install_limit: 101 }],
  ['/api/add-domain', { domain_hash: HASH, domain_name: 'sub.example.com' }],
  ['/api/add-domain', { domain_hash: HASH }],
  ['/api/add-domain', { domain_hash: 'x' }],
  ['/api/list-domain', {}],
  ['/install', { id: HASH, installid: CODE, hwid: 'phone-1', device_model: 'Pixel 9' }],
  ['/install', { id: HASH, installid: 'aB3dE5g7', hwid: 'phone-1' }],
  ['/install', { id: 'b'.repeat(64), installid: CODE, hwid: 'phone-1' }],
  ['/install', { installid: CODE, hwid: 'phone-1' }],
  ['/install', { installid: 'aB3dE5g7' }],
  ['/provider', { id: 'Provide1', hwid: 'phone-1', domain_hash: HASH }],
  ['/provider', { id: 'Provide9', hwid: 'phone-1' }],
  ['/api/list-hwid', { install_code: CODE }],
  ['/api/list-hwid', { install_code: FOREIGN }],
  ['/api/list-hwid', {}],
  ['/api/delete-hwid', { install_code: CODE, hwid: 'phone-2' }],
  ['/api/delete-hwid', { install_id: 1, hwid: 'phone-1' }],
  ['/remote/notification', {}, push({ hwid: 'phone-1' })],
  ['/remote/notification', {}, push({ os: ['android'] })],
  ['/remote/notification', {}, push({ os: ['android'] })],
  ['/remote/notification', {}, push({ hwid: 'phone-9' })],
  ['/remote/command', {}, { action_type: 'update-subscription', hwid: 'phone-1' }],
  ['/remote/command', {}, { action_type: 'no-such', os: ['ios'] }],
  ['/remote/list', {}],
  ['/remote/cancel', { id: 1 }],
  ['/remote/cancel', { id: 99 }],
  ['/api/delete-hwid', { install_code: CODE, hwid: 'phone-1' }],
  ['/api/delete-domain', { id: 1 }],
  ['/api/delete-domain', { id: 9 }],
];
const APPS = ['/install', '/provider'];

/** Plays the steps; each answer is its status, headers by name, and body. */
async function play(): Promise<unknown[]> {
  const answers: unknown[] = [];
  for (const [path, query, body] of STEPS) {
    const init = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
    const by = APPS.includes(path) ? null : OWN;
    const { headers, status, text } = await call(app, path, by, query, init);
    const named = [...headers].filter(([name]) => name !== 'date').sort();
    answers.push([`${path} ${JSON.stringify(query)}`, status, Object.fromEntries(named), text]);
  }
  const wrong = { ...OWN, authKey: 'wrong-key_wrong-key_wrong-key_12' };
  for (const path of ['/api/add-install', '/api/list-install', '/remote/list']) {
    const { status, text } = await call(app, path, wrong, {});
    answers.push([`${path} with a wrong key`, status, text]);
  }
  return answers;
}

const recorded = () => JSON.parse(readFileSync(RECORDED, 'utf8'));

test('all calls, with every parameter wrong and right', async () => {
  expect(await play()).toEqual(recorded());
});

test('as well where another provider has switched on what came later', async () => {
  await app.core.store.updateProvider(OTHER.code, { rc2Body: 'on', shortCodes: 1 }, ACT);
  expect(await play()).toEqual(recorded());
});

test('and where the provider has switched it off again', async () => {
  await app.core.store.updateProvider(OWN.code, { rc2Body: 'on', shortCodes: 1 }, ACT);
  await app.core.store.updateProvider(OWN.code, { rc2Body: null, shortCodes: 0 }, ACT);
  expect(await play()).toEqual(recorded());
});

/** A success names the parameters that the endpoint does not have: they changed nothing. */

import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Credentials } from '../../src/core/provider.ts';
import { call, seedProvider, startTestApp, type TestApp } from '../support/app.ts';

let app: TestApp;
let own: Credentials;
beforeAll(async () => {
  app = await startTestApp();
  own = await seedProvider(app);
});
afterAll(() => app.close());

async function detailOf(path: string, query: Record<string, string | number>, body?: object) {
  const init = body && { method: 'POST', body: JSON.stringify(body) };
  const reply = await call(app, path, own, query, init);
  return [reply.json.rc, reply.headers.get('x-error-detail')];
}

test.each([
  ['every parameter is known', { install_limit: 1, note: '' }, null],
  ['one misspelt', { install_limit: 1, notes: 'x' }, '1 unknown parameter was ignored: notes'],
  [
    'some of which no name is repeated',
    { install_limit: 1, installCode: 'x', 'a\r\nb': 1, '': 1, ['a'.repeat(33)]: 1, _a: 1 },
    '5 unknown parameters were ignored: _a',
  ],
  [
    'one of which no name is repeated',
    { install_limit: 1, X: 1 },
    '1 unknown parameter was ignored',
  ],
  [
    'no more than five names',
    { install_limit: 1, a: 1, b: 1, c: 1, d: 1, e: 1, f: 1 },
    '6 unknown parameters were ignored: a, b, c, d, e',
  ],
])('%s', async (_, query, detail) => {
  expect(await detailOf('/api/add-install', query as Record<string, string>)).toEqual([1, detail]);
});

test('lists and calls with a body have it too, after what else there is to say', async () => {
  const ignored = '1 unknown parameter was ignored: limit';
  expect(await detailOf('/api/list-install', { limit: 5 })).toEqual([1, ignored]);
  const hash = 'a'.repeat(64);
  await call(app, '/api/add-domain', own, { domain_hash: hash });
  await call(app, '/api/add-install', own, { install_limit: 1, install_code: 'LinkCode0001' });
  const device = { hwid: 'phone', os_name: 'Android' };
  await call(app, '/install', null, { id: hash, installid: 'LinkCode0001', ...device });
  const settings = { 'ping-type': 'tcp', 'my key': 5 };
  const command = { action_type: 'set-settings', os: ['android'], settings };
  expect(await detailOf('/remote/command', { limit: 5 }, command)).toEqual([
    1,
    `settings key mykey must be 1 to 64 letters, digits, dots, hyphens and underscores; it was left out; ${ignored}`,
  ]);
});

test('a refusal has its own sentence alone', async () => {
  const rule = 'install_limit must be a whole number from 1 to 100';
  expect(await detailOf('/api/add-install', { install_limit: 0, foo: 1 })).toEqual([0, rule]);
});

test('apps send what they like: their calls name nothing', async () => {
  const reply = await call(app, '/provider', null, { id: own.code, hwid: 'h', theme: 'dark' });
  expect([reply.json.rc, reply.headers.get('x-error-detail')]).toEqual([1, null]);
});

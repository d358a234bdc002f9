/** Who is believed at `/gate`, what is late there, and what nobody reads in a log. */

import { afterEach, beforeEach, expect, test } from 'bun:test';
import { hostHash } from '../../src/core/host-name.ts';
import { type KeyPath, readKeyPath } from '../../src/core/key-path.ts';
import { withMethods } from '../../src/core/port/store.ts';
import type { Credentials } from '../../src/core/provider.ts';
import { FAILURE_DELAY_MS } from '../../src/http/bound/auth-failures.ts';
import { parseTrustedProxies } from '../../src/http/request/address.ts';
import {
  type Reply,
  read,
  seedProvider,
  startTestApp,
  type TestApp,
  type TestAppOptions,
} from '../support/app.ts';
import { addLink, bind } from '../support/shop.ts';
import { until } from '../support/until.ts';

const HOST = 'sub.example.com';
const HWID = 'hwid-that-nobody-logs';
const KEY = 'key-that-nobody-logs';
const CODE = 'CodeUnlogged';

const settings = {
  trustedProxies: parseTrustedProxies(['127.0.0.1']),
  gateKeyPaths: [readKeyPath('/sub/{key}') as KeyPath],
  authFailuresPerMinuteMax: 1_000,
  logRequests: true,
};

let app: TestApp;
let own: Credentials;

async function start(more: TestAppOptions = {}, ...wrap: [] | [Wrap]): Promise<void> {
  app = await startTestApp({ ...settings, ...more }, ...wrap);
  own = await seedProvider(app);
  await bind(app, own, hostHash(HOST));
  await addLink(app, own, CODE, 1);
}

type Wrap = NonNullable<Parameters<typeof startTestApp>[1]>;

beforeEach(() => start());
afterEach(() => app.close());

async function ask(uri: string, more: Record<string, string> = {}): Promise<Reply> {
  const headers = {
    'x-original-uri': uri,
    'x-forwarded-host': HOST,
    'x-forwarded-for': '198.51.100.7',
    'x-hwid': HWID,
  };
  return read(await fetch(`${app.url}/gate`, { headers: { ...headers, ...more } }));
}

const events = (name: string) => app.logLines.filter((line) => line.includes(`"event":"${name}"`));

test('nobody but a trusted proxy is told anything, and the log says so once a minute', async () => {
  await app.close();
  await start({ trustedProxies: parseTrustedProxies(['192.0.2.0/24']) });
  for (let i = 0; i < 3; i++) {
    const reply = await ask(`/s?installid=${CODE}`);
    expect([reply.status, reply.json.msg]).toEqual([403, 'Unknown error']);
    expect(reply.headers.get('x-error-detail')).toBe('only proxies in gate.proxies may ask here');
  }
  expect(events('gate_untrusted')).toHaveLength(1);
  expect(JSON.parse(events('gate_untrusted')[0] ?? '')).toMatchObject({
    level: 'warn',
    client: '127.0.0.1',
  });
  app.clock.advance(60_000);
  await ask('/s');
  expect(events('gate_untrusted')).toHaveLength(2);
});

test('who is named in gate.proxies may ask, and nobody else whom the server trusts', async () => {
  const here = parseTrustedProxies(['127.0.0.1']);
  const elsewhere = parseTrustedProxies(['192.0.2.0/24']);
  const cases: [TestAppOptions, number][] = [
    [{ gateProxies: null, trustedProxies: here }, 204],
    [{ gateProxies: null, trustedProxies: elsewhere }, 403],
    [{ gateProxies: here, trustedProxies: elsewhere }, 204],
    [{ gateProxies: elsewhere, trustedProxies: here }, 403],
    [{ gateProxies: parseTrustedProxies([]), trustedProxies: here }, 403],
  ];
  for (const [options, status] of cases) {
    Object.assign(app.settings, options);
    expect((await ask(`/s?installid=${CODE}`)).status).toBe(status);
  }
});

test('no key, HWID, URI, code or host is in the log or in the metrics', async () => {
  for (const uri of [`/s?installid=${CODE}`, `/sub/${KEY}`, `/${KEY}/..`, `/s?hwid=${HWID}`]) {
    for (const hwid of [HWID, `${HWID}-2`, '']) await ask(uri, { 'x-hwid': hwid });
  }
  expect(events('request').length).toBeGreaterThanOrEqual(12);
  const request = JSON.parse(events('request').at(-1) ?? '');
  expect(request).toMatchObject({ path: '/gate', client: '198.51.100.7' });
  const said = [...app.logLines, await app.metrics.text()].join('\n');
  expect(said).toContain('/gate');
  for (const secret of [HWID, KEY, CODE, HOST, '/sub/']) expect(said).not.toContain(secret);
});

test.each([
  ['with a HWID', {}, 'Install not found'],
  ['without one', { 'x-hwid': '' }, 'HWID is required'],
])('those who try out many keys %s are told late; devices on a link never', async (...of) => {
  const [, without, says] = of;
  await app.close();
  await start({ authFailuresPerMinuteMax: 1 });
  expect((await ask(`/s?installid=${CODE}`)).status).toBe(204);
  await ask('/sub/guess-1', without);
  const late = ask('/sub/guess-2', without);
  await until('an answer is late', () => app.clock.sleeperCount > 0);
  let isThere = false;
  void late.then(() => {
    isThere = true;
  });
  expect((await ask(`/s?installid=${CODE}`)).status).toBe(204);
  expect((await ask(`/s?installid=${CODE}`, { 'x-hwid': 'other' })).json.msg).toBe(
    'Install limit reached',
  );
  expect((await ask('/sub/guess-3', { 'x-forwarded-for': '198.51.100.8' })).status).toBe(403);
  expect(isThere).toBe(false);
  app.clock.advance(FAILURE_DELAY_MS);
  expect((await late).json.msg).toBe(says);
});

test.each([
  ['later', () => Promise.reject(new Error('secret-of-the-fault'))],
  [
    'at once',
    () => {
      throw new Error('secret-of-the-fault');
    },
  ],
])('a fault, %s, is 500, so that a proxy stays shut', async (_when, findSlot) => {
  await app.close();
  await start({}, (core) => ({ ...core, store: withMethods(core.store, { findSlot }) }));
  app.expectFault('secret-of-the-fault');
  const reply = await ask(`/s?installid=${CODE}`);
  expect([reply.status, reply.json]).toEqual([500, { rc: 0, msg: 'Unknown error' }]);
  expect(reply.headers.get('x-error-detail')).toMatch(/^internal fault \S+, see the log/);
  expect(reply.text).not.toContain('secret');
});

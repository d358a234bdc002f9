/** What every answer under /api/ and /remote/ has in common. */

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { Credentials } from '../../src/core/provider.ts';
import { wireTime } from '../../src/http/answer/wire-time.ts';
import { pathsOf } from '../../src/http/endpoint.ts';
import { endpoints } from '../../src/http/endpoints/index.ts';
import { messages } from '../../src/http/messages.ts';
import { call, seedProvider, startTestApp, type TestApp } from '../support/app.ts';
import { type RawReply, rawRequest } from '../support/raw.ts';
import { Lane } from '../support/raw-http.ts';
import { addLink, bind, enter, expectOk, HASH, seedShop } from '../support/shop.ts';
import { difference, takeSnapshot } from '../support/snapshot.ts';
import { until } from '../support/until.ts';

const ENDING = 'EndingLink02';

let app: TestApp;
let own: Credentials;
beforeAll(async () => {
  app = await startTestApp();
  own = await seedShop(app);
  await addLinks(app, own);
});
afterAll(() => app.close());

/** Two links with a device each, of which the second one ends, and a reminder. */
async function addLinks(at: TestApp, by: Credentials): Promise<void> {
  const reminder = { kind: 'traffic', amount: 80, texts: { en: 'Hi' } };
  const init = { method: 'POST', body: JSON.stringify(reminder) };
  await expectOk(call(at, '/api/reminder-add', by, {}, init));
  await addLink(at, by);
  await enter(at, 'a');
  await addLink(at, by, ENDING);
  await enter(at, 'c', ENDING);
}

/** A query that changes something when it is asked with the endpoint's own method. */
const CHANGING: Readonly<Record<string, string>> = {
  '/api/add-install': 'install_limit=1',
  '/api/update-install': 'id=1&status=5',
  '/api/list-install': '',
  '/api/free-slots': 'install_id=2',
  '/api/revoke-install': 'id=2',
  '/api/remove-install': 'id=2',
  '/api/list-ties': '',
  '/api/tie-keys': '',
  '/api/untie-keys': '',
  '/api/set-keys': '',
  '/api/list-cuts': '',
  '/api/cancel-cut': 'id=1',
  '/api/list-bars': 'install_id=1',
  '/api/lift-bar': 'install_id=1&hwid=a',
  '/api/list-hwid': 'install_id=1',
  '/api/list-refused': 'install_id=1',
  '/api/add-hwid': 'install_id=1&hwid=named',
  '/api/ignore-copies': 'install_id=1&hwid=x',
  '/api/delete-hwid': 'install_id=1&hwid=a',
  '/api/policy': 'enforce=0',
  '/api/add-domain': `domain_hash=${'b'.repeat(64)}`,
  '/api/delete-domain': 'id=1',
  '/api/list-domain': '',
  '/install': `id=${HASH}&installid=LinkCode0001&hwid=b`,
  '/provider': 'hwid=b&id=',
  '/remote/notification': '',
  '/remote/command': '',
  '/remote/cancel': 'id=1',
  '/remote/list': '',
  '/remote/receipts': 'id=1',
  '/api/stats': '',
  '/api/reminder-add': '',
  '/api/reminder-list': '',
  '/api/reminder-rounds': '',
  '/api/reminder-set': 'id=1',
  '/api/reminder-remove': 'id=1',
  '/api/webhook-add': 'url=https://bot.example.com/',
  '/api/webhook-list': '',
  '/api/webhook-update': 'id=1&enabled=0',
  '/api/webhook-rotate': 'id=1',
  '/api/webhook-test': 'id=1',
  '/api/webhook-deliveries': 'id=1',
  '/api/webhook-replay': 'id=1&event_id=1',
  '/api/webhook-remove': 'id=1',
  '/device/register': '',
  '/device/inbox': '',
  '/device/push-key': '',
  '/device/ack': '',
};

function targetOf(path: string): string {
  const query = CHANGING[path] ?? CHANGING[path.replace(/^\/api/, '')];
  if (query === undefined) throw new Error(`no request for ${path}`);
  const id = path.endsWith('/provider') ? own.code : '';
  return `${path}?provider_code=${own.code}&auth_key=${own.authKey}&${query}${id}`;
}

function expectJson(reply: RawReply): void {
  expect(reply.status).toBe(200);
  expect(reply.headers.get('content-type')).toBe('application/json');
  expect(reply.headers.get('cache-control')).toBe('no-store');
}

describe('other methods change nothing', () => {
  const methods = ['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'HEAD'];
  const cases = endpoints.flatMap((endpoint) =>
    methods
      .concat('GET')
      .filter((method) => method !== endpoint.method)
      .flatMap((method) =>
        pathsOf(endpoint).map((path) => [method, path, endpoint.method] as const),
      ),
  );
  test.each(cases)('%s %s', async (method, path, right) => {
    const before = await takeSnapshot(app);
    const reply = await rawRequest(app, method, targetOf(path), ['content-length: 0']);
    expectJson(reply);
    expect(reply.text).toBe(method === 'HEAD' ? '' : '{"rc":0,"msg":"Unknown error"}');
    expect(reply.headers.get('x-error-detail')).toBe(`this endpoint takes ${right} alone`);
    expect(difference(before, await takeSnapshot(app))).toEqual([]);
  });
});

const READS = /list|\/stats$|-(?:test|deliveries|replay|key|cut|bar|copies|rounds)$/;

test('what changes nothing under other methods would have changed something under GET', async () => {
  const twin = await startTestApp();
  try {
    const twinOwn = await seedProvider(twin, { code: own.code, authKey: own.authKey });
    await bind(twin, twinOwn);
    await addLinks(twin, twinOwn);
    // Devices first: they need the link and the binding as they are.
    const gets = endpoints.filter(({ audience, method, path }) => {
      return method === 'GET' && audience !== 'device' && !path.startsWith('/remote/');
    });
    for (const path of ['/install', '/provider', ...gets.map((endpoint) => endpoint.path)]) {
      const before = await takeSnapshot(twin);
      const reply = await rawRequest(twin, 'GET', targetOf(path));
      expect(JSON.parse(reply.text)).toMatchObject({ rc: expect.any(Number) });
      // The rest reads, has no event to tell again, no phones, or needs another key.
      if (READS.test(path)) continue;
      const isRepeated = path === '/install' || path === '/provider';
      const changes = difference(before, await takeSnapshot(twin));
      if (!isRepeated) expect([path, ...changes]).not.toEqual([path]);
    }
    const { store } = twin.core;
    expect((await store.findDevice('b'))?.seenBy).toHaveLength(1);
    expect((await store.findDevice('b'))?.installs).toHaveLength(1);
  } finally {
    await twin.close();
  }
});

describe('what does not exist', () => {
  test.each([
    '/api',
    '/api/',
    '/api/nothing',
    '/api/add-install/more',
    '/api/Add-Install',
    '/api//nothing',
    '//api/',
    '///remote//nothing',
    '/api/%61dd-install',
    '/api/../api/nothing',
    '/api/%',
    '/api/%ff%00',
    '/remote',
    '/remote/',
    '/remote/nothing',
  ])('%s', async (path) => {
    for (const method of ['GET', 'POST', 'DELETE']) {
      const reply = await rawRequest(app, method, path, ['content-length: 0']);
      expectJson(reply);
      expect(JSON.parse(reply.text)).toEqual({ rc: 0, msg: 'Unknown error' });
    }
  });

  test('a slash at the end of an endpoint is forgiven', async () => {
    const reply = await rawRequest(app, 'GET', '/api/list-install/');
    expectJson(reply);
    expect(JSON.parse(reply.text)).toEqual({ rc: 0, msg: 'Auth error' });
  });

  test.each([
    '//api/list-install',
    '/api//list-install',
    '///api///list-install///',
    'http://somewhere.example//api/list-install',
  ])('runs of slashes count as one: %s', async (path) => {
    const credentials = `provider_code=${own.code}&auth_key=${own.authKey}`;
    const reply = await rawRequest(app, 'GET', `${path}?${credentials}&id=9//`);
    expectJson(reply);
    expect(reply.headers.get('x-error-detail')).toBe('id must be a whole number of 1 to 15 digits');
    const other = await rawRequest(app, 'POST', `${path}?${credentials}`, ['content-length: 0']);
    expect(other.headers.get('x-error-detail')).toBe('this endpoint takes GET alone');
  });

  test('runs of slashes are forgiven for devices, pages and the stream too', async () => {
    expect((await rawRequest(app, 'GET', '//provider//?hwid=a')).text).toContain('Provider not');
    expect((await rawRequest(app, 'GET', '//docs')).status).toBe(200);
    expect((await rawRequest(app, 'GET', '//device//stream')).status).toBe(401);
    expect((await rawRequest(app, 'GET', '//elsewhere')).status).toBe(404);
  });

  test('a fragment, which no client may send, is not part of the path', async () => {
    const reply = await rawRequest(app, 'GET', '/api/list-install#x?y=/');
    expectJson(reply);
    expect(JSON.parse(reply.text)).toEqual({ rc: 0, msg: 'Auth error' });
  });

  test.each([
    ['/elsewhere/api/list-install', 404],
    ['/elsewhere?from=/docs', 404],
    ['/api/list-install/', 200],
    ['/api//list-install?from=/install?', 200],
  ])('without a Host, the path is the whole path: %s', async (target, status) => {
    const lane = new Lane(Number(new URL(app.url).port));
    const request = Buffer.from(`GET ${target} HTTP/1.0\r\n\r\n`);
    const [answer] = await lane.exchange(request, 1, false);
    lane.drop();
    expect(answer?.status).toBe(status);
    if (status === 200) expect(answer?.body).toContain('Auth error');
  });

  test('elsewhere is a plain 404', async () => {
    const reply = await rawRequest(app, 'GET', '/elsewhere');
    expect(reply.status).toBe(404);
    expect(reply.text).toBe('Not found\n');
  });
});

test('a request with a body that nobody reads is answered, and does not keep the server', async () => {
  const twin = await startTestApp();
  const response = await fetch(`${twin.url}/api/add-install`, {
    method: 'POST',
    body: `{"broken":${' '.repeat(1_000_000)}`,
    headers: { 'content-type': 'application/json' },
  });
  expect(response.status).toBe(200);
  expect(await response.text()).toBe('{"rc":0,"msg":"Unknown error"}');
  // Hangs, and the test with it, if the connection is waited for.
  await twin.close();
});

test('a stop waits for the request under way', async () => {
  const twin = await startTestApp({ authFailuresPerMinuteMax: 0 });
  const late = call(twin, '/api/list-install', null);
  await until('the answer is being delayed', () => twin.clock.sleeperCount === 1);
  const closed = twin.close();
  twin.clock.advance(1_000);
  expect((await late).text).toBe('{"rc":0,"msg":"Auth error"}');
  await closed;
});

describe('x-error-detail', () => {
  test('every text of ours is one line of ASCII', () => {
    const details = Object.values(messages).map(({ detail }) => detail ?? '');
    const rules = endpoints.flatMap(({ params }) => Object.values(params).map(({ rule }) => rule));
    expect([...details, ...rules].filter((text) => !/^[\x20-\x7e]*$/.test(text))).toEqual([]);
  });

  test('nothing that was sent comes back in it', async () => {
    const marks = ['ZZsentZZ', 'привет', '%0D%0Ax-injected:1', own.authKey];
    const gets = endpoints.filter(({ method }) => method === 'GET').map(({ path }) => path);
    for (const path of gets) {
      for (const name of ['id', 'install_limit', 'note', 'status', 'install_code', 'hwid']) {
        const query = `${name}=${marks.map(encodeURIComponent).join('')}`.replaceAll('%25', '%');
        const credentials = `provider_code=${own.code}&auth_key=${own.authKey}`;
        const reply = await rawRequest(app, 'GET', `${path}?${credentials}&${query}`);
        expectJson(reply);
        const head = [...reply.headers].map(([key, value]) => `${key}: ${value}`).join('\n');
        expect(head).toMatch(/^[\x20-\x7e\n]*$/);
        for (const mark of ['ZZsentZZ', 'x-injected', own.authKey, own.code]) {
          expect(head).not.toContain(mark);
        }
        expect(reply.text).not.toContain(own.authKey);
      }
    }
    expect(app.logLines.join('')).not.toContain(own.authKey);
  });
});

describe('times', () => {
  test.each([
    [180, '2026-11-21 00:00:00'],
    [0, '2026-11-20 21:00:00'],
    [-210, '2026-11-20 17:30:00'],
    [840, '2026-11-21 11:00:00'],
  ])('are in the configured zone, %d minutes east of UTC', async (outputOffsetMinutes, time) => {
    const zoned = await startTestApp({ outputOffsetMinutes });
    try {
      zoned.clock.set(Date.UTC(2026, 10, 20, 21, 0, 0, 999));
      const provider = await seedShop(zoned);
      await addLink(zoned, provider);
      await enter(zoned, 'a');
      const links = await call(zoned, '/api/list-install', provider);
      const domains = await call(zoned, '/api/list-domain', provider);
      const hwids = await call(zoned, '/api/list-hwid', provider, { install_id: 1 });
      expect(links.json.data[0].created_at).toBe(time);
      expect(domains.json.data[0].created_at).toBe(time);
      expect(hwids.json.data[0].date).toBe(time);
    } finally {
      await zoned.close();
    }
  });

  test('are the same as those of the standard library, whatever was formatted before', () => {
    let seed = 12345;
    for (let i = 0; i < 2_000; i += 1) {
      seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
      const epochMs = seed * 1_000 + (i % 1_000);
      const offsetMinutes = (seed % 1_681) - 840;
      const iso = new Date(epochMs + offsetMinutes * 60_000).toISOString();
      expect(wireTime(epochMs, offsetMinutes)).toBe(iso.slice(0, 19).replace('T', ' '));
    }
  });
});

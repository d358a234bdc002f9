/**
 * What a prober gets where strangers are answered quietly: the page that the operator chose, byte
 * for byte, whatever the path, the host, the method and the key.
 */

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { endpoints } from '../../src/http/endpoints/index.ts';
import { parseTrustedProxies } from '../../src/http/request/address.ts';
import { STRANGER_MS, type StrangerPage } from '../../src/http/strangers.ts';
import { ACT } from '../support/actor.ts';
import { call, startTestApp } from '../support/app.ts';
import { selfSigned } from '../support/certificate.ts';
import type { FakeClock } from '../support/clock.ts';
import { answer, behaveWell, type PanelCall } from '../support/panel.ts';
import { PATHS } from '../support/probed-paths.ts';
import { digestToken } from '../support/signing-panel.ts';
import { until } from '../support/until.ts';
import {
  exchange,
  type Fronted,
  HOST,
  KEY,
  keyPath,
  sendRaw,
  startFronted,
} from '../support/upstream.ts';

const OWN = 'bot.example.org';
const PAGE: StrangerPage = {
  status: 404,
  headers: { 'content-type': 'text/html; charset=utf-8', server: 'nginx' },
  body: new TextEncoder().encode('<h1>Under construction</h1>\n'),
};
const LIMIT = 1;

let fronted: Fronted;
let port: number;
/** What a panel does next; it serves one key. */
let behave: (asked: PanelCall) => Promise<void>;
let page: StrangerPage | null;
let clock: FakeClock;
/** Goes on while a prober waits, since strangers wait for the clock. */
let ticking: ReturnType<typeof setInterval>;

const serveOneKey = async (asked: PanelCall) =>
  asked.target.includes(KEY) ? behaveWell(asked) : asked.send(answer(404, 'no such user'));

beforeAll(async () => {
  fronted = await startFronted(
    (asked) => behave(asked),
    { defaultLimit: LIMIT, keyPaths: [keyPath('/sub/{key}')] },
    { strangerPage: () => page },
  );
  ({ clock } = fronted.app);
  behave = serveOneKey;
  port = Number(new URL(fronted.app.url).port);
  expect((await fronted.get(`/sub/${KEY}`, 'phone')).status).toBe(200);
});

beforeEach(() => {
  behave = serveOneKey;
  page = PAGE;
  Object.assign(fronted.app.settings, {
    strangers: 'quiet',
    ownHosts: [OWN],
    logRequests: false,
    trustedProxies: parseTrustedProxies([]),
    gateProxies: null,
  });
  clearInterval(ticking);
  ticking = setInterval(() => clock.advance(10), 2);
});

afterAll(async () => {
  clearInterval(ticking);
  await fronted.stop();
});

/** Everything that came but the date. */
async function seen(method: string, path: string, headers: Record<string, string>) {
  const got = await exchange(port, method, path, headers);
  const named = [...got.headers].filter(([name]) => name !== 'date');
  return { status: got.status, headers: Object.fromEntries(named), body: got.body };
}

const whole = {
  status: PAGE.status,
  headers: { ...PAGE.headers, 'content-length': String(PAGE.body.length) },
  body: new TextDecoder().decode(PAGE.body),
};

test('there are fifty paths', () => {
  expect(new Set(PATHS).size).toBe(PATHS.length);
  expect(PATHS.length).toBeGreaterThanOrEqual(50);
});

describe.each<[string, Record<string, string>]>([
  ['at the host of a panel', { Host: HOST }],
  ['there, as a device', { Host: HOST, 'X-HWID': 'prober', 'User-Agent': 'Happ/3' }],
  ['there, with a malformed HWID', { Host: HOST, 'X-HWID': 'a b' }],
  ['there, as a browser', { Host: HOST, Accept: 'text/html', 'User-Agent': 'Mozilla/5.0' }],
  ['at an unknown host', { Host: 'unknown.example.org' }],
  ['by the address', { Host: '127.0.0.1' }],
  ['with an empty host', { Host: '' }],
  ['with a host that is none', { Host: 'a b' }],
  [
    'by a forwarded host that no trusted proxy sent',
    { Host: 'other.example.org', 'X-Forwarded-Host': OWN },
  ],
])('%s', (_, headers) => {
  test('each path gets the page, byte for byte', async () => {
    const all = await Promise.all(PATHS.map((path) => seen('GET', path, headers)));
    for (const [at, got] of all.entries()) expect([PATHS[at], got]).toEqual([PATHS[at], whole]);
  });

  test.each(['HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH', 'TRACE', 'PROPFIND'])(
    'each path gets the same by %s',
    async (method) => {
      const paths = PATHS.filter((path) => path !== '/gate' || method !== 'HEAD');
      const all = await Promise.all(paths.map((path) => seen(method, path, headers)));
      const body = method === 'HEAD' ? '' : whole.body;
      for (const [at, got] of all.entries()) {
        expect([paths[at], got]).toEqual([paths[at], { ...whole, body }]);
      }
    },
  );
});

test('HTTP/1.0 without Host, an absolute target and an upgrade get the page too', async () => {
  const upgrade = 'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n';
  const asked = [
    'GET / HTTP/1.0\r\n\r\n',
    'GET /docs HTTP/1.0\r\n\r\n',
    `GET http://${OWN}/docs HTTP/1.1\r\nHost: other.example.org\r\nConnection: close\r\n\r\n`,
    `GET /device/stream HTTP/1.0\r\nHost: other.example.org\r\n${upgrade}\r\n`,
    `GET /sub/${KEY} HTTP/1.0\r\nHost: ${HOST}\r\n${upgrade}\r\n`,
    `CONNECT other.example.org:443 HTTP/1.1\r\nHost: other.example.org\r\nConnection: close\r\n\r\n`,
  ];
  for (const bytes of asked) {
    const { status, body, headers } = await sendRaw(port, bytes);
    expect([bytes, status, body]).toEqual([bytes, whole.status, whole.body]);
    expect([...headers.keys()].sort()).toEqual([
      'content-length',
      'content-type',
      'date',
      'server',
    ]);
  }
});

test('what Bun answers by itself says nothing of Gatepost', async () => {
  const asked = [
    'GET / HTTP/1.1\r\nConnection: close\r\n\r\n',
    'GET / HTTP/2.0\r\nHost: other.example.org\r\nConnection: close\r\n\r\n',
    'FOO / HTTP/1.1\r\nHost: other.example.org\r\nConnection: close\r\n\r\n',
    'OPTIONS * HTTP/1.1\r\nHost: other.example.org\r\nConnection: close\r\n\r\n',
    'nonsense\r\n\r\n',
    `GET /${'a'.repeat(20_000)} HTTP/1.1\r\nHost: other.example.org\r\nConnection: close\r\n\r\n`,
  ];
  for (const bytes of asked) {
    const { status, body, headers } = await sendRaw(port, bytes);
    expect([0, 400, 431, 505]).toContain(status);
    expect([body, [...headers.keys()].filter((name) => name !== 'connection')]).toEqual(['', []]);
  }
});

test('without a page, or while there is none, it is an empty 404', async () => {
  page = null;
  for (const Host of [HOST, 'unknown.example.org']) {
    const got = await seen('GET', '/sub/unknown-key', { Host });
    expect(got).toEqual({ status: 404, headers: { 'content-length': '0' }, body: '' });
  }
});

test('at a host of Gatepost, unknown paths and wrong methods get the page', async () => {
  fronted.app.settings.logRequests = true;
  const Host = `${OWN}:8443`;
  for (const path of ['/nothing', '/api/no-such', '/remote', '/sub/unknown-key', '/console/x.js']) {
    expect([path, await seen('GET', path, { Host })]).toEqual([path, whole]);
  }
  for (const [method, path] of [
    ...[['POST', '/docs'] as const, ['DELETE', '/my'] as const, ['PUT', '/openapi.json'] as const],
  ]) {
    expect([path, await seen(method, path, { Host })]).toEqual([path, whole]);
  }
  expect((await seen('GET', '/docs', { Host })).status).toBe(200);
  expect((await seen('GET', '/my', { Host })).status).toBe(200);
});

test('where strangers are answered, all is as it was, whatever hosts are named', async () => {
  fronted.app.settings.strangers = 'answer';
  const Host = 'unknown.example.org';
  expect((await seen('GET', '/docs', { Host })).status).toBe(200);
  expect((await seen('GET', '/nothing', { Host })).body).toBe('Not found\n');
  const got = await fronted.get('/sub/unknown-key', null);
  expect(got.headers.get('x-hwid-not-supported')).toBe('true');
});

test('a trusted proxy names the host of Gatepost', async () => {
  fronted.app.settings.trustedProxies = parseTrustedProxies(['127.0.0.1']);
  const by = (host: string) => ({ Host: '127.0.0.1:8080', 'X-Forwarded-Host': host });
  expect((await seen('GET', '/docs', by(OWN))).status).toBe(200);
  expect(await seen('GET', '/docs', by('other.example.org'))).toEqual(whole);
});

describe('the calls of the API and of apps', () => {
  const asked = endpoints.flatMap(({ method, path }) => [
    [method, path] as const,
    [method === 'GET' ? 'POST' : 'GET', path] as const,
  ]);

  test.each<[string, string[], string]>([
    ['at a host of Gatepost', [OWN], OWN],
    ['at any host where none is named', [], 'any.example.org'],
  ])('answer %s as where strangers are answered', async (_, ownHosts, Host) => {
    fronted.app.settings.ownHosts = ownHosts;
    for (const [method, path] of asked) {
      fronted.app.settings.strangers = 'answer';
      const before = await seen(method, path, { Host, 'Content-Length': '0' });
      fronted.app.settings.strangers = 'quiet';
      const now = await seen(method, path, { Host, 'Content-Length': '0' });
      expect([method, path, now]).toEqual([method, path, before]);
    }
  });
});

describe('a customer', () => {
  test('with a device that has its slot gets the subscription', async () => {
    const got = await fronted.get(`/sub/${KEY}`, 'phone');
    expect(got.status).toBe(200);
    expect(got.headers.get('x-hwid-active')).toBe('true');
  });

  test('of a full link is told so by the headers that apps read', async () => {
    const got = await fronted.get(`/sub/${KEY}`, 'another-phone');
    expect(got.headers.get('x-hwid-max-devices-reached')).toBe('true');
    expect(got.headers.get('announce')).toStartWith('base64:');
  });

  test('whose app sends no HWID is told so', async () => {
    const got = await fronted.get(`/sub/${KEY}`, null);
    expect(got.headers.get('x-hwid-not-supported')).toBe('true');
  });

  test('learns that the panel is away; who names no link gets the status alone', async () => {
    behave = async ({ socket }) => void socket.destroy();
    fronted.app.settings.gateUpstreams = fronted.app.settings.gateUpstreams.map((one) => ({
      ...one,
      url: 'http://127.0.0.1:1',
    }));
    try {
      const known = await fronted.get(`/sub/${KEY}`, 'phone');
      expect([known.status, known.body]).toEqual([502, 'the panel cannot be reached\n']);
      const got = await seen('GET', '/sub/other-key', { 'X-HWID': 'prober' });
      expect(got).toEqual({ status: 502, headers: { 'content-length': '0' }, body: '' });
    } finally {
      fronted.app.settings.gateUpstreams = fronted.app.settings.gateUpstreams.map((one) => ({
        ...one,
        url: fronted.panel.url,
      }));
    }
  });
});

describe('the page of users at the host of a panel', () => {
  const setUp = (my: 0 | 1) =>
    fronted.app.core.store.updateProvider(fronted.own.code, { my, myName: 'Northwind' }, ACT);
  beforeAll(() => setUp(1));
  afterAll(() => setUp(0));

  test('answers where the host is named, and refusals lead to it', async () => {
    fronted.app.settings.ownHosts = [OWN, HOST];
    expect((await seen('GET', '/my', {})).body).toContain('<form');
    const full = await fronted.get(`/sub/${KEY}`, 'another-phone');
    expect(full.headers.get('announce-url')).toStartWith(`http://${HOST}/my?link=`);
  });

  test('is no path of an unnamed host, and no refusal leads to it', async () => {
    expect(await seen('GET', '/my', {})).toEqual(whole);
    const full = await fronted.get(`/sub/${KEY}`, 'another-phone');
    expect(full.headers.get('x-hwid-max-devices-reached')).toBe('true');
    expect(full.headers.has('announce-url')).toBe(false);
    const browser = await fronted.get(`/sub/${KEY}`, null, { Accept: 'text/html' });
    expect(browser.headers.has('location')).toBe(false);
  });
});

test.each([302, 500])('an answer of %d to an unknown key has no header of ours', async (status) => {
  behave = (asked) => asked.send(answer(status, 'of the panel', { Location: '/elsewhere' }));
  const got = await seen('GET', '/sub/unknown-key', { 'X-HWID': 'prober' });
  expect(got).toEqual({
    status,
    body: 'of the panel',
    headers: { 'content-length': '12', location: '/elsewhere' },
  });
});

test('of an unproven token the panel says to its customer alone what it is', async () => {
  const at = await startFronted(
    (asked) => behave(asked),
    { key: 'marzban' },
    {
      strangerPage: () => page,
    },
  );
  try {
    const { port: own } = new URL(at.app.url);
    const token = digestToken('anna,1767225600');
    behave = behaveWell;
    expect((await at.get(`/sub/${token}`, 'phone')).status).toBe(200);
    Object.assign(at.app.settings, { strangers: 'quiet', ownHosts: [OWN] });
    behave = (asked) => asked.send(answer(403, 'of the panel'));
    const ask = (hwid: string) => exchange(Number(own), 'GET', `/sub/${token}`, { 'X-HWID': hwid });
    expect((await ask('phone')).body).toBe('of the panel');
    const moving = setInterval(() => at.app.clock.advance(10), 2);
    expect((await ask('prober')).body).toBe(whole.body);
    clearInterval(moving);
  } finally {
    await at.stop();
  }
});

test('by TLS an unknown server name gets the page too', async () => {
  const at = await startTestApp({
    tls: await selfSigned('test'),
    strangers: 'quiet',
    ownHosts: [OWN],
    strangerPage: () => page,
  });
  const moving = setInterval(() => at.clock.advance(10), 2);
  const lax = { rejectUnauthorized: false, serverName: 'unknown.example.org' };
  const got = await fetch(`${at.url}/docs`, { tls: lax } as BunFetchRequestInit);
  clearInterval(moving);
  expect([got.status, await got.text()]).toEqual([whole.status, whole.body]);
  await at.close();
});

describe('the gate', () => {
  const ask = (uri: string, more: Record<string, string> = {}) =>
    seen('GET', '/gate', {
      Host: '127.0.0.1:8080',
      'X-Forwarded-Host': HOST,
      'X-Original-URI': uri,
      ...more,
    });

  beforeEach(() => {
    fronted.app.settings.trustedProxies = parseTrustedProxies(['127.0.0.1']);
    fronted.app.settings.gateKeyPaths = [keyPath('/sub/{key}')];
  });

  test.each<[string, string, Record<string, string>]>([
    ['an unknown key', '/sub/unknown-key', { 'X-HWID': 'prober' }],
    ['an unknown key without a HWID', '/sub/unknown-key', {}],
    ['an unknown key and a malformed HWID', '/sub/unknown-key', { 'X-HWID': 'a b' }],
    ['an unknown code without a HWID', '/sub/a?installid=AAAAAAAAAAAA', {}],
    ['no key', '/other', { 'X-HWID': 'a b' }],
    ['an odd path', '/sub/../x', { 'X-HWID': 'prober' }],
    ['a wrong method', `/sub/${KEY}`, { 'X-HWID': 'prober', 'X-Original-Method': 'POST' }],
    ['two hosts', `/sub/${KEY}`, { 'X-Original-URL': 'https://other.example.org/sub/a' }],
  ])('says no more than 403 of %s', async (_, uri, more) => {
    expect(await ask(uri, more)).toEqual({
      status: 403,
      headers: { 'content-length': '0' },
      body: '',
    });
  });

  test('says why it refuses a customer', async () => {
    const got = await ask(`/sub/${KEY}`, { 'X-HWID': 'another-phone' });
    expect(got.headers).toMatchObject({ 'x-hwid-max-devices-reached': 'true' });
    const mute = await ask(`/sub/${KEY}`);
    expect(mute.headers).toMatchObject({ 'x-hwid-not-supported': 'true' });
    expect((await ask(`/sub/${KEY}`, { 'X-HWID': 'phone' })).status).toBe(204);
  });

  test('is no path for who may not ask', async () => {
    fronted.app.settings.trustedProxies = parseTrustedProxies([]);
    expect(await ask(`/sub/${KEY}`, { 'X-HWID': 'phone' })).toEqual(whole);
  });
});

test('a path, and a key that the panel was asked for, take the same time', async () => {
  clearInterval(ticking);
  const asMuch = 60;
  behave = async (asked) => {
    clock.advance(asMuch);
    await asked.send(answer(404));
  };
  for (const path of ['/nothing', '/sub/unknown-key']) {
    const startMs = clock.nowMs();
    let isOver = false;
    const got = seen('GET', path, { 'X-HWID': 'prober' }).then((one) => {
      isOver = true;
      return one;
    });
    await until('the prober waits', () => clock.sleeperCount === 1);
    clock.set(startMs + STRANGER_MS - 1);
    expect([clock.sleeperCount, isOver]).toEqual([1, false]);
    clock.set(startMs + STRANGER_MS);
    expect(await got).toEqual(whole);
  }
});

test('paths are slowed down as keys are', async () => {
  fronted.app.settings.authFailuresPerMinuteMax = 0;
  clearInterval(ticking);
  try {
    for (const path of ['/nothing', '/sub/unknown-key']) {
      const got = seen('GET', path, { 'X-HWID': 'prober' });
      await until('the prober waits', () => clock.sleeperCount === 1);
      clock.advance(STRANGER_MS);
      expect(clock.sleeperCount).toBe(1);
      clock.advance(1_000);
      expect(await got).toEqual(whole);
    }
  } finally {
    fronted.app.settings.authFailuresPerMinuteMax = 1_000_000;
  }
});

test('a provider calls by the host that is named', async () => {
  const { json } = await call(
    fronted.app,
    '/api/list-install',
    fronted.own,
    {},
    {
      headers: { host: OWN },
    },
  );
  expect(json.rc).toBe(1);
});

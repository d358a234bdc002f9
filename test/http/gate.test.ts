/** What proxies ask at `/gate`, each in its own words, and what others try there. */

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { hostHash } from '../../src/core/host-name.ts';
import { type KeyPath, readKeyPath } from '../../src/core/key-path.ts';
import { addLink } from '../../src/core/link.ts';
import { isRefused } from '../../src/core/outcome.ts';
import type { Credentials } from '../../src/core/provider.ts';
import { parseTrustedProxies } from '../../src/http/request/address.ts';
import {
  call,
  type Reply,
  read,
  seedProvider,
  startTestApp,
  type TestApp,
} from '../support/app.ts';
import { bind, expectOk, type Link } from '../support/shop.ts';

const HOST = 'sub.example.com';
const TRUSTING = {
  trustedProxies: parseTrustedProxies(['127.0.0.1']),
  gateKeyPaths: [readKeyPath('/sub/{key}') as KeyPath],
};

interface KeyedLink extends Link {
  key: string;
}

let app: TestApp;
let own: Credentials;

beforeAll(async () => {
  app = await startTestApp(TRUSTING);
  own = await seedProvider(app);
  await bind(app, own, hostHash(HOST));
});

afterAll(() => app.close());

let count = 0;

/** A link of its own for each test, with a key. */
async function makeLink(limit = 2, of = own, key = `key-${++count}`): Promise<KeyedLink> {
  const nowMs = app.clock.nowMs();
  const provider = await app.core.store.findProvider(of.code);
  if (provider === null) throw new Error('there is no provider');
  const draft = { installCode: null, installLimit: limit, note: null, subscriptionKey: key };
  const added = await addLink(app.core, provider, draft, nowMs);
  if (isRefused(added)) throw new Error(added.says);
  return { id: added.id, code: added.installCode, limit, key };
}

async function slotsOf({ code }: Link): Promise<string[]> {
  const { json } = await call(app, '/api/list-hwid', own, { install_code: code });
  return json.data.map((slot: { hwid: string }) => slot.hwid).sort();
}

async function ask(
  headers: Record<string, string>,
  path = '/gate',
  init: RequestInit = {},
  at: { url: string } = app,
): Promise<Reply> {
  return read(await fetch(`${at.url}${path}`, { ...init, headers }));
}

/** The headers of nginx, about a request of an app. */
const nginx = (uri: string, hwid: string | null = 'A') => ({
  'x-original-uri': uri,
  'x-original-method': 'GET',
  'x-forwarded-host': HOST,
  'x-forwarded-for': '198.51.100.7',
  ...(hwid !== null && { 'x-hwid': hwid }),
});

/** Each proxy as its documents say that it asks about `GET https://HOST/uri`. */
const PROXIES: [string, (uri: string) => { headers: Record<string, string>; path?: string }][] = [
  ['nginx', (uri) => ({ headers: nginx(uri) })],
  [
    'an ingress of nginx',
    (uri) => ({
      headers: {
        'x-original-url': `https://${HOST}${uri}`,
        'x-original-method': 'GET',
        'x-hwid': 'A',
      },
    }),
  ],
  [
    'Caddy and Traefik',
    (uri) => ({
      headers: {
        'x-forwarded-for': '198.51.100.7',
        'x-forwarded-host': HOST,
        'x-forwarded-method': 'GET',
        'x-forwarded-proto': 'https',
        'x-forwarded-uri': uri,
        'x-hwid': 'A',
      },
    }),
  ],
  ['Envoy', (uri) => ({ path: `/gate?uri=${uri}`, headers: { host: HOST, 'x-hwid': 'A' } })],
];

describe.each(PROXIES)('%s', (_name, about) => {
  test('lets a device in by its code, and by its key', async () => {
    const link = await makeLink();
    for (const uri of [`/s?a=b&InstallID=${link.code}`, `/sub/${link.key}/clash?x=1`]) {
      const { headers, path } = about(uri);
      const reply = await ask(headers, path);
      expect(reply.status).toBe(204);
      expect(reply.headers.get('x-hwid-active')).toBe('true');
      expect(reply.headers.get('cache-control')).toBe('no-store');
      expect(reply.text).toBe('');
    }
    expect(await slotsOf(link)).toEqual(['A']);
  });
});

test('the provider_code of a client is none of the proxy\u2019s', async () => {
  const link = await makeLink();
  const path = `/gate?uri=/sub/${link.key}?a=1&provider_code=NoSuchOne`;
  expect((await ask({ host: HOST, 'x-hwid': 'A' }, path)).status).toBe(204);
});

describe('a refusal', () => {
  const PANEL = [
    'x-hwid-active',
    'x-hwid-not-supported',
    'x-hwid-max-devices-reached',
    'x-hwid-limit',
  ];
  const panelHeaders = (reply: Reply) => PANEL.filter((name) => reply.headers.get(name) === 'true');

  test('of a device without a HWID', async () => {
    const link = await makeLink();
    const reply = await ask(nginx(`/sub/${link.key}`, null));
    expect(reply.status).toBe(403);
    expect(panelHeaders(reply)).toEqual(PANEL.slice(0, 2));
    expect(reply.json).toEqual({ rc: 0, msg: 'HWID is required' });
    expect(reply.headers.get('x-error-detail')).toStartWith(
      'the app tells no device: x-hwid must ',
    );
  });

  test('of a third on a limit of 2', async () => {
    const link = await makeLink();
    for (const hwid of ['A', 'B', 'A']) {
      expect((await ask(nginx(`/sub/${link.key}`, hwid))).status).toBe(204);
    }
    const reply = await ask(nginx(`/sub/${link.key}`, 'C'));
    expect(reply.status).toBe(403);
    expect(panelHeaders(reply)).toEqual([PANEL[0], PANEL[2], PANEL[3]] as string[]);
    expect(reply.json).toEqual({ rc: 0, msg: 'Install limit reached' });
    expect(await slotsOf(link)).toEqual(['A', 'B']);
  });

  test('tells the person why, in the language of the app', async () => {
    const link = await makeLink(1);
    await ask(nginx(`/sub/${link.key}`));
    const headers = { ...nginx(`/sub/${link.key}`, 'B'), 'accept-language': 'zh-CN, en;q=0.1' };
    const reply = await ask(headers);
    const announce = reply.headers.get('announce')?.replace('base64:', '') ?? '';
    expect(Buffer.from(announce, 'base64').toString()).toStartWith('此订阅的设备数已满');
    expect(reply.headers.get('content-language')).toBe('zh');
    const unclear = await ask({ 'x-forwarded-host': HOST });
    expect(unclear.headers.has('announce')).toBe(false);
  });

  test('of a disabled link', async () => {
    const link = await makeLink();
    await expectOk(call(app, '/api/update-install', own, { id: link.id, status: 5 }));
    const reply = await ask(nginx(`/sub/${link.key}`));
    expect([reply.status, reply.json.msg]).toEqual([403, 'Install disabled']);
    expect(panelHeaders(reply)).toEqual(['x-hwid-active']);
  });

  test.each([
    ['an unknown key', () => nginx('/sub/no-such-key')],
    ['a key that can be none', () => nginx('/sub/abc')],
    ['a path without a key', () => nginx('/other/page')],
    ['an unknown code', () => nginx('/sub?installid=NoSuchLink01')],
    ['a code that is none', () => nginx('/sub?installid=%00')],
  ])('of %s', async (_what, headers) => {
    const reply = await ask(headers());
    expect([reply.status, reply.json.msg]).toEqual([403, 'Install not found']);
    expect(reply.headers.get('x-error-detail')).toStartWith('the request names no limited link');
  });

  test('of a host that is not bound, as of no link', async () => {
    const link = await makeLink();
    const headers = { ...nginx(`/sub/${link.key}`), 'x-forwarded-host': 'other.example.com' };
    const reply = await ask(headers);
    expect([reply.status, reply.json.msg]).toEqual([403, 'Install not found']);
    expect(await slotsOf(link)).toEqual([]);
  });
});

describe('what is told twice must agree', () => {
  const uri = '/sub/key-told-twice';
  const DISAGREE: [string, Record<string, string>, string][] = [
    ['URIs', { 'x-forwarded-uri': '/sub/another' }, '/gate'],
    ['a URI and an address', { 'x-original-url': `https://${HOST}/sub/another` }, '/gate'],
    ['a URI and that in the query', {}, '/gate?uri=/sub/another'],
    ['hosts', { 'x-original-url': `https://other.example.com${uri}` }, '/gate'],
    ['methods', { 'x-forwarded-method': 'HEAD' }, '/gate'],
    ['providers', { 'x-original-uri': `${uri}?provider_code=A` }, '/gate?provider_code=B'],
  ];

  test.each(DISAGREE)('%s', async (_what, more, path) => {
    const reply = await ask({ ...nginx(uri), ...more }, path);
    expect(reply.status).toBe(403);
    expect(reply.headers.get('x-error-detail')).toBe('what tells the request does not agree');
  });

  test('and what agrees is one', async () => {
    const link = await makeLink();
    const same = `/sub/${link.key}?a=1`;
    const more = {
      'x-forwarded-uri': same,
      'x-original-url': `http://${HOST.toUpperCase()}:80${same}`,
      'x-forwarded-method': 'GET',
    };
    expect((await ask({ ...nginx(same), ...more }, `/gate?uri=${same}`)).status).toBe(204);
  });
});

describe('is not clear', () => {
  const UNCLEAR: [string, Record<string, string>][] = [
    ['without a URI', { 'x-forwarded-host': HOST }],
    ['with an odd path', nginx('/sub/../sub/abcd')],
    ['with an odd path beside a code', nginx('//sub/abcd?installid=NoSuchLink01')],
    ['with an address for a URI', nginx(`https://${HOST}/sub/abcd`)],
    ['with a fragment', nginx('/sub/abcd?a#b')],
    ['with a URI of over 8192 characters', nginx(`/sub/abcd?${'a'.repeat(8192)}`)],
    ['with an address that is none', { 'x-original-url': 'sub/abcd' }],
    ['with a host that is none', { ...nginx('/sub/abcd'), 'x-forwarded-host': 'a, b' }],
    ['with a host of 300 letters', { ...nginx('/sub/abcd'), 'x-forwarded-host': 'a'.repeat(301) }],
  ];

  test.each(UNCLEAR)('%s', async (_what, headers) => {
    const reply = await ask(headers);
    expect([reply.status, reply.json.msg]).toEqual([403, 'Unknown error']);
    expect(reply.headers.get('x-error-detail')).toMatch(/^the (request|URI|host) /);
  });
});

describe('methods', () => {
  test.each(['POST', 'PUT', 'OPTIONS', 'get', 'PROPFIND'])('%s gets nothing', async (method) => {
    const link = await makeLink();
    const headers = { ...nginx(`/sub/${link.key}`), 'x-original-method': method };
    expect((await ask(headers)).status).toBe(403);
    expect(await slotsOf(link)).toEqual([]);
  });

  test('HEAD takes no slot, and is for those who hold one', async () => {
    const link = await makeLink();
    const head = (hwid: string | null) => ({
      ...nginx(`/sub/${link.key}`, hwid),
      'x-original-method': 'HEAD',
    });
    const refused = await ask(head('A'));
    expect(refused.status).toBe(403);
    expect(refused.headers.get('x-error-detail')).toStartWith('HEAD takes no slot');
    expect(await slotsOf(link)).toEqual([]);
    expect((await ask(nginx(`/sub/${link.key}`))).status).toBe(204);
    expect((await ask(head('A'))).status).toBe(204);
    expect((await ask(head(null))).json.msg).toBe('HWID is required');
    await ask(nginx(`/sub/${link.key}`, 'B'));
    expect((await ask(head('C'))).json.msg).toBe('Install limit reached');
    expect(await slotsOf(link)).toEqual(['A', 'B']);
    await app.core.store.saveFigures();
    const { refusals } = await app.core.store.readLinkStory(link.id);
    expect(refusals).toMatchObject({ count: 2, reason: 'link_limit_reached' });
  });

  test("the call's own is meant if no header names one", async () => {
    const link = await makeLink();
    const { 'x-original-method': _, ...headers } = nginx(`/sub/${link.key}`);
    expect((await ask(headers, '/gate', { method: 'HEAD' })).status).toBe(403);
    expect((await ask(headers, '/gate', { method: 'POST', body: 'x' })).status).toBe(403);
    expect(await slotsOf(link)).toEqual([]);
    expect((await ask(headers)).status).toBe(204);
  });
});

test('the URI says nothing of the device: who shares it would share a HWID', async () => {
  const link = await makeLink();
  const uri = `/sub/${link.key}?HWID=from-query&device_model=Query%20Phone&device_info=hwid=b`;
  expect((await ask(nginx(uri, null))).json.msg).toBe('HWID is required');
  const headers = { ...nginx(uri, 'from-header'), 'x-device-os': 'Android' };
  expect((await ask(headers)).status).toBe(204);
  const { json } = await call(app, '/api/list-hwid', own, { install_code: link.code });
  expect(json.data).toMatchObject([{ hwid: 'from-header', device_name: '' }]);
});

describe('a code and a key', () => {
  test('of two links: the key counts, which the panel goes by', async () => {
    const [full, open] = await Promise.all([makeLink(1), makeLink(50)]);
    expect((await ask(nginx(`/sub/${full.key}`, 'A'))).status).toBe(204);
    const reply = await ask(nginx(`/sub/${full.key}?installid=${open.code}`, 'B'));
    expect([reply.status, reply.json.msg]).toEqual([403, 'Install limit reached']);
    expect(await slotsOf(open)).toEqual([]);
  });

  test('of one link are one', async () => {
    const link = await makeLink();
    const reply = await ask(nginx(`/sub/${link.key}?installid=${link.code}`));
    expect(reply.status).toBe(204);
    expect(await slotsOf(link)).toEqual(['A']);
  });

  test('that no link has: the code counts', async () => {
    const link = await makeLink();
    const reply = await ask(nginx(`/sub/key-of-a-panel?installid=${link.code}`));
    expect(reply.status).toBe(204);
    expect(await slotsOf(link)).toEqual(['A']);
  });

  test('two codes are none', async () => {
    const link = await makeLink();
    const uri = `/s?installid=${link.code}&installid=${link.code}`;
    expect((await ask(nginx(uri))).json.msg).toBe('Install not found');
  });
});

describe('of two providers with one host', () => {
  let other: Credentials;

  beforeAll(async () => {
    other = await seedProvider(app);
    await bind(app, other, hostHash(HOST));
  });

  test('a key that both have is nobody\u2019s, unless the proxy names the provider', async () => {
    const ours = await makeLink(2, own, 'key-of-two');
    const theirs = await makeLink(2, other, 'key-of-two');
    expect((await ask(nginx('/sub/key-of-two'))).json.msg).toBe('Install not found');
    const path = `/gate?provider_code=${other.code}`;
    expect((await ask(nginx('/sub/key-of-two'), path)).status).toBe(204);
    const envoy = { host: HOST, 'x-hwid': 'A' };
    const envoyPath = `/gate?provider_code=${own.code}&uri=/sub/key-of-two`;
    expect((await ask(envoy, envoyPath)).status).toBe(204);
    expect(await slotsOf(ours)).toEqual(['A']);
    const { json } = await call(app, '/api/list-hwid', other, { install_code: theirs.code });
    expect(json.data).toHaveLength(1);
  });

  test('no code of one opens a key that both have', async () => {
    const ours = await makeLink(1, own, 'key-of-both');
    const theirs = await makeLink(50, other, 'key-of-both');
    for (const { code } of [ours, theirs]) {
      const reply = await ask(nginx(`/sub/key-of-both?installid=${code}`));
      expect([reply.status, reply.json.msg]).toEqual([403, 'Install not found']);
    }
  });

  test('a code of another provider than the proxy names is no link', async () => {
    const link = await makeLink(2, own);
    const at = (code: string) =>
      ask(nginx(`/s?installid=${link.code}`), `/gate?provider_code=${code}`);
    expect((await at(other.code)).json.msg).toBe('Install not found');
    expect((await at('odd')).json.msg).toBe('Install not found');
    expect(await slotsOf(link)).toEqual([]);
    expect((await at(own.code)).status).toBe(204);
  });

  test('a client cannot choose among them', async () => {
    await makeLink(2, own, 'key-of-three');
    await makeLink(2, other, 'key-of-three');
    const uri = `/sub/key-of-three?provider_code=${own.code}`;
    expect((await ask(nginx(uri))).status).toBe(403);
    // Some proxies hand the client's query on as their own.
    expect((await ask(nginx(uri), `/gate?provider_code=${own.code}`)).status).toBe(403);
  });
});

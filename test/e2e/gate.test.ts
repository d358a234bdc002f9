/**
 * The gate as operators have it: real nginx and Caddy, with the files of the documents, in front of
 * a panel that knows nothing of devices.
 */

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { hostHash } from '../../src/core/host-name.ts';
import type { Credentials } from '../../src/core/provider.ts';
import { call } from '../support/app.ts';
import { runHere } from '../support/command-line.ts';
import { testWith } from '../support/needs.ts';
import { addProviderByCommand, type ServerProcess, startServe } from '../support/process.ts';
import {
  CLAIMING,
  FRONT_PROXIES,
  type FrontProxy,
  OVERRIDING,
  SUB_HOST,
  sendRaw,
  startNginx,
} from '../support/proxies.ts';
import { bind, expectOk, type Link } from '../support/shop.ts';
import { type SmallPanel, startSmallPanel, subscriptionOf } from '../support/small-panel.ts';
import { useProcesses } from '../support/use-processes.ts';

useProcesses();

const ENV = { GATEPOST_TRUSTED_PROXIES: '127.0.0.1', GATEPOST_LOG_REQUESTS: 'true' };

let panel: SmallPanel;
let own: Credentials;
let servers: ServerProcess[];

beforeAll(async () => {
  panel = startSmallPanel();
  const first = await startServe({ env: ENV });
  const { dataDir } = first;
  servers = [first, await startServe({ dataDir, env: ENV })];
  own = await addProviderByCommand(dataDir);
  await bind(first, own, hostHash(SUB_HOST));
});

afterAll(() => panel.stop());

const server = () => servers[0] as ServerProcess;

interface KeyedLink extends Link {
  key: string;
}

let count = 0;

/** A link with a key of its own. */
async function makeLink(limit: number, key = `key-${++count}`): Promise<KeyedLink> {
  const query = { install_limit: limit, subscription_key: key };
  const { json } = await expectOk(call(server(), '/api/add-install', own, query));
  return { id: json.id, code: json.install_code, limit, key };
}

async function hwidsOn({ code }: Link): Promise<string[]> {
  const { json } = await call(server(), '/api/list-hwid', own, { install_code: code });
  return json.data.map((slot: { hwid: string }) => slot.hwid).sort();
}

interface Got {
  status: number;
  text: string;
  headers: Headers;
}

/** Asks as an app does that fetches a subscription. */
async function get(
  { url }: FrontProxy,
  path: string,
  hwid: string | null,
  init: RequestInit = {},
): Promise<Got> {
  const response = await fetch(`${url}${path}`, {
    ...init,
    headers: { host: SUB_HOST, ...(hwid !== null && { 'x-hwid': hwid }), ...init.headers },
    tls: { rejectUnauthorized: false },
  } as RequestInit);
  return { status: response.status, text: await response.text(), headers: response.headers };
}

describe.each(FRONT_PROXIES)('%s', (name, start) => {
  const testHere = testWith(name);
  let proxy: FrontProxy;

  beforeAll(async () => {
    if (Bun.which(name) === null) return;
    proxy = await start({ gateposts: [server().port], panel: panel.port });
  });
  afterAll(() => proxy?.stop());

  const NAMES: [string, (link: KeyedLink) => { key: string; path: string }][] = [
    ['key', ({ key }) => ({ key, path: `/sub/${key}` })],
    ['code', ({ code }) => ({ key: 'another', path: `/sub/another?installid=${code}` })],
  ];

  testHere.each(NAMES)(
    'A, B, A again, C and nobody on a limit of 2, by %s',
    async (_by, nameOf) => {
      const link = await makeLink(2);
      const { key, path } = nameOf(link);
      const got: Got[] = [];
      for (const hwid of ['A', 'B', 'A', 'C', null]) got.push(await get(proxy, path, hwid));
      expect(got.map(({ status }) => status)).toEqual([200, 200, 200, 403, 403]);
      expect(await hwidsOn(link)).toEqual(['A', 'B']);
      for (const { text, headers } of got.slice(0, 3)) {
        expect(text).toBe(subscriptionOf(key));
        expect(headers.get('subscription-userinfo')).toBe('upload=1; download=2');
        expect(headers.get('x-hwid-active')).toBe('true');
      }
      const [full, nobody] = got.slice(3);
      expect(full?.headers.get('x-hwid-limit')).toBe('true');
      expect(full?.headers.get('x-hwid-max-devices-reached')).toBe('true');
      expect(full?.headers.get('x-hwid-not-supported')).toBeNull();
      expect(nobody?.headers.get('x-hwid-not-supported')).toBe('true');
      expect(nobody?.headers.get('x-hwid-limit')).toBeNull();
      for (const one of [full, nobody]) expect(one?.headers.get('x-hwid-active')).toBe('true');
      const visits = panel.requests.filter(({ uri }) => uri === path);
      expect(visits.map(({ hwid }) => hwid)).toEqual(['A', 'B', 'A']);
    },
  );

  testHere('the port of the host reaches the panel', async () => {
    const link = await makeLink(1);
    const path = `/sub/${link.key}`;
    const head = [`GET ${path} HTTP/1.1`, `Host: ${SUB_HOST}:2096`, 'X-HWID: A'];
    expect(await sendRaw(proxy, head)).toContain(subscriptionOf(link.key));
    const { headers = new Headers() } = panel.requests.find(({ uri }) => uri === path) ?? {};
    expect(new Map(headers).get('host')).toBe(`${SUB_HOST}:2096`);
  });

  testHere.each(["odd!(x)'*,$@+=:~1", 'Маша-家族-é', 'key🔑', '"<>^`{|}'])(
    'a key of %p opens its link, in each spelling',
    async (text) => {
      const key = `${text}-${crypto.randomUUID().slice(0, 8)}`;
      const link = await makeLink(1, key);
      const coded = encodeURIComponent(key);
      const all = Buffer.from(key).reduce((so, byte) => `${so}%${byte.toString(16)}`, '');
      for (const [path, hwid, status] of [
        [coded, 'A', 200],
        [all, 'A', 200],
        [all, 'B', 403],
      ] as const) {
        expect((await get(proxy, `/sub/${path}`, hwid)).status).toBe(status);
      }
      expect(await hwidsOn(link)).toEqual(['A']);
    },
  );

  testHere('a panel hears of no other request than that which was judged', async () => {
    const link = await makeLink(1);
    const path = `/sub/${link.key}`;
    const wrong = { ...OVERRIDING, ...CLAIMING };
    const spelled = Object.entries(wrong).flatMap(([name, value]) => [
      [name, value],
      [name.replaceAll('-', '_'), value],
      [name.replace('-', '_'), value],
    ]);
    const headers = Array.from(new Map(spelled as [string, string][]), (one) => one.join(': '));
    // A panel that speaks HTTP/2 would hear of any number of requests behind this one.
    const upgrade = ['Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAMA'];
    const device = [`Host: ${SUB_HOST}`, 'X-HWID: A'];
    const own = ['X-Real-IP: 203.0.113.9', 'X-Forwarded-For: 203.0.113.9'];
    const head = [`GET ${path} HTTP/1.1`, ...device, ...headers, ...own, ...upgrade];
    expect(await sendRaw(proxy, head)).toContain(subscriptionOf(link.key));
    const visit = panel.requests.find(({ uri }) => uri === path);
    const passed = [...(visit?.headers ?? [])];
    expect(passed).toContainEqual(['x-hwid', 'A']);
    const isWrong = (name: string) => name in wrong || name === 'upgrade' || name.includes('_');
    expect(passed.filter(([name]) => isWrong(name))).toEqual([]);
    // Nor of another client, by headers that the proxy writes itself.
    expect(passed.filter(([, value]) => value.includes('203.0.113.9'))).toEqual([]);
  });

  testHere('a bot passes by its secret, which the panel does not hear', async () => {
    const link = await makeLink(1);
    const { dataDir } = server();
    const words = ['bot', 'add', SUB_HOST, '--name', 'bot', '--provider', own.code, '--json'];
    const { stdout } = await runHere([...words, '--data', dataDir]);
    const { secret } = JSON.parse(stdout);
    const headers = { authorization: `Bearer ${secret}` };
    const path = `/sub/${link.key}`;
    expect((await get(proxy, path, null)).status).toBe(403);
    // Caddy of this test speaks plain HTTP, over which a secret proves nothing.
    const isRead = proxy.url.startsWith('http:');
    expect((await get(proxy, path, null, { headers })).status).toBe(isRead ? 403 : 200);
    expect((await get(proxy, path, 'A', { headers })).text).toBe(subscriptionOf(link.key));
    expect((await get(proxy, path, 'B', { headers })).status).toBe(403);
    expect(await hwidsOn(link)).toEqual(['A']);
    const heard = panel.requests.flatMap((one) => [...one.headers].flat());
    expect(heard.filter((value) => value.includes(secret))).toEqual([]);
    expect(server().stderr()).not.toContain(secret);
  });

  testHere('a key of two providers is that of the provider that the proxy names', async () => {
    const { key } = await makeLink(1);
    const other = await addProviderByCommand(server().dataDir);
    await bind(server(), other, hostHash(SUB_HOST));
    const twin = { install_limit: 1, subscription_key: key };
    const { json } = await expectOk(call(server(), '/api/add-install', other, twin));
    expect((await get(proxy, `/sub/${key}`, 'A')).status).toBe(403);
    const gateposts = [server().port];
    const naming = await start({ gateposts, panel: panel.port, provider: other.code });
    expect((await get(naming, `/sub/${key}`, 'A')).status).toBe(200);
    await naming.stop();
    const query = { install_code: json.install_code };
    const slots = await call(server(), '/api/list-hwid', other, query);
    expect(slots.json.data).toHaveLength(1);
  });

  describe('a device that a full link keeps out, with another that has room', () => {
    let full: KeyedLink;
    let open: KeyedLink;
    let path: string;

    beforeAll(async () => {
      [full, open] = await Promise.all([makeLink(1), makeLink(50)]);
      path = `/sub/${full.key}?a=b`;
      if (proxy) expect((await get(proxy, path, 'A')).status).toBe(200);
    });

    const lure = () => `/sub/${open.key}?a=b`;
    const HEADERS: [string, () => string[]][] = [
      ['X-Original-URI', () => [`X-Original-URI: ${lure()}`]],
      ['X-Forwarded-Uri', () => [`X-Forwarded-Uri: ${lure()}`]],
      ['X-Original-URL', () => [`X-Original-URL: https://${SUB_HOST}${lure()}`]],
      ['X-Rewrite-URL', () => [`X-Rewrite-URL: ${lure()}`]],
      ['both URIs', () => [`X-Original-URI: ${lure()}`, `X-Forwarded-Uri: ${lure()}`]],
      ['a name with _', () => [`X_Original_URI: ${lure()}`, `X_Forwarded_Uri: ${lure()}`]],
      ['HEAD as its method', () => ['X-Forwarded-Method: HEAD', 'X-Original-Method: HEAD']],
      ['another host', () => ['X-Forwarded-Host: other.example.com']],
      ['a HWID of the link before its own', () => ['X-HWID: A']],
      ['headers to drop', () => ['Connection: X-Original-URI, X-Forwarded-Uri, X-HWID']],
      ['methods to drop', () => ['Connection: X-Original-Method, X-Forwarded-Method']],
    ];

    testHere.each(HEADERS)('is not let in by %s', async (_what, headersOf) => {
      const head = [`GET ${path} HTTP/1.1`, `Host: ${SUB_HOST}`, ...headersOf(), 'X-HWID: Z'];
      const answer = await sendRaw(proxy, head);
      expect(answer).toStartWith('HTTP/1.1 403');
      expect(answer).not.toContain('vless');
    });

    const TARGETS: [string, (path: string) => string][] = [
      ['the code of another link', (at) => `${at}&installid=${open.code}`],
      ['its own code and another', (at) => `${at}&installid=${full.code}&installid=${open.code}`],
      ['the code in another case', (at) => `${at}&InstallID=${open.code}`],
      ['another key behind it', (at) => at.replace('?', `/${open.key}?`)],
      ['a URI of the gate', (at) => `${at}&uri=${lure()}`],
      ['an empty segment', (at) => `/${at}`],
      ['a dot segment', (at) => at.replace('/sub/', '/sub/./')],
      ['a way through another folder', (at) => `/assets/..${at}`],
      ['a coded way', (at) => `/assets/%2e%2e${at}`],
      ['a way out of the folder', (at) => at.replace('?', '/../../assets/x?')],
      ['a coded slash', (at) => at.replace('/sub/', '/sub%2f')],
      ['a coded letter', (at) => at.replace('/sub/', '/%73ub/')],
      ['a backslash', (at) => at.replace('/sub/', '/sub\\')],
      ['another case', (at) => at.replace('/sub/', '/SUB/')],
      ['a fragment', (at) => at.replace('?', '#?')],
      ['a whole address', (at) => `http://${SUB_HOST}${at}`],
      ['an address of another host', (at) => `http://other.example.com${at}`],
    ];

    testHere.each(TARGETS)('is not let in by %s in the address', async (_what, targetOf) => {
      const head = [`GET ${targetOf(path)} HTTP/1.1`, `Host: ${SUB_HOST}`, 'X-HWID: Z'];
      const answer = await sendRaw(proxy, head);
      expect(answer).not.toContain('vless');
    });

    testHere('is not let in without a host, or with another', async () => {
      for (const host of [[], ['Host: other.example.com'], ['Host: 127.0.0.1']]) {
        const answer = await sendRaw(proxy, [`GET ${path} HTTP/1.0`, ...host, 'X-HWID: Z']);
        expect(answer).not.toContain('vless');
      }
    });

    testHere('takes no slot by HEAD, and gets nothing by another method', async () => {
      expect((await get(proxy, lure(), 'Z', { method: 'HEAD' })).status).toBe(403);
      for (const method of ['POST', 'PUT', 'OPTIONS']) {
        expect((await get(proxy, lure(), 'Z', { method })).status).toBe(403);
      }
    });

    testHere('was neither seen by the panel, nor has it a slot', async () => {
      expect(panel.requests.filter(({ hwid }) => hwid?.includes('Z'))).toEqual([]);
      expect(await hwidsOn(full)).toEqual(['A']);
      expect(await hwidsOn(open)).toEqual([]);
    });
  });
});

testWith('nginx')(
  '200 devices at once on a limit of 7, four workers and two servers: 7 get it, ever',
  async () => {
    const proxy = await startNginx(
      { gateposts: servers.map(({ port }) => port), panel: panel.port },
      4,
    );
    const link = await makeLink(7);
    const path = `/sub/${link.key}`;
    const hwids = Array.from({ length: 200 }, (_, at) => `device-${at}`);
    const ask = () => Promise.all(hwids.map((hwid) => get(proxy, path, hwid)));
    const letIn = (got: Got[]) => hwids.filter((_, at) => got[at]?.status === 200);
    const first = await ask();
    const chosen = letIn(first);
    expect(chosen).toHaveLength(7);
    expect(first.filter(({ status }) => status === 403)).toHaveLength(193);
    expect(letIn(await ask())).toEqual(chosen);
    expect(await hwidsOn(link)).toEqual([...chosen].sort());
    const served = panel.requests.filter(({ uri }) => uri === path).map(({ hwid }) => hwid ?? '');
    expect([...new Set(served)].sort()).toEqual([...chosen].sort());
    await proxy.stop();
  },
);

test('no key, HWID, URI or host is in the log, and nothing is amiss', () => {
  for (const { stderr, troubles } of servers) {
    expect(stderr()).toContain('/gate');
    for (const secret of ['key-', 'device-', '/sub', SUB_HOST]) {
      expect(stderr()).not.toContain(secret);
    }
    expect(troubles().filter((line) => !line.includes('auth_failures_delayed'))).toEqual([]);
  }
});

/** The doctor at the gate: what its panels, bindings and proxies lack, and what to do. */

import { afterAll, beforeAll, expect, test } from 'bun:test';
import { rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { loadConfig } from '../../src/config/load.ts';
import { hostHash } from '../../src/core/host-name.ts';
import { readPanelToken } from '../../src/core/panel/token.ts';
import type { ImportedLink } from '../../src/core/port/moving.ts';
import { NO_TERMS } from '../../src/core/slot.ts';
import { examine } from '../../src/doctor/examine.ts';
import { SQLITE } from '../../src/store/sqlite/kind.ts';
import { openSqliteStore } from '../../src/store/sqlite/store.ts';
import { ACT } from '../support/actor.ts';
import { freshFolder } from '../support/app.ts';
import { addProviders, fingerprint, NOW_MS } from '../support/backup.ts';
import { selfSigned } from '../support/certificate.ts';
import { formOf } from '../support/signed-form.ts';

const folder = freshFolder();
const dataDir = join(folder, 'data');
const PROVIDER = 'CODE1000';

/** The panel's answers by the beginning of the path; 404 to all others. */
const STATUSES: readonly (readonly [start: string, status: number])[] = [
  ['/open/', 200],
  ['/empty/', 204],
  ['/broken/', 500],
];
const BODY = 'vless://11111111-1111-4111-8111-111111111111@node.example.com:443\n';

let asked: string[] = [];
let told: Headers[] = [];
let panel: ReturnType<typeof Bun.serve>;
/** Takes connections and says nothing that is HTTP. */
let mute: Server;
let closedPort: number;

beforeAll(async () => {
  panel = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: ({ headers, method, url }) => {
      const { pathname } = new URL(url);
      asked.push(`${method} ${pathname}`);
      told.push(headers);
      const status = STATUSES.find(([start]) => pathname.startsWith(start))?.[1] ?? 404;
      return new Response(status === 200 ? BODY : null, { status });
    },
  });
  mute = createServer((socket) => socket.on('error', () => undefined).end('hello\r\n\r\n'));
  const other = createServer();
  await Promise.all([listening(mute), listening(other)]);
  closedPort = portOf(other);
  other.close();
  await addProviders(dataDir, 1);
  const store = await openSqliteStore({ dataDir, create: true, commitBatchMax: 1 });
  const provider = await store.findProvider(PROVIDER);
  for (const host of ['bound.example.org', 'off.example.org']) {
    const draft = { domainHash: hostHash(host), domainName: host, createdAtMs: NOW_MS };
    await store.addDomain({ ...draft, providerId: provider?.id ?? 0, domainCountMax: 9 }, ACT);
  }
  await store.disableDomain(provider?.id ?? 0, 2, ACT);
  await store.close();
});

const listening = (server: Server) =>
  new Promise<void>((settle) => server.listen(0, '127.0.0.1', settle));
const portOf = (server: Server) => (server.address() as AddressInfo).port;

afterAll(async () => {
  await panel.stop(true);
  mute.close();
  rmSync(folder, { recursive: true, force: true });
});

const NONE = { GATEPOST_DATA: dataDir, GATEPOST_CONFIG: 'none' };

interface Drafted {
  host: string;
  provider?: string;
  host_header?: string;
  key_path?: string[];
  key?: string;
  key_secret_file?: string;
  limits?: string;
  panel?: string;
  panel_url?: string;
  panel_token_file?: string;
  url?: string;
}

async function findings(upstreams: Drafted[], env: Record<string, string> = {}) {
  asked = [];
  told = [];
  const base = { provider: PROVIDER, url: `http://127.0.0.1:${panel.port}`, default_limit: 3 };
  const tables = JSON.stringify(upstreams.map((upstream) => ({ ...base, ...upstream })));
  const settings = { ...NONE, GATEPOST_PORT: '0', GATEPOST_GATE_UPSTREAM: tables, ...env };
  const loaded = loadConfig({}, settings);
  const uid = process.getuid?.() ?? 0;
  const found = await examine({ loaded, kind: SQLITE, nowMs: NOW_MS, uid });
  expect(found.filter(({ level, todo }) => level !== 'ok' && !todo)).toEqual([]);
  return found;
}

/** What is said of the gate, as `level: what`. */
async function look(...of: Parameters<typeof findings>): Promise<string[]> {
  return (await findings(...of))
    .filter(({ check }) => check === 'gate')
    .map(({ level, what }) => `${level}: ${what}`);
}

test('says how each host is bound, and changes nothing', async () => {
  const before = fingerprint(dataDir);
  const hosts = ['bound.example.org', 'off.example.org', 'new.example.org'];
  const found = await look([
    ...hosts.map((host) => ({ host })),
    { host: 'foreign.example.org', provider: 'Nobody00' },
  ]);
  expect(found.filter((line) => !line.includes('answers'))).toEqual([
    `ok: bound.example.org is bound at provider ${PROVIDER}`,
    'warning: the binding of off.example.org is disabled: every device is refused there',
    `warning: new.example.org is not bound at provider ${PROVIDER}`,
    'problem: there is no provider Nobody00 for foreign.example.org',
  ]);
  expect(fingerprint(dataDir)).toEqual(before);
});

test('asks each panel for a head, and takes any answer', async () => {
  const panelUrl = `http://127.0.0.1:${panel.port}`;
  const found = await look([
    { host: 'bound.example.org', url: `${panelUrl}/base/` },
    { host: 'b.example.org', url: `http://127.0.0.1:${closedPort}` },
    { host: 'c.example.org', url: `http://127.0.0.1:${portOf(mute)}` },
    { host: 'd.example.org', url: `https://127.0.0.1:${panel.port}` },
  ]);
  const said = found.filter((line) => /answer/.test(line));
  expect(said.map((line) => line.replace(/answer \((?!ECONN)[\w: ]+\)/, 'answer (…)'))).toEqual([
    'ok: the panel of bound.example.org answers: 404 to HEAD /, 404 to GET /sub/{key}',
    'warning: the panel of b.example.org does not answer (ECONNREFUSED: the connection is refused, no program listens there)',
    'warning: the panel of c.example.org does not answer (…)',
    'warning: the panel of d.example.org does not answer (…)',
  ]);
  expect(asked.map((line) => line.replace(/[^/]{36}$/, 'KEY'))).toEqual([
    'HEAD /base/',
    'GET /base/sub/KEY',
  ]);
});

test('asks the API whose limits are followed, and says when it refuses the token', async () => {
  const file = join(folder, 'panel-token');
  writeFileSync(file, 'token-of-panel\n', { mode: 0o600 });
  let status = 404;
  let message = 'User with specified params not found';
  const api = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: ({ url }) =>
      new URL(url).pathname === '/api/subscription-settings'
        ? Response.json({ response: { hwidSettings: null } })
        : Response.json({ message }, { status }),
  });
  const ask = async () => {
    const follows = { limits: 'panel', panel: 'remnawave', panel_token_file: file };
    const url = `http://127.0.0.1:${api.port}`;
    const found = await look([{ host: 'bound.example.org', ...follows, panel_url: url }]);
    return found.filter((line) => line.includes('the API of'));
  };
  const start = 'the API of the panel of bound.example.org';
  expect(await ask()).toEqual([`ok: ${start} returns limits`]);
  // The server has no such path: every user would count as gone.
  message = 'Cannot GET /api/users/by-short-uuid';
  expect(await ask()).toEqual([`warning: ${start} gives an unexpected answer (API_404)`]);
  status = 401;
  expect(await ask()).toEqual([`warning: ${start} refuses the token (API_401)`]);
  await api.stop(true);
  expect(await ask()).toEqual([
    `warning: ${start} does not answer (ECONNREFUSED: the connection is refused, no program listens there)`,
  ]);
});

test('a panel that serves a made-up key is a problem: each guess would get a link', async () => {
  const found = await look([
    { host: 'bound.example.org', key_path: ['/sub/{key}', '/open/{key}'] },
    { host: 'b.example.org', key_path: [] },
    { host: 'c.example.org', key_path: ['/open/{key}'], panel: '3x-ui' },
    { host: 'd.example.org', key_path: ['/open/{key}'], key: 'marzban' },
    { host: 'e.example.org', key_path: ['/empty/{key}'] },
    // Marzban 0.7: the door takes no 204 for a subscription.
    { host: 'f.example.org', key_path: ['/empty/{key}'], key: 'marzban' },
  ]);
  const said = found.filter((line) => line.includes(' answers'));
  const problem = (host: string, what: string) =>
    `problem: the panel of ${host} answers ${what} with a made-up key: each guess would get a link`;
  expect(said).toEqual([
    problem('bound.example.org', '200 to GET /open/{key}'),
    'ok: the panel of b.example.org answers: 404 to HEAD /',
    problem('c.example.org', '200 to GET /open/{key}'),
    problem('d.example.org', '200 to GET /open/{key}'),
    problem('e.example.org', '204 to GET /empty/{key}'),
    'ok: the panel of f.example.org answers: 404 to HEAD /, 204 to GET /empty/{key}',
  ]);
});

test('says which status came to which path of a panel that fails', async () => {
  const found = await look([
    { host: 'bound.example.org', key_path: ['/broken/{key}', '/sub/{key}'] },
    { host: 'b.example.org', key_path: [], url: `http://127.0.0.1:${panel.port}/broken` },
  ]);
  expect(found.filter((line) => line.includes(' answers'))).toEqual([
    'warning: the panel of bound.example.org answers with errors: 404 to HEAD /, 500 to GET /broken/{key}, 404 to GET /sub/{key}',
    'warning: the panel of b.example.org answers with errors: 500 to HEAD /',
  ]);
});

test('asks a panel that signs by a key and by a token that it did not sign', async () => {
  const signing = ['marzban', 'pasarguard'].map((key) => ({ host: `${key}.example.org`, key }));
  await look(signing);
  const keys = asked.filter((line) => line.startsWith('GET')).map((line) => line.slice(9));
  const isUuid = (key: string) => /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/.test(key);
  const tokens = keys.filter((key) => !isUuid(key));
  expect(keys.filter(isUuid)).toHaveLength(2);
  const users = tokens.map(
    (token) => readPanelToken(formOf(token.includes('.') ? 'pasarguard' : 'marzban'), token)?.key,
  );
  expect(users).toHaveLength(2);
  expect(users.toSorted()).toEqual([
    expect.stringMatching(/^marzban\/\w+$/),
    expect.stringMatching(/^pasarguard\/\d+$/),
  ]);
  expect(JSON.stringify(keys)).not.toMatch(/gatepost/i);
});

test('finds a bad secret file', async () => {
  const file = join(folder, 'panel-secret');
  writeFileSync(file, 'short\n', { mode: 0o600 });
  const upstream = { host: 'bound.example.org', key: 'marzban', key_secret_file: file };
  const said = (await findings([upstream])).filter(({ check }) => check === 'configuration');
  expect(said).toMatchObject([
    { level: 'problem', what: expect.stringContaining('is not 16 to 256 visible') },
  ]);
});

test('a panel that closes connections for what it does not know is there', async () => {
  const heads: string[] = [];
  const reticent = (answers: RegExp) =>
    createServer((socket) => {
      socket.on('error', () => undefined);
      socket.on('data', (data) => {
        const head = data.toString('latin1');
        heads.push(head.split('\r\n', 1)[0] ?? '');
        if (answers.test(head)) socket.end('HTTP/1.1 204 No Content\r\n\r\n');
        else socket.destroy();
      });
    });
  // As the page of Remnawave: a preflight has an answer, and neither / nor an unknown key has.
  const page = reticent(/^OPTIONS .*^access-control-request-method: GET/ims);
  const never = reticent(/^$/);
  await Promise.all([listening(page), listening(never)]);
  const at = (server: Server) => `http://127.0.0.1:${portOf(server)}`;
  const found = await look([
    { host: 'bound.example.org', url: at(page) },
    { host: 'b.example.org', url: at(never) },
  ]);
  page.close();
  never.close();
  expect(found).toContain(
    'ok: the panel of bound.example.org answers: 204 to OPTIONS /, a closed connection to GET /sub/{key}',
  );
  expect(found).toContain(
    'warning: the panel of b.example.org accepts connections and closes them without an answer',
  );
  const asked = heads.map((line) => line.replace(/[\w-]{36}/, 'KEY'));
  expect(asked.toSorted()).toEqual(
    ['HEAD / HTTP/1.1', 'HEAD / HTTP/1.1', 'OPTIONS / HTTP/1.1', 'OPTIONS / HTTP/1.1']
      .concat('GET /sub/KEY HTTP/1.1')
      .toSorted(),
  );
});

test('finds a url that leads back to this server, which is not asked', async () => {
  const upstream = { host: 'bound.example.org', url: `http://localhost:${panel.port}` };
  const found = await look([upstream], { GATEPOST_PORT: String(panel.port) });
  expect(found).toContain('problem: the url of bound.example.org is the address of this server');
  expect(asked).toEqual([]);
});

test('without a database nothing is said of bindings', async () => {
  const elsewhere = { GATEPOST_DATA: join(folder, 'none') };
  expect(await look([{ host: 'bound.example.org' }], elsewhere)).toEqual([
    'ok: the panel of bound.example.org answers: 404 to HEAD /, 404 to GET /sub/{key}',
  ]);
});

test('asks as the proxy would: some panels answer nobody else', async () => {
  await look([{ host: 'bound.example.org', key_path: [], host_header: 'upstream' }]);
  expect(told.map((headers) => headers.get('host'))).toEqual([`127.0.0.1:${panel.port}`]);
  await look([{ host: 'bound.example.org', key_path: [] }]);
  expect(told.map((headers) => Object.fromEntries(headers))).toMatchObject([
    {
      host: 'bound.example.org',
      'x-forwarded-for': '127.0.0.1',
      'x-forwarded-host': 'bound.example.org',
      'x-forwarded-proto': 'https',
      'x-real-ip': '127.0.0.1',
    },
  ]);
});

test('tells a certificate that nobody trusts from a panel that is away', async () => {
  const secure = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    tls: await selfSigned('panel'),
    fetch: () => new Response(null, { status: 404 }),
  });
  const found = await look([
    { host: 'bound.example.org', url: `https://127.0.0.1:${secure.port}` },
  ]);
  await secure.stop(true);
  expect(found.at(-1)).toStartWith(
    'warning: the certificate of the panel of bound.example.org is not trusted (',
  );
});

test('names providers of which links let apps without a HWID pass', async () => {
  const found = async () => (await look([])).filter((line) => line.includes('HWID'));
  const warning = `warning: provider ${PROVIDER} lets apps without a HWID pass: a request without x-hwid bypasses the limit`;
  expect(await found()).toEqual([]);
  const store = await openSqliteStore({ dataDir, create: false, commitBatchMax: 1 });
  await store.updateProvider(PROVIDER, { withoutHwid: 'count' }, ACT);
  expect(await found()).toEqual([]);
  const { id = 0 } = (await store.findProvider(PROVIDER)) ?? {};
  const draft = { ...NO_TERMS, installCode: 'PassingLink1', note: null, createdAtMs: NOW_MS };
  const more = {
    providerId: id,
    installLimit: 1,
    installCountMax: 99,
    withoutHwid: 'pass',
  } as const;
  const added = await store.addLink({ ...draft, ...more }, ACT);
  expect(await found()).toEqual([warning]);
  const linkId = typeof added === 'string' ? 0 : added.id;
  await store.updateLink(id, linkId, { withoutHwid: null }, ACT);
  expect(await found()).toEqual([]);
  await store.updateProvider(PROVIDER, { withoutHwid: 'pass' }, ACT);
  expect(await found()).toEqual([warning]);
  await store.updateProvider(PROVIDER, { withoutHwid: null }, ACT);
  await store.close();
});

test('counts links at 100 whose panel has no limit, also those of older imports', async () => {
  const found = async () => (await look([])).filter((line) => line.includes('limit 100'));
  const store = await openSqliteStore({ dataDir, create: false, commitBatchMax: 1 });
  const { id = 0 } = (await store.findProvider(PROVIDER)) ?? {};
  let count = 0;
  const bring = (panelUser: string, more: Partial<ImportedLink>) => {
    const installCode = `Imported${String(++count).padStart(4, '0')}`;
    const note = '"isPanelLimit":false';
    const install = {
      id: null,
      installCode,
      panelUser,
      installLimit: 100,
      status: 10,
      note,
      createdAtMs: NOW_MS,
      slots: [],
      ...more,
    };
    return store.importLink(id, install, { installCountMax: 99, updates: false }, ACT);
  };
  const none = { isPanelLimit: false };
  await bring('remnawave:1', {});
  await bring('3x-ui:1', { panel: { isPanelLimit: true } });
  await bring('marzban:a', { panel: { isPanelLimit: true } });
  await bring('marzban:b', { panel: none, installLimit: 99 });
  expect(await found()).toEqual([]);
  await bring('3x-ui:2', { panel: none });
  await bring('marzban:c', {});
  await bring('marzban/de:c', {});
  await bring('hiddify:d', {});
  expect(await found()).toEqual([
    `warning: 4 links of provider ${PROVIDER} with the limit 100, as the panel has none: no device is refused`,
  ]);
  await store.close();
});

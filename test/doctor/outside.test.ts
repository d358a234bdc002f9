/** `gatepost doctor --outside`: the panel beside the gate, at hosts that the operator types. */

import { afterAll, beforeAll, expect, test } from 'bun:test';
import { outsideValue } from '../../src/cli/values.ts';
import { loadConfig } from '../../src/config/load.ts';
import { checkOutside } from '../../src/doctor/outside.ts';
import { selfSigned } from '../support/certificate.ts';

const KNOWN = 'vless://11111111-1111-4111-8111-111111111111@node.example.com:443\n';

const readOutside = (texts: readonly string[]) =>
  texts.reduce<URL[]>((urls, text) => outsideValue(text, urls), []);

let asked: { at: string; path: string; headers: Headers }[] = [];
let servers: Record<string, ReturnType<typeof Bun.serve>>;

/** Answers each key but one as a panel answers strangers. */
function panelAt(at: string, { url, headers }: Request): Response {
  const { pathname } = new URL(url);
  asked.push({ at, path: pathname, headers });
  if (pathname === '/sub/known') return new Response(KNOWN);
  // Hiddify redirects to a whole address, in which its host and scheme are those of the question.
  if (pathname.startsWith('/hiddify/')) {
    const scheme = headers.get('x-forwarded-proto') ?? 'http';
    const to = `${scheme}://${headers.get('host')}${pathname}/`;
    return new Response(`Go to ${to}`, { status: 308, headers: { location: to } });
  }
  return Response.json({ detail: `no ${pathname}` }, { status: 404 });
}

beforeAll(async () => {
  const local = { hostname: '127.0.0.1', port: 0 } as const;
  const fetchAs = (at: string) => (request: Request) => panelAt(at, request);
  servers = {
    panel: Bun.serve({ ...local, fetch: fetchAs('panel') }),
    beside: Bun.serve({ ...local, tls: await selfSigned('panel'), fetch: fetchAs('beside') }),
    other: Bun.serve({ ...local, fetch: () => new Response('nothing here', { status: 404 }) }),
    moved: Bun.serve({
      ...local,
      fetch: () => Response.redirect(`http://127.0.0.1:${portOf('panel')}/moved`),
    }),
    endless: Bun.serve({ ...local, fetch: () => new Response('a'.repeat(1_000_000)) }),
  };
});

const portOf = (name: string) => servers[name]?.port ?? 0;

afterAll(async () => {
  await Promise.all(Object.values(servers).map((server) => server.stop(true)));
});

interface Asking {
  allow?: string;
  upstream?: Record<string, unknown>;
  addresses?: Record<string, string[]>;
}

async function outside(hosts: string[], { allow, upstream, addresses = {} }: Asking = {}) {
  asked = [];
  const table = {
    host: 'sub.example.org',
    url: `http://127.0.0.1:${portOf('panel')}`,
    provider: 'CODE1000',
    default_limit: 3,
    ...upstream,
  };
  const { config } = loadConfig(
    {},
    {
      GATEPOST_CONFIG: 'none',
      GATEPOST_GATE_UPSTREAM: JSON.stringify([table]),
      GATEPOST_OUTGOING_ALLOW: allow ?? '127.0.0.0/8',
    },
  );
  const findings = await checkOutside({
    upstreams: config.gateUpstreams,
    places: readOutside(hosts),
    allow: config.outgoingAllow,
    resolve: async (name) => addresses[name] ?? Promise.reject(new Error('no address')),
  });
  expect(findings.filter(({ level, todo }) => level !== 'ok' && !todo)).toEqual([]);
  const key = asked[0]?.path.split('/').at(-1) ?? 'none';
  return findings.map(({ level, what }) =>
    `${level}: ${what}`.replaceAll(key, 'KEY').replace(/(127.0.0.1|example.org):\d+/g, '$1:PORT'),
  );
}

const NOTE =
  'ok: asked from this machine, which a firewall may let through; ask from another one too:';
const OWN = 'the panel of sub.example.org itself answers 404, application/json, 57 bytes';

test('the panel at a host beside the gate is a problem, by any certificate', async () => {
  const addresses = { 'panel.example.org': ['127.0.0.1'] };
  const found = await outside([`panel.example.org:${portOf('beside')}`], { addresses });
  expect(found).toEqual([
    'problem: panel.example.org:PORT answers a made-up key as the panel of sub.example.org does ' +
      '(404, application/json, 57 bytes): the panel is reached beside the gate',
    `${NOTE} curl -sik -m 10 'https://panel.example.org:PORT/sub/KEY'; ${OWN}`,
  ]);
  // Each once, for the same key, and nothing in the question names the gate.
  expect(asked.map(({ at }) => at)).toEqual(['panel', 'beside']);
  expect(asked[1]?.path).toBe(asked[0]?.path as string);
  expect(Object.fromEntries(asked[1]?.headers ?? [])).toEqual({
    accept: '*/*',
    'accept-encoding': 'identity',
    connection: 'close',
    host: `panel.example.org:${portOf('beside')}`,
    'user-agent': 'curl/8.5.0',
  });
});

test('a host and a scheme in the body make no difference', async () => {
  const addresses = { 'panel.example.org': ['127.0.0.1'] };
  const upstream = { key: 'hiddify', key_path: ['/hiddify/{key}'] };
  const place = `panel.example.org:${portOf('beside')}`;
  const [first] = await outside([place], { addresses, upstream });
  expect(first).toStartWith('problem: panel.example.org:PORT answers a made-up key as the panel');
});

test('another server is none, a redirect is not followed, and an endless answer is cut', async () => {
  const hosts = ['other', 'moved', 'endless'].map((name) => `http://127.0.0.1:${portOf(name)}`);
  const start =
    'ok: 127.0.0.1:PORT answers a made-up key otherwise than the panel of sub.example.org:';
  expect(await outside([...hosts, 'http://127.0.0.1:9'])).toEqual([
    `${start} 404, text/plain, 12 bytes`,
    `${start} 302, 0 bytes`,
    `${start} 200, text/plain, 65536 bytes`,
    'ok: the panel of sub.example.org is not reached there: cannot connect to 127.0.0.1:PORT: the connection is refused',
    `${NOTE} curl -sik -m 10 'http://127.0.0.1:PORT/sub/KEY'; ${OWN}`,
  ]);
  expect(asked.map(({ at }) => at)).toEqual(['panel']);
});

test('addresses that are not public are not asked, nor hosts of the gate', async () => {
  const port = portOf('beside');
  const names = ['127.0.0.1', 'localhost', '[::1]', '169.254.169.254', 'inner.example.org'];
  const mixed = { 'inner.example.org': ['198.51.100.7', '127.0.0.1'] };
  const hosts = [...names.map((name) => `${name}:${port}`), 'sub.example.org', 'gone.example.org'];
  const found = await outside(hosts, { allow: '198.51.100.0/24', addresses: mixed });
  const silent = (name: string) => `warning: ${name} has no public address: it was not asked`;
  const shown = found.map((line) => line.replace(`:${port}`, '').replace(':PORT', ''));
  expect(shown.slice(0, -1)).toEqual([
    ...names.map(silent),
    'warning: sub.example.org is a host of the gate: it was not asked',
    silent('gone.example.org'),
  ]);
  expect(asked.map(({ at }) => at)).toEqual(['panel']);
});

test('the key has the form of the panel, below the path of the URL', async () => {
  const url = `http://127.0.0.1:${portOf('panel')}/base/`;
  const place = `https://127.0.0.1:${portOf('beside')}`;
  await outside([place], { upstream: { url, key: 'marzban' } });
  expect(asked[0]?.path).toMatch(/^\/base\/sub\/[\w-]{20,}$/);
  await outside([place], { upstream: { url, key: 'hiddify', key_path: ['/a/{key}', '/b/{key}'] } });
  const [own, beside] = asked.map(({ path }) => path);
  expect(own).toMatch(/^\/base\/a\/[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/);
  expect([beside, asked.length]).toEqual([own, 2]);
});

test('without an answer of the panel no host is asked', async () => {
  const place = `https://127.0.0.1:${portOf('beside')}`;
  const said = (why: string) => [
    `warning: the panel of sub.example.org gives no answer to a made-up key (${why}): no host was compared with it`,
  ];
  expect(await outside([place], { upstream: { url: 'http://127.0.0.1:9' } })).toEqual(
    said('ECONNREFUSED: the connection is refused, no program listens there'),
  );
  expect(await outside([place], { upstream: { key_path: [] } })).toEqual(
    said('it has no key_path'),
  );
  expect(asked).toEqual([]);
  const none = { upstreams: [], places: readOutside([place]), allow: [] };
  expect(await checkOutside(none)).toMatchObject([{ level: 'warning' }]);
  expect(await checkOutside({ ...none, places: [] })).toEqual([]);
});

test('reads hosts alone, each once', () => {
  const read = (...texts: string[]) => readOutside(texts).map(({ origin }) => origin);
  expect(read('Panel.example.org', 'https://panel.example.org/', 'panel.example.org:8443')).toEqual(
    ['https://panel.example.org', 'https://panel.example.org:8443'],
  );
  expect(read('2001:db8::1', 'http://a.example.org')).toEqual([
    'https://[2001:db8::1]',
    'http://a.example.org',
  ]);
  for (const text of [
    '',
    'a b',
    'panel.example.org/sub',
    'https://u@panel.example.org',
    'ftp://a',
  ]) {
    expect(() => readOutside([text])).toThrow(`'${text}' is no HOST`);
  }
  const many = Array.from({ length: 21 }, (_, at) => `host${at}.example.org`);
  expect(() => readOutside(many)).toThrow('at most 20 hosts are asked');
  expect(readOutside(many.slice(1))).toHaveLength(20);
});

/** Answers of panels through real proxies with the files of the documents: caches, and odd keys. */

import { afterAll, beforeAll, describe, expect } from 'bun:test';
import { hostHash } from '../../src/core/host-name.ts';
import type { Credentials } from '../../src/core/provider.ts';
import { call } from '../support/app.ts';
import { testWith } from '../support/needs.ts';
import { addProviderByCommand, type ServerProcess, startServe } from '../support/process.ts';
import {
  FRONT_PROXIES,
  type FrontProxy,
  SUB_HOST,
  sendRaw,
  startHaproxyForNodes,
  startNginxForNodes,
} from '../support/proxies.ts';
import { bind, expectOk } from '../support/shop.ts';
import { type SmallPanel, startSmallPanel, subscriptionOf } from '../support/small-panel.ts';
import { useProcesses } from '../support/use-processes.ts';

useProcesses();

let panel: SmallPanel;
let own: Credentials;
let server: ServerProcess;

beforeAll(async () => {
  panel = startSmallPanel();
  server = await startServe({ env: { GATEPOST_TRUSTED_PROXIES: '127.0.0.1' } });
  own = await addProviderByCommand(server.dataDir);
  await bind(server, own, hostHash(SUB_HOST));
});
afterAll(() => panel.stop());

/** Makes a link with a key, for one device; returns its code. */
async function makeLink(key: string): Promise<string> {
  const query = { install_limit: 1, subscription_key: key };
  return (await expectOk(call(server, '/api/add-install', own, query))).json.install_code;
}

interface Got {
  status: number;
  /** The headers as they came, names in lower case. */
  lines: [name: string, value: string][];
  text: string;
}

async function get(proxy: FrontProxy, path: string, hwid: string): Promise<Got> {
  const head = [`GET ${path} HTTP/1.1`, `Host: ${SUB_HOST}`, `X-HWID: ${hwid}`];
  const raw = await sendRaw(proxy, head);
  const [top = '', ...rest] = raw.split('\r\n\r\n');
  const [first = '', ...lines] = top.split('\r\n');
  return {
    status: Number(first.split(' ')[1]),
    lines: lines.map((line) => {
      const [name = '', ...value] = line.split(': ');
      return [name.toLowerCase(), value.join(': ').toLowerCase()];
    }),
    text: rest.join('\r\n\r\n'),
  };
}

/** The items of a header that may come in several lines. */
const itemsOf = ({ lines }: Got, wanted: string) =>
  lines
    .filter(([name]) => name === wanted)
    .flatMap(([, value]) => value.split(',').map((item) => item.trim()));

describe.each(FRONT_PROXIES)('%s', (name, start) => {
  const testHere = testWith(name);
  let proxy: FrontProxy;

  beforeAll(async () => {
    if (Bun.which(name) === null) return;
    proxy = await start({ gateposts: [server.port], panel: panel.port });
    await makeLink(`cached-by-${name}`);
  });
  afterAll(() => proxy?.stop());

  testHere.each([
    ['says nothing', '', ['private'], ['x-hwid']],
    [
      'may be cached',
      '?answer-cache-control=public, max-age=60&answer-vary=Accept-Encoding',
      ['public', 'max-age=60', 'private'],
      ['accept-encoding', 'x-hwid'],
    ],
    [
      'is private',
      '?answer-cache-control=max-age=60, Private&answer-x-hwid-active=true',
      ['max-age=60', 'private'],
      ['x-hwid'],
    ],
    [
      'may not be stored',
      '?answer-cache-control=no-store&answer-cdn-cache-control=max-age=60',
      ['no-store'],
      ['x-hwid'],
    ],
  ])('no shared cache keeps an answer that %s', async (_what, query, control, vary) => {
    const path = `/sub/cached-by-${name}${query.replaceAll(' ', '%20')}`;
    const got = await get(proxy, path, 'A');
    expect(got.status).toBe(200);
    expect(itemsOf(got, 'x-hwid-active')).toEqual(['true']);
    expect([...new Set(itemsOf(got, 'vary'))]).toEqual(vary);
    // Caddy says it in any case, which changes nothing.
    const said = [...new Set(itemsOf(got, 'cache-control'))];
    expect(said.filter((item) => item !== 'private' || control.includes(item))).toEqual(control);
    expect(itemsOf(got, 'cdn-cache-control')).toEqual([]);
    const refused = await get(proxy, path, 'B');
    expect([refused.status, itemsOf(refused, 'cache-control').includes('no-store')]).toEqual([
      403,
      true,
    ]);
  });

  testHere('a key may be short, have a colon, or be of any script', async () => {
    const keys = [
      name.slice(0, 1),
      name.slice(0, 2),
      `${name}:1`,
      `Маша-й-${name}`,
      `家族-${name}`,
    ];
    for (const key of keys) {
      await makeLink(key);
      const path = `/sub/${encodeURIComponent(key)}`;
      const got = await get(proxy, path, 'A');
      expect([key, got.status, got.text]).toEqual([
        key,
        200,
        expect.stringContaining(subscriptionOf(encodeURIComponent(key))),
      ]);
      const other = `/sub/${encodeURIComponent(key.normalize('NFD'))}`;
      for (const spelled of [path, other, path.replaceAll('%', '%25')]) {
        const { status, text } = await get(proxy, spelled, 'B');
        expect([spelled, status, text.includes('vless')]).toEqual([spelled, 403, false]);
      }
      // Bytes as they are.
      const raw = await get(proxy, `/sub/${key}`, 'B');
      expect([key, raw.text.includes('vless')]).toEqual([key, false]);
    }
  });
});

/** What Gatepost takes for `/gate`, and more. */
const SPELLINGS = [
  ...['/gate', '//gate', '/gate/', '///gate//', '/./gate', '/x/../gate', '/x/%2e%2e/gate'],
  ...['/gate/.', '/gate/x/..', '/%67ate', '/g%61te', '/ga%74%65', '\\gate', '/x\\..\\gate'],
  ...['/gate#x', '/gate;x', '/GATE', '/Gate', '/gate%2f', '/api/add-install/../../gate'],
  ...['/api//../gate', '/remote/cancel/../../gate', '/gate%5c', '/.%2fgate', '/%5cgate'],
];

describe.each([
  ['nginx', startNginxForNodes],
  ['haproxy', startHaproxyForNodes],
] as const)('in front of several nodes, %s', (name, start) => {
  testWith(name)('lets no question through to the gate, however it is written', async () => {
    const code = await makeLink(`asked-by-${name}`);
    const proxy = await start(server.port);
    const told = ['X-Original-URI', 'X-Forwarded-Uri'].map((one) => `${one}: /s?installid=${code}`);
    const ask = async (at: FrontProxy, target: string) => {
      const host = [`Host: ${SUB_HOST}`, `X-Forwarded-Host: ${SUB_HOST}`, 'X-HWID: A'];
      return (await sendRaw(at, [`GET ${target} HTTP/1.1`, ...host, ...told])).split('\r\n', 1)[0];
    };
    const direct = { url: server.url, stop: async () => undefined };
    expect(await ask(direct, '/gate')).toContain(' 204 ');
    const targets = SPELLINGS.flatMap((path) => [path, `${path}?a=b`, `http://${SUB_HOST}${path}`]);
    for (const target of targets) {
      const answer = await ask(proxy, target);
      expect([target, / (?:40\d) /.test(answer ?? '')]).toEqual([target, true]);
    }
    expect(await ask(proxy, '/install?id=gate')).toContain(' 200 ');
    await proxy.stop();
  });
});

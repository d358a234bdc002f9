/** Whose turn a call of a shared address is, and what a flood by one customer costs others. */

import { afterEach, describe, expect, test } from 'bun:test';
import { connect, type Socket } from 'node:net';
import { hostHash } from '../../src/core/host-name.ts';
import { Crowd } from '../../src/http/bound/crowd.ts';
import { Parties } from '../../src/http/bound/parties.ts';
import { parseSharedAddresses, parseTrustedProxies } from '../../src/http/request/address.ts';
import { continueAs, currentParty, onBehalfOf } from '../../src/store/postgres/party.ts';
import { call, startTestApp, type TestApp } from '../support/app.ts';
import { line } from '../support/front.ts';
import { byLink, register } from '../support/messaging.ts';
import { behaveWell, type Panel, type PanelCall, startPanel } from '../support/panel.ts';
import { addLink, enter, expectOk, HASH, LINK, seedShop } from '../support/shop.ts';
import { noStreams, openAs } from '../support/stream.ts';
import { until } from '../support/until.ts';
import { HOST, KEY, upstreamTo } from '../support/upstream.ts';

const EXIT = '203.0.113.9';

function makeParties() {
  const moved: string[] = [];
  const parties = new Parties({
    settings: { sharedAddresses: parseSharedAddresses(['203.0.113.0/24']) },
    store: { continueAs: (party) => void moved.push(party) },
    clientOf: (request) => request.headers.get('client') ?? EXIT,
    countAs: () => {},
  });
  return { moved, parties };
}
const at = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
  new Request(`http://localhost${path}`, { headers, method });

describe('the names that are known', () => {
  test('are those of links that were found, for HEAD too', () => {
    const { moved, parties } = makeParties();
    expect(parties.of(at('/sub/a'))).toMatch(/^203\.0\.113\.9 \d$/);
    expect(parties.found(at('/sub/a'), 7)).toBe('link 7');
    expect(moved).toEqual(['link 7']);
    expect(parties.of(at('/sub/a'))).toBe('link 7');
    expect(parties.of(at('/sub/a', {}, 'HEAD'))).toBe('link 7');
    expect(parties.of(at('/sub/b'))).not.toBe('link 7');
    parties.guessed(at('/sub/a'));
    expect(parties.of(at('/sub/a'))).not.toBe('link 7');
  });

  test.each([
    'authorization',
    'sec-websocket-protocol',
    'host',
    'x-forwarded-host',
    'x-original-uri',
    'x-original-url',
    'x-forwarded-uri',
    'x-domain-hash',
  ])('differ with %s: no request makes the name of another one known', (header) => {
    const { parties } = makeParties();
    parties.found(at('/gate', { [header]: 'mine' }), 7);
    expect(parties.of(at('/gate', { [header]: 'mine' }))).toBe('link 7');
    for (const other of [at('/gate'), at('/gate', { [header]: 'yours' })]) {
      expect(parties.of(other)).not.toBe('link 7');
    }
  });

  test('are none for a name in a body: the next call with the same head may name another', () => {
    const { parties } = makeParties();
    const request = at('/device/register', {}, 'POST');
    expect(parties.found(request, 7, true)).toBe('link 7');
    expect(parties.of(request)).toBe('link 7');
    expect(parties.of(at('/device/register', {}, 'POST'))).not.toBe('link 7');
    expect(parties.nameCount).toBe(0);
  });

  test('are none at an address that is not shared', () => {
    const { moved, parties } = makeParties();
    const request = at('/sub/a', { client: '198.51.100.7' });
    expect(parties.found(request, 7)).toBeNull();
    expect([parties.of(request), parties.linkOrClient(request)]).toEqual([
      '198.51.100.7',
      '198.51.100.7',
    ]);
    expect([moved, parties.nameCount]).toEqual([[], 0]);
  });

  test('have a bound in all, and for each link', () => {
    const { parties } = makeParties();
    parties.found(at('/sub/first'), 1);
    for (let n = 0; n < 100; n += 1) parties.found(at(`/sub/own?${n}`), 2);
    expect(parties.nameCount).toBe(17);
    expect(parties.of(at('/sub/first'))).toBe('link 1');
    expect(parties.of(at('/sub/own?99'))).toBe('link 2');
    expect(parties.of(at('/sub/own?83'))).not.toBe('link 2');
    for (let n = 0; n < 40_000; n += 1) parties.found(at(`/sub/${n}`), 10 + n);
    expect(parties.nameCount).toBe(32_768);
    expect(parties.of(at('/sub/39999'))).toBe('link 40009');
    expect(parties.of(at('/sub/first'))).not.toBe('link 1');
  });
});

test('a few links with many names push out the names of no others', () => {
  const { parties } = makeParties();
  for (let link = 0; link < 16_384; link += 1) {
    for (const n of [1, 2]) parties.found(at(`/sub/${link}?${n}`), link);
  }
  for (let link = 20_000; link < 22_048; link += 1) {
    for (let n = 0; n < 16; n += 1) parties.found(at(`/sub/${link}?${n}`), link);
  }
  expect(parties.nameCount).toBe(32_768);
  const isKnown = (link: number) => parties.of(at(`/sub/${link}?1`)) === `link ${link}`;
  const kept = Array.from({ length: 16_384 }, (_, link) => link).filter(isKnown);
  // Each of 2,048 links may push out four names, of two a link.
  expect(kept).toHaveLength(16_384 - 4_096);
});

test('a party is given up for another one, for the rest of its call alone', async () => {
  const parties = ['a', 'b'].map((name) =>
    onBehalfOf(name, String, async () => {
      const before = currentParty();
      await Promise.resolve();
      if (name === 'a') continueAs('link 7');
      await Promise.resolve();
      return [before, currentParty()];
    }),
  );
  expect(await Promise.all(parties)).toEqual([
    ['a', 'link 7'],
    ['b', 'b'],
  ]);
});

test.each([
  ['one link', () => at('/sub/flood')],
  ['made-up keys', (n: number) => at(`/sub/${n}`)],
])('calls of other links begin before a flood of %s is over', async (_, flood) => {
  const { parties } = makeParties();
  const crowd = new Crowd({ clientOf: parties.of, isGone: () => false });
  parties.found(at('/sub/flood'), 1);
  parties.found(at('/sub/other'), 2);
  const begun: string[] = [];
  const begin = (request: Request) =>
    crowd.begin(request, () => {
      begun.push(request.url);
      return new Response();
    });
  const all = Array.from({ length: 3_000 }, (_, n) => begin(flood(n)));
  const atOnce = begun.length;
  await begin(at('/sub/other'));
  // One call of each turn of the address before it, at most.
  expect(begun.findIndex((url) => url.endsWith('/other'))).toBeLessThanOrEqual(atOnce + 11);
  await Promise.all(all);
});

let app: TestApp | null = null;
let panel: Panel | null = null;
afterEach(async () => {
  await app?.close();
  await panel?.stop();
  [app, panel] = [null, null];
});
const shared = { sharedAddresses: parseSharedAddresses([EXIT, '8.8.4.4']) };
const PROXIES = { trustedProxies: parseTrustedProxies(['127.0.0.1']) };

test('a panel answers other links while one link of the exit has all that it may have', async () => {
  const held: PanelCall[] = [];
  panel = await startPanel(async (asked) => {
    if (asked.target.endsWith(KEY)) held.push(asked);
    else await behaveWell(asked);
  });
  app = await startTestApp({ ...PROXIES, ...shared });
  const { url } = app;
  const own = await seedShop(app, hostHash(HOST));
  for (const key of [KEY, 'b1b2c3d4e5f6g7h8']) {
    await expectOk(call(app, '/api/add-install', own, { install_limit: 9, subscription_key: key }));
  }
  app.settings.gateUpstreams = [upstreamTo(panel.url, own.code, { requestsMax: 4 })];
  const leaving = new AbortController();
  const ask = (key: string, client: string) =>
    fetch(`${url}/sub/${key}`, {
      headers: { host: HOST, 'x-hwid': 'phone', 'x-forwarded-for': client },
      signal: leaving.signal,
    }).then(({ status }) => status);
  const flood = Array.from({ length: 20 }, () => ask(KEY, EXIT).catch(() => 0));
  await until('the panel has some', () => held.length > 0);
  expect(await ask('b1b2c3d4e5f6g7h8', EXIT)).toBe(200);
  leaving.abort();
  await Promise.all(flood);
});

test('connections count for the link that they name, others of the exit ten times', async () => {
  app = await startTestApp({ proxyProtocol: parseTrustedProxies(['127.0.0.3']), ...shared });
  const { server } = app;
  const own = await seedShop(app);
  await addLink(app, own, LINK);
  await addLink(app, own, 'LinkCode0002');
  const { hostname, port } = new URL(server.url);
  const open = (path: string) => {
    const socket = connect({ host: hostname, port: Number(port), localAddress: '127.0.0.3' });
    socket.on('error', () => {});
    socket.on('data', () => {});
    socket.write(`${line('8.8.4.4')}GET ${path} HTTP/1.1\r\nhost: x\r\nx-hwid: phone\r\n\r\n`);
    return socket;
  };
  const openMany = async (path: string, count: number) => {
    const sockets = Array.from({ length: count }, () => open(path));
    const isDone = ({ bytesRead, closed }: Socket) => bytesRead > 0 || closed;
    await until('all are answered', () => sockets.every(isDone), 20_000);
    return sockets;
  };
  const install = (code: string) => `/install?id=${HASH}&installid=${code}`;
  const sockets = await openMany('/nowhere', 1_100);
  expect(server.limited().connections).toBe(0);
  sockets.push(...(await openMany(install(LINK), 1_030)));
  expect(server.limited().connections).toBe(6);
  const [other] = await openMany(install('LinkCode0002'), 1);
  expect([other?.bytesRead, server.limited().connections]).toEqual([expect.any(Number), 6]);
  expect(other?.bytesRead).toBeGreaterThan(0);
  for (const socket of [...sockets, other]) socket?.destroy();
});

test('sockets of an exit wait for their token in ten turns, those of a home in one', async () => {
  app = await startTestApp({ ...PROXIES, ...shared });
  const { server } = app;
  const openMany = async (client: string) => {
    const headers = { 'x-forwarded-for': client };
    const from = app ?? { url: '' };
    const opened = await Promise.all(Array.from({ length: 150 }, () => openAs(from, { headers })));
    for (const { socket } of opened) socket.close();
    return opened;
  };
  await openMany(EXIT);
  expect(server.limited().streams).toBe(0);
  await openMany('198.51.100.7');
  expect(server.limited().streams).toBeGreaterThanOrEqual(50);
});

test('streams of one device by each way are of its link', async () => {
  app = await startTestApp({ ...PROXIES, ...shared });
  const own = await seedShop(app);
  const { id } = await addLink(app, own);
  await enter(app, 'phone', LINK, HASH);
  const token = await register(app, byLink('phone', LINK));
  const parties: string[] = [];
  const { store } = app.core;
  const behalf = store.onBehalfOf.bind(store);
  store.onBehalfOf = ((of: unknown, nameOf: (of: unknown) => string, work: never) => {
    if (typeof of === 'string' && of !== 'streams') parties.push(of);
    return behalf(of, nameOf, work);
  }) as never;
  const forwarded = { 'x-forwarded-for': EXIT };
  const shown = await openAs(app, { headers: { authorization: `Bearer ${token}`, ...forwarded } });
  shown.send({ items: [] });
  await until('it is answered', () => shown.frames.length > 0);
  shown.socket.close();
  await shown.closed;
  expect(new Set(parties.splice(0))).toEqual(new Set([`link ${id}`]));
  const framed = await openAs(app, { headers: forwarded });
  framed.send({ device_token: token });
  await until('it is open', () => framed.frames.length > 0);
  framed.send({ items: [] });
  await until('it is answered', () => framed.frames.length > 1);
  framed.socket.close();
  await framed.closed;
  const [before, ...after] = parties;
  expect(before).toMatch(/^203\.0\.113\.9 \d$/);
  expect(new Set(after)).toEqual(new Set([`link ${id}`]));
  await noStreams(app);
});

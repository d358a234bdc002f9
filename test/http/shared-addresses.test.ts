/**
 * Addresses that many customers share: a call that names a link is of that link, at every door and
 * however the address came; a call that names none that exists is of the address.
 */

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { AsyncLocalStorage } from 'node:async_hooks';
import { connect } from 'node:net';
import { hostHash } from '../../src/core/host-name.ts';
import type { Store } from '../../src/core/port/store.ts';
import type { Credentials } from '../../src/core/provider.ts';
import {
  countedAs,
  parseSharedAddresses,
  parseTrustedProxies,
} from '../../src/http/request/address.ts';
import { ACT } from '../support/actor.ts';
import { call, startTestApp, type TestApp } from '../support/app.ts';
import { get, line } from '../support/front.ts';
import { byBinding, byLink, register } from '../support/messaging.ts';
import { answer, behaveWell, type Panel, startPanel } from '../support/panel.ts';
import { addLink, bind, enter, expectOk, HASH, type Link, seedShop } from '../support/shop.ts';
import { digestToken, OTHER_SECRET } from '../support/signing-panel.ts';
import { HOST, keyPath, upstreamTo } from '../support/upstream.ts';

const KEYS = ['a1b2c3d4e5f6g7h8', 'b1b2c3d4e5f6g7h8'] as const;
const CODES = ['LinkCode0001', 'LinkCode0002'] as const;
const INVENTED = 'zzzz9999zzzz9999';
const DISCOVERED = '/.well-known/device-messages/register';

/** How a call comes from an exit: the peer, what is before the request, and headers of it. */
interface Way {
  client: string;
  peer: string;
  before?: string;
  headers?: string[];
}
const forwarded = (client: string): Way => ({
  client,
  peer: '127.0.0.1',
  headers: [`x-forwarded-for: ${client}`],
});
const proxied = (client: string): Way => ({ client, peer: '127.0.0.3', before: line(client) });
const WAYS: [string, Way][] = [
  ['the connection', { client: '127.0.0.7', peer: '127.0.0.7' }],
  ['X-Forwarded-For', forwarded('203.0.113.9')],
  ['X-Forwarded-For, IPv6', forwarded('2001:db8:5:7:1:2:3:4')],
  ['a PROXY header', proxied('8.8.4.4')],
  ['a PROXY header, IPv6', proxied('2a00:1450:1:2::9')],
];
const SHARED = ['127.0.0.7', '203.0.113.0/28', '2001:db8:5:7::1', '8.8.4.4', '2a00:1450:1:2::/64'];
const HOME = forwarded('198.51.100.7');
const EXIT = forwarded('203.0.113.9');

const current = new AsyncLocalStorage<{ party: () => string }>();
let asked: { method: string; party: string }[] = [];

/** A store that notes for which party it is called. */
function noting(store: Store): Store {
  return new Proxy(store, {
    get: (target, name) => {
      const method = Reflect.get(target, name);
      if (name === 'onBehalfOf') {
        return (of: never, nameOf: (of: never) => string, work: (of: never) => unknown) =>
          current.run({ party: () => nameOf(of) }, work, of);
      }
      if (name === 'continueAs') {
        return (party: string) => {
          const present = current.getStore();
          if (present) present.party = () => party;
        };
      }
      if (typeof method !== 'function') return method;
      return (...args: unknown[]) => {
        asked.push({ method: String(name), party: current.getStore()?.party() ?? 'nobody' });
        return Reflect.apply(method, target, args);
      };
    },
  });
}

let app: TestApp;
let own: Credentials;
let panel: Panel;
/** True: the panel answers with a page in place of a subscription. */
let isNoSubscription = false;
let links: Link[];
let tokens: string[];

beforeAll(async () => {
  panel = await startPanel((call) => {
    if (isNoSubscription) return call.send(answer(200, 'ok', { 'Content-Type': 'text/html' }));
    return /zzzz|guess/.test(call.target) ? call.send(answer(404)) : behaveWell(call);
  });
  app = await startTestApp(
    {
      trustedProxies: parseTrustedProxies(['127.0.0.1']),
      proxyProtocol: parseTrustedProxies(['127.0.0.3']),
      gateKeyPaths: [keyPath('/sub/{key}')],
    },
    (core) => ({ ...core, store: noting(core.store) }),
  );
  own = await seedShop(app);
  await bind(app, own, hostHash(HOST));
  await app.core.store.updateProvider(own.code, { my: 1, discovery: 1 }, ACT);
  links = [];
  tokens = [];
  for (const [n, code] of CODES.entries()) {
    const query = { install_limit: 100, install_code: code, subscription_key: KEYS[n] ?? '' };
    const { json } = await expectOk(call(app, '/api/add-install', own, query));
    links.push({ id: json.id, code, limit: 100 });
    await enter(app, `phone-${n}`, code);
    tokens.push(await register(app, byLink(`phone-${n}`, code)));
  }
  app.settings.gateUpstreams = [upstreamTo(panel.url, own.code)];
});
afterAll(async () => {
  await app.close();
  await panel.stop();
});

/** The limits begin anew; what is known of names stays. */
beforeEach(() => {
  app.settings.sharedAddresses = parseSharedAddresses(SHARED);
  app.settings.authFailuresPerMinuteMax = 1_000_000;
  app.settings.registrationsPerMinuteMax = 1_000_000;
  app.clock.advance(120_000);
});

/** Sends a request as it comes that way; returns the answer. */
function send({ before = '', headers = [], peer }: Way, request: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(app.url);
    const socket = connect({ host: hostname, port: Number(port), localAddress: peer });
    let text = '';
    socket.setEncoding('latin1');
    socket.on('data', (chunk) => {
      text += chunk;
    });
    socket.on('error', reject);
    socket.on('close', () => resolve(text));
    const [first = '', ...rest] = request.split('\r\n');
    socket.write(before + [first, ...headers, ...rest].join('\r\n'));
  });
}

const post = (path: string, body: object, ...headers: string[]) => {
  const text = JSON.stringify(body);
  const head = get(path, `content-length: ${text.length}`, ...headers).replace('GET', 'POST');
  return head + text;
};
const hwid = (n: number) => `x-hwid: phone-${n}`;
const at = (host: string, text: string) => text.replace('host: localhost', `host: ${host}`);

/** A request that names a link by key, code or token. `peers`: those that may send it. */
interface Door {
  of(n: number): string;
  invented: string;
  peers?: string;
  /** True: the name is in the body, which is read when the queue is behind. */
  isInBody?: true;
}
const gateFor = (key: string, n: number) =>
  get('/gate', `x-original-uri: /sub/${key}`, `x-forwarded-host: ${HOST}`, hwid(n));
const inbox = (path: string, token = '') => get(path, `authorization: Bearer ${token}`);
const install = (code: string, n: number) => get(`/install?id=${HASH}&installid=${code}`, hwid(n));
const DOORS: Record<string, Door> = {
  '/install': { of: (n) => install(CODES[n] ?? '', n), invented: install('LinkCode9999', 0) },
  '/gate': {
    of: (n) => gateFor(KEYS[n] ?? '', n),
    invented: gateFor(INVENTED, 0),
    peers: HOME.peer,
  },
  'the proxy': {
    of: (n) => at(HOST, get(`/sub/${KEYS[n]}`, hwid(n))),
    invented: at(HOST, get(`/sub/${INVENTED}`, hwid(0))),
  },
  '/my': {
    of: (n) => get(`/my?link=${CODES[n]}`),
    invented: get('/my?link=LinkCode9999'),
  },
  '/device/inbox': {
    of: (n) => inbox('/device/inbox', tokens[n]),
    invented: inbox('/device/inbox', 'x'.repeat(43)),
  },
  '/device/register': {
    of: (n) => post('/device/register', { os: 'android', ...byLink(`new-${n}`, CODES[n] ?? '') }),
    invented: post('/device/register', { os: 'android', ...byLink('new', 'LinkCode9999') }),
    isInBody: true,
  },
  discovery: {
    of: (n) =>
      at(HOST, post(DISCOVERED, { hwid: `phone-${n}`, subscription_url: `/sub/${KEYS[n]}` })),
    invented: at(HOST, post(DISCOVERED, { hwid: 'phone-0', subscription_url: `/sub/${INVENTED}` })),
    isInBody: true,
  },
};

/** The parties for which the store was called meanwhile, in their order. */
async function partiesOf(way: Way, request: string): Promise<string[]> {
  asked = [];
  await send(way, request);
  return [...new Set(asked.map(({ party }) => party))];
}

describe.each(WAYS)('by %s', (_, way) => {
  const client = countedAs(way.client);
  const isTurn = (party: string | undefined) =>
    party?.startsWith(`${client} `) === true && /^\d$/.test(party.slice(client.length + 1));
  const doors = Object.entries(DOORS).filter(([, { peers }]) => !peers || peers === way.peer);

  test.each(doors)('%s: a call is of the link that it names', async (_, door) => {
    for (const n of [0, 1]) {
      const link = `link ${links[n]?.id}`;
      const first = await partiesOf(way, door.of(n));
      // A known device costs one read, which finds the link.
      expect(first.filter((party) => party !== link).every(isTurn)).toBe(true);
      const again = await partiesOf(way, door.of(n));
      if (door.isInBody) expect(again.at(-1)).toBe(link);
      else expect(again).toEqual([link]);
    }
  });

  test.each(doors)('%s: one that names none is of the address', async (_, door) => {
    for (let times = 0; times < 2; times += 1) {
      const parties = await partiesOf(way, door.invented);
      expect(parties.length).toBeGreaterThan(0);
      expect(parties.every(isTurn)).toBe(true);
    }
  });

  test('an address that is not shared is the party of everything', async () => {
    app.settings.sharedAddresses = parseSharedAddresses([]);
    for (const [, door] of doors) {
      expect(await partiesOf(way, door.of(0))).toEqual([client]);
      expect(await partiesOf(way, door.invented)).toEqual([client]);
    }
  });
});

test('made-up keys have ten turns of their address, however many they are', async () => {
  const parties = new Set<string>();
  for (let n = 0; n < 120; n += 1) {
    const request = at(HOST, get(`/sub/${1000 + n}zzzzzzzzzzzz`, hwid(0)));
    for (const party of await partiesOf(EXIT, request)) parties.add(party);
  }
  expect([...parties].every((party) => /^203\.0\.113\.9 \d$/.test(party))).toBe(true);
  expect(parties.size).toBe(10);
});

test('a token by a binding alone is of no link, though its HWID has a slot', async () => {
  const token = await register(app, byBinding('phone-by-binding', own));
  await enter(app, 'phone-by-binding', CODES[0]);
  const parties = await partiesOf(EXIT, inbox('/device/inbox', token));
  expect(parties.every((party) => party.startsWith('203.0.113.9 '))).toBe(true);
});

test('a token that the panel has not proved is of no link, though it names a user of one', async () => {
  const upstream = upstreamTo(panel.url, own.code);
  app.settings.gateUpstreams = [{ ...upstream, key: 'marzban' }];
  const ask = (secret?: string) =>
    at(HOST, get(`/sub/${digestToken('anna,1700000000', secret)}`, hwid(0)));
  expect(await send(EXIT, ask())).toStartWith('HTTP/1.1 200');
  expect((await partiesOf(EXIT, ask())).at(-1)).toMatch(/^link \d+$/);
  isNoSubscription = true;
  for (let times = 0; times < 2; times += 1) {
    const parties = await partiesOf(EXIT, ask(OTHER_SECRET));
    expect(asked.map(({ method }) => method)).toContain('findSlot');
    expect(parties.every((party) => party.startsWith('203.0.113.9 '))).toBe(true);
  }
  isNoSubscription = false;
  app.settings.gateUpstreams = [upstream];
});

test('a link that was removed is a party no more', async () => {
  const { id } = await addLink(app, own, 'LinkCode0009');
  const request = install('LinkCode0009', 0);
  await send(EXIT, request);
  expect(await partiesOf(EXIT, request)).toEqual([`link ${id}`]);
  await expectOk(call(app, '/api/remove-install', own, { id }));
  await send(EXIT, request);
  const parties = await partiesOf(EXIT, request);
  expect(parties.every((party) => party.startsWith('203.0.113.9 '))).toBe(true);
});

describe('guesses', () => {
  /** Sends a request so often; returns how many answers were not delayed. */
  async function freeOf(way: Way, request: () => string, count: number): Promise<number> {
    const before = app.server.limited().auth_failures;
    const sent = Array.from({ length: count }, () => send(way, request()));
    let isOver = false;
    void Promise.all(sent).then(() => {
      isOver = true;
    });
    while (!isOver) {
      await new Promise((resolve) => setTimeout(resolve, 1));
      if (app.clock.sleeperCount > 0) app.clock.advance(1_000);
    }
    return count - (app.server.limited().auth_failures - before);
  }
  let count = 0;
  const other = () => {
    count += 1;
    return String(count).padStart(8, '0');
  };
  const GUESSES: Record<string, () => string> = {
    '/install': () => install(`Guess${other()}`, 0),
    '/gate': () => gateFor(`guess${other()}abc`, 0),
    'the proxy': () => at(HOST, get(`/sub/guess${other()}abc`, hwid(0))),
    '/my': () => get(`/my?link=Guess${other()}`),
    '/device/inbox': () => inbox('/device/inbox', `${other()}${'x'.repeat(35)}`),
  };

  test.each(Object.entries(GUESSES))('at %s: ten times as many are free', async (_, guess) => {
    app.settings.authFailuresPerMinuteMax = 3;
    expect(await freeOf(EXIT, guess, 33)).toBe(30);
    // The whole exit has used them up; who names a link is not delayed.
    for (const door of [DOORS['/install'], DOORS['the proxy']]) {
      expect(await freeOf(EXIT, () => door?.of(0) ?? '', 5)).toBe(5);
    }
    expect(await freeOf(HOME, guess, 6)).toBe(3);
  });

  test('at keys of providers count as always', async () => {
    app.settings.authFailuresPerMinuteMax = 3;
    const key = () => get(`/api/list-install?provider_code=${own.code}&auth_key=${other()}`);
    expect(await freeOf(EXIT, key, 6)).toBe(3);
    expect(await freeOf(EXIT, GUESSES['/install'] ?? key, 33)).toBe(30);
  });

  test('at discovered registrations are looked at ten times as often', async () => {
    app.settings.authFailuresPerMinuteMax = 2;
    const looks = async (way: Way) => {
      let [count, n] = [0, 0];
      for (; n < 25; n += 1) {
        asked = [];
        await send(way, DOORS['discovery']?.invented ?? '');
        if (asked.some(({ method }) => method === 'findSlot')) count += 1;
      }
      return count;
    };
    expect(await looks(forwarded('203.0.113.8'))).toBe(20);
    expect(await looks(forwarded('198.51.100.8'))).toBe(2);
  });
});

describe('registrations', () => {
  const msgOf = async (answer: Promise<string>) => /"msg":"([^"]*)"/.exec(await answer)?.[1];
  const ask = (way: Way, body: object) =>
    msgOf(send(way, post('/device/register', { os: 'android', ...body })));
  async function admitted(way: Way, bodyOf: (n: number) => object, count: number): Promise<number> {
    let ok = 0;
    for (let n = 0; n < count; n += 1) if ((await ask(way, bodyOf(n))) === 'Ok') ok += 1;
    return ok;
  }

  test('count by address, ten times as many at an exit', async () => {
    app.settings.registrationsPerMinuteMax = 2;
    const exit = forwarded('2001:db8:5:7:9:9:9:9');
    expect(await admitted(exit, (n) => ({ hwid: `exit-${n}` }), 22)).toBe(20);
    expect(await admitted(HOME, (n) => ({ hwid: `home-${n}` }), 4)).toBe(2);
  });

  test('one link uses up no more than an address may, and others register', async () => {
    app.settings.registrationsPerMinuteMax = 2;
    const exit = forwarded('203.0.113.7');
    const by = (link: number) => (n: number) => byLink(`many-${link}-${n}`, CODES[link] ?? '');
    expect(await admitted(exit, by(0), 6)).toBe(2);
    expect(await admitted(exit, by(1), 6)).toBe(2);
    expect(await admitted(exit, (n) => ({ hwid: `more-${n}` }), 20)).toBe(16);
  });

  test('of first calls of /provider count so too', async () => {
    app.settings.registrationsPerMinuteMax = 2;
    const known = async (way: Way, name: string) => {
      let count = 0;
      for (let n = 0; n < 22; n += 1) {
        await send(way, get(`/provider?id=${own.code}`, `x-hwid: ${name}-${n}`));
        if ((await app.core.store.findDevice(`${name}-${n}`)) !== null) count += 1;
      }
      return count;
    };
    expect(await known(forwarded('203.0.113.6'), 'seen')).toBe(20);
    expect(await known(forwarded('198.51.100.9'), 'home')).toBe(2);
  });

  test('of links for new keys count so too', async () => {
    app.settings.registrationsPerMinuteMax = 2;
    const made = async (way: Way, name: string) => {
      let count = 0;
      for (let n = 0; n < 22; n += 1) {
        const key = `${name}${1000 + n}abcdefgh`;
        const answer = await send(way, at(HOST, get(`/sub/${key}`, `x-hwid: ${name}-${n}`)));
        if (answer.startsWith('HTTP/1.1 200')) count += 1;
      }
      return count;
    };
    expect(await made(forwarded('203.0.113.5'), 'exit')).toBe(20);
    expect(await made(forwarded('198.51.100.5'), 'home')).toBe(2);
  });
});

/**
 * Discovery: the header on a subscription's answer, through Gatepost as the proxy and through
 * `/gate`, and the registration behind it. A prober of the path learns nothing.
 */

import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import type { Core } from '../../src/core/core.ts';
import { hostHash } from '../../src/core/host-name.ts';
import type { Store } from '../../src/core/port/store.ts';
import { parseTrustedProxies } from '../../src/http/request/address.ts';
import { call, seedProvider } from '../support/app.ts';
import { order, register as registerAnywhere } from '../support/messaging.ts';
import {
  answer,
  behaveWell,
  PANEL_HEADERS,
  type PanelCall,
  SUBSCRIPTION,
} from '../support/panel.ts';
import { bind, enter, expectOk } from '../support/shop.ts';
import { digestToken } from '../support/signing-panel.ts';
import { type Fronted, HOST, KEY, keyPath, sendRaw, startFronted } from '../support/upstream.ts';

/** The host of a proxy that asks `/gate`. */
const GATE_HOST = 'gate.example.org';
const BASE = '/.well-known/device-messages';
const ASKS = { 'x-device-protocol': '1' };
const LIMIT = 2;

let at: Fronted;
let port: number;
/** What the panel does next. */
let behave: (asked: PanelCall) => Promise<void>;
let ticking: ReturnType<typeof setInterval>;
/** The methods of the store that were called. */
const storeCalls: string[] = [];

const counting = (core: Core): Core => {
  const get = (store: Store, name: keyof Store) => {
    const method = Reflect.get(store, name) as (...args: unknown[]) => unknown;
    return (...args: unknown[]) => {
      if (name !== 'onBehalfOf') storeCalls.push(name);
      return Reflect.apply(method, store, args);
    };
  };
  return { ...core, store: new Proxy(core.store, { get: get as never }) };
};

beforeEach(async () => {
  behave = behaveWell;
  const options = {
    trustedProxies: parseTrustedProxies(['127.0.0.1']),
    gateKeyPaths: [keyPath('/sub/{key}')],
  };
  at = await startFronted((asked) => behave(asked), { defaultLimit: LIMIT }, options, counting);
  port = Number(new URL(at.app.url).port);
  await bind(at.app, at.own, hostHash(GATE_HOST));
  const link = { install_limit: LIMIT, subscription_key: KEY };
  await expectOk(call(at.app, '/api/add-install', at.own, link));
  await policy({ discovery: 1 });
});
afterEach(async () => {
  clearInterval(ticking);
  await at.stop();
});

const policy = (terms: Record<string, string | number>) =>
  expectOk(call(at.app, '/api/policy', at.own, terms));

type Headers = Record<string, string>;

/** Sends a request to a host; `body` is sent whole unless `sent` says how many of its bytes. */
async function ask(
  method: string,
  path: string,
  headers: Headers,
  body?: string,
  sent = body?.length,
) {
  const length: Headers = body === undefined ? {} : { 'Content-Length': String(body.length) };
  const all: Headers = { Connection: 'close', ...length, ...headers };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  const text = `${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${(body ?? '').slice(0, sent)}`;
  const got = await sendRaw(port, text, method === 'HEAD');
  const named = [...got.headers].filter(([name]) => name !== 'date' && name !== 'x-request-id');
  return { status: got.status, headers: Object.fromEntries(named), body: got.body };
}

interface Door {
  host: string;
  fetch(hwid: string | null, more?: Headers, key?: string, method?: string): ReturnType<typeof ask>;
}

const deviceOf = (hwid: string | null): Headers => (hwid === null ? {} : { 'x-hwid': hwid });
const proxy: Door = {
  host: HOST,
  fetch: (hwid, more = ASKS, key = KEY, method = 'GET') =>
    ask(method, `/sub/${key}`, { Host: HOST, ...deviceOf(hwid), ...more }),
};
const gate: Door = {
  host: GATE_HOST,
  fetch: (hwid, more = ASKS, key = KEY, method = 'GET') =>
    ask('GET', '/gate', {
      Host: 'localhost',
      'x-original-uri': `/sub/${key}`,
      'x-original-method': method,
      'x-forwarded-host': GATE_HOST,
      ...deviceOf(hwid),
      ...more,
    }),
};
const DOORS: [string, Door][] = [
  ['the proxy', proxy],
  ['/gate', gate],
];

const bearer = (token: string): Headers => ({ Authorization: `Bearer ${token}` });

function register(
  { host }: Pick<Door, 'host'>,
  body: Record<string, unknown>,
  headers: Headers = {},
): ReturnType<typeof ask> {
  const text = JSON.stringify({
    os: 'android',
    hwid: 'phone',
    subscription_url: `/sub/${KEY}`,
    ...body,
  });
  return ask('POST', `${BASE}/register`, { Host: host, ...headers }, text);
}

/** The answer to a POST at a path that is not known. */
const unknownAt = ({ host }: Pick<Door, 'host'>) =>
  ask('POST', '/.well-known/nonsense', { Host: host }, '{}');

const tokenIn = ({ body }: { body: string }): string => JSON.parse(body).device_token;

describe.each(DOORS)('through %s', (_name, door) => {
  const offered = async (...from: Parameters<Door['fetch']>) =>
    (await door.fetch(...from)).headers['x-device-server'];

  test('an admitted device that asks learns the path, and it is that path alone', async () => {
    const { headers, status } = await door.fetch('phone');
    expect([status, headers['x-device-server']]).toEqual([door === gate ? 204 : 200, BASE]);
    expect(await offered('phone')).toBe(BASE);
  });

  test('it is off until the provider switches it on, and again once it is switched off', async () => {
    await policy({ discovery: 0 });
    expect(await offered('phone')).toBeUndefined();
    await policy({ discovery: 1 });
    expect(await offered('phone')).toBe(BASE);
    const token = tokenIn(await register(door, {}));
    const inbox = () => ask('GET', `${BASE}/inbox`, { Host: door.host, ...bearer(token) });
    expect((await inbox()).status).toBe(200);
    await policy({ discovery: 0 });
    expect(await offered('phone')).toBeUndefined();
    expect((await inbox()).status).toBe(404);
    expect(await register(door, {}, bearer(token))).toEqual(await unknownAt(door));
  });

  test('no other request and no refused device learns it', async () => {
    await door.fetch('phone');
    expect(await offered('phone', {})).toBeUndefined();
    expect(await offered('phone', { 'x-device-protocol': '2' })).toBeUndefined();
    expect(await offered('phone', ASKS, KEY, 'HEAD')).toBeUndefined();
    expect(await offered(null)).toBeUndefined();
    expect(await offered('second')).toBe(BASE);
    const full = await door.fetch('third');
    expect(full.headers['x-hwid-max-devices-reached']).toBe('true');
    expect(full.headers['x-device-server']).toBeUndefined();
  });

  test.each(['pass', 'count'])(
    'an app without a HWID never learns it: %s',
    async (without_hwid) => {
      await policy({ without_hwid });
      const { headers, status } = await door.fetch(null);
      expect([status < 300, headers['x-device-server']]).toEqual([true, undefined]);
    },
  );

  test('a HWID that names no device never learns it, nor registers', async () => {
    const hwid = '00000000-0000-0000-0000-000000000000';
    const { json } = await call(at.app, '/api/list-install', at.own, { subscription_key: KEY });
    await enter(at.app, hwid, json.data[0].install_code, hostHash(door.host));
    const { headers, status } = await door.fetch(hwid);
    expect([status < 300, headers['x-device-server']]).toEqual([true, undefined]);
    expect(await register(door, { hwid })).toEqual(await unknownAt(door));
  });

  test('a known device costs no call of the store more', async () => {
    const counted = async () => {
      // The first fetch reads what rides.
      await door.fetch('phone');
      storeCalls.length = 0;
      await door.fetch('phone');
      return storeCalls.slice();
    };
    await policy({ discovery: 0 });
    const before = await counted();
    await policy({ discovery: 1 });
    expect(await counted()).toEqual(before);
    expect(before).toContain('findSlot');
  });

  describe('a device with a slot', () => {
    beforeEach(async () => {
      await door.fetch('phone');
      at.app.clock.advance(1);
    });

    test('registers by path and query or by the whole address, and gets its messages', async () => {
      await order(at.app, at.own, { action_type: 'update-subscription', hwid: 'phone' });
      await at.app.deliver();
      const subscription_url = `HTTPS://${door.host.toUpperCase()}:8443/sub/${KEY}?a=b#My name`;
      const got = await register(door, { subscription_url });
      expect([got.status, JSON.parse(got.body).rc]).toEqual([200, 1]);
      expect(got.headers['x-wait-max']).toBe('60');
      const at_ = { Host: door.host, ...bearer(tokenIn(got)) };
      const inbox = await ask('GET', `${BASE}/inbox`, at_);
      const [message] = JSON.parse(inbox.body).data;
      expect(message.payload).toEqual({ action_type: 'update-subscription' });
      const items = JSON.stringify({ items: [{ id: message.id, state: 'executed' }] });
      expect((await ask('POST', `${BASE}/ack`, at_, items)).body).toBe('{"rc":1,"msg":"Ok"}');
      expect(JSON.parse((await ask('GET', `${BASE}/inbox`, at_)).body).data).toEqual([]);
      expect((await ask('GET', `${BASE}/push-key`, at_)).body).toContain('Push key');
      // The token is that of a device: the other paths take it too.
      const elsewhere = await ask('GET', '/device/inbox', { ...at_, Host: 'localhost' });
      expect(JSON.parse(elsewhere.body).rc).toBe(1);
    });

    test('opens a stream there', async () => {
      const token = tokenIn(await register(door, {}));
      const upgrade = {
        Host: door.host,
        Connection: 'upgrade',
        Upgrade: 'websocket',
        'Sec-WebSocket-Version': '13',
        'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==',
      };
      const { port: number } = new URL(at.app.url);
      const socket = await Bun.connect({
        hostname: '127.0.0.1',
        port: Number(number),
        socket: { data: (to, bytes) => void to.data?.(bytes.toString('latin1')) },
        data: null as ((text: string) => void) | null,
      });
      const head = new Promise<string>((resolve) => {
        socket.data = resolve;
      });
      const lines = Object.entries({ ...upgrade, ...bearer(token) }).map((pair) => pair.join(': '));
      socket.write(`GET ${BASE}/stream HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`);
      expect(await head).toStartWith('HTTP/1.1 101');
      socket.end();
    });

    test('is registered once: no second token, but a new one for that which is shown', async () => {
      const token = tokenIn(await register(door, {}));
      const refused = { rc: 0, msg: 'Device is registered' };
      expect(JSON.parse((await register(door, {})).body)).toEqual(refused);
      const renewed = await register(door, {}, bearer(token));
      expect(JSON.parse(renewed.body).rc).toBe(1);
      expect(
        (await ask('GET', `${BASE}/inbox`, { Host: door.host, ...bearer(token) })).status,
      ).toBe(404);
      expect(JSON.parse((await register(door, {})).body)).toEqual(refused);
      // Not after its token was silent for long either, as a link takes it over.
      at.app.clock.advance(40 * 86_400_000);
      expect(JSON.parse((await register(door, {})).body)).toEqual(refused);
    });

    test('learns that its slot was freed, and is a newcomer after its next fetch', async () => {
      const token = tokenIn(await register(door, {}));
      const { json } = await call(at.app, '/api/list-install', at.own, { subscription_key: KEY });
      const slot = { install_code: json.data[0].install_code, hwid: 'phone' };
      await expectOk(call(at.app, '/api/delete-hwid', at.own, slot));
      const known = { Host: door.host, ...bearer(token) };
      const { body } = await ask('GET', `${BASE}/inbox`, known);
      expect(JSON.parse(body)).toMatchObject({ msg: 'Device token error', reason: 'slot_freed' });
      expect(await register(door, {})).toEqual(await unknownAt(door));
      await door.fetch('phone');
      expect(JSON.parse((await register(door, {})).body).rc).toBe(1);
    });

    test('learns what is wrong with its registration', async () => {
      const { body, headers } = await register(door, { locale: '!' });
      expect(JSON.parse(body)).toEqual({ rc: 0, msg: 'Unknown error' });
      expect(headers['x-error-detail']).toContain('locale');
      at.app.settings.registrationsPerMinuteMax = 0;
      expect(JSON.parse((await register(door, {})).body).msg).toBe('Too many requests');
    });

    test('is a stranger without its slot, by another address, and with a closed link', async () => {
      const unknown = await unknownAt(door);
      const stays = async (body: Record<string, unknown>) =>
        expect([body, await register(door, body)]).toEqual([body, unknown]);
      await stays({ hwid: 'stranger' });
      await stays({ hwid: 'no-hwid-1' });
      await stays({ subscription_url: '/sub/other-key' });
      await stays({ subscription_url: '/sub/' });
      await stays({ subscription_url: `//${door.host}/sub/${KEY}` });
      await stays({ subscription_url: `https://evil.example/sub/${KEY}` });
      await stays({ subscription_url: `/sub/x/../${KEY}` });
      await stays({ subscription_url: 5 });
      await stays({ subscription_url: undefined, install_code: 'AAAAAAAAAAAA' });
      // A code names the link of a key that has none; it opens no other.
      const other = { install_limit: 1, install_code: 'Other0000001', subscription_key: 'other' };
      await expectOk(call(at.app, '/api/add-install', at.own, other));
      await stays({ subscription_url: '/sub/other?installid=AAAAAAAAAAAA' });
      const { json } = await call(at.app, '/api/list-install', at.own, { subscription_key: KEY });
      const [{ id, install_code }] = json.data;
      await stays({ subscription_url: `/sub/other?installid=${install_code}` });
      await expectOk(call(at.app, '/api/update-install', at.own, { id, status: 5 }));
      await stays({});
      await expectOk(call(at.app, '/api/update-install', at.own, { id, status: 10 }));
      expect(JSON.parse((await register(door, {})).body).rc).toBe(1);
    });

    test('guesses have the bound of wrong credentials', async () => {
      at.app.settings.authFailuresPerMinuteMax = 2;
      const unknown = await unknownAt(door);
      for (const hwid of ['a', 'b']) expect(await register(door, { hwid })).toEqual(unknown);
      expect(await register(door, {})).toEqual(unknown);
      at.app.clock.advance(60_000);
      expect(JSON.parse((await register(door, {})).body).rc).toBe(1);
    });
  });

  test('a token is known only at the hosts of its provider', async () => {
    await door.fetch('phone');
    const token = tokenIn(await register(door, {}));
    const rival = await seedProvider(at.app);
    await bind(at.app, rival, hostHash('rival.example.org'));
    await expectOk(call(at.app, '/api/policy', rival, { discovery: 1 }));
    const inbox = (host: string) => ask('GET', `${BASE}/inbox`, { Host: host, ...bearer(token) });
    expect((await inbox(door.host)).status).toBe(200);
    for (const host of ['rival.example.org', 'localhost', 'nowhere.example.org']) {
      expect((await inbox(host)).status).toBe(404);
    }
  });

  test('a token without a place there, and one that ended elsewhere, show no host', async () => {
    await door.fetch('phone');
    const token = tokenIn(await register(door, {}));
    const rival = await seedProvider(at.app);
    await bind(at.app, rival, hostHash('rival.example.org'));
    await expectOk(call(at.app, '/api/policy', rival, { discovery: 1 }));
    const inbox = (host: string, of: string) =>
      ask('GET', `${BASE}/inbox`, { Host: host, ...bearer(of) });
    // A stranger has the HWID of a customer of the rival, and a token by it alone.
    const hwid = 'known-to-rival';
    const query = { id: rival.code, domain_hash: hostHash('rival.example.org'), hwid };
    await expectOk(call(at.app, '/provider', null, query));
    const alone = await registerAnywhere(at.app, { hwid });
    expect((await inbox('rival.example.org', alone)).status).toBe(404);
    const { json } = await call(at.app, '/api/list-install', at.own, { subscription_key: KEY });
    const slot = { install_code: json.data[0].install_code, hwid: 'phone' };
    await expectOk(call(at.app, '/api/delete-hwid', at.own, slot));
    expect(JSON.parse((await inbox(door.host, token)).body).reason).toBe('slot_freed');
    expect((await inbox('rival.example.org', token)).status).toBe(404);
  });

  describe.each(['answer', 'quiet'] as const)('where strangers get: %s', (strangers) => {
    beforeEach(() => {
      at.app.settings.strangers = strangers;
      at.app.settings.ownHosts = strangers === 'quiet' ? ['own.example.org'] : [];
      if (strangers === 'quiet') ticking = setInterval(() => at.app.clock.advance(10), 2);
    });

    test('a prober of the path sees what it sees of any other', async () => {
      const token = 'x'.repeat(43);
      const upgrade = {
        Connection: 'Upgrade, close',
        Upgrade: 'websocket',
        'Sec-WebSocket-Version': '13',
      };
      const cors = { Origin: 'https://a.example', 'Access-Control-Request-Method': 'POST' };
      const guess = JSON.stringify({ hwid: 'prober', subscription_url: `/sub/${KEY}` });
      const probes: [string, string, Headers, string?][] = [];
      for (const part of [
        '',
        '/',
        '/register',
        '/inbox',
        '/ack',
        '/stream',
        '/push-key',
        '/toString',
      ]) {
        for (const method of ['GET', 'HEAD', 'PUT', 'DELETE', 'OPTIONS'])
          probes.push([method, part, {}]);
        probes.push(
          ['POST', part, {}, guess],
          ['POST', part, {}, 'no json'],
          ['POST', part, {}, ''],
        );
        probes.push(['POST', part, {}, 'a'.repeat(9_000)], ['OPTIONS', part, cors]);
        probes.push(['GET', part, bearer(token)], ['POST', part, bearer(token), '{"items":[]}']);
        probes.push(['GET', part, { ...bearer(token), 'x-hwid': 'phone', ...ASKS }]);
        probes.push(['GET', `${part}?wait=5`, bearer('short')]);
        probes.push(['GET', part, { ...upgrade, ...bearer(token) }], ['GET', part, upgrade]);
        probes.push(['GET', part, { ...upgrade, 'Sec-WebSocket-Protocol': `bearer.${token}` }]);
      }
      at.app.settings.authFailuresPerMinuteMax = 100_000;
      await Promise.all(
        probes.map(async ([method, part, headers, body]) => {
          const seen = (base: string) =>
            ask(method, `${base}${part}`, { Host: door.host, ...headers }, body);
          const got = [await seen(BASE), await seen('/.well-known/device-nonsense')];
          expect([method, part, headers, got[0]]).toEqual([method, part, headers, got[1]]);
          expect(got[0]?.status).not.toBe(200);
        }),
      );
    });
  });

  test('a body that is held back does not show the path', async () => {
    Object.assign(at.app.settings, { strangers: 'quiet', ownHosts: ['own.example.org'] });
    ticking = setInterval(() => at.app.clock.advance(10), 2);
    const held = (path: string) => ask('POST', path, { Host: door.host }, '{"hwid":"phone"}', 3);
    const startMs = performance.now();
    expect(await held(`${BASE}/register`)).toEqual(await held('/.well-known/nonsense'));
    // Bodies of other calls have 15 s.
    expect(performance.now() - startMs).toBeLessThan(10_000);
  });
});

describe('the proxy', () => {
  test.each<[string, Uint8Array]>([
    ['a page', answer(200, '<p>', { ...PANEL_HEADERS, 'Content-Type': 'text/html' })],
    ['an error', answer(500, SUBSCRIPTION, PANEL_HEADERS)],
    ['an unchanged subscription', answer(304)],
    ['another success', answer(206, SUBSCRIPTION, PANEL_HEADERS)],
    ['a refusal by the panel', answer(200, 'x', { ...PANEL_HEADERS, 'X-Hwid-Limit': 'true' })],
  ])('%s has no header, and the panel has none of its own', async (_, given) => {
    await proxy.fetch('phone');
    behave = ({ send }) => send(given);
    expect((await proxy.fetch('phone')).headers['x-device-server']).toBeUndefined();
  });

  test('what a panel says of a server reaches no app', async () => {
    const headers = { ...PANEL_HEADERS, 'X-Device-Server': 'https://other.example/device' };
    behave = ({ send }) => send(answer(200, SUBSCRIPTION, headers));
    expect((await proxy.fetch('phone')).headers['x-device-server']).toBe(BASE);
    expect((await proxy.fetch('phone', {})).headers['x-device-server']).toBeUndefined();
  });

  test('where codes are keys, the address with a code is one to register by', async () => {
    const [upstream] = at.app.settings.gateUpstreams;
    if (upstream === undefined) throw new Error('no upstream');
    const install_code = 'CodeAsKey001';
    await expectOk(call(at.app, '/api/add-install', at.own, { install_limit: 1, install_code }));
    at.app.settings.gateUpstreams = [{ ...upstream, codesAsKeys: true }];
    const { headers } = await proxy.fetch('phone', ASKS, install_code);
    expect(headers['x-device-server']).toBe(BASE);
    const body = { subscription_url: `/sub/${install_code}` };
    expect(JSON.parse((await register(proxy, body)).body).rc).toBe(1);
  });

  test('a token that only the panel proves offers nothing, and registers nobody', async () => {
    const [upstream] = at.app.settings.gateUpstreams;
    if (upstream === undefined) throw new Error('no upstream');
    at.app.settings.gateUpstreams = [{ ...upstream, key: 'marzban' }];
    const token = digestToken(`anna,${Math.floor(at.app.clock.nowMs() / 1000)}`);
    const { status, headers } = await proxy.fetch('phone', ASKS, token);
    expect([status, headers['x-device-server']]).toEqual([200, undefined]);
    const body = { subscription_url: `/sub/${token}` };
    expect((await register(proxy, body)).status).toBe(405);
  });
});

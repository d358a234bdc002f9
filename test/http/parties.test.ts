/** Each call of the store is made on behalf of who is behind it, at every door. */

import { afterAll, beforeAll, expect, test } from 'bun:test';
import { AsyncLocalStorage } from 'node:async_hooks';
import { makeLog } from '../../src/base/log.ts';
import { hostHash } from '../../src/core/host-name.ts';
import type { Store } from '../../src/core/port/store.ts';
import type { Credentials } from '../../src/core/provider.ts';
import { pathsOf } from '../../src/http/endpoint.ts';
import { endpoints } from '../../src/http/endpoints/index.ts';
import { parseTrustedProxies } from '../../src/http/request/address.ts';
import { makeWorker, type Worker } from '../../src/jobs/deliver.ts';
import { startTestApp, type TestApp } from '../support/app.ts';
import { byBinding, notify, register } from '../support/messaging.ts';
import { type Panel, startPanel } from '../support/panel.ts';
import { addLink, bind, seedShop } from '../support/shop.ts';
import { openAs, type openStream } from '../support/stream.ts';
import { until } from '../support/until.ts';
import { HOST, upstreamTo } from '../support/upstream.ts';

const CLIENT = '203.0.113.9';
/** Calls that come of no request: what the server does by itself. */
const NOBODY = 'nobody';

const current = new AsyncLocalStorage<() => string>();
let asked: { method: string; party: string }[] = [];

/** A store that notes on whose behalf it is called. */
function noting(store: Store): Store {
  return new Proxy(store, {
    get: (target, name) => {
      const method = Reflect.get(target, name);
      if (name === 'onBehalfOf') {
        return (of: never, nameOf: (of: never) => string, work: (of: never) => unknown) =>
          current.run(() => nameOf(of), work, of);
      }
      if (typeof method !== 'function') return method;
      return (...args: unknown[]) => {
        asked.push({ method: String(name), party: current.getStore()?.() ?? NOBODY });
        return Reflect.apply(method, target, args);
      };
    },
  });
}

let app: TestApp;
let own: Credentials;
let panel: Panel;
let worker: Worker;

beforeAll(async () => {
  panel = await startPanel();
  let served = null as TestApp['core'] | null;
  app = await startTestApp({ trustedProxies: parseTrustedProxies(['127.0.0.1']) }, (core) => {
    served = { ...core, store: noting(core.store) };
    return served;
  });
  own = await seedShop(app);
  await addLink(app, own);
  await bind(app, own, hostHash(HOST));
  app.settings.gateUpstreams = [upstreamTo(panel.url, own.code)];
  const log = makeLog({ logFormat: 'json', logLevel: 'error' }, app.clock.nowMs, () => {});
  worker = makeWorker(served ?? app.core, app.clock, log);
  app.core.signals.onWork(worker.wake);
});
afterAll(async () => {
  await worker.stop();
  await app.close();
  await panel.stop();
});

/** The parties in whose name the store was called meanwhile, in their order. */
async function partiesOf(work: () => Promise<unknown>): Promise<string[]> {
  asked = [];
  await work();
  return [...new Set(asked.map(({ party }) => party))];
}

const ask = (path: string, init: RequestInit = {}) =>
  fetch(app.url + path, {
    ...init,
    headers: { 'x-forwarded-for': CLIENT, ...(init.headers as Record<string, string>) },
  }).then((answer) => answer.text());

const who = () => `provider_code=${own.code}&auth_key=${own.authKey}`;

const DOORS = endpoints.flatMap((endpoint) =>
  pathsOf(endpoint).map((path) => [endpoint.method, path, endpoint.audience] as const),
);

test.each(DOORS)('%s %s, an endpoint of a %s', async (method, path, audience) => {
  const token = await register(app, byBinding(`phone-${path}`, own));
  const headers = { authorization: `Bearer ${token}`, 'x-hwid': 'phone-1' };
  const body = method === 'POST' ? JSON.stringify({ id: 1, items: [] }) : null;
  const query = `${who()}&id=987654&installid=LinkCode0001&install_limit=2&days=400`;
  const parties = await partiesOf(() => ask(`${path}?${query}`, { method, body, headers }));
  const [provider] = asked.filter(({ method: name }) => name === 'findProvider');
  expect(parties).not.toContain(NOBODY);
  if (audience !== 'provider') {
    // A key for pushes is no call of the store.
    expect([[], [CLIENT]]).toContainEqual(parties);
    return;
  }
  expect(provider?.party).toBe(CLIENT);
  const later = asked.filter(({ method: name }) => name !== 'findProvider');
  for (const { party } of later) expect(party).toMatch(/^provider \d+$/);
});

test.each([
  ['/gate', { 'x-original-uri': '/s?installid=LinkCode0001', 'x-forwarded-host': 'a.example' }],
  ['/sub/a1b2c3d4e5f6g7h8', { host: HOST }],
  ['//install?installid=LinkCode0001', {}],
  ['/metrics', {}],
] as const)('%s', async (path, headers) => {
  const parties = await partiesOf(() =>
    ask(path, { headers: { 'x-hwid': 'phone-1', ...headers } }),
  );
  expect(path === '/metrics' ? [] : [CLIENT]).toEqual(parties);
});

const shown = { 'x-forwarded-for': CLIENT };

test('a stream with its token in the handshake, and what it hears by a signal', async () => {
  const token = await register(app, byBinding('phone-stream', own));
  let stream: Awaited<ReturnType<typeof openStream>> | null = null;
  const opening = await partiesOf(async () => {
    stream = await openAs(app, { headers: { authorization: `Bearer ${token}`, ...shown } });
    await until('it has looked', () => asked.some(({ method }) => method === 'glanceInboxes'));
  });
  expect(opening).toEqual([CLIENT, 'streams']);
  const opened = stream as unknown as Awaited<ReturnType<typeof openStream>>;
  // The sender's call wakes the worker, and the worker's step wakes the stream.
  const heard = await partiesOf(async () => {
    // More than a look for many streams takes.
    for (let n = 1; n <= 9; n += 1) await notify(app, own, `no ${n}`, { hwid: 'phone-stream' });
    await until('all messages are there', () => opened.ids().length === 9);
    await until('the worker is done', () => asked.some(({ method }) => method === 'findNextDueMs'));
  });
  expect(heard).not.toContain(NOBODY);
  const partyOf = (name: string) =>
    new Set(asked.filter(({ method }) => method === name).map(({ party }) => party));
  expect(partyOf('glanceInboxes')).toEqual(new Set(['streams']));
  expect(partyOf('listInbox')).toEqual(new Set([CLIENT]));
  expect(partyOf('findNextDueMs')).toEqual(new Set(['jobs']));
  opened.send({ items: opened.ids().map((id) => ({ id, state: 'received' })) });
  await until('it is kept', () => asked.some(({ method }) => method === 'acknowledge'));
  expect(partyOf('acknowledge')).toEqual(new Set([CLIENT]));
  opened.socket.close();
  await opened.closed;
});

test('a stream with its token in the first frame', async () => {
  const token = await register(app, byBinding('phone-frame', own));
  const parties = await partiesOf(async () => {
    const stream = await openAs(app, { headers: shown });
    stream.send({ device_token: token });
    await until('it has looked', () => asked.some(({ method }) => method === 'glanceInboxes'));
    stream.socket.close();
    await stream.closed;
  });
  expect(parties).toEqual([CLIENT, 'streams']);
});

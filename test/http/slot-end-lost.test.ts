/** The end of a slot while a call of its device is on the way: neither of the two is lost. */

import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import type { Core } from '../../src/core/core.ts';
import type { Store } from '../../src/core/port/store.ts';
import { call, seedProvider, startTestApp, type TestApp } from '../support/app.ts';
import { ack, byLink, inbox, register } from '../support/messaging.ts';
import { addLink, bind, expectOk, seedShop } from '../support/shop.ts';
import { noStreams, openStream, received } from '../support/stream.ts';
import { until } from '../support/until.ts';

const PHONE = 'the-phone';
const CODES = ['LinkCode0001', 'LinkCode0009'] as const;

/** What calls of a method of the store wait for; null: they are answered at once. */
let held: { method: keyof Store; until: Promise<void> } | null;
let waiting: number;
const holding = (core: Core): Core => {
  const get = (store: Store, name: keyof Store) => {
    const method = Reflect.get(store, name) as (...args: unknown[]) => unknown;
    return (...args: unknown[]) => {
      if (held?.method !== name) return Reflect.apply(method, store, args);
      waiting += 1;
      return held.until.then(() => Reflect.apply(method, store, args));
    };
  };
  return { ...core, store: new Proxy(core.store, { get: get as never }) };
};

let app: TestApp;
let token: string;
/** Frees the slot on a link. */
let free: (link: number) => Promise<unknown>;

beforeEach(async () => {
  held = null;
  waiting = 0;
  app = await startTestApp({}, holding);
  const owners = [await seedShop(app), await seedProvider(app)];
  await bind(app, owners[1] as never);
  const links: number[] = [];
  token = '';
  for (const [n, code] of CODES.entries()) {
    links.push((await addLink(app, owners[n] as never, code)).id);
    token = await register(app, byLink(PHONE, code), token || null);
  }
  free = (n) => {
    const query = { install_id: links[n] as number, hwid: PHONE };
    return expectOk(call(app, '/api/delete-hwid', owners[n] as never, query));
  };
});
afterEach(() => app.close());

/** Holds calls until the function that it returns is called. */
function hold(method: keyof Store): () => void {
  const { promise, resolve } = Promise.withResolvers<void>();
  held = { method, until: promise };
  return () => {
    held = null;
    resolve();
  };
}

test('a stream that closes while it reads the end leaves it to the next answer', async () => {
  const stream = await openStream(app, token);
  await until('it is open', () => app.server.streamCount() === 1);
  const go = hold('findDeviceByToken');
  await free(0);
  await until('it reads the end', () => waiting > 0);
  stream.socket.terminate();
  await noStreams(app);
  go();
  const { json } = await inbox(app, token);
  expect(json.ended).toMatchObject([{ reason: 'slot_freed' }]);
  expect((await inbox(app, token)).json).not.toHaveProperty('ended');
});

test('a poll whose caller has gone leaves the end to the next answer', async () => {
  const gone = new AbortController();
  const poll = inbox(app, token, 60, gone.signal).catch(() => null);
  await until('it waits', () => app.core.signals.awaited('all').length === 1);
  const go = hold('findDeviceByToken');
  await free(0);
  await until('it reads the end', () => waiting > 0);
  gone.abort();
  await poll;
  // The server learns that the caller has gone while it answers others.
  for (let n = 0; n < 5; n += 1) await fetch(`${app.url}/docs`).then((reply) => reply.text());
  go();
  expect((await inbox(app, token)).json.ended).toMatchObject([{ reason: 'slot_freed' }]);
});

describe('an acknowledgement that comes after the last slot', () => {
  /** Ends the token while `act` waits for the store. */
  async function endDuring<T>(act: () => Promise<T> | T): Promise<T> {
    await free(0);
    const go = hold('acknowledge');
    const acted = act();
    await until('it waits for the store', () => waiting > 0);
    await free(1);
    go();
    return acted;
  }

  test('is refused with the reason: it was not saved', async () => {
    const { json } = await endDuring(() => ack(app, token, received(1).items));
    expect(json).toMatchObject({ rc: 0, msg: 'Device token error', reason: 'slot_freed' });
  });

  test('gets no answer on a stream, which ends with the reason', async () => {
    const stream = await openStream(app, token);
    await endDuring(() => stream.send(received(1)));
    expect(await stream.closed).toBe(4004);
    expect(stream.frames.filter(({ rc, data }) => rc === 1 && data === undefined)).toEqual([]);
  });
});

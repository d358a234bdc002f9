/** Long lists: built in pages beside everybody else's calls, and bounded while they are unread. */

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import type { Socket } from 'node:net';
import { SENT } from '../../src/core/message/status.ts';
import type { Credentials } from '../../src/core/provider.ts';
import { PAGE_COUNT } from '../../src/http/answer/list-text.ts';
import { call, type Reply, seedProvider, startTestApp, type TestApp } from '../support/app.ts';
import { openBeside } from '../support/database.ts';
import { byBinding, order, register } from '../support/messaging.ts';
import { seedShop } from '../support/shop.ts';
import { open } from '../support/socket.ts';
import { openStream } from '../support/stream.ts';
import { until } from '../support/until.ts';

const COUNT = 5_000;
/** As long as a note may be: all of them are more than the kernel holds for a connection. */
const NOTE = '😀'.repeat(255);
const MIB = 1024 * 1024;
/** One list that is unread leaves no room to make another. */
const room = {
  bytesMax: 12 * MIB,
  bytesPerCallerMax: 12 * MIB,
  waitingMax: 2,
  waitingPerPartyMax: 2,
};
const CROWDED = 'too many large answers are unread: read those, then ask again';

interface Shop {
  app: TestApp;
  own: Credentials;
  /** Pages that were read of lists of links. */
  readCount(): number;
}

async function startShop(): Promise<Shop> {
  const app = await startTestApp({ room });
  const own = await seedProvider(app);
  const db = openBeside(app.dataDir);
  const add = db.prepare(
    `INSERT INTO install (provider_id, install_code, install_limit, status, note, created_at_ms)
     VALUES (1, ?, 5, 10, ?, 0)`,
  );
  db.transaction(() => {
    for (let n = 0; n < COUNT; n += 1) add.run(String(n).padStart(12, 'x'), NOTE);
  })();
  db.close();
  const listLinksOf = app.core.store.listLinksOf.bind(app.core.store);
  let read = 0;
  app.core.store.listLinksOf = (providerId, page) => {
    read += 1;
    return listLinksOf(providerId, page);
  };
  return { app, own, readCount: () => read };
}

let shop: Shop;
beforeAll(async () => {
  shop = await startShop();
});
afterAll(() => shop.app.close());

const list = (query = {}, { app, own } = shop) => call(app, '/api/list-install', own, query);
const idsOf = ({ json }: { json: { data: { id: number }[] } }) => json.data.map(({ id }) => id);
const downFrom = (first: number, count: number) =>
  Array.from({ length: count }, (_, n) => first - n);

/** Asks for all links and reads nothing; settles when the answer is made. */
async function leaveUnread({ app, own, readCount }: Shop): Promise<Socket> {
  const before = readCount();
  const path = `/api/list-install?provider_code=${own.code}&auth_key=${own.authKey}`;
  const { socket } = await open(Number(new URL(app.url).port), '');
  socket.pause();
  socket.write(`GET ${path} HTTP/1.1\r\nhost: localhost\r\n\r\n`);
  await until('it is made', () => readCount() === before + COUNT / PAGE_COUNT);
  return socket;
}

/** Asks for all links; settles, with what will be answered, when that waits. */
async function waiting(by: Shop): Promise<{ answered: Promise<Reply> }> {
  const before = by.readCount();
  const answered = list({}, by);
  await until('it waits', () => by.readCount() > before);
  return { answered };
}

describe('a long list', () => {
  test('is whole, with its length, the newest first', async () => {
    const reply = await list();
    expect(idsOf(reply)).toEqual(downFrom(COUNT, COUNT));
    expect(Number(reply.headers.get('content-length'))).toBe(Buffer.byteLength(reply.text));
    expect(reply.json).toMatchObject({ rc: 1, msg: 'Ok' });
    expect(reply.json.data[4321]).toMatchObject({ note: NOTE, install_limit: 5 });
  });

  test.each([PAGE_COUNT - 1, PAGE_COUNT, PAGE_COUNT + 1, 2 * PAGE_COUNT])(
    'of %d records has them all',
    async (count) => {
      expect(idsOf(await list({ before_id: count + 1 }))).toEqual(downFrom(count, count));
    },
  );

  test('is read in turns of the event loop, whoever asks', async () => {
    const { store } = shop.app.core;
    const listLinksOf = store.listLinksOf.bind(store);
    let turn = 0;
    let isCounting = true;
    const count = () => {
      turn += 1;
      if (isCounting) setImmediate(count);
    };
    const turns: number[] = [];
    store.listLinksOf = (providerId, page) => {
      expect(page.countMax).toBeLessThanOrEqual(PAGE_COUNT);
      turns.push(turn);
      // More than its share of a turn.
      shop.app.clock.advance(1);
      return listLinksOf(providerId, page);
    };
    count();
    const replies = await Promise.all([list(), list()]);
    isCounting = false;
    store.listLinksOf = listLinksOf;
    for (const reply of replies) expect(idsOf(reply)).toHaveLength(COUNT);
    expect(turns).toHaveLength(2 * (COUNT / PAGE_COUNT));
    expect(new Set(turns).size).toBe(turns.length);
  });

  test('that breaks in the middle is a fault, and leaves no place taken', async () => {
    shop.app.expectFault('the disk is gone');
    const { store } = shop.app.core;
    const listLinksOf = store.listLinksOf.bind(store);
    store.listLinksOf = (providerId, page) => {
      if (page.beforeId === COUNT / 2 + 1) throw new Error('the disk is gone');
      return listLinksOf(providerId, page);
    };
    for (let n = 0; n < 3; n += 1) {
      const reply = await list();
      expect(reply.text).toBe('{"rc":0,"msg":"Unknown error"}');
      expect(reply.headers.get('x-error-detail')).toStartWith('internal fault');
    }
    store.listLinksOf = listLinksOf;
    expect(idsOf(await list())).toHaveLength(COUNT);
  });
});

describe('while a long list is unread', () => {
  let unread: Socket;
  beforeEach(async () => {
    unread = await leaveUnread(shop);
  });
  afterEach(() => {
    unread.destroy();
  });

  test('another waits, and comes whole when that caller has left', async () => {
    const { answered } = await waiting(shop);
    expect((await list({ id: 7 })).json.data).toHaveLength(1);
    unread.destroy();
    expect(idsOf(await answered)).toEqual(downFrom(COUNT, COUNT));
  });

  test('another waits, and comes whole when that one was read', async () => {
    const { answered } = await waiting(shop);
    unread.resume();
    expect(idsOf(await answered)).toHaveLength(COUNT);
  });

  test('another that has waited for 15 s is refused', async () => {
    const { answered } = await waiting(shop);
    shop.app.clock.advance(15_000);
    const reply = await answered;
    expect(reply.text).toBe('{"rc":0,"msg":"Unknown error"}');
    expect(reply.headers.get('x-error-detail')).toBe(CROWDED);
  });

  test('more than may wait are refused at once', async () => {
    const { answers: before } = shop.app.server.limited();
    const asked = [list(), list(), list(), list()];
    await until('two are refused', () => shop.app.server.limited().answers === before + 2);
    unread.destroy();
    const whole = (await Promise.all(asked)).filter(({ json }) => json.data?.length === COUNT);
    expect(whole).toHaveLength(2);
  });
});

test('a server stops without waiting for those that wait', async () => {
  const closing = await startShop();
  try {
    const unread = await leaveUnread(closing);
    const { answered } = await waiting(closing);
    unread.destroy();
    const stopped = closing.app.server.stop();
    expect((await answered).headers.get('x-error-detail')).toBe(CROWDED);
    await stopped;
  } finally {
    await closing.app.close();
  }
});

const NO_ROOM = { bytesMax: 0, bytesPerCallerMax: 0, waitingMax: 0, waitingPerPartyMax: 0 };
/** For all that nobody knows the sender of. */
const NO_ROOM_OF_ONE = { ...room, perSender: { bytesMax: 0, waitingMax: 0 } };

describe.each([
  ['in all', NO_ROOM],
  ['of that provider', NO_ROOM_OF_ONE],
])('a device for whose messages there is no room %s', (_, bounds) => {
  let app: TestApp;
  let token: string;
  beforeAll(async () => {
    app = await startTestApp({ hasWorker: true, room: bounds });
    const own = await seedShop(app);
    token = await register(app, byBinding('phone', own));
    const data = { action_type: 'import-data', import_data: 'x'.repeat(20_000), hwid: 'phone' };
    await order(app, own, data);
    const sent = async () => (await app.core.store.findDistribution(1, 1))?.distribution.status;
    await until('it is sent', async () => (await sent()) === SENT);
  });
  afterAll(() => app.close());

  test('is told so by a call', async () => {
    const headers = { authorization: `Bearer ${token}` };
    const reply = await call(app, '/device/inbox', null, {}, { headers });
    expect(reply.text).toBe('{"rc":0,"msg":"Unknown error"}');
    expect(reply.headers.get('x-error-detail')).toBe(CROWDED);
  });

  test('is told so by the end of its stream', async () => {
    const stream = await openStream(app, token);
    expect(await stream.closed).toBe(1013);
    expect(stream.reason()).toBe('too many unread bytes: reconnect later');
    expect(stream.frames).toEqual([]);
  });
});

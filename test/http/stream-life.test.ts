/** How a stream on /device/stream begins and ends. */

import { afterEach, beforeEach, describe, expect, spyOn, test } from 'bun:test';
import { DAY_MS } from '../../src/core/calendar.ts';
import { StoreAway } from '../../src/core/port/store.ts';
import type { Credentials } from '../../src/core/provider.ts';
import { PING_INTERVAL_MS } from '../../src/http/stream/stream.ts';
import { startTestApp, type TestApp } from '../support/app.ts';
import { besideOf } from '../support/beside.ts';
import { Faults } from '../support/faults.ts';
import { byBinding, notify, register } from '../support/messaging.ts';
import { seedShop } from '../support/shop.ts';
import {
  noStreams,
  openRawStream,
  openStream,
  received,
  startWithPhone,
  textFrame,
  toPhone,
} from '../support/stream.ts';
import { until } from '../support/until.ts';

let app: TestApp;
let own: Credentials;
let token: string;
beforeEach(async () => {
  ({ app, own, token } = await startWithPhone());
});
afterEach(() => app.close());

const nobodyStreams = () => noStreams(app);

describe('a stream', () => {
  test('is replaced by the next one of its device, with 4002', async () => {
    const first = await openStream(app, token);
    const second = await openStream(app, token);
    expect(await first.closed).toBe(4002);
    await until('one is left', () => app.server.streamCount() === 1);
    await notify(app, own, 'hello', toPhone);
    await until('it came', () => second.ids().length === 1);
    expect(first.ids()).toEqual([]);
  });

  test('whose token was replaced is closed with 4001', async () => {
    const stream = await openStream(app, token);
    await register(app, toPhone, token);
    expect(await stream.closed).toBe(4001);
    await nobodyStreams();
  });

  test('whose token was replaced by another process gets and acknowledges nothing', async () => {
    const stream = await openStream(app, token);
    await notify(app, own, 'before', toPhone);
    await until('it came', () => stream.ids().length === 1);
    const db = besideOf(app);
    db.run('UPDATE device_token SET token_hash = ?', [new Uint8Array(32)]);
    db.close();
    stream.send(received(1));
    await notify(app, own, 'after', toPhone);
    expect(await stream.closed).toBe(4001);
    expect(stream.ids()).toEqual([1]);
    const found = await app.core.store.findDistribution(1, 1);
    expect(found?.totals.received).toBe(0);
  });

  test('is closed with 1001 when the server stops', async () => {
    const twin = await startTestApp();
    const stream = await openStream(twin, await register(twin, toPhone));
    await twin.close();
    expect(await stream.closed).toBe(1001);
    expect(stream.reason()).toBe('the server stops');
  });

  test('that its device left is forgotten', async () => {
    const stream = await openStream(app, token);
    expect(app.core.signals.awaited('all')).toHaveLength(1);
    stream.socket.close();
    await nobodyStreams();
    expect(app.core.signals.awaited('all')).toEqual([]);
  });

  test('whose connection broke is forgotten', async () => {
    const stream = await openRawStream(app, token);
    stream.socket.destroy();
    await nobodyStreams();
    expect(app.core.signals.awaited('all')).toEqual([]);
  });
});

test('a handshake while the database is away is a 503, which libraries try again', async () => {
  const faults = new Faults();
  const other = await startTestApp({}, faults.wrap);
  const bearer = await register(other, byBinding('phone', await seedShop(other)));
  faults.arm('findDeviceByToken', new StoreAway('it does not answer'));
  const handshake = { connection: 'upgrade', upgrade: 'websocket' };
  const key = { 'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==', 'sec-websocket-version': '13' };
  const headers = { ...handshake, ...key, authorization: `Bearer ${bearer}` };
  const answer = await fetch(`${other.url}/device/stream`, { headers });
  expect(answer.status).toBe(503);
  expect(await answer.json()).toEqual({ rc: 0, msg: 'Unknown error' });
  expect(answer.headers.get('x-error-detail')).toBe('the database does not answer now');
  await other.close();
});

describe('a handshake is refused', () => {
  const refused = async (of: TestApp, bearer: string) => {
    const handshake = { connection: 'upgrade', upgrade: 'websocket' };
    const key = { 'sec-websocket-version': '13', 'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==' };
    const headers = { ...handshake, ...key, authorization: `Bearer ${bearer}` };
    const response = await fetch(`${of.url}/device/stream`, { headers });
    return { status: response.status, text: await response.text() };
  };

  test('without a good token: 401', async () => {
    const answer = { status: 401, text: '{"rc":0,"msg":"Device token error"}' };
    expect(await refused(app, 'x'.repeat(43))).toEqual(answer);
    expect(await refused(app, 'phone')).toEqual(answer);
    expect(openStream(app, 'x'.repeat(43))).rejects.toThrow('401');
  });

  test('late, beyond a number a minute', async () => {
    const strict = await startTestApp({ authFailuresPerMinuteMax: 0 });
    try {
      const late = refused(strict, 'x'.repeat(43));
      await until('the answer waits', () => strict.clock.sleeperCount === 1);
      strict.clock.advance(1_000);
      expect((await late).status).toBe(401);
    } finally {
      await strict.close();
    }
  });

  test('beyond the streams that the operator allows: 503; its own may be replaced', async () => {
    const small = await startTestApp({ streamCountMax: 2 });
    try {
      const shop = await seedShop(small);
      const [a = '', b = '', c = ''] = await Promise.all(
        ['a', 'b', 'c'].map((hwid) => register(small, byBinding(hwid, shop))),
      );
      const first = await openStream(small, a);
      await openStream(small, b);
      expect(await refused(small, c)).toEqual({
        status: 503,
        text: '{"rc":0,"msg":"Too many requests"}',
      });
      await openStream(small, a);
      expect(await first.closed).toBe(4002);
      expect(small.server.streamCount()).toBe(2);
    } finally {
      await small.close();
    }
  });

  test('many at once do not get past that number', async () => {
    const small = await startTestApp({ streamCountMax: 3 });
    try {
      const shop = await seedShop(small);
      const names = Array.from({ length: 12 }, (_, n) => `device-${n}`);
      const tokens = await Promise.all(names.map((hwid) => register(small, byBinding(hwid, shop))));
      const settled = await Promise.allSettled(tokens.map((each) => openStream(small, each)));
      const open = settled.flatMap((s) => (s.status === 'fulfilled' ? [s.value] : []));
      const alive = () => open.filter(({ socket }) => socket.readyState === WebSocket.OPEN);
      await until('the surplus is closed', () => alive().length === 3);
      expect(small.server.streamCount()).toBe(3);
    } finally {
      await small.close();
    }
  });

  test('of a stranger gives way to a device of a provider, of these the newest of most', async () => {
    const small = await startTestApp({ streamCountMax: 8 });
    try {
      const [one, other] = [await seedShop(small), await seedShop(small)];
      const strangers = await Promise.all(['x', 'y', 'z'].map((hwid) => register(small, { hwid })));
      const open = (n: number) => openStream(small, strangers[n] ?? '');
      const [first, second] = [await open(0), await open(1)];
      // Half of what strangers may take is the most of one network.
      expect((await refused(small, strangers[2] ?? '')).status).toBe(503);
      const ofShop = async (shop: typeof one, hwid: string) =>
        openStream(small, await register(small, byBinding(hwid, shop)));
      const own = [];
      for (const hwid of [...'abcdefgh']) own.push(await ofShop(one, hwid));
      for (const { closed } of [first, second]) expect(await closed).toBe(1013);
      await ofShop(other, 'i');
      expect(await own[7]?.closed).toBe(1013);
      const late = await register(small, byBinding('j', one));
      expect((await refused(small, late)).status).toBe(503);
      expect((await refused(small, strangers[0] ?? '')).status).toBe(503);
      await until('the surplus is closed', () => small.server.streamCount() === 8);
    } finally {
      await small.close();
    }
  });

  test('that is none: 426', async () => {
    const headers = { authorization: `Bearer ${token}` };
    for (const method of ['GET', 'POST']) {
      const response = await fetch(`${app.url}/device/stream`, { method, headers });
      expect(response.status).toBe(426);
      expect(await response.text()).toBe('{"rc":0,"msg":"Unknown error"}');
    }
  });
});

describe('a link', () => {
  test('that is silently dead is noticed by pings, also while messages are written', async () => {
    const quick = await startTestApp({ hasWorker: true, pingIntervalMs: 500 });
    try {
      const shop = await seedShop(quick);
      const dead = await openRawStream(quick, await register(quick, byBinding('dead', shop)));
      const alive = await openStream(quick, await register(quick, byBinding('alive', shop)));
      await notify(quick, shop, 'hello', { hwid: 'dead' });
      await until('the dead one is gone', dead.isClosed);
      expect(dead.received()).toContain('hello');
      // The device protocol promises 30 seconds; when the next ping is due after these, it is gone.
      const pings = dead.received().split('\u0089\u0000').length - 1;
      expect(PING_INTERVAL_MS * (pings + 1)).toBeWithin(20_000, 30_001);
      expect(quick.server.streamCount()).toBe(1);
      expect(alive.socket.readyState).toBe(WebSocket.OPEN);
    } finally {
      await quick.close();
    }
  });

  test('that sleeps gets no byte before its ping, and is noticed when it is dead', async () => {
    // Pauses are a thousandth: 9 ms for the usual stream, 300 ms for `?ping=300`.
    const quick = await startTestApp({ pingIntervalMs: PING_INTERVAL_MS / 1000 });
    // The usual stream's first ping would come at once.
    const chance = spyOn(Math, 'random').mockReturnValue(0);
    try {
      const registered = await register(quick, toPhone);
      const startMs = performance.now();
      const asleep = await openRawStream(quick, registered, '?ping=300');
      const handshakeBytes = asleep.received().length;
      expect(asleep.received().toLowerCase()).toContain('x-ping-interval: 300\r\n');
      await until('a packet came', () => asleep.received().length > handshakeBytes);
      expect(performance.now() - startMs).toBeGreaterThan(299);
      expect(asleep.received().slice(handshakeBytes)).toBe('\u0089\u0000');
      await until('the dead one is gone', asleep.isClosed);
      expect(performance.now() - startMs).toBeGreaterThan(899);
      expect(asleep.received().slice(handshakeBytes)).toBe('\u0089\u0000'.repeat(2));
    } finally {
      chance.mockRestore();
      await quick.close();
    }
  });

  test.each([
    ['?ping=14', '15'],
    ['?ping=601', '600'],
    ['?ping=15', '15'],
    ['?ping=x', null],
    ['?ping=', null],
    ['?ping=60&ping=60', null],
    ['', null],
  ])('that asks for %p is answered with the pause that holds', async (query, holds) => {
    const answer = (await openRawStream(app, token, query)).received().toLowerCase();
    expect(/x-ping-interval: (\d+)\r\n/.exec(answer)?.[1] ?? null).toBe(holds);
  });

  test('that holds for days is a sight of its token on each of them', async () => {
    const quick = await startTestApp({ pingIntervalMs: 200 });
    const db = besideOf(quick);
    const seen = db.query<{ at: number }, []>('SELECT last_seen_at_ms AS at FROM device_token');
    try {
      const shop = await seedShop(quick);
      const stream = await openStream(quick, await register(quick, byBinding('alive', shop)));
      for (let days = 0; days < 2; days++) {
        quick.clock.advance(DAY_MS);
        await until('it is seen', () => seen.get()?.at === quick.clock.nowMs());
      }
      expect(stream.socket.readyState).toBe(WebSocket.OPEN);
    } finally {
      db.close();
      await quick.close();
    }
  });

  test('whose reader is slow is cut off', async () => {
    const stream = await openRawStream(app, token);
    stream.socket.pause();
    const wrong = textFrame('{}');
    const flood = Buffer.concat(Array.from({ length: 2_000 }, () => wrong));
    // Each frame is answered; nobody reads the answers.
    await until('the stream is cut off', () => {
      if (!stream.socket.destroyed && stream.socket.writableLength < 1_000_000) {
        stream.socket.write(flood);
      }
      return app.server.streamCount() === 0;
    });
    stream.socket.destroy();
    expect(app.core.signals.awaited('all')).toEqual([]);
  });
});

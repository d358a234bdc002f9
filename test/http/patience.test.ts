/**
 * How long the server is silent where a device asks for it: a poll that waits, and a stream that
 * sleeps. `make test-long` waits the real five minutes.
 */

import { afterEach, expect, test } from 'bun:test';
import { limitsSettings } from '../../src/config/settings/limits.ts';
import { PING_SECONDS, POLL_SECONDS_MAX } from '../../src/core/message/patience.ts';
import { PING_INTERVAL_MS } from '../../src/http/stream/stream.ts';
import { call, startTestApp, type TestApp } from '../support/app.ts';
import { byBinding, post, register } from '../support/messaging.ts';
import { startRelay } from '../support/relay.ts';
import { IS_LONG } from '../support/scale.ts';
import { seedShop } from '../support/shop.ts';
import { open } from '../support/socket.ts';
import { noStreams, openAs, openRawStream } from '../support/stream.ts';
import { until } from '../support/until.ts';

const PING = '\u0089\u0000';
/** Over the five minutes, the idle time of a connection after them, and a busy machine. */
const LONG_MS = 420_000;

const apps: TestApp[] = [];
afterEach(async () => {
  for (const app of apps.splice(0)) await app.close();
});

async function start(settings: Parameters<typeof startTestApp>[0]) {
  const app = await startTestApp(settings);
  apps.push(app);
  return { app, token: await register(app, byBinding('phone', await seedShop(app))) };
}

const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });

test('the longest wait of a poll is told, and what is asked beyond it is cut', async () => {
  const { app, token } = await start({ pollSecondsMax: 1 });
  const registered = await post(app, '/device/register', { hwid: 'tablet', os: 'android' });
  expect(registered.headers.get('x-wait-max')).toBe('1');
  const startMs = performance.now();
  const poll = await call(app, '/device/inbox', null, { wait: 300 }, bearer(token));
  expect(performance.now() - startMs).toBeWithin(950, 30_000);
  expect(poll.text).toBe('{"rc":1,"msg":"Ok","data":[]}');
  expect(poll.headers.get('x-wait-max')).toBe('1');
});

test('the operator allows at most what a device may ask for', () => {
  const read = (key: 'pollSecondsMax' | 'pingSecondsMax', value: number) =>
    limitsSettings[key].read(String(value));
  expect(read('pollSecondsMax', POLL_SECONDS_MAX)).toBe(POLL_SECONDS_MAX);
  expect(() => read('pollSecondsMax', POLL_SECONDS_MAX + 1)).toThrow('from 1 to 300');
  expect(read('pingSecondsMax', PING_SECONDS.max)).toBe(PING_SECONDS.max);
  expect(() => read('pingSecondsMax', PING_SECONDS.max + 1)).toThrow('from 15 to 600');
});

test('the longest silence of a stream is the operator’s', async () => {
  const { app, token } = await start({ pingSecondsMax: 40 });
  const stream = await openRawStream(app, token, '?ping=300');
  expect(stream.received().toLowerCase()).toContain('x-ping-interval: 40\r\n');
});

test('a stream that answered its pings is dead two intervals after the first that is lost', async () => {
  // Pauses are a thousandth: 100 ms for `?ping=100`.
  const { app, token } = await start({ pingIntervalMs: PING_INTERVAL_MS / 1000 });
  const relay = startRelay(Number(new URL(app.url).port));
  const there = { url: `http://127.0.0.1:${relay.port}` };
  const { socket } = await openAs(there, { ...bearer(token), query: '?ping=100' });
  let pings = 0;
  socket.addEventListener('ping' as 'message', () => {
    pings += 1;
  });
  await until('it answered pings', () => pings === 5);
  relay.silence(true);
  const silentMs = performance.now();
  await noStreams(app);
  expect(performance.now() - silentMs).toBeWithin(250, 30_000);
  socket.close();
  relay.stop();
});

// Both at once: each of them waits for five minutes, and longer on a busy machine.
test.if(IS_LONG)(
  'five minutes: a stream gets no packet before its ping, a poll is answered',
  async () => {
    const { app, token } = await start({ pollSecondsMax: 300 });
    const stream = await openRawStream(app, token, '?ping=300');
    let packets = 0;
    stream.socket.on('data', () => {
      packets += 1;
    });
    const handshakeBytes = stream.received().length;
    const startMs = performance.now();
    const { port } = new URL(app.url);
    const head = `GET /device/inbox?wait=300 HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${token}`;
    const poll = await open(Number(port), `${head}\r\n\r\n`);
    await until('the ping came', () => stream.received().length > handshakeBytes, LONG_MS);
    expect(performance.now() - startMs).toBeGreaterThan(299_000);
    expect(packets).toBe(1);
    expect(stream.received().slice(handshakeBytes)).toBe(PING);
    await until('the poll is answered', () => poll.received().endsWith('"data":[]}'), LONG_MS);
    expect(performance.now() - startMs).toBeGreaterThan(299_900);
    // An idle connection is closed after its 30 seconds, as all others are.
    await until('it is closed', poll.isClosed, 45_000);
  },
  LONG_MS,
);

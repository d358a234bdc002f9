/** How a browser shows its token on /device/stream, where it can send no `Authorization`. */

import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import type { Credentials } from '../../src/core/provider.ts';
import { WAITING_BOUNDS } from '../../src/http/stream/token-frame.ts';
import { startTestApp, type TestApp } from '../support/app.ts';
import { notify } from '../support/messaging.ts';
import { openAs, received, startWithPhone, toPhone } from '../support/stream.ts';
import { until } from '../support/until.ts';

let app: TestApp;
let own: Credentials;
let token: string;
beforeEach(async () => {
  ({ app, own, token } = await startWithPhone());
});
afterEach(() => app.close());

const WRONG = 'x'.repeat(43);
const OK = { rc: 1, msg: 'Ok' };
const WRONG_TOKEN = { rc: 0, msg: 'Device token error' };

describe('a token as subprotocol', () => {
  test.each([
    ['behind gatepost', (shown: string) => ['gatepost', `bearer.${shown}`]],
    ['before gatepost', (shown: string) => [`bearer.${shown}`, 'gatepost']],
  ])('opens the stream, and gatepost is selected: %s', async (_, protocolsOf) => {
    const stream = await openAs(app, { protocols: protocolsOf(token) });
    expect(stream.socket.protocol).toBe('gatepost');
    await notify(app, own, 'hello', toPhone);
    await until('it came', () => stream.ids().length === 1);
    stream.send(received(1));
    await until('it is acknowledged', () => stream.frames.length === 2);
  });

  test('is never selected, not even alone: the answer would show it', async () => {
    const handshake = { connection: 'upgrade', upgrade: 'websocket' };
    const key = { 'sec-websocket-version': '13', 'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==' };
    const protocol = { 'sec-websocket-protocol': `bearer.${token}` };
    const headers = { ...handshake, ...key, ...protocol };
    const leaving = new AbortController();
    const { signal } = leaving;
    const answer = await fetch(`${app.url}/device/stream`, { headers, signal });
    expect(answer.status).toBe(101);
    expect(JSON.stringify([...answer.headers])).not.toContain(token);
    leaving.abort();
  });

  test('that is wrong is refused with 401', async () => {
    const protocols = ['gatepost', `bearer.${WRONG}`];
    expect(openAs(app, { protocols })).rejects.toThrow('401');
  });

  test('does not count beside Authorization', async () => {
    const headers = { authorization: `Bearer ${WRONG}` };
    const protocols = ['gatepost', `bearer.${token}`];
    expect(openAs(app, { protocols, headers })).rejects.toThrow('401');
  });
});

describe('a token in the first frame', () => {
  test('opens the stream', async () => {
    await notify(app, own, 'hello', toPhone);
    const stream = await openAs(app);
    expect(app.server.streamCount()).toBe(0);
    stream.send({ device_token: token });
    await until('it came', () => stream.ids().length === 1);
    expect(stream.frames[0]).toEqual(OK);
    expect(app.server.streamCount()).toBe(1);
    stream.send(received(1));
    await until('it is acknowledged', () => stream.frames.length === 3);
    // The time for the first frame is over, and the stream holds.
    app.clock.advance(5_000);
    await notify(app, own, 'second', toPhone);
    await until('the second came', () => stream.ids().length === 2);
  });

  test('that is of no device is told so, and ends the socket with 4001', async () => {
    const stream = await openAs(app);
    stream.send({ device_token: WRONG });
    expect(await stream.closed).toBe(4001);
    expect(stream.frames).toEqual([WRONG_TOKEN]);
    expect(app.server.streamCount()).toBe(0);
  });

  test('that is wrong counts as a guess, and is answered late beyond a number', async () => {
    const strict = await startTestApp({ authFailuresPerMinuteMax: 0 });
    try {
      const stream = await openAs(strict);
      stream.send({ device_token: WRONG });
      // The time for the first frame, and the delay.
      await until('the answer waits', () => strict.clock.sleeperCount === 2);
      expect(stream.frames).toEqual([]);
      strict.clock.advance(1_000);
      expect(await stream.closed).toBe(4001);
      expect(strict.server.limited().auth_failures).toBe(1);
    } finally {
      await strict.close();
    }
  });

  test('that does not come in time ends the socket with 4003', async () => {
    const stream = await openAs(app);
    app.clock.advance(4_999);
    expect(stream.socket.readyState).toBe(WebSocket.OPEN);
    app.clock.advance(1);
    expect(await stream.closed).toBe(4003);
    expect(stream.reason()).toBe('no token came within 5 s');
  });

  test.each([
    ['no JSON', 'hello', 'the first frame must be a JSON object in UTF-8'],
    ['no token', '{"items":[]}', 'the first frame must bring device_token'],
    ['a number', '{"device_token":5}', 'the first frame must bring device_token'],
    [
      'too long',
      `{"a":"${'x'.repeat(1024)}"}`,
      'the first frame must not be longer than 1024 bytes',
    ],
  ])('that does not fit is told so, and ends the socket: %s', async (_, text, detail) => {
    const stream = await openAs(app);
    stream.send(text);
    expect(await stream.closed).toBe(1007);
    expect(stream.reason()).toBe(detail);
    expect(stream.frames).toEqual([{ rc: 0, msg: 'Unknown error', detail }]);
  });

  test('is one frame: a second one before its answer ends the socket', async () => {
    const strict = await startTestApp({ authFailuresPerMinuteMax: 0 });
    try {
      const stream = await openAs(strict);
      for (let n = 0; n < 3; n += 1) stream.send({ device_token: WRONG });
      expect(await stream.closed).toBe(1008);
      await until('it is counted', () => strict.server.limited().auth_failures > 0);
      expect(strict.server.limited().auth_failures).toBe(1);
    } finally {
      await strict.close();
    }
  });

  test.each(['ping', 'pong'] as const)('is waited for, not a flood: %s', async (kind) => {
    const stream = await openAs(app);
    const socket = stream.socket as unknown as Record<typeof kind, () => void>;
    for (let n = 0; n < 10; n += 1) socket[kind]();
    expect(await stream.closed).toBe(1008);
  });

  test('is waited for by a bounded number of sockets of an address; others are served', async () => {
    const { waitingPerPartyMax } = WAITING_BOUNDS;
    const idle = await Promise.all(Array.from({ length: waitingPerPartyMax }, () => openAs(app)));
    const surplus = await openAs(app);
    expect(await surplus.closed).toBe(1013);
    expect(app.server.limited().streams).toBe(1);
    // With the header it takes none of these places, and each socket that leaves gives one back.
    await openAs(app, { headers: { authorization: `Bearer ${token}` } });
    idle[0]?.socket.close();
    await until('the place is free again', async () => {
      const next = await openAs(app);
      next.send({ device_token: token });
      return Promise.race([
        next.closed.then(() => false),
        until('ok', () => next.frames.length > 0),
      ]);
    });
  });

  test('is waited for no longer when the server stops', async () => {
    const twin = await startTestApp();
    const stream = await openAs(twin);
    await twin.close();
    expect(await stream.closed).toBe(1001);
    expect(stream.reason()).toBe('the server stops');
  });

  test('that a fault meets ends the socket with 1011', async () => {
    const stream = await openAs(app);
    app.core.store.findDeviceByToken = () => {
      throw new Error('the disk is gone');
    };
    stream.send({ device_token: token });
    expect(await stream.closed).toBe(1011);
    app.expectFault('the disk is gone');
  });
});

test('no way to show a token puts it into a log or a metric', async () => {
  app.settings.logRequests = true;
  const wrong = (protocols: string[]) => openAs(app, { protocols }).catch(() => null);
  for (const shown of [token, WRONG]) {
    await wrong(['gatepost', `bearer.${shown}`]);
    const stream = await openAs(app);
    stream.send({ device_token: shown });
    await until('it is answered', () => stream.frames.length > 0);
    const odd = await openAs(app);
    odd.send(`{"device_token":"${shown}"`);
    await odd.closed;
    await fetch(`${app.url}/device/stream`, {
      headers: { 'sec-websocket-protocol': `gatepost, bearer.${shown}` },
    });
  }
  const written = [...app.logLines, await app.metrics.text()].join('\n');
  expect(written).toContain('/device/stream');
  for (const shown of [token, WRONG]) expect(written).not.toContain(shown);
});

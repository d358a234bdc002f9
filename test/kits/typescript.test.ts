/** The kit for TypeScript against the appliance, and against a server that does as it is told. */

import { afterEach, describe, expect, test } from 'bun:test';
import {
  type AckState,
  Device,
  type DeviceOptions,
  type Ending,
  type Message,
  plainText,
} from '../../sdk/typescript/src/index.ts';
import { timesOf } from '../../sdk/typescript/src/line.ts';
import { call, startTestApp } from '../support/app.ts';
import { byLink, notify, order, register } from '../support/messaging.ts';
import { startPollServer } from '../support/poll-server.ts';
import { addLink, HASH, seedShop } from '../support/shop.ts';
import { until } from '../support/until.ts';

/** A state that knows nothing yet but its HWID. */
const EMPTY = { version: 1, hwid: 'phone', token: null, seen: [], acks: [] };

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

interface Running {
  client: Device;
  messages: Message[];
  states: string[];
  /** The token that is kept. */
  token(): string | null;
  /** Acknowledgements that the server has not confirmed. */
  owes(): number;
  ended: Promise<Ending>;
}

function start(
  url: string,
  more: Partial<DeviceOptions> = {},
  kept: string | null = null,
): Running {
  const messages: Message[] = [];
  const states: string[] = [];
  let text = kept === null ? null : JSON.stringify({ ...EMPTY, token: kept });
  const client = new Device({
    url,
    hwid: 'phone',
    registration: { os: 'android' },
    store: {
      read: () => text,
      write: (given) => {
        text = given;
      },
    },
    pace: 0.02,
    onMessage: ({ message }) => {
      messages.push(message);
      return 'received';
    },
    onState: (state, detail) => states.push(detail === '' ? state : `${state}: ${detail}`),
    ...more,
  });
  const ended = client.run();
  closers.push(() => {
    client.close();
    return ended;
  });
  const token = () => (text === null ? null : JSON.parse(text).token);
  const owes = () => (text === null ? 0 : JSON.parse(text).acks.length);
  return { client, messages, states, token, owes, ended };
}

const LINK_OF = { install_code: 'LinkCode0001', domain_hash: HASH };

describe('with the appliance', () => {
  async function appliance() {
    const app = await startTestApp({ hasWorker: true });
    closers.push(app.close);
    const shop = await seedShop(app);
    await addLink(app, shop, 'LinkCode0001');
    return { app, shop, registration: { os: 'android', ...LINK_OF } };
  }

  test('it registers, gets messages and acknowledges', async () => {
    const { app, shop, registration } = await appliance();
    const device = start(app.url, {
      registration,
      // At the pace of a phone: on a busy machine the server may be silent for half a second.
      pace: 1,
      onMessage: ({ action }) => {
        if (action !== '') return undefined;
        throw new Error('no screen');
      },
    });
    await until('it is open', () => app.server.streamCount() === 1);
    const push = await notify(app, shop, 'hello', { os: ['android'] });
    const command = await order(app, shop, { action_type: 'update-subscription', hwid: 'phone' });
    const totals = async (id: number) => (await app.core.store.findDistribution(id, 1))?.totals;
    await until('both are acknowledged', async () => (await totals(command))?.executed === 1);
    expect(await totals(command)).toMatchObject({ received: 1, executed: 1, refused: 0 });
    expect(await totals(push)).toMatchObject({ received: 1, executed: 0, refused: 1 });
    expect(device.states).toEqual(['open']);
  });

  test('it keeps its token for the next run', async () => {
    const { app, registration } = await appliance();
    const device = start(app.url, { registration });
    await until('it is open', () => app.server.streamCount() === 1);
    const kept = device.token();
    device.client.close();
    expect(await device.ended).toBe('closed');
    const again = start(app.url, { registration }, kept);
    await until('it is open again', () => again.states.includes('open'));
    expect(again.token()).toBe(kept);
  });

  test('a token that somebody replaced is replaced once by the link; then it gives up', async () => {
    const { app, registration } = await appliance();
    const device = start(app.url, { registration });
    await until('it is open', () => device.states.includes('open'));
    const first = device.token();
    await register(app, byLink('phone', 'LinkCode0001'));
    await until('it has a new token', () => device.token() !== null && device.token() !== first);
    await until('it is open again', () => app.server.streamCount() === 1);
    const theirs = await register(app, byLink('phone', 'LinkCode0001'));
    expect(await device.ended).toBe('refused');
    expect(device.states.at(-1)).toBe('refused: another device registers this HWID');
    // The other one is left in peace.
    const inbox = { headers: { authorization: `Bearer ${theirs}` } };
    expect((await call(app, '/device/inbox', null, {}, inbox)).json.rc).toBe(1);
  });

  test('a token that died while it was away is noticed at the handshake', async () => {
    const { app, registration } = await appliance();
    const device = start(app.url, { registration }, 'x'.repeat(43));
    await until('it is open', () => device.states.includes('open'));
    expect(device.token()).not.toBe('x'.repeat(43));
  });

  test('it ends when it is refused, with the reason', async () => {
    const { app } = await appliance();
    const registration = { install_code: 'LinkCode0009', domain_hash: HASH };
    const device = start(app.url, { registration });
    expect(await device.ended).toBe('refused');
    expect(device.states).toEqual(['refused: Install not found']);
  });

  test('it ends when another stream of the device takes over', async () => {
    const { app, registration } = await appliance();
    // Nor does the first one come back here because the server was silent for half a second.
    const device = start(app.url, { registration, pace: 1 });
    await until('it is open', () => device.states.includes('open'));
    start(app.url, { registration }, device.token());
    expect(await device.ended).toBe('replaced');
  });
});

/** A server that answers registrations with `t1`, `t2`, … and lets the test do the talking. */
function puppet(
  registered: (count: number) => unknown = (count) => ({
    rc: 1,
    msg: 'Ok',
    device_token: `t${count}`,
  }),
) {
  const sockets: Bun.ServerWebSocket<undefined>[] = [];
  const tokens: string[] = [];
  const acked: unknown[] = [];
  let registrations = 0;
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch(request, self) {
      const { pathname } = new URL(request.url);
      if (pathname === '/device/register') return Response.json(registered(++registrations));
      tokens.push(request.headers.get('authorization') ?? '');
      return self.upgrade(request) ? undefined : new Response('no', { status: 500 });
    },
    websocket: {
      open: (socket) => void sockets.push(socket),
      message(socket, frame) {
        acked.push(...JSON.parse(String(frame)).items);
        socket.send('{"rc":1,"msg":"Ok"}');
      },
    },
  });
  closers.push(() => server.stop(true));
  const say = (...ids: number[]) =>
    sockets.at(-1)?.send(
      JSON.stringify({
        rc: 1,
        msg: 'Ok',
        data: ids.map((id) => ({ id, notification_type: 10, payload: {} })),
      }),
    );
  const url = `http://127.0.0.1:${server.port}`;
  return { url, sockets, tokens, acked, say, registrations: () => registrations };
}

describe('with a server that does as it is told', () => {
  test('a poll waits for as long as the server names, which an older one does not', async () => {
    const named = ['90', '300', '0', 'x', null, '1'];
    const server = startPollServer(named);
    closers.push(server.stop);
    start(server.url, { mode: 'poll' });
    await until('it asked', () => server.waits.length === named.length);
    expect(server.waits).toEqual(['90', '240', '60', '60', '60', '1']);
  });

  test('repeats are dropped by their id and acknowledged again, also on the next stream', async () => {
    const server = puppet();
    const device = start(server.url);
    await until('it is open', () => server.sockets.length === 1);
    server.say(1, 2);
    await until('both are acknowledged', () => server.acked.length === 2);
    await until('it knows', () => device.owes() === 0);
    server.say(2, 3);
    await until('all are acknowledged', () => server.acked.length === 4);
    await until('it knows', () => device.owes() === 0);
    server.sockets[0]?.close(1012);
    await until('it came back', () => server.sockets.length === 2);
    server.say(3, 4);
    await until('all are acknowledged', () => server.acked.length === 6);
    expect(device.messages.map(({ id }) => id)).toEqual([1, 2, 3, 4]);
    expect(server.acked).toEqual([1, 2, 2, 3, 3, 4].map((id) => ({ id, state: 'received' })));
    expect(server.registrations()).toBe(1);
    expect(server.tokens).toEqual(['Bearer t1', 'Bearer t1']);
  });

  test('messages are handled in order, however long each takes', async () => {
    const server = puppet();
    const waiting: (() => void)[] = [];
    const begun: number[] = [];
    start(server.url, {
      onMessage: ({ message: { id } }) =>
        new Promise<AckState>((resolve) => {
          begun.push(id);
          waiting.push(() => resolve('opened'));
        }),
    });
    await until('it is open', () => server.sockets.length === 1);
    server.say(1);
    server.say(2);
    await until('the first has begun', () => begun.length === 1);
    waiting.shift()?.();
    await until('the second has begun', () => begun.length === 2);
    waiting.shift()?.();
    await until('both are acknowledged', () => server.acked.length === 2);
    expect(server.acked).toEqual([
      { id: 1, state: 'opened' },
      { id: 2, state: 'opened' },
    ]);
  });

  test('a refusal that passes is tried again', async () => {
    const server = puppet((count) =>
      count === 1
        ? { rc: 0, msg: 'Too many requests' }
        : { rc: 1, msg: 'Ok', device_token: `t${count}` },
    );
    const device = start(server.url);
    await until('it is open', () => server.sockets.length === 1);
    expect(device.token()).toBe('t2');
    expect(device.states[0]).toBe('closed: Too many requests');
  });

  test('what is no answer ends the stream, not the device', async () => {
    const server = puppet();
    const device = start(server.url);
    await until('it is open', () => server.sockets.length === 1);
    server.sockets[0]?.send('<html>');
    await until('it came back', () => server.sockets.length === 2);
    server.say(1);
    await until('it goes on', () => device.messages.length === 1);
  });

  test('it can be stopped while nobody answers', async () => {
    const device = start('http://127.0.0.1:1');
    await until('it noticed', () => device.states.length > 0);
    device.client.close();
    expect(await device.ended).toBe('closed');
  });
});

test.each([
  [null, 30],
  [100, 210],
  [9, 28],
  [3_000, 1_210],
])('with pings every %p s, it closes a stream that is silent for %i s', (ping, seconds) => {
  expect(timesOf(1).silenceMs(ping)).toBe(seconds * 1_000);
});

test('signs that are no tags stay, however many', () => {
  expect(plainText('<p>a < b, <b>c</b></p>')).toBe('a < b, c');
  const signs = '<'.repeat(200_000);
  expect(plainText(signs) === signs).toBe(true);
});

/** Apps around the kit for TypeScript: they throw, cannot write, start twice, have odd servers. */

import { afterEach, describe, expect, test } from 'bun:test';
import {
  Device,
  type DeviceOptions,
  discover,
  subscriptionHeaders,
  type Why,
} from '../../sdk/typescript/src/index.ts';
import { selfSigned } from '../support/certificate.ts';
import { freePort } from '../support/free-port.ts';
import { messageOf, startKitServer } from '../support/kit-server.ts';
import { until } from '../support/until.ts';

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

interface Made {
  device: Device;
  states: string[];
  whys: (Why | null)[];
  handled: number[];
  lines: string[];
}

function make(url: string, more: Partial<DeviceOptions> = {}): Made {
  let text: string | null = null;
  const made: Omit<Made, 'device'> = { states: [], whys: [], handled: [], lines: [] };
  const device = new Device({
    url,
    registration: { os: 'android', install_code: 'LinkCode0001' },
    store: {
      read: () => text,
      write: (given) => {
        text = given;
      },
    },
    pace: 0.02,
    onMessage: ({ message }) => void made.handled.push(message.id),
    onState(state, _, why) {
      made.states.push(state);
      made.whys.push(why);
    },
    log: (line) => void made.lines.push(line),
    ...more,
  });
  closers.push(() => device.close());
  return { device, ...made };
}

function serve(streams = true) {
  const server = startKitServer(streams);
  closers.push(server.stop);
  const say = (...ids: number[]) =>
    server.stream?.send(JSON.stringify({ rc: 1, msg: 'Ok', data: ids.map(messageOf) }));
  const acked = () => server.frames.flatMap((frame) => JSON.parse(frame).items);
  return { server, say, acked };
}

describe('what the app throws ends nothing:', () => {
  const fail = () => {
    throw new Error('no screen');
  };

  test('states and lines of the log, at once or later', async () => {
    const { server, say, acked } = serve();
    make(server.url, { onState: fail, log: async () => fail() });
    const later = make(server.url, { onState: async () => fail(), log: fail });
    void later.device.run();
    await until('it is open', () => server.stream !== null);
    say(1);
    await until('it is acknowledged', () => acked().length === 1);
    expect(later.handled).toEqual([1]);
  });

  test.each([
    ['at once', fail],
    ['later', async () => fail()],
  ])('a handler, %s', async (_, onMessage) => {
    const { server, say, acked } = serve();
    const { device, states } = make(server.url, { onMessage });
    void device.run();
    await until('it is open', () => server.stream !== null);
    say(1, 2);
    await until('both are acknowledged', () => acked().length === 2);
    expect(acked()).toEqual([1, 2].map((id) => ({ id, state: 'failed', detail: 'no screen' })));
    expect(states).toEqual(['open']);
  });

  test('a store that refuses writes for a while gets the state later', async () => {
    const { server, say, acked } = serve();
    let text = '';
    let isFull = false;
    const { device, handled, lines } = make(server.url, {
      store: {
        read: () => null,
        write: async (given) => {
          if (isFull) throw new Error('disk full');
          text = given;
        },
      },
    });
    void device.run();
    await until('it is open', () => server.stream !== null);
    isFull = true;
    say(1);
    await until('it is acknowledged', () => acked().length === 1);
    // A repeat is no new message, though the store does not know it.
    say(1);
    await until('it is acknowledged again', () => acked().length === 2);
    expect(JSON.parse(text).seen).toEqual([]);
    isFull = false;
    await until('the store has it', () => JSON.parse(text).seen.length === 1);
    expect(handled).toEqual([1]);
    expect(lines).toContain('the store refused the state: Error: disk full');
  });

  test('a store that cannot be read delays the start, and no HWID is used that it does not hold', async () => {
    const { server } = serve();
    let isAway = true;
    let kept = '';
    const { device, states, whys } = make(server.url, {
      store: {
        read: () => null,
        write(given) {
          if (isAway) throw new Error('locked');
          kept = given;
        },
      },
    });
    void device.run();
    await until('it waits', () => states.length > 0);
    expect(states[0]).toBe('closed');
    expect(whys[0]).toEqual({ reason: 'store', text: 'The store of the app failed: locked' });
    isAway = false;
    await until('it is open', () => states.at(-1) === 'open');
    expect((await device.headers())['x-hwid']).toBe(JSON.parse(kept).hwid);
  });
});

describe('start and end:', () => {
  test('a second run joins the first', async () => {
    const { server } = serve();
    const { device, states } = make(server.url);
    const [first, second] = [device.run(), device.run()];
    await until('it is open', () => states.includes('open'));
    device.close();
    expect(await Promise.all([first, second])).toEqual(['closed', 'closed']);
    expect(states).toEqual(['open']);
  });

  test('it starts anew after its end, also before the end was reached', async () => {
    const { server, say } = serve();
    const { device, states, handled } = make(server.url);
    const first = device.run();
    await until('it is open', () => states.length === 1);
    device.close();
    const second = device.run();
    expect(await first).toBe('closed');
    await until('it is open again', () => states.length === 2);
    say(1);
    await until('it works', () => handled.length === 1);
    device.close();
    const third = device.run();
    device.close();
    expect(await Promise.all([second, third])).toEqual(['closed', 'closed']);
  });

  test('a signal closes it, also one that was given to a second run', async () => {
    const { server } = serve();
    const { device, states } = make(server.url);
    expect(await device.run({ signal: AbortSignal.abort() })).toBe('closed');
    expect(states).toEqual([]);
    const stop = new AbortController();
    const first = device.run();
    const second = device.run({ signal: stop.signal });
    await until('it is open', () => states.includes('open'));
    stop.abort();
    expect(await Promise.all([first, second])).toEqual(['closed', 'closed']);
  });
});

test('its log names calls, and no token, link or text', async () => {
  const { server, say, acked } = serve();
  const { device, lines } = make(server.url);
  void device.run();
  await until('it is open', () => server.stream !== null);
  say(1);
  await until('it is acknowledged', () => acked().length === 1);
  device.close();
  expect(lines).toContain('/register: Ok');
  expect(lines.join('\n')).not.toMatch(/x{43}|LinkCode0001|no 1/);
});

describe('why there is no answer:', () => {
  const page = (status: number) => () =>
    new Response('<html>', { status, headers: { 'content-type': 'text/html' } });

  async function firstWhy(url: string) {
    const { device, states, whys } = make(url);
    const ended = device.run();
    await until('it said why', () => states.length > 0);
    device.close();
    return { state: states[0], ...whys[0], ended: await ended };
  }

  test.each([
    ['no scheme', 'push.example.com', '"push.example.com" is not the address of a server'],
    ['another scheme', 'ftp://push.example.com', '"ftp://push.example.com" is not the address'],
    ['no host', 'https://', '"https://" is not the address'],
    ['no port', 'http://127.0.0.1:port', '"http://127.0.0.1:port" is not the address'],
  ])('an address with %s ends it at once', async (_, url, text) => {
    const why = { state: 'refused', reason: 'bad_url', text: expect.stringContaining(text) };
    expect(await firstWhy(url)).toEqual({ ...why, ended: 'refused' });
  });

  test('a port without a server, a name without a host', async () => {
    const url = `http://127.0.0.1:${freePort()}`;
    const text = `${url} refuses the connection: no server listens on this port.`;
    expect(await firstWhy(url)).toMatchObject({ state: 'closed', reason: 'refused_port', text });
    // A name that no resolver is asked for.
    const name = 'http://no host.invalid';
    expect(await firstWhy(name)).toMatchObject({ state: 'refused', reason: 'bad_url' });
  });

  test.each([
    [502, 'not_json', 'answered with status 502 and a text that is not JSON'],
    [200, 'not_json', 'answered with status 200 and a text that is not JSON'],
    [404, 'wrong_path', 'is not there (404)'],
  ])('a page with status %i: %s', async (status, reason, text) => {
    const server = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: page(status) });
    closers.push(() => server.stop(true));
    const told = { state: 'closed', reason, text: expect.stringContaining(text) };
    expect(await firstWhy(server.url.origin)).toMatchObject(told);
  });

  test('a certificate that it does not trust, and no answer in time', async () => {
    const { cert, key } = await selfSigned('kit', { names: ['127.0.0.1'] });
    const tls = { cert, key };
    const server = Bun.serve({ hostname: '127.0.0.1', port: 0, tls, fetch: page(200) });
    closers.push(() => server.stop(true));
    expect(await firstWhy(server.url.origin)).toMatchObject({ state: 'closed', reason: 'tls' });
    const silent = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      fetch: () => new Promise(() => {}),
    });
    closers.push(() => silent.stop(true));
    expect(await firstWhy(silent.url.origin)).toMatchObject({ reason: 'timeout' });
  });
});

describe('by the fetch of a subscription', () => {
  const about = { os: 'android' };
  const address = 'https://sub.example.com/sub/KEY?x=1#title';

  test('it finds a path of the same host', () => {
    const found = {
      url: 'https://sub.example.com',
      base: '/.well-known/device-messages',
      registration: { os: 'android', subscription_url: '/sub/KEY?x=1' },
    };
    const named = { 'X-Device-Server': '/.well-known/device-messages' };
    expect(discover(address, named, about)).toEqual(found);
    expect(discover(address, new Headers(named), about)).toEqual(found);
  });

  test.each([
    [undefined],
    [''],
    ['//evil.example/device'],
    ['/\\evil.example/device'],
    ['https://evil.example/device'],
    ['/a/../b'],
    ['/device?x=1'],
    ['/a@b'],
  ])('nothing else is a server: %p', (named) => {
    expect(discover(address, { 'x-device-server': named }, about)).toBe(null);
  });

  test('nor is an address that was not fetched by HTTP', () => {
    const named = { 'x-device-server': '/device' };
    expect(discover('file:///sub', named, about)).toBe(null);
    expect(discover('sub/KEY', named, about)).toBe(null);
  });

  test('the headers of the fetch have the HWID of the device that is made later', async () => {
    let text: string | null = null;
    const store = {
      read: () => text,
      write: (given: string) => {
        text = given;
      },
    };
    const headers = await subscriptionHeaders({ store, registration: about });
    expect(headers).toEqual({
      'x-device-protocol': '1',
      'x-hwid': expect.stringMatching(/^[\da-f]{32}$/),
      'x-device-os': 'android',
    });
    expect(await make('https://sub.example.com', { store }).device.headers()).toEqual(headers);
  });
});

/** Calls through proxies: nothing is called or looked up beside them. */

import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import net from 'node:net';
import { systemClock } from '../../src/base/clock.ts';
import { proxyAddress } from '../../src/config/readers.ts';
import type { OutgoingCall } from '../../src/outgoing/call.ts';
import { Outgoing, type OutgoingSettings } from '../../src/outgoing/outgoing.ts';
import { type ProxyAddress, placeOf, readProxyLogins } from '../../src/outgoing/proxy.ts';
import { startProxy, type TestProxy } from '../support/outgoing-proxy.ts';
import { until } from '../support/until.ts';
import {
  callTo,
  NAME,
  PATIENT,
  SETTINGS,
  type Stranger,
  saying,
  startStranger,
} from './stranger.ts';

const LOGIN = { name: 'seller', password: 'a pass:wörd'.replace(' ', '') };

let stranger: Stranger;
beforeAll(async () => {
  stranger = await startStranger({ '/ok': saying('ok'), '/silent': () => {} });
});

let proxy: TestProxy;
let lookedUp: string[];
let names: Readonly<Record<string, readonly string[]>>;
beforeEach(() => {
  lookedUp = [];
  names = {};
  stranger.heard.length = 0;
});
afterEach(() => proxy.stop());

/** A client whose calls to Telegram and of providers go through a proxy. */
function clientBy(address: ProxyAddress, change: Partial<OutgoingSettings> = {}, logins = {}) {
  const settings = {
    ...SETTINGS,
    outgoingProxyTelegram: address,
    outgoingProxyWebhooks: address,
    outgoingProxyPorts: [stranger.port, 80],
    ...change,
  };
  const resolve = async (name: string) => {
    lookedUp.push(name);
    return names[name] ?? ['127.0.0.1'];
  };
  const files = { ca: stranger.ca, logins: new Map(Object.entries(logins)) as never };
  const outgoing = new Outgoing({ settings, clock: systemClock, files, resolve });
  return (call: Partial<OutgoingCall> = {}) =>
    outgoing.send(callTo(stranger.url('/ok'), { ...TELEGRAM, ...call }), PATIENT);
}

const TELEGRAM = { destination: 'telegram', trust: 'operator' } as const;
const WEBHOOK = { destination: 'webhook', trust: 'untrusted' } as const;

describe.each(['socks5', 'http'] as const)('%s', (kind) => {
  beforeEach(async () => {
    proxy = await startProxy(kind, { passes: true });
  });

  test('the proxy looks the name up, and calls share its connections', async () => {
    const send = clientBy(proxy.address);
    expect(await send()).toMatchObject({ status: 200, text: 'ok' });
    // Once with the usual authorities, and once with that of the settings.
    expect(proxy.asked).toEqual(Array(2).fill(`${NAME}:${stranger.port}`));
    for (let count = 0; count < 3; count++) {
      expect(await send()).toMatchObject({ status: 200, text: 'ok' });
    }
    expect([proxy.asked.length, lookedUp]).toEqual([2, []]);
    // A connection that was closed meanwhile costs no attempt, and the next has the same way.
    for (const socket of stranger.open) socket.destroy();
    expect(await send()).toMatchObject({ status: 200 });
    expect(proxy.asked).toHaveLength(3);
  });

  test('a name that a provider gave is looked up here, and each address checked', async () => {
    const send = clientBy(proxy.address);
    expect(await send(WEBHOOK)).toMatchObject({ status: 200 });
    expect(lookedUp).toEqual([NAME]);
    expect(proxy.asked).toEqual(Array(2).fill(`127.0.0.1:${stranger.port}`));
    names = { 'inner.example.com': ['10.0.0.7'], intranet: [] };
    for (const name of ['inner.example.com', 'intranet', '10.0.0.7', '[fd00::7]']) {
      const refused = await send({ ...WEBHOOK, url: `https://${name}:${stranger.port}/` });
      expect(refused).toMatchObject({ kind: expect.stringMatching(/^(?:name|address)$/) });
    }
    expect(proxy.asked).toHaveLength(2);
  });

  test('a login is sent to its proxy alone; a wrong one is a problem without words of it', async () => {
    proxy.options = { passes: true, login: LOGIN };
    const place = placeOf(proxy.address);
    expect(await clientBy(proxy.address, {}, { [place]: LOGIN })()).toMatchObject({ status: 200 });
    const wrong = { ...LOGIN, password: 'another' };
    for (const logins of [{}, { [place]: wrong }, { 'other:1080': LOGIN }]) {
      const refused = await clientBy(proxy.address, {}, logins)();
      const problem = `cannot connect to ${NAME}:${stranger.port}: its proxy refuses the login`;
      expect({ ...refused }).toEqual({ kind: 'unreachable', problem } as never);
    }
    expect(stranger.heard).toHaveLength(1);
  });

  test('a proxy that refuses, is away or is silent holds the call up, and none goes beside it', async () => {
    proxy.options = { passes: false };
    const send = clientBy(proxy.address);
    const problem = expect.stringContaining('its proxy refuses the connection');
    expect(await send()).toMatchObject({ kind: 'unreachable', problem });
    expect(await send(WEBHOOK)).toMatchObject({ kind: 'unreachable', problem });
    const away = await clientBy({ ...proxy.address, port: 1 })();
    expect(away).toMatchObject({
      kind: 'unreachable',
      problem: expect.stringContaining('no connection to its proxy can be opened'),
    });
    expect(JSON.stringify(away)).not.toContain(proxy.address.host);
    expect([stranger.heard, lookedUp]).toEqual([[], [NAME]]);
  });

  test('a call whose time is over leaves no connection behind', async () => {
    const send = clientBy(proxy.address);
    const late = await send({ url: stranger.url('/silent'), timeoutMs: 200 });
    expect(late).toMatchObject({ kind: 'timeout' });
    await until('its connection is closed', () => proxy.open.size === 0);
    proxy.options = { passes: 'never' };
    expect(await send({ timeoutMs: 200 })).toMatchObject({ kind: 'timeout' });
    await until('its connection is closed', () => proxy.open.size === 0, 5_000);
  });

  test('a call without TLS goes through too', async () => {
    const plain = net.createServer((socket) => {
      socket.once('data', () => socket.end('HTTP/1.1 204 No Content\r\n\r\n'));
    });
    await new Promise<void>((resolve) => plain.listen(0, '127.0.0.1', resolve));
    const { port } = plain.address() as net.AddressInfo;
    const send = clientBy(proxy.address, { outgoingProxyPorts: [port] });
    expect(await send({ url: `http://plain.example.com:${port}/` })).toMatchObject({ status: 204 });
    expect(proxy.asked).toEqual([`plain.example.com:${port}`]);
    plain.close();
  });

  test('only ports of the settings are asked for; another destination needs no proxy', async () => {
    const send = clientBy(proxy.address, { outgoingProxyPorts: [443] });
    const problem = `outgoing.proxy.ports does not have the port of ${NAME}:${stranger.port}`;
    expect({ ...(await send()) }).toEqual({ kind: 'address', problem } as never);
    expect(await send({ destination: 'fcm' })).toMatchObject({ status: 200 });
    expect(proxy.asked).toEqual([]);
  });

  test('settings apply to the next call', async () => {
    const change = { outgoingProxyTelegram: null as ProxyAddress | null };
    const settings = { ...SETTINGS, outgoingProxyPorts: [stranger.port], ...change };
    const files = { ca: stranger.ca, logins: new Map() };
    const resolve = async () => ['127.0.0.1'];
    const outgoing = new Outgoing({ settings, clock: systemClock, files, resolve });
    const call = callTo(stranger.url('/ok'), TELEGRAM);
    expect(await outgoing.send(call, PATIENT)).toMatchObject({ status: 200 });
    settings.outgoingProxyTelegram = proxy.address;
    expect(await outgoing.send(call, PATIENT)).toMatchObject({ status: 200 });
    expect(proxy.asked).not.toEqual([]);
  });
});

describe('a proxy that answers something else', () => {
  const FLOOD = `HTTP/1.1 200 OK\r\n${'x: y\r\n'.repeat(20_000)}`;
  test.each([
    ['http', 'another protocol', 'SSH-2.0-OpenSSH_9.2\r\n\r\n'],
    ['http', 'a head without an end', FLOOD],
    ['http', 'bytes after it', 'HTTP/1.1 200 OK\r\n\r\nbytes of another'],
    ['socks5', 'HTTP', 'HTTP/1.1 400 Bad Request\r\n\r\n'],
    ['socks5', 'a login that was not offered', '\x05\x02'],
    ['socks5', 'a part of its address', '\x05\x00\x05\x00\x00\x07'],
    ['socks5', 'nothing', ''],
  ] as const)('%s: %s', async (kind, _, says) => {
    proxy = await startProxy(kind, { passes: true });
    const liar = net.createServer((socket) => {
      socket.on('error', () => {});
      socket.once('data', () => socket.end(says, 'latin1'));
    });
    await new Promise<void>((resolve) => liar.listen(0, '127.0.0.1', resolve));
    const { port } = liar.address() as net.AddressInfo;
    const refused = await clientBy({ kind, host: '127.0.0.1', port })();
    expect(refused).toMatchObject({ kind: 'unreachable' });
    expect(stranger.heard).toEqual([]);
    liar.close();
  });
});

test('the file of logins has a line for each, by the place that the settings name', () => {
  proxy = { stop: () => {} } as TestProxy;
  const logins = readProxyLogins('# mine\n\nProxy.example.com:1080 me pass:word\n[::0:1]:9 a b\n');
  expect([...(logins ?? [])]).toEqual([
    ['proxy.example.com:1080', { name: 'me', password: 'pass:word' }],
    ['[::1]:9', { name: 'a', password: 'b' }],
  ]);
  for (const given of ['socks5://PROXY.example.com:1080', 'http://[::1]:9']) {
    expect(logins?.has(placeOf(proxyAddress(given) as ProxyAddress))).toBe(true);
  }
  const wrong = ['', 'me:pass@proxy:1', 'proxy:1 me', 'proxy me pass', 'proxy:1 a b c'];
  for (const text of [
    ...wrong,
    'proxy:1 a:b c',
    `proxy:1 a ${'\u044f'.repeat(128)}`,
    'proxy:0 a b',
  ]) {
    expect(readProxyLogins(text)).toBeNull();
  }
});

test('the address of a proxy', () => {
  proxy = { stop: () => {} } as TestProxy;
  expect(proxyAddress('')).toBeNull();
  expect(proxyAddress('http://proxy:80')).toEqual({ kind: 'http', host: 'proxy', port: 80 });
  const v6 = { kind: 'socks5', host: '2001:db8::1', port: 1080 } as const;
  expect(proxyAddress('socks5://[2001:DB8::1]:1080')).toEqual(v6);
  for (const given of ['socks4://h:1', 'socks5://h', 'socks5://h:0', 'http://h:1/x', 'h:1080']) {
    expect(() => proxyAddress(given)).toThrow('it is not socks5://HOST:PORT');
  }
  expect(() => proxyAddress('socks5://me:secret@h:1')).toThrow('login_file');
});

/** Headers of the PROXY protocol: who may send them, and what they make of a caller. */

import { afterEach, expect, test } from 'bun:test';
import { portsOf } from '../../src/http/port-holder.ts';
import { parseTrustedProxies } from '../../src/http/request/address.ts';
import { seedProvider, startTestApp, type TestApp, type TestAppOptions } from '../support/app.ts';
import { selfSigned } from '../support/certificate.ts';
import { binary, binaryFrom, dial, exchange, exchangeByTls, get, line } from '../support/front.ts';
import { until } from '../support/until.ts';

let app: TestApp | null = null;
afterEach(async () => {
  await app?.close();
  app = null;
});

const HERE = parseTrustedProxies(['127.0.0.1']);
const ELSEWHERE = parseTrustedProxies(['192.0.2.0/24']);

async function start(options: TestAppOptions = {}): Promise<TestApp> {
  app = await startTestApp({ proxyProtocol: HERE, logRequests: true, ...options });
  return app;
}

const events = ({ logLines }: TestApp, name: string) =>
  logLines.map((text) => JSON.parse(text)).filter(({ event }) => event === name);
const clients = (of: TestApp) => events(of, 'request').map(({ client }) => client);
/** All of version 6 of 8.8.8.8's neighbour, as 16 and 16 bytes with two ports. */
const V6 = Buffer.from(`2a00145040${'0'.repeat(21)}1${'2a'.repeat(16)}109201bb`, 'hex');

test('the client is that of the header, in both versions, whole or byte by byte', async () => {
  const served = await start();
  const headers = [
    line('8.8.4.4'),
    line('2a00:1450::1'),
    line('::ffff:8.8.8.8', 'TCP6'),
    // As nginx writes for a client of another front.
    line('2a00:1450::2').replace('2a00::1', '10.0.0.1'),
    binaryFrom('8.8.4.5'),
    binaryFrom('8.8.4.6', Buffer.alloc(508, 7)),
    binary(0x21, 0x21, V6),
  ];
  for (const header of headers) {
    expect(await exchange(served, header, get('/nowhere'))).toStartWith('HTTP/1.1 404');
  }
  const bytes = [...Buffer.from(line('8.8.4.7') + get('/nowhere'))].map((byte) =>
    Buffer.from([byte]),
  );
  expect(await exchange(served, ...bytes)).toStartWith('HTTP/1.1 404');
  const together = Buffer.concat([binaryFrom('8.8.4.8'), Buffer.from(get('/nowhere'))]);
  expect(await exchange(served, together)).toStartWith('HTTP/1.1 404');
  expect(clients(served)).toEqual([
    ...[
      '8.8.4.4',
      '2a00:1450::1',
      '8.8.8.8',
      '2a00:1450::2',
      '8.8.4.5',
      '8.8.4.6',
      '2a00:1450:4000::1',
    ],
    ...['8.8.4.7', '8.8.4.8'],
  ]);
  expect(served.server.limited()).toMatchObject({ connections: 0, proxy_headers: 0 });
});

const OWN = ['8.8.4.9', '2a00:1450::9'];

const REFUSED: [why: string, header: string | Buffer][] = [
  ['missing', get('/nowhere')],
  ['missing', 'PROXIES are not it\r\n'],
  ['no TCP', 'PROXY UDP4 8.8.4.4 10.0.0.1 1 2\r\n'],
  ['no addresses', 'PROXY TCP4 8.8.4.4\r\n'],
  ['no addresses', line('8.8.4.04')],
  ['no addresses', 'PROXY TCP4 8.8.4.4 there 1 2\r\n'],
  ['no addresses', line('2a00::1', 'TCP4')],
  ['no addresses', line('2a00::1%eth0', 'TCP6')],
  ['no addresses', 'PROXY TCP4 8.8.4.4 10.0.0.1 70000 443\r\n'],
  ['no addresses', 'PROXY TCP4 8.8.4.4 10.0.0.1 1 2 3\r\n'],
  ['too long', `PROXY UNKNOWN ${'x'.repeat(100)}\r\n`],
  ['too long', binary(0x21, 0x11, Buffer.alloc(521))],
  ['unknown version or command', binary(0x11, 0x11, Buffer.alloc(12))],
  ['unknown version or command', binary(0x22, 0x11, Buffer.alloc(12))],
  ['no TCP', binary(0x21, 0x12, Buffer.alloc(12))],
  ['no addresses', binary(0x21, 0x21, Buffer.alloc(12))],
  ['sent twice', line('8.8.4.4') + line('8.8.8.8')],
  ['sent twice', Buffer.concat([binaryFrom('8.8.4.4'), Buffer.from(line('8.8.8.8'))])],
  ['sent twice', Buffer.concat([Buffer.from('PROXY UNKNOWN\r\n'), binaryFrom('8.8.8.8')])],
  ...['127.0.0.1', '10.0.0.9', '192.168.1.1', '169.254.1.1', '100.64.0.1', '0.0.0.0'].flatMap(
    (address): [string, string | Buffer][] => [
      ['an address that is not public', line(address)],
      ['an address that is not public', binaryFrom(address)],
    ],
  ),
  ...['::1', 'fe80::1', 'fd00::1', '::ffff:127.0.0.1'].map((address): [string, string] => [
    'an address that is not public',
    line(address, 'TCP6'),
  ]),
  ...[
    ...[line('8.8.4.9'), binaryFrom('8.8.4.9'), line('::ffff:8.8.4.9', 'TCP6')],
    line('2A00:1450:0::9'),
  ].map((header): [string, string | Buffer] => ['an address of this machine', header]),
];

test('a header that is missing, malformed, sent twice or not of a client is refused', async () => {
  const served = await start({ ownAddresses: OWN });
  for (const [at, [why, header]] of REFUSED.entries()) {
    expect(await exchange(served, header, get('/nowhere'))).toBe('');
    served.clock.advance(60_000);
    expect({
      header: String(header),
      ...events(served, 'proxy_header_refused').at(-1),
    }).toMatchObject({
      header: String(header),
      level: 'warn',
      peer: '127.0.0.1',
      why,
      count: 1,
    });
    expect(served.server.limited().proxy_headers).toBe(at + 1);
  }
  expect(clients(served)).toEqual([]);
});

test('the log has one line a minute, with the number of refused headers', async () => {
  const served = await start();
  for (let count = 0; count < 3; count++) await exchange(served, get('/'));
  expect(events(served, 'proxy_header_refused')).toHaveLength(1);
  served.clock.advance(60_000);
  await exchange(served, get('/'));
  expect(events(served, 'proxy_header_refused').at(-1)).toMatchObject({ count: 3 });
});

test('a header that does not come whole in time is refused', async () => {
  const served = await start({ headerMaxMs: 30 });
  for (const part of ['', 'PROXY TCP4 8.8', binaryFrom('8.8.4.4').subarray(0, 20)]) {
    expect(await exchange(served, part)).toBe('');
    served.clock.advance(60_000);
  }
  expect(events(served, 'proxy_header_refused').map(({ why }) => why)).toEqual(
    Array(3).fill('none in time'),
  );
});

test('from other networks a connection has no header, and one with it is refused', async () => {
  const served = await start({ proxyProtocol: ELSEWHERE });
  expect(await exchange(served, get('/nowhere'))).toStartWith('HTTP/1.1 404');
  const parts = [...get('/nowhere').replace('GET', 'PROPFIND')];
  expect(await exchange(served, ...parts)).toStartWith('HTTP/1.1 404');
  expect(clients(served)).toEqual(['127.0.0.1', '127.0.0.1']);
  for (const header of [line('8.8.4.4'), binaryFrom('8.8.4.4')]) {
    expect(await exchange(served, header, get('/nowhere'))).toBe('');
  }
  expect(clients(served)).toHaveLength(2);
  expect(events(served, 'proxy_header_refused')[0]).toMatchObject({
    why: 'from a network that is not named',
  });
});

test('a proxy that asks for itself gets /healthz alone', async () => {
  const served = await start();
  const locals = ['PROXY UNKNOWN\r\n', 'PROXY UNKNOWN ::1 ::1 1 2\r\n', binary(0x20, 0, [])];
  const unspecified = [binary(0x21, 0, []), binary(0x20, 0x11, Buffer.alloc(12))];
  for (const header of [...locals, ...unspecified]) {
    const healthy = await exchange(served, header, get('/healthz'));
    expect(healthy).toStartWith('HTTP/1.1 200');
    expect(healthy).toEndWith('ok\n');
    // As HAProxy asks.
    const bare = await exchange(served, header, 'GET /healthz HTTP/1.0\r\n\r\n');
    expect(bare).toEndWith('ok\n');
    for (const path of ['/', '/console', '/gate', '/api/list-install', '/docs', '/healthz/x']) {
      expect(await exchange(served, header, get(path))).toStartWith('HTTP/1.1 403');
    }
    const posted = get('/healthz').replace('GET', 'POST');
    expect(await exchange(served, header, posted)).toStartWith('HTTP/1.1 403');
  }
  expect(clients(served)).toEqual([]);
});

test('the address of a header is a client and nothing else', async () => {
  const all = parseTrustedProxies(['0.0.0.0/1', '128.0.0.0/1']);
  const served = await start({ gateProxies: all });
  // Not of the machine: the console is not opened over plain HTTP.
  expect(await exchange(served, line('8.8.4.4'), get('/console'))).toStartWith('HTTP/1.1 403');
  // Not a proxy of the gate, whatever gate.proxies says.
  const gate = await exchange(served, line('8.8.4.4'), get('/gate', 'x-original-uri: /sub/a'));
  expect(gate).toStartWith('HTTP/1.1 403');
  expect(events(served, 'gate_untrusted')[0]).toMatchObject({ client: '8.8.4.4' });
  // X-Forwarded-For of a client is not read, that of a trusted public proxy is.
  const forwarded = get('/nowhere', 'x-forwarded-for: 9.9.9.9');
  await exchange(served, line('8.8.4.4'), forwarded);
  expect(clients(served).at(-1)).toBe('8.8.4.4');
  served.settings.trustedProxies = parseTrustedProxies(['8.8.4.0/24']);
  await exchange(served, line('8.8.4.4'), forwarded);
  expect(clients(served).at(-1)).toBe('9.9.9.9');
  served.settings.gateProxies = null;
  const again = await exchange(served, line('8.8.4.4'), get('/gate', 'x-original-uri: /sub/a'));
  expect(again).toStartWith('HTTP/1.1 403');
});

test('limits count by the address of the header', async () => {
  const served = await start({ authFailuresPerMinuteMax: 1 });
  const { code } = await seedProvider(served);
  const guess = get(`/api/list-install?provider_code=${code}&auth_key=wrong`);
  const delayed = () => served.server.limited().auth_failures;
  await exchange(served, line('8.8.4.4'), guess);
  const late = exchange(served, line('8.8.4.4'), guess);
  await until('one is delayed', () => delayed() === 1);
  // Another client has a count of its own: its first one is not late.
  expect(await exchange(served, line('8.8.4.5'), guess)).toStartWith('HTTP/1.1 200');
  expect(delayed()).toBe(1);
  served.clock.advance(1_000);
  expect(await late).toStartWith('HTTP/1.1 200');
});

test('TLS begins after the header, and a new certificate is served', async () => {
  const served = await start({ tls: await selfSigned('first') });
  const shake = (header: string | Buffer) => exchangeByTls(served, header, get('/nowhere'));
  expect(served.url).toStartWith('https://127.0.0.1:');
  for (const header of [line('8.8.4.4'), binaryFrom('8.8.4.4')]) {
    const { answer, name } = await shake(header);
    expect({ name, status: answer.slice(0, 12) }).toEqual({
      name: 'first',
      status: 'HTTP/1.1 404',
    });
  }
  await served.server.replaceCertificate(await selfSigned('second'));
  expect((await shake(line('8.8.4.5'))).name).toBe('second');
  expect(clients(served)).toEqual(['8.8.4.4', '8.8.4.4', '8.8.4.5']);
});

test('the server inside answers no connection of its own', async () => {
  const served = await start();
  const ports = portsOf(process.pid);
  const outer = Number(new URL(served.url).port);
  const answers = await Promise.all(
    ports
      .filter((port) => port !== outer)
      .map((port) => exchange({ url: `http://127.0.0.1:${port}` }, get('/console'))),
  );
  expect(answers.some((answer) => answer.startsWith('HTTP/1.1 403'))).toBe(true);
  expect(answers.filter((answer) => answer.startsWith('HTTP/1.1 200'))).toEqual([]);
  expect(clients(served)).toEqual([]);
});

test('a client has a bounded number of connections', async () => {
  const served = await start();
  const sockets = Array.from({ length: 1_030 }, () => dial(served));
  let closed = 0;
  for (const socket of sockets) {
    socket.on('error', () => {});
    socket.on('close', () => {
      closed += 1;
    });
    socket.write(`${line('8.8.4.4')}GET / HTTP/1.1\r\n`);
  }
  await until('6 connections are closed', () => closed === 6);
  expect(served.server.limited().connections).toBe(6);
  expect(await exchange(served, line('8.8.4.5'), get('/nowhere'))).toStartWith('HTTP/1.1 404');
  for (const socket of sockets) socket.destroy();
  await until('there is room again', async () =>
    (await exchange(served, line('8.8.4.4'), get('/nowhere'))).startsWith('HTTP/1.1 404'),
  );
});

/** The files of docs/proxy-protocol as printed, in real proxies in front of an appliance. */

import { afterEach, expect } from 'bun:test';
import { chmodSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { parseTrustedProxies } from '../../src/http/request/address.ts';
import { freshFolder, startTestApp, type TestApp, type TestAppOptions } from '../support/app.ts';
import { selfSigned } from '../support/certificate.ts';
import { exchange, exchangeByTls, get, line } from '../support/front.ts';
import { testWith } from '../support/needs.ts';
import type { FrontProxy } from '../support/proxies.ts';
import {
  hasStreams,
  startHaproxySplit,
  startNginxSocket,
  startNginxStream,
  startXray,
} from '../support/splitters.ts';
import { until } from '../support/until.ts';

let app: TestApp | null = null;
let proxy: FrontProxy | null = null;
const folder = freshFolder();
chmodSync(folder, 0o750);
const path = join(folder, 'gatepost.sock');
const socket = { path, mode: 0o660, group: '' };

afterEach(async () => {
  await proxy?.stop();
  await app?.close();
  [app, proxy] = [null, null];
});
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

async function start(options: TestAppOptions): Promise<TestApp> {
  app = await startTestApp({ logRequests: true, ...options });
  return app;
}

const clients = ({ logLines }: TestApp) =>
  logLines
    .map((text) => JSON.parse(text))
    .filter(({ event }) => event === 'request')
    .map(({ client }) => client);
const CLIENTS = ['8.8.4.4', '2a00:1450::4'];

const withNginx = testWith('nginx');
/** Its module for streams is a package of its own. */
const testStream = hasStreams() ? withNginx : withNginx.skip;

/** Comes to a proxy as two clients, who ask by TLS. */
async function comeByTls(to: FrontProxy, name: string): Promise<void> {
  for (const client of CLIENTS) {
    const got = await exchangeByTls(to, line(client), get('/nowhere'));
    expect({ name: got.name, status: got.answer.slice(0, 12) }).toEqual({
      name,
      status: 'HTTP/1.1 404',
    });
  }
}

testWith('haproxy')('HAProxy splits by name and passes TLS on', async () => {
  const tls = await selfSigned('sub.example.com');
  const served = await start({ tls, proxyProtocol: parseTrustedProxies(['127.0.0.1']) });
  proxy = await startHaproxySplit(Number(new URL(served.url).port));
  const found = proxy;
  await until('HAProxy has a server', async () => {
    const { answer } = await exchangeByTls(found, line('8.8.8.8'), get('/nowhere')).catch(() => ({
      answer: '',
    }));
    return answer !== '';
  });
  const before = clients(served).length;
  await comeByTls(proxy, 'sub.example.com');
  expect(clients(served).slice(before)).toEqual(CLIENTS);
  expect(served.server.limited().proxy_headers).toBe(0);
});

testStream('nginx passes TLS on to the socket, by name', async () => {
  const tls = await selfSigned('sub.example.com');
  const served = await start({ tls, socket, isSocketProxied: true });
  proxy = await startNginxStream(path);
  await comeByTls(proxy, 'sub.example.com');
  expect(clients(served)).toEqual(CLIENTS);
});

testWith('xray')('Gatepost is the fallback of Xray', async () => {
  const served = await start({ socket, isSocketProxied: true });
  proxy = await startXray(path);
  await comeByTls(proxy, 'sub.example.com');
  expect(clients(served)).toEqual(CLIENTS);
});

withNginx('nginx with the certificate is a trusted proxy by the socket', async () => {
  const served = await start({ socket });
  proxy = await startNginxSocket(path);
  const { answer } = await exchangeByTls(
    proxy,
    '',
    get('/console').replace('localhost', 'bot.example.com'),
  );
  expect(answer.slice(0, 12)).not.toBe('HTTP/1.1 403');
  await exchangeByTls(proxy, '', get('/nowhere', 'x-forwarded-for: 9.9.9.9'));
  expect(clients(served).at(-1)).toBe('127.0.0.1');
  // The socket alone is no way around it.
  expect(await exchange(path, get('/console'))).toStartWith('HTTP/1.1 403');
});

/** The doctor at the proxies of outgoing calls. */

import { expect, test } from 'bun:test';
import { loadConfig } from '../../src/config/load.ts';
import { checkGateways } from '../../src/doctor/gateway.ts';
import { startProxy } from '../support/outgoing-proxy.ts';

const { config } = loadConfig({}, { GATEPOST_CONFIG: 'none' });

const check = (own: typeof config) =>
  checkGateways(own, { stopped: [], waiting: [], hasSubscriptions: false });

test('asks each destination through its proxy, and says nothing where none is set', async () => {
  expect(await check(config)).toEqual([]);
  // A file that nothing needs is not read.
  expect(await check({ ...config, outgoingCaFile: '/no/such/file' })).toEqual([]);
  const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response('ok') });
  const proxy = await startProxy('socks5', { passes: true });
  const own = {
    ...config,
    telegramEndpoint: `http://telegram.example.com:${server.port}`,
    updateUrl: `http://releases.example.com:${server.port}`,
    outgoingProxyTelegram: proxy.address,
    outgoingProxyUpdate: proxy.address,
    outgoingProxyWebhooks: { ...proxy.address, port: 1 },
    outgoingProxyPorts: [Number(server.port)],
  };
  const found = async () =>
    (await check(own)).map(({ level, subject, what }) => [level, subject, what]);
  const away = 'outgoing.proxy.webhooks: no connection to the proxy can be opened';
  expect(await found()).toEqual([
    ['ok', null, 'the proxy of outgoing.proxy.telegram passes calls on'],
    ['ok', null, 'the proxy of outgoing.proxy.update passes calls on'],
    ['warning', 'webhooks', away],
  ]);
  expect(proxy.asked).toEqual([
    `telegram.example.com:${server.port}`,
    `releases.example.com:${server.port}`,
  ]);
  proxy.options = { passes: false };
  const [telegram] = await found();
  expect(telegram).toEqual([
    'warning',
    'telegram',
    `outgoing.proxy.telegram: cannot connect to telegram.example.com:${server.port}: its proxy refuses the connection, or cannot open it`,
  ]);
  proxy.stop();
  await server.stop(true);
});

/** The settings of `proxy_protocol` and of the Unix socket, and their contradictions. */

import { expect, test } from 'bun:test';
import { loadConfig } from '../../src/config/load.ts';

type Env = Readonly<Record<string, string>>;
const load = (env: Env) => loadConfig({}, { GATEPOST_CONFIG: 'none', ...env }).config;

function refusal(env: Env): string {
  try {
    load(env);
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error('the settings were taken');
}

const NETWORKS = 'GATEPOST_PROXY_PROTOCOL_NETWORKS';
const LOOPBACK = 'GATEPOST_PROXY_PROTOCOL_LOOPBACK';
const BY_SOCKET = 'GATEPOST_PROXY_PROTOCOL_SOCKET';
const OPEN = { GATEPOST_HOST: '0.0.0.0' };

test('by default no connection has a header, and there is no socket', () => {
  const { proxyLoopback, proxyNetworks, proxySocket, socket, socketGroup, socketMode } = load({});
  expect(proxyNetworks.texts).toEqual([]);
  expect(proxyNetworks.includes('127.0.0.1')).toBe(false);
  expect({ proxyLoopback, proxySocket, socket, socketGroup, socketMode }).toEqual({
    proxyLoopback: false,
    proxySocket: false,
    socket: '',
    socketGroup: '',
    socketMode: '0660',
  });
});

test('networks are named with those of this machine only by agreement', () => {
  const here = ['127.0.0.1', '127.0.0.0/8', '10.0.0.1, ::1', '0.0.0.0/1', '127.0.0.53', '::/16'];
  for (const networks of here) {
    expect(refusal({ ...OPEN, [NETWORKS]: networks })).toContain('proxy_protocol.loopback = true');
    const agreed = load({ ...OPEN, [NETWORKS]: networks, [LOOPBACK]: 'true' });
    expect(agreed.proxyNetworks.texts).toHaveLength(networks.split(',').length);
  }
  expect(load({ ...OPEN, [NETWORKS]: '10.0.0.0/8' }).proxyNetworks.includes('10.1.2.3')).toBe(true);
});

test.each<[because: string, env: Env]>([
  ['names every address', { ...OPEN, [NETWORKS]: '0.0.0.0/0' }],
  ['names every address', { ...OPEN, [NETWORKS]: '10.0.0.1, ::/0' }],
  ["'10.0.0' is not a network", { ...OPEN, [NETWORKS]: '10.0.0' }],
  ['proxy_protocol.loopback needs proxy_protocol.networks', { ...OPEN, [LOOPBACK]: 'true' }],
  ['set server.host to the address that the proxies reach', { [NETWORKS]: '10.0.0.1' }],
  [
    '10.0.0.5 is in proxy_protocol.networks, and in server.trusted_proxies',
    { ...OPEN, [NETWORKS]: '10.0.0.0/8', GATEPOST_TRUSTED_PROXIES: '203.0.113.1,10.0.0.5' },
  ],
  [
    '10.0.0.5 is in proxy_protocol.networks, and in server.trusted_proxies',
    { ...OPEN, [NETWORKS]: '10.0.0.5', GATEPOST_TRUSTED_PROXIES: '10.0.0.0/8' },
  ],
  [
    'or gate.proxies: behind a header each caller is a client',
    { ...OPEN, [NETWORKS]: '10.0.0.5', GATEPOST_GATE_PROXIES: '10.0.0.0/8' },
  ],
  [
    'or gate.proxies: behind a header each caller is a client',
    { ...OPEN, [NETWORKS]: '10.0.0.0/8', GATEPOST_GATE_PROXIES: '10.0.0.5' },
  ],
  ['proxy_protocol.socket needs server.socket', { [BY_SOCKET]: 'true' }],
  ['server.socket_group needs server.socket', { GATEPOST_SOCKET_GROUP: 'www-data' }],
  ['is not an absolute path', { GATEPOST_SOCKET: 'gatepost.sock' }],
  ['is not an absolute path', { GATEPOST_SOCKET: '/run/gatepost/' }],
  ['is not an absolute path of up to 107 bytes', { GATEPOST_SOCKET: `/run/${'x'.repeat(103)}` }],
  ['is not 0600 or 0660', { GATEPOST_SOCKET: '/run/g/s', GATEPOST_SOCKET_MODE: '0666' }],
])('refused: %s', (because, env) => {
  expect(refusal(env)).toContain(because);
});

test('a socket and headers by it go together with any address', () => {
  const config = load({ GATEPOST_SOCKET: '/run/gatepost/gatepost.sock', [BY_SOCKET]: 'true' });
  expect(config).toMatchObject({ host: '127.0.0.1', proxySocket: true });
});

test.each([
  ['GATEPOST_TRUSTED_PROXIES', '203.0.113.0/24', '203.0.113.5', '203.0.113.5'],
  ['GATEPOST_TRUSTED_PROXIES', '203.0.113.5', '203.0.113.0/24', '203.0.113.5'],
  ['GATEPOST_GATE_PROXIES', '2001:db8::1', '2001:db8::/64', '2001:db8::1'],
])('no exit is a proxy: %s %s beside %s', (name, proxies, exits, said) => {
  const env = { [name]: proxies, GATEPOST_SHARED_ADDRESSES: exits };
  expect(refusal(env)).toContain(
    `${said} is in limits.shared_addresses, and in server.trusted_pro`,
  );
  load({ ...env, GATEPOST_SHARED_ADDRESSES: '198.51.100.7' });
});

/** The doctor at the ways of proxies: PROXY headers and the Unix socket. */

import { afterAll, expect, test } from 'bun:test';
import { chmodSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { loadConfig } from '../../src/config/load.ts';
import { checkFronts, isBehindProxies, streamDescriptors } from '../../src/doctor/fronts.ts';
import { checkProxies } from '../../src/doctor/gate.ts';
import { freshFolder } from '../support/app.ts';

const folder = freshFolder();
afterAll(() => rmSync(folder, { recursive: true }));
const path = join(folder, 'gatepost.sock');

const load = (env: Readonly<Record<string, string>>) =>
  loadConfig({}, { GATEPOST_CONFIG: 'none', ...env });
const found = (env: Readonly<Record<string, string>>, isRunning = true) =>
  checkFronts(load(env).config, isRunning).map(
    ({ level, name, what }) => `${level} ${name}: ${what}`,
  );

test('says who must send a header, and warns where customers of a tunnel could', () => {
  expect(found({})).toEqual([]);
  const named = { GATEPOST_HOST: '10.0.0.1', GATEPOST_PROXY_PROTOCOL_NETWORKS: '10.0.0.5' };
  expect(found(named)).toEqual([
    'ok PROXY_protocol: connections from 10.0.0.5 must begin with a PROXY header, all others must not',
  ]);
  const loopback = {
    GATEPOST_PROXY_PROTOCOL_NETWORKS: '127.0.0.1',
    GATEPOST_PROXY_PROTOCOL_LOOPBACK: 'true',
  };
  expect(found(loopback)[0]).toStartWith('warning proxy_protocol_loopback: ');
});

test('looks at the socket of a running server', () => {
  const env = { GATEPOST_SOCKET: path };
  expect(found(env, false)).toEqual([
    `ok Unix_socket: 'gatepost serve' will listen on ${path} too`,
  ]);
  expect(found(env)[0]).toStartWith('problem socket_missing: ');
  const listener = Bun.listen({ unix: path, socket: { data: () => {} } });
  chmodSync(path, 0o666);
  expect(found(env)[0]).toStartWith(`warning socket_mode_changed: the mode of ${path} is 0666`);
  chmodSync(path, 0o660);
  expect(found(env)).toEqual([
    `ok Unix_socket: ${path} has the mode 0660: who connects there counts as a proxy`,
  ]);
  expect(found({ ...env, GATEPOST_PROXY_PROTOCOL_SOCKET: 'true' })).toEqual([
    `ok Unix_socket: ${path} has the mode 0660: PROXY headers name the clients`,
  ]);
  listener.stop(true);
});

test('knows that streams through a front take three descriptors, and that proxies are in front', () => {
  expect(streamDescriptors(load({}).config)).toBe(20_000);
  expect(streamDescriptors(load({ GATEPOST_SOCKET: path }).config)).toBe(16_384 * 3);
  const few = load({ GATEPOST_SOCKET: path, GATEPOST_STREAMS_MAX: '100' });
  expect(streamDescriptors(few.config)).toBe(300);
  expect(isBehindProxies(load({}))).toBe(false);
  expect(isBehindProxies(few)).toBe(true);
});

test('the proxies of a socket may ask the gate', () => {
  const asked = { GATEPOST_GATE_KEY_PATHS: '/s/{key}', GATEPOST_GATE_PROXIES: '' };
  const names = (env: Readonly<Record<string, string>>) =>
    checkProxies(load({ ...asked, ...env })).map(({ name }) => name);
  expect(names({})).toEqual(['gate_open_to_no_proxy']);
  expect(names({ GATEPOST_SOCKET: path })).toEqual([]);
});

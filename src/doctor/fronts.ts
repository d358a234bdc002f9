/** Checks how proxies reach the server: by headers of the PROXY protocol, and by a Unix socket. */

import { lstatSync, type Stats } from 'node:fs';
import { about, type Finding } from '../base/finding.ts';
import type { LoadedConfig } from '../config/load.ts';
import type { Config } from '../config/settings/index.ts';
import { CONNECTIONS_MAX, DESCRIPTORS_PER_CONNECTION } from '../http/front/bounds.ts';

/** Returns whether the settings name a proxy in front of the server. */
export const isBehindProxies = ({ config, sources }: Pick<LoadedConfig, 'config' | 'sources'>) =>
  sources.trustedProxies.text !== '' || hasFront(config);

const hasFront = ({ proxyNetworks, socket }: Pick<Config, 'proxyNetworks' | 'socket'>) =>
  proxyNetworks.texts.length > 0 || socket !== '';

/** Returns the descriptors that all streams need: one each, three where they pass a front. */
export function streamDescriptors(config: Config): number {
  const { streamCountMax } = config;
  if (!hasFront(config)) return streamCountMax;
  return Math.min(streamCountMax, CONNECTIONS_MAX) * DESCRIPTORS_PER_CONNECTION;
}

/** `isRunning`: the server runs, so that its socket should be there. */
export function checkFronts(config: Config, isRunning: boolean): Finding[] {
  return [...checkHeaders(config), ...checkSocket(config, isRunning)];
}

function checkHeaders({ proxyLoopback, proxyNetworks: { texts } }: Config): Finding[] {
  if (texts.length === 0) return [];
  const say = about('PROXY protocol');
  const what = `connections from ${texts.join(', ')} must begin with a PROXY header, all others must not`;
  if (!proxyLoopback) return [say.ok(what)];
  return [
    say.warning(
      'proxy_protocol_loopback',
      'PROXY headers are read from this machine itself: a customer of a tunnel that ends here can claim any client address',
      'keep private addresses out of the tunnel, or use server.socket with proxy_protocol.socket: docs/proxy-protocol.md',
    ),
  ];
}

function checkSocket(config: Config, isRunning: boolean): Finding[] {
  const { proxySocket, socket: path, socketMode } = config;
  if (path === '') return [];
  const say = about('Unix socket');
  const stats = statsOf(path);
  if (stats === 'hidden')
    return [say.ok(`this user cannot see ${path}: run doctor as the service`)];
  if (!isRunning) return [say.ok(`'gatepost serve' will listen on ${path} too`)];
  if (!stats?.isSocket()) {
    return [
      say.problem(
        'socket_missing',
        `the server runs, and there is no socket at ${path}: its proxies reach nothing`,
        "run 'systemctl restart gatepost', and let no other program remove the file",
      ),
    ];
  }
  const mode = (stats.mode & 0o777).toString(8).padStart(4, '0');
  if (mode !== socketMode) {
    return [
      say.warning(
        'socket_mode_changed',
        `the mode of ${path} is ${mode}, server.socket_mode is ${socketMode}: who connects there counts as a proxy`,
        `chmod ${socketMode} ${path}`,
      ),
    ];
  }
  const effect = proxySocket
    ? 'PROXY headers name the clients'
    : 'who connects there counts as a proxy';
  return [say.ok(`${path} has the mode ${mode}: ${effect}`)];
}

/** Null: there is no such file; `hidden`: this user may not look. */
function statsOf(path: string): Stats | null | 'hidden' {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) ?? null;
  } catch {
    return 'hidden';
  }
}

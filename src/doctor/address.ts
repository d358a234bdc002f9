/** Checks the address on which the server listens, or would. */

import { existsSync } from 'node:fs';
import { wordsOfErrno } from '../base/errno.ts';
import { about, type Finding } from '../base/finding.ts';
import { messageOf } from '../base/operator-error.ts';
import { describeHolder, findPortHolder, portOwner } from '../http/port-holder.ts';
import type { ServerState } from './server.ts';

/** Files by which Docker and Podman mark their containers. */
const CONTAINER_FILES = ['/.dockerenv', '/run/.containerenv'];

interface Address {
  host: string;
  port: number;
}

const say = about('address');
/** Ports below it need a right. */
const FREE_PORT_MIN = 1024;
/** The process that holds the sockets of units. */
const SYSTEMD = { pid: 1, name: 'systemd' };

/**
 * Checks whether the server has the address, or it is free, and whether it needs TLS.
 * `isProtected`: it has TLS, or only proxies reach it. `root`: where the file system begins.
 */
export function checkAddress(
  server: ServerState,
  address: Address,
  isProtected: boolean,
  root = '',
): Finding[] {
  const { host, port } = address;
  const shown = `${host}:${port}`;
  const findings: Finding[] = [];
  // The host of a container decides where its port is published.
  const isInContainer = CONTAINER_FILES.some((file) => existsSync(`${root}${file}`));
  if (!isProtected && !isInContainer && !/^(127\.|::1$|localhost$)/.test(host)) {
    const todo = 'set a TLS certificate, or listen on 127.0.0.1 behind a proxy with TLS';
    findings.push(
      say.warning('address_without_tls', `${shown} is open to the network without TLS`, todo),
    );
  }
  if (typeof server === 'string') return [...findings, tryAddress(address, server === 'absent')];
  const { pid, ports } = server;
  if (ports.length === 0) return findings;
  const who = pid === null ? 'the server' : `the server (process ${pid})`;
  const which = `${who} listens on port ${ports.join(', ')}`;
  const isOther = port !== 0 && !ports.includes(port);
  return [...findings, say.ok(isOther ? `${which}; these settings say ${port}` : which)];
}

/** Tries to listen. `isAbsent`: no server of this data directory has the port. */
function tryAddress({ host, port }: Address, isAbsent: boolean): Finding {
  const shown = `${host}:${port}`;
  try {
    Bun.listen({ hostname: host, port, socket: { data: () => undefined } }).stop(true);
    return say.ok(`${shown} is free`);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : messageOf(error);
    const mayNotListen = code === 'EACCES' && port < FREE_PORT_MIN;
    const owner = portOwner(host, port);
    if (code === 'EADDRINUSE' || (mayNotListen && owner !== null)) {
      return isAbsent
        ? taken({ host, port }, owner)
        : say.ok(`${shown} is in use, perhaps by the server itself`);
    }
    if (mayNotListen) {
      const right = 'a unit needs AmbientCapabilities=CAP_NET_BIND_SERVICE for it';
      return say.ok(`${shown} was not tried, because this user may not listen there; ${right}`);
    }
    const todo = "give one of this machine's addresses and a port to server.host and server.port";
    return say.problem(
      'port_not_usable',
      `${shown} cannot be listened on: ${wordsOfErrno(code)}`,
      todo,
    );
  }
}

/** Names the program that has the port, as far as the system shows it. `owner`: its user. */
function taken({ host, port }: Address, owner: number | null): Finding {
  const holder = findPortHolder(host, port);
  const shown = `${host}:${port}`;
  const other = 'or choose another port with server.port';
  if (holder === null) {
    const whose = owner === null ? '' : ` of user ${owner}`;
    return say.problem(
      'port_in_use',
      `${shown} is in use by a program${whose}, which this user may not see`,
      `find it with  sudo ss -ltnp 'sport = :${port}'  and stop it, ${other}`,
    );
  }
  const isSocketUnit = holder.pid === SYSTEMD.pid && holder.name === SYSTEMD.name;
  return say.problem(
    'port_in_use',
    `${shown} is in use by ${describeHolder(holder)}`,
    isSocketUnit
      ? `find its socket unit with 'systemctl list-sockets' and disable it: Gatepost listens by itself, ${other}`
      : `stop it, ${other}`,
  );
}

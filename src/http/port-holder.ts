/** Processes and the ports on which they listen, as Linux lists them in `/proc`. */

import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { isIPv4 } from 'node:net';

/** The state of a listening socket in `/proc/net/tcp`. */
const LISTENING = '0A';

/** A process that listens. */
interface PortHolder {
  pid: number;
  /** The name of its program. */
  name: string;
}

interface ListeningSocket {
  /** Its address in hexadecimal, each 32 bits of it backwards. */
  address: string;
  port: number;
  /** As links in `/proc/PID/fd` name it. */
  link: string;
  /** Its user. */
  uid: number;
}

/**
 * Finds the process that listens on this address and TCP port. Returns null if no process does, or
 * if the system does not show it: only root sees processes of other users.
 */
export function findPortHolder(host: string, port: number): PortHolder | null {
  const links = new Set(socketsAt(host, port).map(({ link }) => link));
  if (links.size === 0) return null;
  for (const pid of list('/proc')) {
    if (!/^\d+$/.test(pid) || !openLinks(pid).some((link) => links.has(link))) continue;
    return { pid: Number(pid), name: read(`/proc/${pid}/comm`).trim() || 'a program' };
  }
  return null;
}

/** Returns the user of the socket that listens there, as all users may see it; null: none does. */
export function portOwner(host: string, port: number): number | null {
  return socketsAt(host, port)[0]?.uid ?? null;
}

const socketsAt = (host: string, port: number): ListeningSocket[] =>
  listeningSockets().filter(
    (socket) => socket.port === port && areInConflict(socket.address, host),
  );

/** Lists the ports on which a process listens, in their order. */
export function portsOf(pid: number): number[] {
  const links = new Set(openLinks(String(pid)));
  const own = listeningSockets().filter(({ link }) => links.has(link));
  return [...new Set(own.map(({ port }) => port))].sort((one, other) => one - other);
}

export const describeHolder = ({ pid, name }: PortHolder) => `${name} (process ${pid})`;

/** All addresses of a machine, as a host and in `/proc`. */
const ANY_HOST = /^(?:0\.0\.0\.0|::)$/;
const ANY_ADDRESS = /^0+$/;

/** Returns false if the socket listens on one IPv4 address only and the host is another. */
function areInConflict(address: string, host: string): boolean {
  if (ANY_HOST.test(host) || ANY_ADDRESS.test(address) || !isIPv4(host)) return true;
  const bytes = host.split('.').map((byte) => Number(byte).toString(16).padStart(2, '0'));
  return address.endsWith(bytes.reverse().join('').toUpperCase());
}

function listeningSockets(): ListeningSocket[] {
  return ['/proc/net/tcp', '/proc/net/tcp6']
    .flatMap((file) => read(file).split('\n').slice(1))
    .map((line) => line.trim().split(/\s+/))
    .filter((fields) => fields[3] === LISTENING)
    .map(({ 1: local = '', 7: uid, 9: inode }) => {
      const [address = '', port = ''] = local.split(':');
      const link = `socket:[${inode}]`;
      return { address, port: Number.parseInt(port, 16), link, uid: Number(uid) };
    });
}

function openLinks(pid: string): string[] {
  const folder = `/proc/${pid}/fd`;
  return list(folder).map((descriptor) =>
    attempt(() => readlinkSync(`${folder}/${descriptor}`), ''),
  );
}

const list = (folder: string) => attempt(() => readdirSync(folder), []);
const read = (file: string) => attempt(() => readFileSync(file, 'utf8'), '');

/** Processes may end meanwhile, and most belong to other users. */
function attempt<T>(work: () => T, otherwise: T): T {
  try {
    return work();
  } catch {
    return otherwise;
  }
}

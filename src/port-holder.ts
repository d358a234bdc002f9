/** The process that listens on a port of this machine, as Linux lists it in `/proc`. */

import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** The state of a listening socket in `/proc/net/tcp`. */
const LISTENING = '0A';

/**
 * Names the process that listens on a TCP port, as `nginx (process 812)`. Returns null if no
 * process does, or the system does not show it: another user's sockets are seen by root alone.
 */
export function portHolder(port: number): string | null {
  const sockets = new Set(
    ['/proc/net/tcp', '/proc/net/tcp6'].flatMap((file) => inodes(file, port)),
  );
  if (sockets.size === 0) return null;
  for (const pid of list('/proc')) {
    if (!/^\d+$/.test(pid) || !holds(pid, sockets)) continue;
    return `${read(`/proc/${pid}/comm`).trim() || 'a program'} (process ${pid})`;
  }
  return null;
}

/** Lists the sockets that listen on a port, as links in `/proc/PID/fd` name them. */
function inodes(file: string, port: number): string[] {
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  return read(file)
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(([, local, , state]) => local?.endsWith(suffix) && state === LISTENING)
    .map((fields) => `socket:[${fields[9]}]`);
}

function holds(pid: string, sockets: ReadonlySet<string>): boolean {
  const folder = `/proc/${pid}/fd`;
  return list(folder).some((descriptor) => sockets.has(target(`${folder}/${descriptor}`)));
}

const list = (folder: string) => attempt(() => readdirSync(folder), []);
const read = (file: string) => attempt(() => readFileSync(file, 'utf8'), '');
const target = (link: string) => attempt(() => readlinkSync(link), '');

/** Processes end meanwhile, and most of them belong to others. */
function attempt<T>(work: () => T, otherwise: T): T {
  try {
    return work();
  } catch {
    return otherwise;
  }
}

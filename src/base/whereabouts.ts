/**
 * The address of the monitor of a data directory's server, and the proof of its identity: another
 * server may use the configured address.
 */

import {
  type BigIntStats,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { giveToOwnerOfFolder } from './permissions.ts';

/** The header in which the monitor names its data directory. */
export const IDENTITY_HEADER = 'x-gatepost-data';
/** File with the address of the monitor of a running server. */
const MONITOR_FILE = 'gatepost.monitor';

/**
 * Returns an identifier of this data directory on this machine, the same for every path, another
 * for a copy; null: it does not exist, or is out of reach.
 */
export function identityOf(dataDir: string): string | null {
  let stats: BigIntStats;
  try {
    stats = statSync(dataDir, { bigint: true });
  } catch {
    return null;
  }
  const hash = new Bun.CryptoHasher('sha256').update(`${stats.dev}:${stats.ino}`);
  return hash.digest('hex').slice(0, 16);
}

/**
 * Returns a host for a URL: an IPv6 address in brackets.
 *
 * @example hostInUrl('::1') // '[::1]'
 */
export function hostInUrl(host: string): string {
  return host.includes(':') ? `[${host}]` : host;
}

/** The addresses that reach a server that listens on all addresses of this machine. */
const ANY_ADDRESS: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' };

/** Returns a host for a URL at which this machine reaches a server that listens on `host`. */
export const hereInUrl = (host: string): string => hostInUrl(ANY_ADDRESS[host] ?? host);

/** Writes the address of the monitor for {@link notedMonitor}; the last of several servers wins. */
export function noteMonitor(dataDir: string, url: string): void {
  const path = join(dataDir, MONITOR_FILE);
  const draft = `${path}.new`;
  writeFileSync(draft, `${url}\n`, { mode: 0o600 });
  giveToOwnerOfFolder(draft);
  renameSync(draft, path);
}

/** Deletes the noted address if it is still this one. */
export function forgetMonitor(dataDir: string, url: string): void {
  if (notedMonitor(dataDir) === url) rmSync(join(dataDir, MONITOR_FILE), { force: true });
}

/** Returns the noted address, perhaps of a killed server; null: none. */
export function notedMonitor(dataDir: string): string | null {
  try {
    const url = readFileSync(join(dataDir, MONITOR_FILE), 'utf8').trim();
    return /^http:\/\/[^\s/]+$/.test(url) ? url : null;
  } catch {
    return null;
  }
}

/**
 * The address at which the server of a data directory can be asked how it is, and the proof that it
 * is that one: the usual address may be another's.
 */

import { readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { giveToOwnerOfFolder } from './permissions.ts';

/** The header in which the monitor names its data directory. */
export const IDENTITY_HEADER = 'x-gatepost-data';
/** File that holds the monitor's address while a server runs. */
const MONITOR_FILE = 'gatepost.monitor';

/**
 * A name that tells this data directory from all others of the machine, by whatever path; null: it
 * is not there. A copy of it is another one.
 */
export function identityOf(dataDir: string): string | null {
  const stats = statSync(dataDir, { bigint: true, throwIfNoEntry: false });
  if (stats === undefined) return null;
  const hash = new Bun.CryptoHasher('sha256').update(`${stats.dev}:${stats.ino}`);
  return hash.digest('hex').slice(0, 16);
}

/** A host in the form that URLs need: an IPv6 address in brackets. */
export function hostInUrl(host: string): string {
  return host.includes(':') ? `[${host}]` : host;
}

/** Notes the monitor's address for {@link notedMonitor}. The last of several servers is noted. */
export function noteMonitor(dataDir: string, url: string): void {
  const path = join(dataDir, MONITOR_FILE);
  const draft = `${path}.new`;
  writeFileSync(draft, `${url}\n`, { mode: 0o600 });
  giveToOwnerOfFolder(draft);
  renameSync(draft, path);
}

/** Takes the note back, if it is still this one. */
export function forgetMonitor(dataDir: string, url: string): void {
  if (notedMonitor(dataDir) === url) rmSync(join(dataDir, MONITOR_FILE), { force: true });
}

/** The noted address; it may be that of a server that was killed. Null: none is noted. */
export function notedMonitor(dataDir: string): string | null {
  try {
    const url = readFileSync(join(dataDir, MONITOR_FILE), 'utf8').trim();
    return /^http:\/\/[^\s/]+$/.test(url) ? url : null;
  } catch {
    return null;
  }
}

/** Strict servers of push services, and a data directory with devices and webhooks at them. */

import { Database } from 'bun:sqlite';
import { join } from 'node:path';
import { startStrictServers } from '../test/servers/strict-servers.ts';
import { addPushDevices } from '../test/support/push-devices.ts';
import type { Bench } from './driver.ts';
import { providerCode } from './shape.ts';

/** Starts the servers; they end with this process. */
export async function startServers() {
  const servers = await startStrictServers();
  process.once('exit', () => process.kill(servers.pid, 'SIGKILL'));
  return servers;
}

/** Makes a data directory with devices at each gateway; returns the secrets of the webhooks. */
export function makeData(
  bench: Bench,
  dataDir: string,
  deviceCount: number,
  hooks: readonly string[] = [],
): string[] {
  bench.addProvider(dataDir);
  const db = new Database(join(dataDir, 'gatepost.db'), { strict: true });
  db.run('PRAGMA synchronous = OFF');
  for (const gateway of ['fcm', 'apns'] as const) {
    addPushDevices(db, { id: 1 }, gateway, deviceCount);
  }
  db.run('PRAGMA wal_checkpoint(TRUNCATE)');
  db.close(true);
  // The receivers of the webhooks are on this machine.
  const env = { GATEPOST_OUTGOING_ALLOW: '127.0.0.0/8' };
  return hooks.map((url) => {
    const words = ['webhook', 'add', '--url', url, '--provider', providerCode(1)];
    return JSON.parse(bench.command([...words, '--json', '--data', dataDir], env)).secret;
  });
}

/** The beginning of a bench of what goes out: strict servers, and a folder for the data. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startStrictServers } from '../test/servers/strict-servers.ts';
import { stopAll } from './process.ts';

/** Starts the servers; they end, and the folder goes, with this process. */
export async function startOutgoingBench() {
  const folder = mkdtempSync(join(tmpdir(), 'gatepost-bench-'));
  const servers = await startStrictServers();
  process.once('exit', () => {
    stopAll();
    process.kill(servers.pid, 'SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  });
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => process.exit(130));
  }
  return { folder, servers };
}

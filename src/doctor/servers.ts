/** Finds the servers that run on a data directory, by the lock that each shares. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { about, type Finding } from '../base/finding.ts';
import { sharersOf } from '../disk/lock-holder.ts';

/** Warns of a second server on a SQLite database, unless each is a service of its own. */
export function checkServers(dataDir: string): Finding[] {
  const pids = sharersOf(join(dataDir, 'gatepost-settings.lock'));
  if (pids.length < 2) return [];
  const say = about('server');
  const services = new Set(pids.map(serviceOf));
  const what = `${pids.length} servers run on ${dataDir} (processes ${pids.join(', ')})`;
  if (!services.has(null) && services.size === pids.length) return [say.ok(what)];
  return [
    say.warning(
      'two_servers_on_directory',
      what,
      "stop the one that you started by hand ('ps -fp PROCESS'); make several on purpose a service each",
    ),
  ];
}

/** Returns the unit that a process belongs to; null: none. */
const serviceOf = (pid: number): string | null =>
  /\/([^/\n]+\.service)(?:\/|$)/m.exec(read(`/proc/${pid}/cgroup`))?.[1] ?? null;

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

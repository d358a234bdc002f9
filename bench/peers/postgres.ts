/** A PostgreSQL of the bench's own: a new cluster, a Unix socket, nothing but local processes. */

import { chmodSync, chownSync, existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { onServerCore, type Server, serverOf, spawnKept } from '../process.ts';

/** Memory as its documentation advises; everything about durability stays as it comes. */
const SETTINGS = [
  'shared_buffers=512MB',
  'max_wal_size=1GB',
  'listen_addresses=',
  'log_min_messages=fatal',
];
const START_MAX_MS = 20_000;

interface Postgres {
  server: Server;
  socketFolder: string;
  checkpoint(): Promise<void>;
}

/** Finds a program of PostgreSQL: Debian keeps them by version, beside the path. */
function tool(name: string): string | null {
  const versions = '/usr/lib/postgresql';
  const found = existsSync(versions)
    ? readdirSync(versions).map((version) => join(versions, version, 'bin', name))
    : [];
  return found.findLast((path) => existsSync(path)) ?? Bun.which(name);
}

/** The user to run as: PostgreSQL refuses to run as root. */
function user(): { uid: number; gid: number } | null {
  const line = Bun.spawnSync(['getent', 'passwd', 'postgres']).stdout.toString().split(':');
  return line.length > 3 ? { uid: Number(line[2]), gid: Number(line[3]) } : null;
}

export function missingPostgres(): string | null {
  for (const name of ['initdb', 'postgres', 'psql']) {
    if (tool(name) === null) return `${name} (apt-get install postgresql)`;
  }
  return process.getuid?.() === 0 && user() === null ? 'a user postgres to run as' : null;
}

/** True once the server takes connections: the last line of its own file says so. */
function isReady(data: string): boolean {
  const file = join(data, 'postmaster.pid');
  return existsSync(file) && /^ready/m.test(readFileSync(file, 'utf8'));
}

/** On the server's core and a socket alone; with a `port`, on any core and on loopback too. */
export async function startPostgres(
  folder: string,
  env: Record<string, string>,
  port: number | null = null,
): Promise<Postgres> {
  const owner = process.getuid?.() === 0 ? user() : null;
  const as = owner
    ? ['setpriv', `--reuid=${owner.uid}`, `--regid=${owner.gid}`, '--clear-groups']
    : [];
  if (owner) {
    // Its user must reach its folder, and no more.
    chmodSync(join(folder, '..'), 0o711);
    chownSync(folder, owner.uid, owner.gid);
  }
  const data = join(folder, 'data');
  const words = ['-D', data, '-U', 'bench', '--auth=trust', '--no-sync', '-E', 'UTF8'];
  const made = Bun.spawnSync([...as, tool('initdb') ?? '', ...words]);
  if (made.exitCode !== 0) throw new Error(`initdb: ${made.stderr.toString()}`);
  const open = port === null ? [] : ['listen_addresses=127.0.0.1', `port=${port}`];
  const flags = [...SETTINGS, ...open, `unix_socket_directories=${folder}`].flatMap((each) => [
    '-c',
    each,
  ]);
  const command = [...as, tool('postgres') ?? '', '-D', data, ...flags];
  const child = spawnKept(port === null ? onServerCore(command) : command, env, 'SIGQUIT');
  const ask = async (sql: string) => {
    const psql = [
      tool('psql') ?? '',
      '-h',
      folder,
      '-p',
      String(port ?? 5432),
      '-U',
      'bench',
      '-c',
      sql,
      'postgres',
    ];
    return Bun.spawn(psql, { stdout: 'ignore', stderr: 'ignore' }).exited;
  };
  const startMs = performance.now();
  while (!isReady(data)) {
    if (performance.now() - startMs > START_MAX_MS) throw new Error('postgres did not start');
    await Bun.sleep(50);
  }
  return {
    server: serverOf(child, ''),
    socketFolder: folder,
    checkpoint: async () => {
      if ((await ask('CHECKPOINT')) !== 0) throw new Error('postgres made no checkpoint');
    },
  };
}

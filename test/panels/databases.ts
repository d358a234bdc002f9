/** Databases of panels that are no file, each with a user `panel`. */

import { afterAll } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePorts } from '../support/free-port.ts';
import { startPostgres } from '../support/postgres.ts';
import { plainEnv } from '../support/process.ts';
import { until } from '../support/until.ts';
import type { RealPanel } from './panel.ts';

/** Starts PostgreSQL with a database; returns its URL. It ends with this process. */
async function postgresFor(name: string): Promise<string> {
  const server = await startPostgres();
  const db = server.connect();
  await db.unsafe(`CREATE ROLE panel LOGIN PASSWORD 'made-up'`);
  await db.unsafe(`CREATE DATABASE ${name} OWNER panel`);
  await db.close();
  return `postgres://panel:made-up@127.0.0.1:${server.port}/${name}`;
}

// A run of tests ends without the event `exit` of the process.
const closers: (() => Promise<void>)[] = [];
afterAll(async () => {
  for (const close of closers.splice(0)) await close();
});

/** Starts MariaDB with a database; returns its URL. It ends with the tests of the file. */
async function mariadbFor(name: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'gatepost-mariadb-'));
  const [port = 0] = freePorts(1);
  const [data, socket] = [join(folder, 'data'), join(folder, 'socket')];
  const own = ['--no-defaults', '--user=root', `--datadir=${data}`];
  const made = Bun.spawnSync([
    ...['mariadb-install-db', ...own, '--auth-root-authentication-method=normal'],
    '--skip-test-db',
  ]);
  if (made.exitCode !== 0) throw new Error(`mariadb-install-db: ${made.stderr}`);
  const at = [`--port=${port}`, '--bind-address=127.0.0.1', `--socket=${socket}`];
  const child = Bun.spawn(
    ['mariadbd', ...own, ...at, `--pid-file=${folder}/pid`, '--innodb-buffer-pool-size=64M'],
    { env: plainEnv(), stdout: 'ignore', stderr: Bun.file(join(folder, 'log')) },
  );
  closers.push(async () => {
    child.kill('SIGKILL');
    await child.exited;
    rmSync(folder, { recursive: true, force: true });
  });
  const sql = (statement: string) =>
    Bun.spawnSync([
      'mariadb',
      '--no-defaults',
      `--socket=${socket}`,
      '--user=root',
      '-e',
      statement,
    ]).exitCode === 0;
  await until('MariaDB takes connections', () => sql('SELECT 1'));
  sql(`CREATE DATABASE ${name} CHARACTER SET utf8mb4;
    CREATE USER panel@'127.0.0.1' IDENTIFIED BY 'made-up';
    GRANT ALL ON *.* TO panel@'127.0.0.1'`);
  return `mysql://panel:made-up@127.0.0.1:${port}/${name}`;
}

/** Opens a panel on PostgreSQL or MariaDB; `envOf` returns what its script needs for a URL. */
export function openOn(
  kind: 'postgres' | 'mariadb',
  open: (source: string, env: Record<string, string>) => Promise<RealPanel>,
  envOf: (url: string) => Record<string, string>,
): (source: string) => Promise<RealPanel> {
  return async (source) => {
    const url = await (kind === 'postgres' ? postgresFor : mariadbFor)('panel');
    return { ...(await open(source, envOf(url))), database: { kind, url } };
  };
}

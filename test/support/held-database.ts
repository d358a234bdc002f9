/** Another process that holds a test's database against writers, as one that is frozen does. */

import { join } from 'node:path';
import { SQL } from 'bun';
import type { Looked } from './beside.ts';
import { superuserOf } from './postgres.ts';

interface Held {
  /** The number of the process, as the system or PostgreSQL counts it. */
  pid: number;
  release(): Promise<void>;
}

/** Begins a transaction in the file and waits for the end of its input. */
const HOLD = `
  const db = new (require('bun:sqlite').Database)(process.argv[1]);
  db.run(process.argv[2]);
  console.log('held');
  process.stdin.on('data', () => {}).on('end', () => db.run('ROLLBACK'));`;

/** Holds it until it is released; reads are answered. */
export function holdDatabase({ dataDir, database }: Looked): Promise<Held> {
  return database === null ? holdFile(dataDir) : holdTables(database.port, database.name);
}

/** Begins a transaction in the file by `begin`: against writers unless it is given. */
export async function holdFile(dataDir: string, begin = 'BEGIN IMMEDIATE'): Promise<Held> {
  const words = [process.execPath, '-e', HOLD, join(dataDir, 'gatepost.db'), begin];
  const child = Bun.spawn(words, { stdin: 'pipe', stdout: 'pipe' });
  await child.stdout.getReader().read();
  return {
    pid: child.pid,
    release: async () => {
      child.kill('SIGCONT');
      child.stdin.end();
      await child.exited;
    },
  };
}

async function holdTables(port: number, name: string): Promise<Held> {
  const own = { application_name: 'another/node' };
  const db = new SQL({ ...superuserOf(port, name), connection: own } as SQL.PostgresOrMySQLOptions);
  const [tables] = await db`
    SELECT string_agg(format('%I.%I', schemaname, tablename), ', ') AS list FROM pg_tables
    WHERE schemaname NOT IN ('pg_catalog', 'information_schema')`;
  await db.unsafe('BEGIN');
  await db.unsafe(`LOCK TABLE ${tables.list} IN SHARE MODE`);
  const [session] = await db`SELECT pg_backend_pid() AS pid`;
  return {
    pid: Number(session.pid),
    release: async () => {
      await db.unsafe('ROLLBACK');
      await db.close();
    },
  };
}

/** Databases on the tests' PostgreSQL: each fresh and empty, with the schema of the program. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SQL } from 'bun';
import { MIGRATIONS } from '../../migrations/postgres/index.ts';
import { openPlace } from './place.ts';
import { type Postgres, ROLE, sharedPostgres } from './postgres.ts';
import { until } from './until.ts';

/** Of this schema: a server of the developer's outlives it. */
const TEMPLATE = `gatepost_template_${Bun.hash(schemaText()).toString(36)}`;
/** Files of a table above which it is quicker to begin a new one than to delete the rows, bytes. */
const DELETED_MAX = 1024 * 1024;

/** A database of one test, as the role that owns it is let in. */
export interface TestDatabase {
  name: string;
  port: number;
  /** `postgres://gatepost@127.0.0.1:PORT/NAME`, without a password. */
  url: string;
  /** A superuser's look at it from outside, past the store. One connection. */
  sql: SQL;
  /** Makes it what it was when it was copied. Connections to it stay open. */
  empty(): Promise<void>;
  /** Ends its connections and empties it: the next test gets it as a fresh one. */
  drop(): Promise<void>;
}

/** Of a lock that another holds. */
const LOCK_NOT_AVAILABLE = '55P03';
/** The connection has made nothing of its own yet. */
const INVALID_SCHEMA_NAME = '3F000';
/** What makes a database what it was when it was copied: in each connection, once it is made. */
const EMPTY = 'SELECT pg_temp.empty_all()';

const END_CONNECTIONS = `
  SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid() AND application_name <> 'empties'`;

/** Drawn: a system with 32,768 processes gives the same number twice in one run. */
const PROCESS = crypto.randomUUID().slice(0, 8);
let made = 0;
const unused: TestDatabase[] = [];
const templates = new Map<number, Promise<string>>();

/** A fresh database with the schema in it, on the server that tests share unless given. */
export async function freshDatabase(server?: Postgres): Promise<TestDatabase> {
  if (server === undefined) {
    const database = unused.pop();
    if (database !== undefined) return database;
  }
  const on = server ?? (await sharedPostgres());
  let template = templates.get(on.port);
  if (template === undefined) {
    template = makeTemplate(on);
    templates.set(on.port, template);
  }
  const emptying = await template;
  made += 1;
  const name = `gatepost_${PROCESS}_${made}`;
  await withAdmin(on, (db) =>
    db.unsafe(`CREATE DATABASE ${name} TEMPLATE ${TEMPLATE} OWNER ${ROLE}`),
  );
  const sql = on.connect(name);
  // Of its own, where no trigger fires: plans are made anew whenever that changes.
  const emptier = on.connect(name);
  const database: TestDatabase = {
    name,
    port: on.port,
    url: urlOf(on, name),
    sql,
    empty: async () => {
      await until('no writer holds a table', () => isEmptied(emptier, emptying));
    },
    drop: async () => {
      await sql.unsafe(END_CONNECTIONS);
      await emptied(emptier, emptying);
      if (server === undefined) return void unused.push(database);
      await sql.close();
      await emptier.close();
    },
  };
  return database;
}

/** A database with nothing in it, not even the schema; `how` it is made, in SQL. */
export async function bareDatabase(server?: Postgres, how = ''): Promise<TestDatabase> {
  const on = server ?? (await sharedPostgres());
  made += 1;
  const name = `gatepost_${PROCESS}_${made}`;
  await withAdmin(on, (db) => db.unsafe(`CREATE DATABASE ${name} OWNER ${ROLE} ${how}`));
  const sql = on.connect(name);
  const drop = async () => {
    await sql.close();
    await withAdmin(on, (db) => db.unsafe(`DROP DATABASE ${name} WITH (FORCE)`));
  };
  const empty = () => Promise.reject(new Error(`${name} has no template`));
  return { name, port: on.port, url: urlOf(on, name), sql, empty, drop };
}

const urlOf = ({ port }: Postgres, name: string) => `postgres://${ROLE}@127.0.0.1:${port}/${name}`;

async function withAdmin<T>(server: Postgres, work: (db: SQL) => Promise<T>): Promise<T> {
  const db = server.connect();
  try {
    return await work(db);
  } finally {
    await db.close();
  }
}

/** Makes the template, unless another process has; returns what empties a copy of it. */
async function makeTemplate(server: Postgres): Promise<string> {
  await withAdmin(server, async (db) => {
    // Until the connection ends. Processes that come meanwhile wait.
    await db`SELECT pg_advisory_lock(1)`;
    const [known] = await db`SELECT 1 FROM pg_database WHERE datname = ${TEMPLATE}`;
    if (known !== undefined) return;
    const making = `${TEMPLATE}_making`;
    await db.unsafe(`DROP DATABASE IF EXISTS ${making} WITH (FORCE)`);
    await db.unsafe(`CREATE DATABASE ${making} OWNER ${ROLE}`);
    const place = { dataDir: '', databaseUrl: urlOf(server, making) };
    const store = await openPlace(place, { create: true, migrates: true });
    await store.close();
    await db.unsafe(`ALTER DATABASE ${making} RENAME TO ${TEMPLATE}`);
  });
  const db = server.connect(TEMPLATE);
  try {
    return await emptyingOf(db);
  } finally {
    await db.close();
  }
}

interface TableOfTemplate {
  name: string;
  /** Its rows as JSON; null: it has none. */
  rows: string | null;
}

/** Empties a database; returns false if an open store was writing: to wait could be a deadlock. */
async function isEmptied(sql: SQL, making: string): Promise<boolean> {
  try {
    await emptied(sql, making);
    return true;
  } catch (error) {
    if ((error as { errno?: string }).errno !== LOCK_NOT_AVAILABLE) throw error;
    return false;
  }
}

/** `making` makes what empties in this connection: its statements are planned once. */
async function emptied(sql: SQL, making: string): Promise<void> {
  try {
    await sql.unsafe(EMPTY);
  } catch (error) {
    if ((error as { errno?: string }).errno !== INVALID_SCHEMA_NAME) throw error;
    await sql.unsafe(making);
    await sql.unsafe(EMPTY);
  }
}

/** Makes the function that makes a database what it was when it was copied. */
async function emptyingOf(db: SQL): Promise<string> {
  const names: { name: string }[] = await db`
    SELECT quote_ident(tablename) AS name FROM pg_tables WHERE schemaname = 'public'`;
  const tables: TableOfTemplate[] = [];
  for (const { name } of names) {
    const [found] = await db.unsafe(`SELECT json_agg(t)::text AS rows FROM ${name} t`);
    tables.push({ name, rows: found.rows });
  }
  const filled = tables.filter(({ rows }) => rows !== null);
  return `
    SET session_replication_role = replica;
    SET application_name = 'empties';
    CREATE FUNCTION pg_temp.empty_all() RETURNS void LANGUAGE plpgsql AS $body$ BEGIN
      LOCK TABLE ${tables.map(({ name }) => name)} IN ACCESS EXCLUSIVE MODE NOWAIT;
      ${tables.map(clear).join('')}
      ${filled.map(refill).join('')}
      PERFORM setval(seqrelid::regclass, seqstart, false) FROM pg_sequence;
    END $body$`;
}

const clear = ({ name }: TableOfTemplate) => `
  IF pg_relation_size('${name}') > ${DELETED_MAX} THEN TRUNCATE ${name} CASCADE;
  ELSE DELETE FROM ${name}; END IF;`;

function refill({ name, rows }: TableOfTemplate): string {
  const text = (rows ?? '').replaceAll("'", "''");
  return `INSERT INTO ${name} SELECT * FROM json_populate_recordset(NULL::${name}, '${text}');`;
}

/** All that a schema is made of: another one for each. */
function schemaText(): string {
  const migrate = join(import.meta.dir, '../../src/store/postgres/migrate.ts');
  return [...MIGRATIONS, readFileSync(migrate, 'utf8')].join();
}

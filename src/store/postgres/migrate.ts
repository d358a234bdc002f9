/**
 * Migrates a database in one transaction. Nodes wait for each other at the row of
 * `gatepost_schema`, which has the schema's version and the oldest version whose programs can use
 * it during an upgrade.
 */

import type { SQL } from 'bun';
import { MIGRATIONS } from '../../../migrations/postgres/index.ts';
import { messageOf, OperatorError } from '../../base/operator-error.ts';
import { VERSION } from '../../base/version.ts';
import { newerText } from '../findings.ts';
import type { StoreOptions } from '../kind.ts';
import { sql } from '../statement-text.ts';
import type { Ban } from './database-options.ts';
import { sqlStateOf } from './fault.ts';
import { CHANNEL, SCHEMA_CHANGED } from './signals.ts';
import { prepare, type Runner } from './statement.ts';

export const SCHEMA_VERSION = MIGRATIONS.length;

/** The oldest schema whose programs can use this one. */
export const READABLE_FROM = SCHEMA_VERSION;

/** The oldest PostgreSQL with all features that the statements use. */
export const MAJOR_MIN = 15;

/** Longest wait for another migrating node, and for a lock on a table, ms. */
const MIGRATION_WAIT_MS = 60_000;
const TABLE_WAIT_MS = 5_000;
/** Attempts when another node creates the first table at the same time. */
const ATTEMPTS_MAX = 3;

/** Runs statements separated by semicolons on one connection; returns the rows of a single one. */
export type Ask = (text: string) => Promise<readonly Readonly<Record<string, unknown>>[]>;

/** The mark of a database that is not in use: `left`, or `arriving` while a move is unfinished. */
export type MoveMark = 'left' | 'arriving';

/** The schema of a database. */
interface SchemaState {
  version: number;
  /** The oldest schema whose programs can use it. */
  readableFrom: number;
  /** Null: it is in use. */
  move: MoveMark | null;
  /** The version of the program that migrated it last; null: unknown. */
  program: string | null;
  /** Where the data moved, for people; null: unknown. */
  movedTo: string | null;
}

/** Permission to create the schema in an empty database, and to migrate an older one. */
export interface MigrationRights {
  create: boolean;
  migrates: boolean;
  /** Permission to use a database with a mark, for a move. */
  moves?: boolean;
  onMigration?: StoreOptions['onMigration'];
}

/** Runs `use` on a separate connection, and closes it. */
export async function withConnection<T>(
  options: SQL.PostgresOrMySQLOptions,
  use: (ask: Ask) => Promise<T>,
): Promise<T> {
  const db = new Bun.SQL({ ...options, max: 1 });
  try {
    return await use((text) => db.unsafe(text).simple());
  } finally {
    await db.close({ timeout: 0 });
  }
}

/** Reads the schema of a database; null: it has no Gatepost schema. */
export async function schemaOf(ask: Ask): Promise<SchemaState | null> {
  const [found] = await ask(`SELECT to_regclass('gatepost_schema') IS NOT NULL AS "isThere"`);
  if (found?.['isThere'] !== true) return null;
  // The columns of another schema may be others.
  const [row] = await ask('SELECT * FROM gatepost_schema');
  if (row === undefined) return null;
  const { version, readable_from: readableFrom, move, program, moved_to: movedTo } = row;
  return {
    version: Number(version),
    readableFrom: Number(readableFrom),
    move: move === 'left' || move === 'arriving' ? move : null,
    program: typeof program === 'string' ? program : null,
    movedTo: typeof movedTo === 'string' ? movedTo : null,
  };
}

/** Returns true if this program can use the schema. */
export function isUsable({
  version,
  readableFrom,
}: Pick<SchemaState, 'version' | 'readableFrom'>): boolean {
  return version === SCHEMA_VERSION || (version > SCHEMA_VERSION && readableFrom <= SCHEMA_VERSION);
}

export type Marks = Pick<SchemaState, 'readableFrom' | 'move'>;

/** Columns of `gatepost_schema`, as {@link banOf} takes them. */
export const MARKS = sql.raw('readable_from AS "readableFrom", move');

const marks = prepare<Marks>(sql`SELECT ${MARKS} FROM gatepost_schema`);

/** Returns the reason; null: none. */
export function banOf(found: Marks | null): Ban | null {
  if (found === null || found.readableFrom > SCHEMA_VERSION) return 'schema_newer';
  return found.move === null ? null : 'database_moved';
}

/** Returns why an open database must not be used: a newer program migrated it, or data moved. */
export async function findBan(on: Runner): Promise<Ban | null> {
  return banOf(await marks.get(on));
}

/**
 * Creates or migrates the schema if allowed. Otherwise changes nothing and throws
 * {@link OperatorError}.
 */
export async function migrate(ask: Ask, rights: MigrationRights): Promise<void> {
  const { create, migrates, moves = false } = rights;
  const state = await schemaOf(ask);
  if (state !== null && !moves) refuseMoved(state);
  if (state !== null && isUsable(state)) return;
  if (state !== null) refuseNewer(state);
  if (state === null && !create) {
    throw new OperatorError(
      `there is no Gatepost in the database: start 'gatepost serve' or add a provider first`,
      'database_missing',
    );
  }
  if (state !== null && !migrates) {
    throw new OperatorError(
      `the database has schema ${state.version}, this program needs ${SCHEMA_VERSION}: restart 'gatepost serve' with this version first`,
      'database_older',
    );
  }
  await refuseServer(ask);
  if (state !== null) await rights.onMigration?.(state.version, SCHEMA_VERSION);
  for (let attempt = 1; ; attempt++) {
    try {
      return await runMissing(ask);
    } catch (fault) {
      const mayBeDone = BY_ANOTHER_NODE.test(sqlStateOf(fault)) && attempt < ATTEMPTS_MAX;
      if (!mayBeDone || (await schemaOf(ask)) === null) throw explain(fault);
    }
  }
}

function refuseMoved({ move, movedTo }: SchemaState): void {
  if (move === null) return;
  throw new OperatorError(
    move === 'left'
      ? `the data of this database moved to ${movedTo ?? 'a file'}: leave out database.url, or bring them back with 'gatepost move-database'`
      : `the data of this database have not all arrived: run 'gatepost move-database' again, or name another database`,
    'database_moved',
  );
}

/** Throws {@link OperatorError} for the schema of a newer program that this program cannot use. */
function refuseNewer(state: SchemaState): void {
  if (state.version <= SCHEMA_VERSION || isUsable(state)) return;
  const text = newerText(state.version, SCHEMA_VERSION, state.program);
  throw new OperatorError(`the database has ${text}; nothing was changed`, 'database_newer');
}

/** Throws {@link OperatorError} if the server is unfit for the schema. */
export async function refuseServer(ask: Ask): Promise<void> {
  const [server] = await ask(`SELECT current_setting('server_version_num')::int / 10000 AS major,
    current_setting('server_version') AS version, current_setting('server_encoding') AS encoding`);
  if (Number(server?.['major']) < MAJOR_MIN) {
    throw new OperatorError(
      `the database is PostgreSQL ${server?.['version']}: ${MAJOR_MIN} or newer is needed`,
    );
  }
  if (server?.['encoding'] !== 'UTF8') {
    throw new OperatorError(
      `the database has the encoding ${server?.['encoding']}: make it with ENCODING 'UTF8'`,
    );
  }
}

/** Runs the missing migrations in one transaction: all of them or none. */
async function runMissing(ask: Ask): Promise<void> {
  await ask('BEGIN');
  try {
    await ask(`SET LOCAL statement_timeout = 0;
      SET LOCAL idle_in_transaction_session_timeout = 0;
      SET LOCAL lock_timeout = ${MIGRATION_WAIT_MS}`);
    if ((await schemaOf(ask)) === null) {
      await ask(`CREATE TABLE gatepost_schema (
          id bigint PRIMARY KEY,
          version bigint NOT NULL,
          readable_from bigint NOT NULL,
          move text COLLATE "C",
          CONSTRAINT gatepost_schema_once CHECK (id = 1),
          CONSTRAINT gatepost_schema_move CHECK (move IN ('left', 'arriving'))
        );
        INSERT INTO gatepost_schema (id, version, readable_from) VALUES (1, 0, 0)`);
    }
    await ask('SELECT FROM gatepost_schema FOR UPDATE');
    // Read again under the lock: another node may have migrated meanwhile.
    const state = await schemaOf(ask);
    if (state !== null) refuseNewer(state);
    // A statement that waits for a table delays all later statements on it.
    await ask(`SET LOCAL lock_timeout = ${TABLE_WAIT_MS}`);
    const missing = MIGRATIONS.slice(state?.version ?? 0);
    for (const migration of missing) await ask(migration);
    if (missing.length > 0) {
      await ask(`UPDATE gatepost_schema
        SET version = ${SCHEMA_VERSION}, readable_from = ${READABLE_FROM}, program = '${VERSION}'`);
      // Nodes of older programs check at once whether they can still use it.
      await ask(`SELECT pg_notify('${CHANNEL}', '${SCHEMA_CHANGED}')`);
    }
    await ask('COMMIT');
  } catch (fault) {
    await ask('ROLLBACK').catch(() => undefined);
    throw fault;
  }
}

/** Faults of one that creates tables which another node created a moment ago. */
const BY_ANOTHER_NODE = /^(23505|42P07|42710|42723|40001|40P01)$/;

const NOT_OURS = 'the database belongs to something else: give Gatepost one of its own';
/** Faults of a migration in the operator's words, by SQLSTATE. */
const EXPLANATIONS: Readonly<Record<string, string>> = {
  '55P03':
    'the schema cannot be changed now: another node changes it, or a long statement uses it; try again',
  '42501': 'the role may not create tables: make it the owner of the database',
  '42P07': NOT_OURS,
  '42710': NOT_OURS,
  '42723': NOT_OURS,
  '0A000': 'the database lacks a feature that the schema needs',
  '25006': 'the database takes no writes: it is a standby, or set so',
};

function explain(fault: unknown): unknown {
  const state = sqlStateOf(fault);
  const what = EXPLANATIONS[state];
  if (what === undefined) return fault;
  if (state === '55P03') return new OperatorError(what, 'locked');
  return new OperatorError(state === '25006' ? what : `${what} (${messageOf(fault)})`);
}

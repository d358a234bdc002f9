/**
 * Compares a schema with the migrations' schema, because a foreign trigger would run with our
 * rights.
 */

import { Database } from 'bun:sqlite';
import { MIGRATIONS } from '../../../../migrations/sqlite/index.ts';
import { SCHEMA_VERSION } from './migrate.ts';

interface SchemaRow {
  type: string;
  name: string;
  tbl_name: string;
  sql: string | null;
}

const SCHEMA_ROWS = 'SELECT type, name, tbl_name, sql FROM sqlite_schema';
/** More rows than any schema of ours has; the rest of a file's schema need not be read. */
const ROWS_MAX = 2_000;

/** Finds the first foreign or missing part, as `trigger "x"`; null: none. Runs nothing. */
export function findForeignSchema(db: Database, version: number): string | null {
  if (!Number.isInteger(version) || version < 1 || version > SCHEMA_VERSION) {
    return `schema ${version}`;
  }
  const expected = new Set(schemaOf(version).map(shapeText));
  const present = db.query<SchemaRow, []>(`${SCHEMA_ROWS} LIMIT ${ROWS_MAX}`).all();
  const strange = present.find((row) => !expected.delete(shapeText(row)) && !isHarmless(row));
  if (strange !== undefined) return describe(strange.type, strange.name);
  const [missing] = expected;
  if (missing === undefined) return null;
  const [type = '', name = ''] = missing.split('\n');
  return `no ${describe(type, name)} as it should be`;
}

/** The schema that the migrations up to `version` make. */
function schemaOf(version: number): SchemaRow[] {
  const db = new Database(':memory:');
  try {
    for (const migration of MIGRATIONS.slice(0, version)) db.run(migration);
    return db.query<SchemaRow, []>(SCHEMA_ROWS).all();
  } finally {
    db.close();
  }
}

/** Makes a name printable, whatever it contains. */
function describe(type: string, name: string): string {
  const shown = (text: string) => text.replace(/[^\x20-\x7e]/g, '?').slice(0, 64);
  return `${shown(type)} "${shown(name)}"`;
}

/** Returns the same text for all spellings of a statement: ignores blanks and quotes of names. */
function shapeText({ type, name, tbl_name, sql }: SchemaRow): string {
  return [type, name, tbl_name, sql === null ? '' : normalised(sql)].join('\n');
}

/** Drops blanks and quotes of names; strings in single quotes stay unchanged. */
function normalised(sql: string): string {
  return sql
    .split(/('(?:[^']|'')*')/)
    .map((part, at) =>
      at % 2 === 1 ? part : part.replace(/["`[\]]/g, '').replace(/\s*([(),;=<>]|\s)\s*/g, '$1'),
    )
    .join('')
    .trim();
}

/** Tables that SQLite makes for its planner, and a replicator's. */
const HARMLESS = new Set([
  'CREATE TABLE sqlite_stat1(tbl,idx,stat)',
  'CREATE TABLE sqlite_stat4(tbl,idx,neq,nlt,ndlt,sample)',
  'CREATE TABLE _litestream_seq(id INTEGER PRIMARY KEY,seq INTEGER)',
  'CREATE TABLE _litestream_lock(id INTEGER)',
]);

function isHarmless({ type, name, tbl_name, sql }: SchemaRow): boolean {
  if (type !== 'table' || name !== tbl_name || sql === null) return false;
  return HARMLESS.has(normalised(sql));
}

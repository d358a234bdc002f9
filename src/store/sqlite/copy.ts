/** A copy of the database as it is at one moment, made beside servers; and what is in a file. */

import { Database } from 'bun:sqlite';
import { join } from 'node:path';
import { OperatorError } from '../../operator-error.ts';
import { APPLICATION_ID, pragmaNumber } from './migrate.ts';
import { checkDirectory, DATABASE_FILE, holdDatabase, inspect } from './open.ts';

/** How long SQLite waits for a lock, ms: no server waits for this process. */
const BUSY_TIMEOUT_MS = 10_000;
/** Page cache. Not the file as memory, of which a process would seem to hold all, KiB. */
const CACHE_KIB = 32 * 1024;

/**
 * Writes the database in `dataDir` to the new file `target`, as it is when this is called: one
 * snapshot, with everything that was committed before. Servers go on reading and writing meanwhile;
 * their log grows until the copy is complete. Blocks the caller, so it belongs in a process of its
 * own. Throws `OperatorError` when there is no database, or SQLite's error.
 */
export function copyDatabase(dataDir: string, target: string): void {
  checkDirectory(dataDir, false);
  const file = join(dataDir, DATABASE_FILE);
  if (!hasDatabase(dataDir)) throw new OperatorError(`there is no Gatepost database in ${dataDir}`);
  const release = holdDatabase(dataDir);
  const reader = openCopying(file);
  try {
    // For the copy alone: it is worthless until whoever asked for it has put it on disk.
    reader.run('PRAGMA synchronous = OFF');
    const copy = reader.prepare('VACUUM INTO ?');
    copy.run(target);
    copy.finalize();
  } finally {
    // Before closing: a last connection that does not wait for the disk loses commits.
    reader.run('PRAGMA synchronous = FULL');
    try {
      catchUp(reader);
    } finally {
      reader.close();
      release();
    }
  }
}

/** Is there a database that this program knows, of its own schema or an older one? */
export function hasDatabase(dataDir: string): boolean {
  return (
    Bun.file(join(dataDir, DATABASE_FILE)).size > 0 && inspect(join(dataDir, DATABASE_FILE)) > 0
  );
}

function openCopying(file: string): Database {
  const db = new Database(file, { readwrite: true, strict: true });
  db.run(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
  db.run(`PRAGMA cache_size = -${CACHE_KIB}`);
  return db;
}

/**
 * Carries what was written during the copy from the log into the database here, at once, without
 * holding up anybody; otherwise the first commit of a server would do it, and its callers wait.
 */
function catchUp(db: Database): void {
  db.run('PRAGMA wal_checkpoint(PASSIVE)');
}

/** What is in a database file, found by reading all of it. */
export interface Contents {
  schema: number;
  /** How many rows each table has. */
  rows: Readonly<Record<string, number>>;
}

/**
 * Reads all of a database file that nobody else uses. Throws {@link OperatorError} that names what
 * is wrong: with its structure, its references, or that it is not Gatepost's.
 */
export function examineDatabase(file: string): Contents {
  const db = new Database(file, { readonly: true, strict: true });
  try {
    db.run(`PRAGMA cache_size = -${CACHE_KIB}`);
    const wrong = findDamage(db);
    if (wrong !== null) throw new OperatorError(`the database is damaged (${wrong})`);
    if (pragmaNumber(db, 'application_id') !== APPLICATION_ID) {
      throw new OperatorError('the database is not one of Gatepost');
    }
    return { schema: pragmaNumber(db, 'user_version'), rows: rowCounts(db) };
  } finally {
    db.close();
  }
}

/** The first thing that is wrong with structure, indexes, constraints or references; null: none. */
export function findDamage(
  db: Database,
  check: 'integrity_check' | 'quick_check' = 'integrity_check',
) {
  const [first] = db.query<Record<string, string>, []>(`PRAGMA ${check}(1)`).all();
  const found = first?.[check];
  if (found !== 'ok') return String(found ?? 'the check gave no answer');
  const orphan = db.query<{ table: string }, []>('PRAGMA foreign_key_check').get();
  return orphan === null ? null : `a row of ${orphan.table} points nowhere`;
}

export function tableNames(db: Database): string[] {
  return db
    .query<{ name: string }, []>(
      `SELECT name FROM sqlite_schema
       WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name`,
    )
    .all()
    .map(({ name }) => name);
}

/** A name as SQL has it, whatever is in it. */
export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

function rowCounts(db: Database): Record<string, number> {
  const count = (table: string) =>
    db.query<{ count: number }, []>(`SELECT count(*) AS count FROM ${quoted(table)}`).get()
      ?.count ?? 0;
  return Object.fromEntries(tableNames(db).map((table) => [table, count(table)]));
}

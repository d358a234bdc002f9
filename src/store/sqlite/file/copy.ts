/** Copies the database while servers run, and reads the contents of a database file. */

import { Database, SQLiteError } from 'bun:sqlite';
import { join } from 'node:path';
import { OperatorError } from '../../../base/operator-error.ts';
import { isReadOnly } from '../../../disk/fault.ts';
import type { Contents } from '../../kind.ts';
import { APPLICATION_ID, pragmaNumber } from './migrate.ts';
import { checkDirectory, DATABASE_FILE, holdDatabase, openToLook } from './open.ts';
import { findForeignSchema } from './shape.ts';

/** Time that SQLite waits for a lock, ms: this process serves no requests. */
const BUSY_TIMEOUT_MS = 10_000;
/** Page cache, KiB. With a memory map the process would seem to use the size of the file. */
const CACHE_KIB = 8 * 1024;

/**
 * Writes one snapshot of the database in `dataDir` to the new file `target`, while servers read and
 * write. Blocks, so it belongs in a separate process. Throws `OperatorError` if the directory is
 * not writable or a restore is running, or SQLite's error.
 */
export function copyDatabase(dataDir: string, target: string): void {
  checkDirectory(dataDir, false);
  const file = join(dataDir, DATABASE_FILE);
  const release = holdDatabase(dataDir);
  const reader = new Database(file, { readwrite: true, strict: true });
  try {
    prepareCopying(reader);
    // For the copy alone, which is unused until the caller has synced it.
    reader.run('PRAGMA synchronous = OFF');
    const copy = reader.prepare('VACUUM INTO ?');
    copy.run(target);
    copy.finalize();
  } finally {
    // Before the close: if the last connection does not sync, commits may be lost.
    reader.run('PRAGMA synchronous = FULL');
    try {
      // For the writes during the copy; else the first commit of a server would do it.
      reader.run('PRAGMA wal_checkpoint(PASSIVE)');
    } finally {
      reader.close();
      release();
    }
  }
}

/** Copies into memory, which takes the size of the database, if the disk is full or read-only. */
export function copyIntoMemory(dataDir: string): { bytes: Uint8Array; contents: Contents } {
  const file = join(dataDir, DATABASE_FILE);
  const release = holdDatabase(dataDir);
  const reader = isReadOnly(dataDir)
    ? openToLook(file)
    : new Database(file, { readwrite: true, strict: true });
  try {
    prepareCopying(reader);
    reader.run('BEGIN');
    const contents = contentsOf(reader);
    const bytes = reader.serialize();
    reader.run('COMMIT');
    bytes.set(NO_LOG.bytes, NO_LOG.at);
    return { bytes, contents };
  } finally {
    reader.close();
    release();
  }
}

/** Bytes of the header of a database that needs no log beside it; VACUUM INTO writes them. */
export const NO_LOG = { at: 18, bytes: Uint8Array.of(1, 1) } as const;

/** Returns the largest size that a copy of the database can have, bytes. */
export function copyBytesMax(dataDir: string): number {
  const file = join(dataDir, DATABASE_FILE);
  return Bun.file(file).size + Bun.file(`${file}-wal`).size;
}

function prepareCopying(db: Database): void {
  db.run(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
  db.run(`PRAGMA cache_size = -${CACHE_KIB}`);
}

/** Opens a database file for {@link contentsOf}: it may lose its name, and be empty at first. */
export const openToExamine = (file: string) => new Database(file, { readonly: true, strict: true });

/** Returns the contents of a database file that no other process uses. */
export function examineDatabase(file: string): Contents {
  const db = openToExamine(file);
  try {
    return contentsOf(db);
  } finally {
    db.close();
  }
}

/** Reads all. Throws {@link OperatorError} for damage or a database that is not Gatepost's. */
export function contentsOf(db: Database): Contents {
  db.run(`PRAGMA cache_size = -${CACHE_KIB}`);
  if (pragmaNumber(db, 'application_id') !== APPLICATION_ID) {
    throw new OperatorError('the database is not one of Gatepost');
  }
  const schema = pragmaNumber(db, 'user_version');
  // First, because parts of a schema, such as an index over an expression, run in the other checks.
  const foreign = findForeignSchema(db, schema);
  if (foreign !== null) {
    throw new OperatorError(`the database has ${foreign}, which is not of schema ${schema}`);
  }
  const wrong = findDamage(db);
  if (wrong !== null) {
    throw new OperatorError(`the database is damaged (${wrong})`, 'database_damaged');
  }
  const rows = tableNames(db).map((table) => {
    const count = db.query<{ n: number }, []>(`SELECT count(*) AS n FROM ${quoted(table)}`);
    return [table, count.get()?.n ?? 0] as const;
  });
  return { schema, rows: Object.fromEntries(rows) };
}

/** Returns the first fault of structure, indexes, constraints or references; null: none. */
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

/**
 * Turns SQLite's error about a damaged database into a sentence; returns other errors unchanged.
 */
export function asDamage(fault: unknown, dataDir: string): unknown {
  if (!(fault instanceof SQLiteError && /^SQLITE_(CORRUPT|NOTADB)/.test(fault.code ?? ''))) {
    return fault;
  }
  return new OperatorError(
    `the database in ${dataDir} is damaged (${fault.message}) and cannot be copied: see 'gatepost doctor'`,
    'database_damaged',
  );
}

/** Quotes a name for SQL. */
export const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`;

/** Copies of the database at one moment, made beside servers; and the contents of a file. */

import { Database, SQLiteError } from 'bun:sqlite';
import { join } from 'node:path';
import { isReadOnly } from '../../../disk/fault.ts';
import { freeBytes } from '../../../disk/room.ts';
import { OperatorError } from '../../../operator-error.ts';
import type { Contents } from '../../kind.ts';
import { APPLICATION_ID, pragmaNumber } from './migrate.ts';
import { checkDirectory, DATABASE_FILE, holdDatabase, inspect, openToLook } from './open.ts';
import { findForeignSchema } from './shape.ts';

/** Time that SQLite waits for a lock, ms: no server waits for this process. */
const BUSY_TIMEOUT_MS = 10_000;
/** Page cache, KiB. With the file mapped as memory, a process would seem to hold all of it. */
const CACHE_KIB = 8 * 1024;

/**
 * Writes the database in `dataDir` to the new file `target`: one snapshot, with everything that was
 * committed before the call. Servers go on reading and writing meanwhile; their log grows until the
 * copy is complete. Blocks the caller, so it belongs in a process of its own. Throws
 * `OperatorError` when the directory takes no writes or a restore is under way, or SQLite's error.
 */
export function copyDatabase(dataDir: string, target: string): void {
  checkDirectory(dataDir, false);
  const file = join(dataDir, DATABASE_FILE);
  const release = holdDatabase(dataDir);
  const reader = new Database(file, { readwrite: true, strict: true });
  try {
    prepareCopying(reader);
    // For the copy alone: it is worthless until the caller has put it on disk.
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

/**
 * Copies into memory, for a disk that has no room for a copy or takes none; changes nothing there.
 * Takes as much memory as the database has bytes.
 */
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

/** Bytes of the header of a database that needs no log beside it, as VACUUM INTO writes them. */
export const NO_LOG = { at: 18, bytes: Uint8Array.of(1, 1) } as const;

/** Most bytes that a copy of the database can have. */
export function copyBytesMax(dataDir: string): number {
  const file = join(dataDir, DATABASE_FILE);
  return Bun.file(file).size + Bun.file(`${file}-wal`).size;
}

/** Tells whether a copy can lie beside the database. */
export function hasRoomForCopy(dataDir: string, spareBytes: number): boolean {
  return !isReadOnly(dataDir) && freeBytes(dataDir) >= copyBytesMax(dataDir) + spareBytes;
}

/** Tells whether there is a database that this program knows, of its schema or an older one. */
export function hasDatabase(dataDir: string): boolean {
  const file = join(dataDir, DATABASE_FILE);
  return Bun.file(file).size > 0 && inspect(file) > 0;
}

function prepareCopying(db: Database): void {
  db.run(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
  db.run(`PRAGMA cache_size = -${CACHE_KIB}`);
}

/**
 * Carries the writes that came during the copy from the log into the database, at once and without
 * holding up anybody; otherwise the first commit of a server would do it, and its callers wait.
 */
function catchUp(db: Database): void {
  db.run('PRAGMA wal_checkpoint(PASSIVE)');
}

/** A look at a database file, which may lose its name meanwhile, and be empty at first. */
export class Examination {
  readonly #db: Database;

  constructor(file: string) {
    this.#db = new Database(file, { readonly: true, strict: true });
  }

  /**
   * Reads all of it. Throws {@link OperatorError} that names what is wrong: with its structure, its
   * references, its schema, or that it is not Gatepost's.
   */
  contents(): Contents {
    this.#db.run(`PRAGMA cache_size = -${CACHE_KIB}`);
    return contentsOf(this.#db);
  }

  close(): void {
    this.#db.close();
  }
}

/** The contents of a database file that nobody else uses, by an {@link Examination}. */
export function examineDatabase(file: string): Contents {
  const examination = new Examination(file);
  try {
    return examination.contents();
  } finally {
    examination.close();
  }
}

function contentsOf(db: Database): Contents {
  if (pragmaNumber(db, 'application_id') !== APPLICATION_ID) {
    throw new OperatorError('the database is not one of Gatepost');
  }
  const schema = pragmaNumber(db, 'user_version');
  // First: parts of a schema, such as an index over an expression, run in the other checks.
  const foreign = findForeignSchema(db, schema);
  if (foreign !== null) {
    throw new OperatorError(`the database has ${foreign}, which is not of schema ${schema}`);
  }
  const wrong = findDamage(db);
  if (wrong !== null)
    throw new OperatorError(`the database is damaged (${wrong})`, 'database_damaged');
  return { schema, rows: rowCounts(db) };
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

/** The sentence for SQLite's fault at a damaged database in `dataDir`; any other fault as it is. */
export function asDamage(fault: unknown, dataDir: string): unknown {
  if (!(fault instanceof SQLiteError && /^SQLITE_(CORRUPT|NOTADB)/.test(fault.code ?? ''))) {
    return fault;
  }
  return new OperatorError(
    `the database in ${dataDir} is damaged (${fault.message}) and cannot be copied: see 'gatepost doctor'`,
    'database_damaged',
  );
}

/** A name in the form that SQL needs, whatever is in it. */
export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

function rowCounts(db: Database): Record<string, number> {
  const count = (table: string) =>
    db.query<{ count: number }, []>(`SELECT count(*) AS count FROM ${quoted(table)}`).get()
      ?.count ?? 0;
  return Object.fromEntries(tableNames(db).map((table) => [table, count(table)]));
}

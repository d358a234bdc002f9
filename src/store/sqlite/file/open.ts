/** Opens the database file. An unusable file is refused with one sentence and stays unchanged. */

import { Database, SQLiteError, constants as sqlite } from 'bun:sqlite';
import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  openSync,
  readSync,
  statSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { busyText, messageOf, OperatorError } from '../../../base/operator-error.ts';
import { makeOwnFile, makeOwnFolder } from '../../../base/permissions.ts';
import { fullDisk, isReadOnly } from '../../../disk/fault.ts';
import { isBusy, takeLock } from '../../../disk/lock.ts';
import { describeLock } from '../../../disk/lock-holder.ts';
import {
  factOf,
  migrate,
  pragmaNumber,
  refuseMark,
  refuseNewer,
  refuseOlder,
  SCHEMA_VERSION,
} from './migrate.ts';

export const DATABASE_FILE = 'gatepost.db';
/** Lock file: shared by all processes with the database open, exclusive for a restore. */
export const LOCK_FILE = 'gatepost.lock';

/** Page cache, KiB. */
const CACHE_KIB = 32 * 1024;
/** Memory-mapped part, bytes: without it, look-ups outside the page cache cost twice as much. */
const MMAP_BYTES = 1024 ** 3;
/** Size to which the write-ahead log shrinks after a long transaction, bytes. */
const WAL_BYTES_MAX = 64 * 1024 ** 2;
/** Longest wait of opening for another process, ms: it may block, because nothing is served yet. */
const OPEN_TIMEOUT_MS = 5_000;
const OPEN_PAUSE_MS = 10;

interface OpenDatabase {
  db: Database;
  /** Allows restores again; call it after closing. */
  release(): void;
}

/**
 * Opens `dataDir/gatepost.db`. `create` allows it to make a missing directory (but not its parent)
 * and database, `migrates` to migrate an older schema. Without `create`, a database on a read-only
 * disk is opened for reading. Throws {@link OperatorError}.
 */
export function openDatabase(dataDir: string, create: boolean, migrates = create): OpenDatabase {
  const file = join(dataDir, DATABASE_FILE);
  checkDirectory(dataDir, create);
  const refuseUnfit = () => refuse(dataDir, create, migrates);
  const identity = refuseUnfit();
  const release = holdDatabase(dataDir);
  try {
    // A restore was faster: this file was not inspected.
    if (identityOf(file) !== identity) refuseUnfit();
    const isToRead = !create && isReadOnly(dataDir);
    const opened = () => (isToRead ? withCaches(openToLook(file)) : open(file, create));
    return { db: patiently(opened), release };
  } catch (error) {
    release();
    throw explain(error, file);
  }
}

/**
 * Returns the schema of a database that must be migrated; null: there is no database, or it is
 * current. Throws {@link OperatorError} for an unusable directory.
 */
export function olderSchema(dataDir: string, create: boolean): number | null {
  checkDirectory(dataDir, create);
  const file = join(dataDir, DATABASE_FILE);
  const schema = schemaIn(file);
  return schema > 0 && schema < SCHEMA_VERSION ? schema : null;
}

/**
 * Locks out restores; returns a function that unlocks. Throws {@link OperatorError} during a
 * restore.
 */
export function holdDatabase(dataDir: string): () => void {
  const file = join(dataDir, LOCK_FILE);
  // No restore can write to such a disk.
  if (!existsSync(file) && isReadOnly(dataDir)) return () => undefined;
  try {
    const release = takeLock(file, 'shared', OPEN_TIMEOUT_MS);
    if (release !== null) return release;
  } catch (error) {
    throw explain(error, file);
  }
  throw new OperatorError(
    `a restore into ${dataDir} is under way: try again when it has finished`,
    'locked',
  );
}

function open(file: string, create: boolean): Database {
  // SQLite would make a file that every user can read; its logs get the mode of the database.
  if (create) makeOwnFile(file);
  const db = new Database(file, { create, readwrite: true, strict: true });
  try {
    return configure(db);
  } catch (error) {
    db.close();
    throw error;
  }
}

function withCaches(db: Database): Database {
  db.run(`PRAGMA cache_size = -${CACHE_KIB}`);
  db.run(`PRAGMA mmap_size = ${MMAP_BYTES}`);
  return db;
}

/** Throws for a file that this program cannot use; returns the identity of the inspected file. */
function refuse(dataDir: string, create: boolean, migrates: boolean): number | null {
  const file = join(dataDir, DATABASE_FILE);
  const identity = identityOf(file);
  const schema = schemaIn(file);
  if (schema === 0 && !create) {
    throw new OperatorError(
      `there is no Gatepost database in ${dataDir}: start 'gatepost serve' or add a provider first`,
      'database_missing',
    );
  }
  if (schema !== 0 && !migrates) refuseOlder(file, schema);
  return identity;
}

/** Reads the schema version of a file; 0: it is missing or empty. */
export function schemaIn(file: string): number {
  return (statSync(file, { throwIfNoEntry: false })?.size ?? 0) > 0 ? inspect(file) : 0;
}

function identityOf(file: string): number | null {
  return statSync(file, { throwIfNoEntry: false })?.ino ?? null;
}

/**
 * Retries while another process opens the file, because SQLite does not wait when it changes to
 * WAL.
 */
function patiently<T>(open: () => T): T {
  for (let waitedMs = 0; ; waitedMs += OPEN_PAUSE_MS) {
    try {
      return open();
    } catch (error) {
      if (!isBusy(error) || waitedMs >= OPEN_TIMEOUT_MS) throw error;
      Bun.sleepSync(OPEN_PAUSE_MS);
    }
  }
}

function configure(db: Database): Database {
  db.run(`PRAGMA busy_timeout = ${OPEN_TIMEOUT_MS}`);
  db.run('PRAGMA journal_mode = WAL');
  db.run('PRAGMA synchronous = FULL');
  db.run(`PRAGMA journal_size_limit = ${WAL_BYTES_MAX}`);
  migrate(withCaches(db));
  db.run('PRAGMA foreign_keys = ON');
  // A savepoint would write ten times the pages of the database into a temporary file. Set after
  // the migration, which may sort more than memory holds.
  db.run('PRAGMA temp_store = MEMORY');
  // SQLite must not block the event loop for a lock: the writer waits instead.
  db.run('PRAGMA busy_timeout = 0');
  return db;
}

export function checkDirectory(dataDir: string, create: boolean): void {
  if (!existsSync(dataDir)) {
    if (!create)
      throw new OperatorError(`the data directory ${dataDir} does not exist`, 'database_missing');
    if (!existsSync(dirname(dataDir))) {
      throw new OperatorError(
        `cannot create the data directory ${dataDir}: ${dirname(dataDir)} does not exist`,
      );
    }
    try {
      makeOwnFolder(dataDir);
    } catch (error) {
      throw new OperatorError(`cannot create the data directory ${dataDir}: ${messageOf(error)}`);
    }
  }
  if (!statSync(dataDir).isDirectory()) {
    throw new OperatorError(`the data directory ${dataDir} is not a directory`);
  }
  try {
    accessSync(dataDir, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    if (!create && isReadOnly(dataDir)) return;
    throw new OperatorError(`the data directory ${dataDir} is not writable: ${messageOf(error)}`);
  }
}

/** Reads the schema version of a file and changes nothing; 0: it is empty. */
export function inspect(file: string): number {
  if (!isSqlite(file)) throw damaged(file, 'not a SQLite database');
  try {
    accessSync(file, isReadOnly(file) ? constants.R_OK : constants.R_OK | constants.W_OK);
  } catch (error) {
    throw new OperatorError(`${file} is not writable: ${messageOf(error)}`);
  }
  let db: Database | null = null;
  try {
    db = openToLook(file);
    db.run(`PRAGMA busy_timeout = ${OPEN_TIMEOUT_MS}`);
    const schema = pragmaNumber(db, 'user_version');
    const tables = db.query('SELECT count(*) AS count FROM sqlite_schema').get();
    // A crash during creation leaves an empty database.
    if (schema === 0 && (tables as { count: number }).count === 0) return 0;
    refuseMark(file, db);
    refuseNewer(file, schema, factOf(db, 'program'));
    return schema;
  } catch (error) {
    throw explain(error, file);
  } finally {
    db?.close();
  }
}

/**
 * Opens a file for reading; as immutable if it has no log, because SQLite would leave a new one.
 */
export function openToLook(file: string): Database {
  if (existsSync(`${file}-wal`)) return new Database(file, { readonly: true, strict: true });
  const { SQLITE_OPEN_READONLY, SQLITE_OPEN_URI } = sqlite;
  return new Database(
    `${pathToFileURL(file).href}?immutable=1`,
    SQLITE_OPEN_READONLY | SQLITE_OPEN_URI,
  );
}

const SQLITE_MAGIC = 'SQLite format 3\0';

/**
 * Returns true if a file begins as SQLite's do. Not for one that this process has open: the close
 * drops all locks of the process on the file, SQLite's too.
 */
export function isSqlite(file: string): boolean {
  const header = Buffer.alloc(SQLITE_MAGIC.length);
  try {
    const fd = openSync(file, 'r');
    readSync(fd, header, 0, header.length, 0);
    closeSync(fd);
  } catch (error) {
    throw new OperatorError(`cannot read ${file}: ${messageOf(error)}`);
  }
  return header.toString('latin1') === SQLITE_MAGIC;
}

function damaged(file: string, detail: string): OperatorError {
  return new OperatorError(
    `${file} is damaged (${detail}); nothing was changed: put a copy of a good one in its place`,
    'database_damaged',
  );
}

function explain(error: unknown, file: string): Error {
  if (error instanceof OperatorError) return error;
  if (error instanceof SQLiteError && /^SQLITE_(CORRUPT|NOTADB)/.test(error.code ?? '')) {
    return damaged(file, error.message);
  }
  if (isBusy(error)) return new OperatorError(busyText(describeLock(file)), 'locked');
  return (
    fullDisk(error, dirname(file)) ?? new OperatorError(`cannot open ${file}: ${messageOf(error)}`)
  );
}

/** The opening of the database file. Any fault of it is one sentence, and nothing is touched. */

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
import { fullDisk, isReadOnly } from '../../../disk/fault.ts';
import { isBusy, takeLock } from '../../../disk/lock.ts';
import { messageOf, OperatorError } from '../../../operator-error.ts';
import { makeOwnFile, makeOwnFolder } from '../../../permissions.ts';
import {
  APPLICATION_ID,
  migrate,
  pragmaNumber,
  refuseMoved,
  refuseNewer,
  SCHEMA_VERSION,
} from './migrate.ts';

export const DATABASE_FILE = 'gatepost.db';
/** Lock that all who have the database open share, and a restore holds alone. */
export const LOCK_FILE = 'gatepost.lock';

/** Page cache, KiB. */
const CACHE_KIB = 32 * 1024;
/**
 * Part of the file that is mapped as memory, bytes: on a database that the page cache cannot hold,
 * a look-up then costs half. The pages are the file's own; the system takes them back when it needs
 * to.
 */
const MMAP_BYTES = 1024 ** 3;
/** Size that the write-ahead log shrinks to after one long transaction made it larger, bytes. */
const WAL_BYTES_MAX = 64 * 1024 ** 2;
/** Time that opening waits for another process, ms: nothing is served yet, so it may block. */
const OPEN_TIMEOUT_MS = 5_000;
const OPEN_PAUSE_MS = 10;

interface OpenDatabase {
  db: Database;
  /** Lets a restore replace the file; for the moment after closing. */
  release(): void;
}

/**
 * Opens `dataDir/gatepost.db`. With `create`, a missing directory (but not its parent) and a
 * missing database are made; with `migrates`, an older schema is migrated; without, they are
 * refused. Without `create`, one on a disk that takes no writes is opened to be read. Throws
 * {@link OperatorError}.
 */
export function openDatabase(dataDir: string, create: boolean, migrates = create): OpenDatabase {
  const file = join(dataDir, DATABASE_FILE);
  checkDirectory(dataDir, create);
  const refuseUnfit = () => refuse(dataDir, create, migrates);
  const identity = refuseUnfit();
  const release = holdDatabase(dataDir);
  try {
    // A restore was faster: the file that is there now has not been inspected.
    if (identityOf(file) !== identity) refuseUnfit();
    const isToRead = !create && isReadOnly(dataDir);
    return { db: patiently(() => (isToRead ? openToRead(file) : open(file, create))), release };
  } catch (error) {
    release();
    throw explain(error, file);
  }
}

/**
 * Keeps restores away while the database is open; the function returned ends that. Throws
 * {@link OperatorError} while a restore is under way: the file opened now would be the old one.
 */
export function holdDatabase(dataDir: string): () => void {
  const file = join(dataDir, LOCK_FILE);
  // Nobody can put another database on such a disk.
  if (!existsSync(file) && isReadOnly(dataDir)) return () => undefined;
  const release = attempt(file, () => takeLock(file, 'shared', OPEN_TIMEOUT_MS));
  if (release !== null) return release;
  throw new OperatorError(
    `a restore into ${dataDir} is under way: try again when it has finished`,
    'locked',
  );
}

function attempt<T>(file: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw explain(error, file);
  }
}

function open(file: string, create: boolean): Database {
  // SQLite makes files that everybody may read, and its logs with mode and owner of the database.
  if (create) makeOwnFile(file);
  const db = new Database(file, { create, readwrite: true, strict: true });
  try {
    return configure(db);
  } catch (error) {
    db.close();
    throw error;
  }
}

/** Opens on a disk that takes no writes; each write then fails with SQLite's own error. */
function openToRead(file: string): Database {
  const db = openToLook(file);
  setCaches(db);
  return db;
}

function setCaches(db: Database): void {
  db.run(`PRAGMA cache_size = -${CACHE_KIB}`);
  db.run(`PRAGMA mmap_size = ${MMAP_BYTES}`);
}

/** Refuses a file that this program cannot use; returns the identity of the inspected one. */
function refuse(dataDir: string, create: boolean, migrates: boolean): number | null {
  const file = join(dataDir, DATABASE_FILE);
  const identity = identityOf(file);
  const schema = identity !== null && statSync(file).size > 0 ? inspect(file) : 0;
  if (schema === 0 && !create) {
    throw new OperatorError(
      `there is no Gatepost database in ${dataDir}: start 'gatepost serve' or add a provider first`,
      'database_missing',
    );
  }
  if (schema !== 0 && schema < SCHEMA_VERSION && !migrates) {
    throw new OperatorError(
      `${file} has schema ${schema}, this program needs ${SCHEMA_VERSION}: restart 'gatepost serve' with this version first`,
      'database_older',
    );
  }
  return identity;
}

function identityOf(file: string): number | null {
  return statSync(file, { throwIfNoEntry: false })?.ino ?? null;
}

/**
 * Opens again while another process is at it: SQLite does not wait by itself for the change of a
 * new file to WAL, in which each of two processes can hold the other up.
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
  setCaches(db);
  migrate(db);
  db.run('PRAGMA foreign_keys = ON');
  // Undo pages of a savepoint would go through a temporary file, ten times as many writes as the
  // database itself. After the migration, which may sort more than memory holds.
  db.run('PRAGMA temp_store = MEMORY');
  // From now on SQLite waits for nobody: it would sleep on the event loop. The writer waits.
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

/** Reads the schema version of an existing file and changes nothing; 0: nothing is in it yet. */
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
    // A crash while the file was being made leaves a database with nothing in it.
    if (schema === 0 && (tables as { count: number }).count === 0) return 0;
    refuseMoved(file, pragmaNumber(db, 'application_id'));
    if (pragmaNumber(db, 'application_id') !== APPLICATION_ID) {
      throw new OperatorError(`${file} is a database of another program; nothing was changed`);
    }
    refuseNewer(file, schema);
    return schema;
  } catch (error) {
    throw explain(error, file);
  } finally {
    db?.close();
  }
}

/**
 * Opens a file to be read. Without a write-ahead log beside it nobody is using the file, and
 * SQLite, which would make a log and leave it there, opens it as one that needs none.
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

/** Tells whether a file begins as SQLite's do. Not for one that is open in here: see below. */
export function isSqlite(file: string): boolean {
  return readHeader(file) === SQLITE_MAGIC;
}

/** Reads the first bytes. Closing a file drops all locks of the process on it, SQLite's too. */
function readHeader(file: string): string {
  const header = Buffer.alloc(SQLITE_MAGIC.length);
  try {
    const fd = openSync(file, 'r');
    readSync(fd, header, 0, header.length, 0);
    closeSync(fd);
  } catch (error) {
    throw new OperatorError(`cannot read ${file}: ${messageOf(error)}`);
  }
  return header.toString('latin1');
}

function damaged(file: string, detail: string): OperatorError {
  return new OperatorError(
    `${file} is damaged (${detail}); nothing was changed: put a copy of a good one in its place`,
    'database_damaged',
  );
}

export function explain(error: unknown, file: string): Error {
  if (error instanceof OperatorError) return error;
  if (error instanceof SQLiteError && /^SQLITE_(CORRUPT|NOTADB)/.test(error.code ?? '')) {
    return damaged(file, error.message);
  }
  return (
    fullDisk(error, dirname(file)) ?? new OperatorError(`cannot open ${file}: ${messageOf(error)}`)
  );
}

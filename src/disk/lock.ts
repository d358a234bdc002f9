/**
 * Locks between processes, as empty files that SQLite locks: the system drops them however a
 * process ends, and Bun has no call of its own for that.
 */

import { Database, SQLiteError } from 'bun:sqlite';
import { makeOwnFile } from '../permissions.ts';

/**
 * Takes a lock; the function returned lets it go. Any number can hold it as `shared` at a time, one
 * alone as `exclusive`. Null: somebody else held it for `waitMaxMs`, in which this blocks. The file
 * is made if need be and stays.
 */
export function takeLock(
  file: string,
  kind: 'shared' | 'exclusive',
  waitMaxMs: number,
): (() => void) | null {
  // SQLite would make one that everybody may read.
  makeOwnFile(file);
  const db = new Database(file, { readwrite: true, strict: true });
  try {
    db.run(`PRAGMA busy_timeout = ${waitMaxMs}`);
    if (kind === 'exclusive') {
      // Nothing is written: a journal would lie beside the file, and stay after a kill.
      db.run('PRAGMA journal_mode = MEMORY');
      db.run('BEGIN EXCLUSIVE');
    } else {
      db.run('BEGIN');
      // A transaction takes its lock with the first read.
      db.query('SELECT count(*) FROM sqlite_schema').get();
    }
  } catch (error) {
    db.close();
    if (isBusy(error)) return null;
    throw error;
  }
  return () => {
    try {
      // Closing alone leaves the lock to statements that have not been collected yet.
      db.run('ROLLBACK');
    } finally {
      db.close();
    }
  };
}

/** Tells whether SQLite failed because somebody else holds a lock. */
export function isBusy(error: unknown): boolean {
  return error instanceof SQLiteError && /^SQLITE_BUSY/.test(error.code ?? '');
}

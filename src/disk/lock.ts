/**
 * Locks between processes: empty files that SQLite locks, because Bun has no function for it. The
 * system releases them when a process ends.
 */

import { Database, SQLiteError } from 'bun:sqlite';
import { makeOwnFile } from '../base/permissions.ts';

/**
 * Takes a lock, `shared` by any number or `exclusive` by one; returns the function that releases
 * it. Blocks for up to `waitMaxMs`; null: another process still holds it. Makes the file, which
 * stays.
 */
export function takeLock(
  file: string,
  kind: 'shared' | 'exclusive',
  waitMaxMs: number,
): (() => void) | null {
  // SQLite would make one that all users may read.
  makeOwnFile(file);
  const db = new Database(file, { readwrite: true, strict: true });
  try {
    db.run(`PRAGMA busy_timeout = ${waitMaxMs}`);
    if (kind === 'exclusive') {
      // Without a journal file, which would stay after a kill.
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
      // After close() alone, statements that wait for garbage collection keep the lock.
      db.run('ROLLBACK');
    } finally {
      db.close();
    }
  };
}

/** Returns whether SQLite failed because another connection holds a lock. */
export function isBusy(error: unknown): boolean {
  return error instanceof SQLiteError && /^SQLITE_BUSY/.test(error.code ?? '');
}

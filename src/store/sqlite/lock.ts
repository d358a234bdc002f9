/**
 * Locks between processes, as empty files that SQLite locks: the system drops them when a process
 * ends in whatever way, and Bun has no call of its own for that.
 */

import { Database, SQLiteError } from 'bun:sqlite';
import { chownSync, closeSync, existsSync, openSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Takes a lock; the function returned lets it go. `shared` is had by any number at a time,
 * `exclusive` by one alone. Null: somebody else had it for `waitMaxMs`, in which this blocks. The
 * file is made if need be and stays.
 */
export function takeLock(
  file: string,
  kind: 'shared' | 'exclusive',
  waitMaxMs: number,
): (() => void) | null {
  const isNew = !existsSync(file);
  if (isNew) {
    // SQLite would make one that everybody may read.
    closeSync(openSync(file, 'a', 0o600));
    giveToOwnerOfFolder(file);
  }
  const db = new Database(file, { create: true, readwrite: true, strict: true });
  try {
    db.run(`PRAGMA busy_timeout = ${waitMaxMs}`);
    if (kind === 'exclusive') {
      db.run('BEGIN EXCLUSIVE');
    } else {
      db.run('BEGIN');
      // A transaction takes its lock with the first read.
      db.query('SELECT count(*) FROM sqlite_schema').get();
    }
  } catch (error) {
    db.close();
    if (error instanceof SQLiteError && /^SQLITE_BUSY/.test(error.code ?? '')) return null;
    throw error;
  }
  return () => {
    // Closing alone leaves the lock to whatever statement has not been collected yet.
    db.run('ROLLBACK');
    db.close();
  };
}

/**
 * What root makes in a directory of the appliance's user, the appliance must be able to use. Does
 * nothing for other users, who can make only files of their own.
 */
export function giveToOwnerOfFolder(file: string): void {
  if (process.getuid?.() !== 0) return;
  const { uid, gid } = statSync(dirname(file));
  if (uid !== 0) chownSync(file, uid, gid);
}

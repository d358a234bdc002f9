/**
 * Of several processes on one data directory, one at a time asks for a certificate. The lock is
 * SQLite's on a file of its own: the kernel lets go of it however the holder ends.
 */

import { Database, SQLiteError } from 'bun:sqlite';
import { makeOwnFile } from '../permissions.ts';

/** Runs `task` while holding the lock at `path`. False: another has it, and nothing was run. */
export async function withLock(path: string, task: () => Promise<void>): Promise<boolean> {
  makeOwnFile(path);
  const db = new Database(path);
  try {
    db.run('PRAGMA busy_timeout = 0');
    db.run('BEGIN EXCLUSIVE');
  } catch (error) {
    db.close();
    if (error instanceof SQLiteError && /^SQLITE_BUSY/.test(error.code ?? '')) return false;
    throw error;
  }
  try {
    await task();
    return true;
  } finally {
    db.close();
  }
}

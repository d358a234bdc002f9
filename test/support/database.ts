/** The database file from outside, past the store. */

import { Database } from 'bun:sqlite';
import { join } from 'node:path';
import { DATABASE_FILE } from '../../src/store/sqlite/file/open.ts';

/** A second connection to an appliance's database. The caller closes it. */
export function openBeside(dataDir: string): Database {
  const db = new Database(join(dataDir, DATABASE_FILE), {
    strict: true,
    readwrite: true,
    create: false,
  });
  db.run('PRAGMA busy_timeout = 5000');
  db.run('PRAGMA foreign_keys = ON');
  return db;
}

/** The database file from outside, past the store. */

import { Database } from 'bun:sqlite';
import { existsSync, writeFileSync } from 'node:fs';
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

/** Makes every table of an open database what it is in `empty`, as another process would. */
export function emptyFile(dataDir: string, empty: Uint8Array): void {
  const db = openBeside(dataDir);
  const source = join(dataDir, 'empty.db');
  if (!existsSync(source)) writeFileSync(source, empty);
  try {
    db.run('PRAGMA foreign_keys = OFF');
    db.run('ATTACH ? AS fresh', [source]);
    const names = (type: string) =>
      db
        .query<{ name: string; sql: string }, [string]>(
          "SELECT name, sql FROM main.sqlite_schema WHERE type = ? AND name <> 'sqlite_stat1'",
        )
        .all(type);
    const triggers = names('trigger');
    db.transaction(() => {
      for (const { name } of triggers) db.run(`DROP TRIGGER "${name}"`);
      for (const { name } of names('table')) {
        db.run(`DELETE FROM main."${name}"`);
        db.run(`INSERT INTO main."${name}" SELECT * FROM fresh."${name}"`);
      }
      for (const { sql } of triggers) db.run(sql);
    }).immediate();
  } finally {
    db.close();
  }
}

/**
 * Databases as releases left them: the schema of their migrations, checked against the released
 * one, and the rows of a file.
 */

import { Database } from 'bun:sqlite';
import { createHash } from 'node:crypto';
import { chmodSync } from 'node:fs';
import { MIGRATIONS } from '../../migrations/sqlite/index.ts';
import { APPLICATION_ID } from '../../src/store/sqlite/file/migrate.ts';
import { readText } from './tree.ts';

interface Part {
  type: string;
  name: string;
  sql: string;
}

/** Writes a database; throws if the migrations no longer make the schema that was released. */
export function writeOldDatabase(file: string, rows: string): void {
  const text = readText(rows);
  const [, schema = '', released = ''] = /^-- Schema (\d+), ([0-9a-f]{64})\.$/m.exec(text) ?? [];
  const db = new Database(file, { create: true });
  db.run('PRAGMA foreign_keys = OFF');
  db.run('BEGIN');
  for (const migration of MIGRATIONS.slice(0, Number(schema))) db.run(migration);
  const parts = db
    .query<Part, []>(
      'SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name',
    )
    .all();
  const hash = createHash('sha256').update(parts.map(({ sql }) => sql).join('\n'));
  const made = hash.digest('hex');
  if (made !== released) throw new Error(`${rows}: the schema ${schema} is now ${made}`);
  // The rows have the counts that triggers made, and what migrations added.
  const triggers = parts.filter(({ type }) => type === 'trigger');
  for (const { name } of triggers) db.run(`DROP TRIGGER ${name}`);
  for (const { name, type } of parts) if (type === 'table') db.run(`DELETE FROM ${name}`);
  db.run(text);
  for (const { sql } of triggers) db.run(sql);
  db.run('COMMIT');
  db.run(`PRAGMA application_id = ${APPLICATION_ID}`);
  db.run(`PRAGMA user_version = ${schema}`);
  db.close();
  // The program's umask; more would be refused.
  chmodSync(file, 0o600);
}

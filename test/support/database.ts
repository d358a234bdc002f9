/** Looks at the database file from outside, past the store, to see what really changed. */

import { Database } from 'bun:sqlite';
import { join } from 'node:path';
import { DATABASE_FILE } from '../../src/store/sqlite/file/open.ts';

type Row = Record<string, unknown>;
/** Rows by table and rowid; by `device_id/provider_id` where the key is all there is. */
export type Snapshot = Map<string, Row>;

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

/** Every row of every table: a table added later is compared too. */
export function takeSnapshot(dataDir: string): Snapshot {
  const db = openBeside(dataDir);
  try {
    const snapshot: Snapshot = new Map();
    const tables = db
      .query<{ name: string; key: string }, []>(
        `SELECT t.name, iif(t.wr, (SELECT group_concat(c.name, ' || ''/'' || ')
           FROM pragma_table_info(t.name) c WHERE c.pk > 0), 'rowid') AS key
         FROM pragma_table_list t
         WHERE t.schema = 'main' AND t.type = 'table' AND t.name NOT LIKE 'sqlite_%'`,
      )
      .all();
    for (const { name, key } of tables) {
      const rows = db.query<Row, []>(`SELECT ${key} AS "key!", * FROM "${name}"`).all();
      for (const { 'key!': id, ...row } of rows) snapshot.set(`${name} ${id}`, row);
    }
    return snapshot;
  } finally {
    db.close();
  }
}

/**
 * The changes, one line for each added row, removed row and changed column:
 * `install 1 added`, `install 1 status: 10 -> 5`, `install_device 1 removed`.
 */
export function difference(before: Snapshot, after: Snapshot): string[] {
  const lines: string[] = [];
  for (const [key, row] of after) {
    const old = before.get(key);
    if (!old) {
      lines.push(`${key} added`);
      continue;
    }
    for (const [column, value] of Object.entries(row)) {
      if (!Bun.deepEquals(value, old[column])) {
        lines.push(`${key} ${column}: ${shown(old[column])} -> ${shown(value)}`);
      }
    }
  }
  for (const key of before.keys()) if (!after.has(key)) lines.push(`${key} removed`);
  return lines.sort();
}

function shown(value: unknown): string {
  return value instanceof Uint8Array ? `${value.length} bytes` : JSON.stringify(value);
}

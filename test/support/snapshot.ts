/** Looks at the database from outside, past the store, to see what really changed. */

import type { Core } from '../../src/core/core.ts';
import { auditEntries } from './audit.ts';
import { type Looked, withNumbers } from './beside.ts';
import { openBeside } from './database.ts';
import type { TestDatabase } from './postgres-data.ts';

type Row = Record<string, unknown>;
/** Rows by table and id; by `device_id/provider_id` where there is none. */
export type Snapshot = Map<string, Row>;

/** Every row of every table: a table added later is compared too. */
export async function takeSnapshot(app: Looked & { core: Core }): Promise<Snapshot> {
  const { dataDir, database, core } = app;
  if (database === null) return snapshotOfFile(dataDir);
  // Whoever reads the audit log has the entries linked that wait for it.
  await auditEntries(core);
  return snapshotOf(database);
}

function snapshotOfFile(dataDir: string): Snapshot {
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

async function snapshotOf({ sql }: TestDatabase): Promise<Snapshot> {
  const snapshot: Snapshot = new Map();
  const tables: { name: string; columns: string[]; key: string[] }[] = await sql`
    SELECT t.relname AS name,
      ARRAY(SELECT attname::text FROM pg_attribute
        WHERE attrelid = t.oid AND attnum > 0 AND NOT attisdropped) AS columns,
      ARRAY(SELECT a.attname::text FROM pg_index i,
        unnest(i.indkey) WITH ORDINALITY AS k (attnum, n) JOIN pg_attribute a USING (attnum)
        WHERE i.indrelid = t.oid AND i.indisprimary AND a.attrelid = t.oid ORDER BY n) AS key
    FROM pg_class t WHERE t.relnamespace = 'public'::regnamespace AND t.relkind = 'r'`;
  await sql.begin('ISOLATION LEVEL REPEATABLE READ READ ONLY', async (transaction) => {
    for (const { name, columns, key } of tables) {
      const parts = columns.includes('id') ? ['id'] : key;
      for (const row of await transaction.unsafe(`SELECT * FROM ${name}`)) {
        const plain = withNumbers(row);
        const values = parts.map((part) => plain[part]);
        // The file has numbers for rows with a hash in their key.
        const words = values.filter((value) => !(value instanceof Uint8Array)).join('/');
        const id = snapshot.has(`${name} ${words}`) ? values.join('/') : words;
        snapshot.set(`${name} ${id}`, plain);
      }
    }
  });
  return snapshot;
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

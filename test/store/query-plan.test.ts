/** The statements of the store find what grows by an index, however they are changed. */

import { Database } from 'bun:sqlite';
import { expect, test } from 'bun:test';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { SQL } from 'drizzle-orm';
import { SQLiteSyncDialect } from 'drizzle-orm/sqlite-core';
import { Connection } from '../../src/store/sqlite/connection.ts';
import { DATABASE_FILE } from '../../src/store/sqlite/file/open.ts';
import type { Statement } from '../../src/store/sqlite/statement.ts';
import { openSqliteStore } from '../../src/store/sqlite/store.ts';
import { freshFolder } from '../support/app.ts';

/** Tables that grow with devices and messages. */
const GROWING = [
  'device',
  'device_provider',
  'device_token',
  'event',
  'install_device',
  'outbox',
  'recipient',
  'webhook_delivery',
];

/** The texts of all statements that a store has; it compiles each when that first runs. */
async function statementsOf(dataDir: string): Promise<string[]> {
  const texts = new Set<string>();
  const dialect = new SQLiteSyncDialect();
  const { prepare } = Connection.prototype;
  Connection.prototype.prepare = function <Row>(this: Connection, query: SQL) {
    texts.add(dialect.sqlToQuery(query).sql);
    return prepare.call(this, query) as Statement<Row>;
  };
  try {
    const store = await openSqliteStore({ dataDir, create: true, commitBatchMax: 1 });
    await store.close();
  } finally {
    Connection.prototype.prepare = prepare;
  }
  return [...texts].filter((text) => /^\s*(SELECT|INSERT|UPDATE|DELETE|WITH)\b/.test(text));
}

/** The name of each table under the name that a statement gives it. */
function tablesOf(text: string): Map<string, string> {
  const named = text.matchAll(/\b(?:FROM|JOIN|UPDATE)\s+(\w+)(?:\s+(?:AS\s+)?(\w+))?/g);
  return new Map(
    [...named].flatMap(([, table = '', as]) => [
      [table, table],
      [as ?? table, table],
    ]),
  );
}

test('no statement goes through all of what grows', async () => {
  const dataDir = freshFolder();
  const texts = await statementsOf(dataDir);
  expect(texts.length).toBeGreaterThan(200);
  const db = new Database(join(dataDir, DATABASE_FILE), { readonly: true });
  const scans = texts.flatMap((text) => {
    const plan = db.query<{ detail: string }, []>(`EXPLAIN QUERY PLAN ${text}`).all();
    const tables = tablesOf(text);
    const scanned = plan
      .map(({ detail }) => /^SCAN (\w+)(?! USING)/.exec(detail)?.[1])
      .filter((name) => GROWING.includes(tables.get(name ?? '') ?? ''));
    return scanned.length > 0 ? [`${scanned}: ${text.replace(/\s+/g, ' ').trim()}`] : [];
  });
  db.close();
  rmSync(dataDir, { recursive: true, force: true });
  expect(scans).toEqual([]);
});

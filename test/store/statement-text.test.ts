/** The texts of statements: values by name, lists of columns by fields. */

import { expect, test } from 'bun:test';
import type { SQL, SQLWrapper } from 'drizzle-orm';
import { PgDialect } from 'drizzle-orm/pg-core';
import { SQLiteSyncDialect } from 'drizzle-orm/sqlite-core';
import {
  assignments,
  columnNames,
  columns,
  insertInto,
  numberValues,
  sql,
} from '../../src/store/statement-text.ts';

test('values by name and given ones are numbered in their order; a cast is no value', () => {
  const query = sql`SELECT ${7}, :ids::bigint[], concat_ws(':', a, ':x') WHERE n = :n AND m = :n`;
  const written = new PgDialect().sqlToQuery(query);
  expect(numberValues(written, (n) => `$${n}`)).toEqual({
    text: "SELECT $1, $2::bigint[], concat_ws(':', a, ':x') WHERE n = $3 AND m = $4",
    names: [null, 'ids', 'n', 'n'],
    given: [7, null, null, null],
  });
  const lite = new SQLiteSyncDialect().sqlToQuery(sql`SELECT :a LIMIT ${5}`);
  expect(numberValues(lite, () => '?')).toEqual({
    text: 'SELECT ? LIMIT ?',
    names: ['a', null],
    given: [null, 5],
  });
});

test('lists of columns are written by the names of fields', () => {
  const terms = 'whenFull, supportUrl';
  const of = { j: 'job', p: 'provider', a: 'audit?' } as const;
  const written = (query: SQLWrapper) => new SQLiteSyncDialect().sqlToQuery(sql`${query}`);
  expect(written(columns(of, 'j.id, p.code AS providerCode!, a.atMs')).sql).toBe(
    'j.id AS "id", p.code AS "providerCode", a.at_ms AS "atMs"',
  );
  const fragments = { keyHash: sql`unhex(:key)` };
  expect(written(assignments('provider', "name, plan = 'basic'", fragments)).sql).toBe(
    "name = :name, plan = 'basic', key_hash = unhex(:key)",
  );
  expect(written(insertInto('signing_key', 'id = 1', { key: sql`${7}` }))).toMatchObject({
    sql: 'INSERT INTO signing_key (id, key) VALUES (1, ?)',
    params: [7],
  });
  expect(written(columnNames(terms)).sql).toBe('when_full, support_url');
});

test('what the tables lack, or may leave empty, does not compile', () => {
  type Of<Query> = Query extends SQL<infer Row> ? Row : never;
  // @ts-expect-error: the table has neither of the two.
  columns('provider', 'id, note, webhookId');
  const joined = columns({ i: 'install', d: 'device?' }, 'i.note, d.hwid AS name, i.id');
  const row: Of<typeof joined> = { note: null, name: null, id: 1 };
  // @ts-expect-error: only what `!` follows is never null.
  const text: string = (row as Of<typeof joined>).note;
  const named = columns('install', 'note!');
  const sure: string = ({ note: '' } as Of<typeof named>).note;
  // @ts-expect-error: the row has no other fields.
  const other = (row as Of<typeof joined>).status;
  // @ts-expect-error: installation codes have no default.
  insertInto('install', 'providerId, installLimit, status, createdAtMs');
  // @ts-expect-error: the table has no such field.
  assignments('install', 'installLimit, hue');
  expect([text, sure, other]).toBeArray();
});

/** The texts of statements: values by name, lists of columns by fields. */

import { expect, test } from 'bun:test';
import { type SQLWrapper, sql } from 'drizzle-orm';
import { PgDialect } from 'drizzle-orm/pg-core';
import { SQLiteSyncDialect } from 'drizzle-orm/sqlite-core';
import {
  assignments,
  columnNames,
  columns,
  insertInto,
  numberValues,
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
  const written = (query: SQLWrapper) => new SQLiteSyncDialect().sqlToQuery(sql`${query}`);
  expect(written(columns`id, p.code AS providerCode, d.atMs, ${terms}`).sql).toBe(
    'id AS "id", p.code AS "providerCode", d.at_ms AS "atMs", when_full AS "whenFull", ' +
      'support_url AS "supportUrl"',
  );
  expect(written(assignments`name, state = 'done', keyHash = ${sql`unhex(:key)`}`).sql).toBe(
    "name = :name, state = 'done', key_hash = unhex(:key)",
  );
  expect(
    written(insertInto('job')`kind, limit = ${sql`${7}`}, ${terms}, atMs = :nowMs`),
  ).toMatchObject({
    sql:
      'INSERT INTO job (kind, limit, when_full, support_url, at_ms) ' +
      'VALUES (:kind, ?, :whenFull, :supportUrl, :nowMs)',
    params: [7],
  });
  expect(written(columnNames(terms)).sql).toBe('when_full, support_url');
});

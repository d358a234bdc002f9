/** Values by name in the texts of statements. */

import { expect, test } from 'bun:test';
import { sql } from 'drizzle-orm';
import { PgDialect } from 'drizzle-orm/pg-core';
import { SQLiteSyncDialect } from 'drizzle-orm/sqlite-core';
import { numberValues } from '../../src/store/statement-text.ts';

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

import type { SQL } from 'drizzle-orm';
import { SQLiteSyncDialect } from 'drizzle-orm/sqlite-core';

const dialect = new SQLiteSyncDialect();

/** A query that drizzle has no words for, in the form that `prepare` takes. */
export function raw<Row>(query: SQL): {
  toSQL(): { sql: string; params: unknown[] };
  all(): Row[];
} {
  return {
    toSQL: () => dialect.sqlToQuery(query),
    all: () => {
      throw new Error('only prepare() runs it');
    },
  };
}

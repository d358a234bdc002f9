/** Ids that move in: those that are given later are above them. */

import { sql } from 'drizzle-orm';
import { prepare, value } from './statement.ts';
import type { Write } from './write.ts';

/** Statements about the sequence that gives a table its ids. */
const sequenceOf = (table: string) => {
  const name = sql.raw(`${table}_id_seq`);
  return {
    last: prepare<{ lastId: number }>(sql`SELECT last_value AS "lastId" FROM ${name}`),
    /** Changes nothing, but nobody else is given an id until the write ends. */
    hold: prepare(sql`ALTER SEQUENCE ${name} INCREMENT BY 1`),
    raise: prepare(sql`
        SELECT setval(${sql.raw(`'${table}_id_seq'`)}, greatest(last_value, ${value('id')}::bigint))
        FROM ${name}`),
  };
};
export const linkIds = sequenceOf('install');
export const domainIds = sequenceOf('domain');

/** Sees to it that the ids that a sequence gives are above this one from now on. */
export async function raise(w: Write, ids: typeof linkIds, id: number): Promise<void> {
  if (((await ids.last.get(w))?.lastId ?? 0) >= id) return;
  await ids.hold.run(w);
  await ids.raise.run(w, { id });
}

/** Reasons not to use an open database: a newer program migrated it, or its data was moved. */

import { sql } from 'drizzle-orm';
import type { Ban } from './database-options.ts';
import { SCHEMA_VERSION } from './migrate.ts';
import { prepare, type Runner } from './statement.ts';

interface Marks {
  /** The oldest schema whose programs can use it. */
  readableFrom: number;
  isMoved: boolean;
}

/** Columns of `gatepost_schema` that {@link banOf} takes. */
export const MARKS = sql.raw('readable_from AS "readableFrom", move IS NOT NULL AS "isMoved"');

const marks = prepare<Marks>(sql`SELECT ${MARKS} FROM gatepost_schema`);

/** Returns the reason; null: none. */
export function banOf(found: Marks | null): Ban | null {
  if (found === null || found.readableFrom > SCHEMA_VERSION) return 'schema_newer';
  return found.isMoved ? 'database_moved' : null;
}

export async function findBan(on: Runner): Promise<Ban | null> {
  return banOf(await marks.get(on));
}

/** A look at the database for a diagnosis: everything is read, nothing is changed. */

import { findDamage, tableNames } from './copy.ts';
import { inspect, openToLook } from './open.ts';
import { findForeignSchema } from './shape.ts';

export interface Survey {
  schema: number;
  /** A part of its schema that is not of that version; null: there is none. */
  foreign: string | null;
  /** What is wrong with it; null: nothing. */
  damage: string | null;
  /** The latest time at which something happened according to it, UTC ms; null: nothing did. */
  newestMs: number | null;
}

/** How long to wait for another process, ms. */
const BUSY_TIMEOUT_MS = 5_000;
/** Columns whose times have passed when they are written, as opposed to due and expiry times. */
const PAST = /^(?:at|(?:created|registered|linked|first_seen|last_seen|began|finished)_at)_ms$/;

/** Throws OperatorError, or SQLite's error, when the file cannot be read as our database. */
export function surveyDatabase(file: string): Survey {
  const schema = inspect(file);
  const db = openToLook(file);
  try {
    db.run(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
    const foreign = findForeignSchema(db, schema);
    const damage = findDamage(db, 'quick_check');
    const times = tableNames(db).flatMap((table) =>
      db
        .query<{ name: string }, []>(`SELECT name FROM pragma_table_info('${table}')`)
        .all()
        .filter(({ name }) => PAST.test(name))
        .map(({ name }) => `SELECT max("${name}") AS ms FROM "${table}"`),
    );
    const newest =
      damage === null && times.length > 0
        ? db
            .query<{ ms: number | null }, []>(
              `SELECT max(ms) AS ms FROM (${times.join(' UNION ALL ')})`,
            )
            .get()
        : null;
    return { schema, foreign, damage, newestMs: newest?.ms ?? null };
  } finally {
    db.close();
  }
}

/** The tables and columns that a move copies: those in both databases. */

import { Database } from 'bun:sqlite';
import { MIGRATIONS } from '../../../migrations/sqlite/index.ts';

export interface MovedColumn {
  name: string;
  kind: 'number' | 'text' | 'bytes';
}

export interface MovedTable {
  name: string;
  columns: readonly MovedColumn[];
  /** Columns that order its rows. */
  key: readonly string[];
  /** True: the database gives its ids. */
  isNumbered: boolean;
}

/**
 * Tables that are not copied: counts of SQLite, and those that migrations fill. Upkeep is of a
 * machine and its files.
 */
const STAYING = ['appliance', 'distribution_transition', 'upkeep'];

/** The table that migrations fill and that is copied: hashes of models are made with its key. */
export const KEY_TABLE = 'signing_key';

/** SQLite keeps the order of these rows implicitly, PostgreSQL in a column. */
const ORDERED_UNSAID = 'device_domain';

/** Returns the order of a table's rows, for ORDER BY. */
export const orderOf = ({ name, key }: MovedTable, arrival: 'rowid' | 'id') =>
  name === ORDERED_UNSAID ? arrival : key.join(', ');

export const namesOf = ({ columns }: MovedTable) =>
  columns.map(({ name }) => `"${name}"`).join(', ');

const KINDS: Readonly<Record<string, MovedColumn['kind']>> = {
  integer: 'number',
  text: 'text',
  blob: 'bytes',
};

/** Returns the tables of a SQLite database of this program's schema. */
export function movedTables(db: Database): MovedTable[] {
  const tables = db
    .query<{ name: string; sql: string }, []>(
      `SELECT name, sql FROM sqlite_schema
       WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
         AND name NOT LIKE '\\_litestream\\_%' ESCAPE '\\' ORDER BY name`,
    )
    .all();
  const columnsOf = db.query<{ name: string; type: string; pk: number }, [string]>(
    'SELECT name, type, pk FROM pragma_table_info(?)',
  );
  return tables
    .filter(({ name }) => !STAYING.includes(name))
    .map(({ name, sql }) => {
      const columns = columnsOf.all(name);
      const key = columns.filter(({ pk }) => pk > 0).sort((one, other) => one.pk - other.pk);
      return {
        name,
        columns: columns.map(({ name, type }) => ({
          name,
          kind: KINDS[type.toLowerCase()] ?? 'text',
        })),
        key: key.map((column) => column.name),
        isNumbered: /\bAUTOINCREMENT\b/i.test(sql),
      };
    });
}

/** Returns the tables of this program's schema. */
export function programTables(): MovedTable[] {
  const db = new Database(':memory:');
  try {
    for (const migration of MIGRATIONS) db.run(migration);
    return movedTables(db);
  } finally {
    db.close();
  }
}

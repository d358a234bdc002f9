/** What moves between the two kinds of database: the tables that both have, column by column. */

import type { Database } from 'bun:sqlite';

export interface MovedColumn {
  name: string;
  kind: 'number' | 'text' | 'bytes';
}

export interface MovedTable {
  name: string;
  columns: readonly MovedColumn[];
  /** Columns by which its rows are in order. */
  key: readonly string[];
  /** The database gives its ids, none twice. */
  isNumbered: boolean;
}

/**
 * Tables that stay: counts that PostgreSQL has none of, and the law of states, which each schema
 * brings along.
 */
const STAYING = ['appliance', 'distribution_transition'];

/** Ties have an order that SQLite keeps unsaid, and PostgreSQL in a column of its own. */
const ORDERED_UNSAID = 'device_domain';

/** The order of a table's rows in SQLite and in PostgreSQL, for ORDER BY. */
export const orderInFile = ({ name, key }: MovedTable) =>
  name === ORDERED_UNSAID ? 'rowid' : key.join(', ');
export const orderOnServer = ({ name, key }: MovedTable) =>
  name === ORDERED_UNSAID ? 'id' : key.join(', ');

export const namesOf = ({ columns }: MovedTable) =>
  columns.map(({ name }) => `"${name}"`).join(', ');

const KINDS: Readonly<Record<string, MovedColumn['kind']>> = {
  integer: 'number',
  text: 'text',
  blob: 'bytes',
};

/** The tables of a SQLite database of this program's schema. */
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
        columns: columns.map((column) => ({
          name: column.name,
          kind: KINDS[column.type.toLowerCase()] ?? 'text',
        })),
        key: key.map((column) => column.name),
        isNumbered: /\bAUTOINCREMENT\b/i.test(sql),
      };
    });
}

/** Rows that a restore would lose. */

import type { Database } from 'bun:sqlite';
import { findDamage, quoted, tableNames } from './copy.ts';
import { APPLICATION_ID, pragmaNumber, SCHEMA_VERSION } from './migrate.ts';

/**
 * Tables of which nothing is lost: a server stores the time and the outcome of backups itself,
 * a key signs for days, and a panel that is followed is read again.
 */
const OWN = new Set(['steady_time', 'signing_key', 'upkeep', 'follow', 'followed_user']);
/** Tables that have rows in a new database already. */
const AT_FIRST = new Set([...OWN, 'appliance', 'distribution_transition']);

/** Returns the rows of `present` that the file `other` lacks, or null. Throws SQLite's error. */
export function lossOf(present: Database, other: string): string | null {
  if (findDamage(present, 'quick_check') !== null) return 'it is damaged';
  if (pragmaNumber(present, 'application_id') !== APPLICATION_ID) {
    return tableNames(present).length === 0 ? null : 'it is a database of another program';
  }
  if (isUntouched(present)) return null;
  const schema = pragmaNumber(present, 'user_version');
  if (schema > SCHEMA_VERSION) return `it has schema ${schema}, newer than this program`;
  present.query('ATTACH ? AS other').run(other);
  const offered = present.query<{ user_version: number }, []>('PRAGMA other.user_version').get();
  if (schema > (offered?.user_version ?? 0)) {
    return `it has schema ${schema}, the backup has ${offered?.user_version}`;
  }
  const lost = tableNames(present)
    // A replicator's own tables, which change without Gatepost.
    .filter((table) => !table.startsWith('_litestream_') && !OWN.has(table))
    .map((table) => ({ table, count: changedRows(present, table) }))
    .filter(({ count }) => count > 0)
    .map(({ table, count }) => `${count} of ${table}`);
  return lost.length === 0
    ? null
    : `it has rows that were added, changed or deleted since: ${lost.join(', ')}`;
}

/** Returns whether this is a new installation, as the package makes one, of any version. */
function isUntouched(present: Database): boolean {
  return tableNames(present)
    .filter((table) => !AT_FIRST.has(table))
    .every((table) => present.query(`SELECT 1 FROM ${quoted(table)} LIMIT 1`).get() === null);
}

interface Column {
  name: string;
  pk: number;
}

/** Leaves out entries about restores: the next restore adds its own. */
const BUT_RESTORES = `AND EXISTS (SELECT 1 FROM json_each(m.entries)
  WHERE json_extract(value, '$.action') IS NOT 'database.restore')`;

/** Counts rows that the other database lacks or that differ, and rows deleted here. */
function changedRows(db: Database, table: string): number {
  const count = (sql: string, ...values: string[]) =>
    db.query<{ count: number }, string[]>(sql).get(...values)?.count ?? 0;
  const name = quoted(table);
  const columns = (schema: string) =>
    db.query<Column, [string]>(`SELECT name, pk FROM pragma_table_info(?, '${schema}')`).all(table);
  const mine = columns('main');
  const theirs = new Set(columns('other').map(({ name }) => name));
  if (theirs.size === 0) return count(`SELECT count(*) AS count FROM main.${name}`);
  const keys = mine.filter(({ pk }) => pk > 0);
  const match = (list: readonly Column[], is: '=' | 'IS') =>
    list.map((c) => `o.${quoted(c.name)} ${is} m.${quoted(c.name)}`).join(' AND ') || '1';
  const hasKey = match(keys, '=');
  const shared = mine.filter(({ name, pk }) => pk === 0 && theirs.has(name));
  const changed = count(
    `SELECT count(*) AS count FROM main.${name} m WHERE NOT EXISTS
       (SELECT 1 FROM other.${name} o WHERE ${hasKey} AND ${match(shared, 'IS')})
       ${table === 'audit' ? BUT_RESTORES : ''}`,
  );
  const [key] = keys;
  if (keys.length !== 1 || key === undefined) return changed;
  const deleted = count(
    `SELECT count(*) AS count FROM other.${name} o
     WHERE o.${quoted(key.name)} <= (SELECT seq FROM main.sqlite_sequence WHERE name = ?)
       AND NOT EXISTS (SELECT 1 FROM main.${name} m WHERE ${hasKey})`,
    table,
  );
  return changed + deleted;
}

/** Schemas as lines that two kinds of database have in common: what both say is the same line. */

import type { Database } from 'bun:sqlite';
import type { SQL } from 'bun';

interface Named {
  name: string;
}

/** A column of a key, or the primary key in the order of its columns. */
const listOf = (columns: readonly string[]) => columns.join(', ');

/** An index is read in the order of its columns, then in that of the key that its rows have. */
function withKey(columns: readonly string[], key: readonly string[]): string {
  return listOf([...columns, ...key.filter((name) => !columns.includes(name))]);
}

interface Column {
  name: string;
  type: string;
  isRequired: boolean;
  default: string | null;
}

const columnLine = (table: string, { name, type, isRequired, ...more }: Column) =>
  `${table}.${name}: ${type}${isRequired ? ', not null' : ''}${more.default === null ? '' : `, default ${more.default}`}`;

const TYPES_OF_SQLITE: Readonly<Record<string, string>> = {
  integer: 'number',
  text: 'text',
  blob: 'bytes',
};

/**
 * Lines of a SQLite database. Conditions are put into the words of PostgreSQL by PostgreSQL, on a
 * table `name` of the same columns: {@link conditionsBy}.
 */
export async function linesOfSqlite(db: Database, conditions: Conditions): Promise<string[]> {
  const tables = db
    .query<Named & { sql: string }, []>(
      `SELECT name, sql FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'`,
    )
    .all();
  const lines: string[] = [];
  for (const { name: table, sql } of tables) {
    const columns = db
      .query<
        Named & { type: string; notnull: number; dflt_value: string | null; pk: number },
        [string]
      >('SELECT * FROM pragma_table_info(?)')
      .all(table);
    for (const column of columns) {
      const type = TYPES_OF_SQLITE[column.type.toLowerCase()] ?? column.type;
      const isRequired = column.notnull === 1;
      lines.push(columnLine(table, { ...column, type, isRequired, default: column.dflt_value }));
    }
    const keyed = columns.filter(({ pk }) => pk > 0).sort((a, b) => a.pk - b.pk);
    const key = keyed.map(({ name }) => name);
    const isGiven = /AUTOINCREMENT/i.test(sql) ? ', given' : '';
    lines.push(`${table}: key ${listOf(key)}${isGiven}`);
    for (const reference of db
      .query<{ table: string; from: string; on_delete: string }, [string]>(
        'SELECT * FROM pragma_foreign_key_list(?)',
      )
      .all(table)) {
      lines.push(`${table}.${reference.from} -> ${reference.table}, ${reference.on_delete}`);
    }
    for (const [, name = '', text = ''] of sql.matchAll(
      /CONSTRAINT "(\w+)" CHECK\((.*)\)(?=,?\n)/g,
    )) {
      lines.push(`${table}: check ${name} ${await conditions.check(table, plain(text, table))}`);
    }
    lines.push(...(await indexesOfSqlite(db, table, key, conditions)));
  }
  for (const { name, tbl_name } of db
    .query<Named & { tbl_name: string }, []>(
      `SELECT name, tbl_name FROM sqlite_schema WHERE type = 'trigger'`,
    )
    .all()) {
    lines.push(`${tbl_name}: trigger ${name}`);
  }
  return lines.sort();
}

const plain = (condition: string, table: string) =>
  condition.replaceAll(`"${table}".`, '').replaceAll('`', '"');

async function indexesOfSqlite(
  db: Database,
  table: string,
  key: readonly string[],
  conditions: Conditions,
): Promise<string[]> {
  const lines: string[] = [];
  const indexes = db
    .query<Named & { unique: number; sql: string }, [string]>(
      `SELECT l.name, l."unique", s.sql FROM pragma_index_list(?1) l
       JOIN sqlite_schema s ON s.type = 'index' AND s.name = l.name WHERE l.origin = 'c'`,
    )
    .all(table);
  for (const { name, unique, sql } of indexes) {
    const columns = db
      .query<Named, [string]>('SELECT name FROM pragma_index_info(?)')
      .all(name)
      .map((column) => column.name);
    const where = /\bWHERE (.*)$/s.exec(sql)?.[1];
    const of = where === undefined ? '' : ` where ${await conditions.where(table, where)}`;
    lines.push(
      unique === 1
        ? `${table}: unique ${name} (${listOf(columns)})${of}`
        : `${table}: index ${name} (${withKey(columns, key)})${of}`,
    );
  }
  return lines;
}

interface Conditions {
  check(table: string, condition: string): Promise<string>;
  where(table: string, condition: string): Promise<string>;
}

/** Has PostgreSQL say conditions in its words, for a table that it has itself. */
export function conditionsBy(db: SQL): Conditions {
  const onCopy = async (table: string, statement: string, read: string): Promise<string> => {
    await db
      .unsafe(`DROP TABLE IF EXISTS copy; CREATE TEMP TABLE copy (LIKE ${table});
      ${statement}`)
      .simple();
    const [row] = await db.unsafe(read);
    return String(row.text);
  };
  return {
    check: (table, condition) =>
      onCopy(
        table,
        `ALTER TABLE copy ADD CONSTRAINT it CHECK (${condition})`,
        `SELECT pg_get_expr(conbin, conrelid) AS text FROM pg_constraint
         WHERE conrelid = 'copy'::regclass`,
      ),
    where: (table, condition) =>
      onCopy(
        table,
        `CREATE INDEX ON copy ((1)) WHERE ${condition}`,
        `SELECT pg_get_expr(indpred, indrelid) AS text FROM pg_index
         WHERE indrelid = 'copy'::regclass`,
      ),
  };
}

const TYPES_OF_POSTGRES: Readonly<Record<string, string>> = {
  bigint: 'number',
  integer: 'number',
  'text COLLATE "C"': 'text',
  bytea: 'bytes',
};

const ON_DELETE: Readonly<Record<string, string>> = { c: 'CASCADE', n: 'SET NULL' };

/** Lines of a PostgreSQL database. */
export async function linesOfPostgres(db: SQL): Promise<string[]> {
  const columns: (Column & { table: string })[] = await db.unsafe(`
    SELECT c.relname AS "table", a.attname AS name, a.attnotnull AS "isRequired",
      format_type(a.atttypid, a.atttypmod) || coalesce((SELECT ' COLLATE "' || collname || '"'
        FROM pg_collation WHERE oid = a.attcollation), '') AS type,
      (SELECT regexp_replace(pg_get_expr(adbin, adrelid), '::text$', '') FROM pg_attrdef
        WHERE adrelid = c.oid AND adnum = a.attnum) AS "default"
    FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0
    WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' AND NOT a.attisdropped`);
  const lines = columns.map(({ table, type, ...column }) =>
    columnLine(table, { ...column, type: TYPES_OF_POSTGRES[type] ?? type }),
  );
  const rules: Record<'table' | 'name' | 'kind' | 'text' | 'to' | 'action', string>[] =
    await db.unsafe(`
    SELECT conrelid::regclass::text AS "table", conname AS name, contype::text AS kind,
      pg_get_expr(conbin, conrelid) AS text, confrelid::regclass::text AS "to",
      confdeltype::text AS action,
      (SELECT attname FROM pg_attribute WHERE attrelid = conrelid AND attnum = conkey[1]) AS "from"
    FROM pg_constraint WHERE connamespace = 'public'::regnamespace`);
  for (const { table, name, kind, text, ...rule } of rules) {
    if (kind === 'c') lines.push(`${table}: check ${name} ${text}`);
    if (kind === 'f') {
      lines.push(
        `${table}.${(rule as unknown as { from: string }).from} -> ${rule.to}, ${ON_DELETE[rule.action] ?? rule.action}`,
      );
    }
  }
  const triggers: { table: string; name: string }[] = await db.unsafe(`
    SELECT tgrelid::regclass::text AS "table", tgname AS name FROM pg_trigger
    WHERE NOT tgisinternal`);
  for (const { table, name } of triggers) lines.push(`${table}: trigger ${name}`);
  return [...lines, ...(await indexesOfPostgres(db))].sort();
}

async function indexesOfPostgres(db: SQL): Promise<string[]> {
  const indexes: {
    table: string;
    name: string;
    isKey: boolean;
    isUnique: boolean;
    isGiven: boolean;
    columns: string[];
    where: string | null;
  }[] = await db.unsafe(`
    SELECT indrelid::regclass::text AS "table", indexrelid::regclass::text AS name,
      indisprimary AS "isKey", indisunique AS "isUnique",
      pg_get_expr(indpred, indrelid) AS "where",
      (SELECT attidentity <> '' FROM pg_attribute
        WHERE attrelid = indrelid AND attnum = indkey[0]) AS "isGiven",
      ARRAY(SELECT attname::text FROM unnest(indkey) WITH ORDINALITY k (number, place)
        JOIN pg_attribute ON attrelid = indrelid AND attnum = number ORDER BY place) AS columns
    FROM pg_index WHERE indrelid::regclass::text IN
      (SELECT tablename FROM pg_tables WHERE schemaname = 'public')`);
  return indexes.map(({ table, name, isKey, isUnique, isGiven, columns, where }) => {
    if (isKey) return `${table}: key ${listOf(columns)}${isGiven ? ', given' : ''}`;
    const of = where === null ? '' : ` where ${where}`;
    return `${table}: ${isUnique ? 'unique' : 'index'} ${name} (${listOf(columns)})${of}`;
  });
}

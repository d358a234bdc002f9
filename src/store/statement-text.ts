/**
 * The texts of statements. A value that each run fills in is there by name, as in `:hwid`; lists of
 * columns are by the names of fields.
 *
 * @example
 * sql`SELECT ${columns`id, createdAtMs, p.code AS providerCode`} FROM …`
 * sql`UPDATE job SET ${assignments`state = 'failed', endedAtMs`} WHERE id = :id`
 * insertInto('job')`kind, params, state = 'waiting', bytes = ${bytes('key')}`
 */

import { type SQL, type SQLWrapper, sql } from 'drizzle-orm';

/** A quoted text, a given value as drizzle writes it (`?`, `$1`), or a named one; not a cast. */
const PARTS = /'[^']*'|\?|\$\d+|(?<!:):([a-z]\w*)/gi;

/** A text whose values are numbered: each has a name, or (null) was given. */
export interface StatementText {
  text: string;
  names: readonly (string | null)[];
  given: readonly unknown[];
}

/** Returns a name as keys are kept: a part of a text is slower to look up by. */
const asKey = (name: string): string => Object.keys({ [name]: 0 })[0] as string;

/** Numbers the values of a statement from drizzle in their order, from 1. */
export function numberValues(
  { sql, params }: { sql: string; params: readonly unknown[] },
  signOf: (n: number) => string,
): StatementText {
  const names: (string | null)[] = [];
  const given: unknown[] = [];
  let givenCount = 0;
  const text = sql.replace(PARTS, (part: string, name: string | undefined) => {
    if (part.startsWith("'")) return part;
    names.push(name === undefined ? null : asKey(name));
    given.push(name === undefined ? params[givenCount++] : null);
    return signOf(names.length);
  });
  return { text, names, given };
}

/**
 * Returns the column of a field: that of `atMs` is `at_ms`.
 *
 * @example columnOf('createdAtMs') // 'created_at_ms'
 */
export const columnOf = (field: string) =>
  field.replace(/[A-Z]/g, (big) => `_${big.toLowerCase()}`);

/** Writes a list of columns as it is. */
export const columnNames = (fields: string): SQL => sql.raw(columnOf(fields));

/** The placeholder of a fragment until the list is read. */
const FRAGMENT = '?';

/** Reads a list of names of fields, each with what it is set to, or else null. */
function fieldsIn(texts: readonly string[], fragments: readonly (SQL | string)[]) {
  const parts = texts.map((text, n) => {
    const fragment = fragments[n] ?? '';
    return text + (typeof fragment === 'string' ? fragment : FRAGMENT);
  });
  const left = fragments.filter((fragment) => typeof fragment !== 'string');
  return parts
    .join('')
    .trim()
    .split(/,\s+/)
    .map((item) => {
      const [field = '', value] = item.split(' = ');
      const fragment = value === FRAGMENT ? left.shift() : undefined;
      return { field, column: columnOf(field), value: fragment ?? sql.raw(value ?? `:${field}`) };
    });
}

const listOf = (parts: SQL[]) => sql.join(parts, sql.raw(', '));

/** Makes a part of a text that is written when its statement first runs, not at each start. */
const later = (write: () => SQL): SQLWrapper => ({
  getSQL: write,
  shouldOmitSQLParens: () => true,
});

/** Writes a list of columns for SELECT, each as its field, or as what follows AS. */
export const columns = (texts: readonly string[], ...fields: string[]): SQLWrapper =>
  later(() => {
    const all = fieldsIn(texts, fields).map(({ field }) => {
      const [path = '', as = path.replace(/^.*\./, '')] = field.split(' AS ');
      return `${columnOf(path)} AS "${as}"`;
    });
    return sql.raw(all.join(', '));
  });

/** Writes a list of assignments for SET: of the value of a field's name, or of what is given. */
export const assignments = (texts: readonly string[], ...parts: (SQL | string)[]): SQLWrapper =>
  later(() => {
    const all = fieldsIn(texts, parts);
    return listOf(all.map(({ column, value }) => sql`${sql.raw(column)} = ${value}`));
  });

/** Writes an INSERT of one row, with values as {@link assignments} has them. */
export const insertInto =
  (table: string) =>
  (texts: readonly string[], ...parts: (SQL | string)[]): SQLWrapper =>
    later(() => {
      const all = fieldsIn(texts, parts);
      const names = all.map(({ column }) => column).join(', ');
      const values = listOf(all.map(({ value }) => value));
      return sql`${sql.raw(`INSERT INTO ${table} (${names}) VALUES`)} (${values})`;
    });

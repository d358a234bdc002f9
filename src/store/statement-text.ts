/**
 * The texts of statements. A value that each run fills in is there by name, as in `:hwid`; lists of
 * columns are by the names of fields, in a text or an array.
 *
 * @example
 * sql`SELECT ${columns('job', 'id, createdAtMs AS atMs')} FROM job …`
 * sql`UPDATE job SET ${assignments('job', "state = 'failed', endedAtMs")} WHERE id = :id`
 * insertInto('passkey', 'name, createdAtMs', { publicKey: bytes('key') })
 */

import { sql as drizzle, type SQL, type SQLWrapper } from 'drizzle-orm';
import type { From, Row, RowOf, Settable, Table, Unknown, Whole } from './row.ts';

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

/** A list of fields: a text with commas, or an array. */
type ListOf<Item extends string> = Item | readonly Item[];

/** Writes a list of columns as it is. */
export const columnNames = (fields: ListOf<string>): SQL =>
  sql.raw(columnOf([fields].flat().join(', ')));

type Of<Alias extends string, Field extends string, As extends string> = Field extends string
  ? `${Alias}.${Field}${As extends '' ? '' : ` AS ${As}${Capitalize<Field>}`}`
  : never;

const big = (field: string) => field.replace(/^./, (first) => first.toUpperCase());

/**
 * Returns columns of the table with an alias, each as `as` and its field; without `as`, as its
 * field.
 *
 * @example ofTable('p', ['whenFull'], 'provider') // ['p.whenFull AS providerWhenFull']
 */
export const ofTable = <
  const Alias extends string,
  Field extends string,
  const As extends string = '',
>(
  alias: Alias,
  fields: readonly Field[],
  as?: As,
) =>
  fields.map((one) => `${alias}.${one}${as ? ` AS ${as}${big(one)}` : ''}`) as Of<
    Alias,
    Field,
    As
  >[];

/** Reads a list of names of fields, each with what it is set to, or else null. */
function fieldsIn(list: ListOf<string>) {
  return [list]
    .flat()
    .flatMap((text) => text.trim().split(/,\s+/))
    .map((item) => {
      const [field = '', value] = item.split(' = ');
      return { field, column: columnOf(field), value: sql.raw(value ?? `:${field}`) };
    });
}

const listOf = (parts: SQL[]) => sql.join(parts, sql.raw(', '));

/** Makes a part of a text that is written when its statement first runs, not at each start. */
const later = (write: () => SQL): SQLWrapper => ({
  getSQL: write,
  shouldOmitSQLParens: () => true,
});

type Joined<Parts extends readonly unknown[]> = Parts extends readonly [infer First, ...infer Rest]
  ? (First extends SQL<infer Row> ? Row : unknown) & Joined<Rest>
  : unknown;

type Flat<Row> = { [Field in keyof Row]: Row[Field] };

/** The row of a statement with these parts: all columns that they read. */
export type RowsOf<Parts extends readonly unknown[]> = Flat<Joined<Parts>>;

/**
 * Writes a statement or a part of one, as drizzle's tag of this name does; its rows have the types
 * of the {@link columns} and {@link values} in it.
 */
export const sql = Object.assign(
  <const Parts extends readonly unknown[]>(texts: TemplateStringsArray, ...parts: Parts) =>
    drizzle<RowsOf<Parts>>(texts, ...parts),
  { raw: drizzle.raw, join: drizzle.join, identifier: drizzle.identifier, empty: drizzle.empty },
);

const written = (list: ListOf<string>) =>
  later(() => {
    const all = fieldsIn(list).map(({ field }) => {
      const [path = '', as = path.replace(/^.*\./, '')] = field.replace('!', '').split(' AS ');
      return `${columnOf(path)} AS "${as}"`;
    });
    return sql.raw(all.join(', '));
  });

/** A list of columns that the tables have; else an error that names the others. */
type Known<Source extends From, List extends string> = [Unknown<Source, List>] extends [never]
  ? unknown
  : { unknown: Unknown<Source, List> };

/**
 * Writes a list of columns, each as its field, or as what follows AS. A name that the table lacks
 * does not compile. `!` follows a column that the statement's condition keeps from being null.
 *
 * @example columns({ d: 'device', p: 'device_provider?' }, 'd.hwid, p.deviceName AS name')
 */
export const columns = <const Source extends From, const List extends string>(
  _from: Source,
  list: ListOf<List> & Known<Source, List>,
): SQL<RowOf<Source, List>> => drizzle`${written(list)}` as SQL<RowOf<Source, List>>;

/** Writes expressions, each as its field; the types are those of their values. */
export const values = <Row>(expressions: { readonly [Field in keyof Row]: SQL }): SQL<Row> =>
  sql.join(
    Object.entries<SQL>(expressions).map(
      ([as, value]) => drizzle`${value} AS ${sql.raw(`"${as}"`)}`,
    ),
    sql.raw(', '),
  ) as SQL<Row>;

/** Fragments by fields; a list names the fields that are set to values of their names. */
type Fragments<Name extends Table> = { readonly [Field in keyof Row<Name>]?: SQL };

const setIn = (list: ListOf<string>, fragments: Readonly<Record<string, SQL | undefined>>) => [
  ...fieldsIn(list),
  ...Object.entries(fragments).map(([field, value]) => ({ column: columnOf(field), value })),
];

/**
 * Writes a list of assignments for SET: of the value of a field's name, or of what follows `=`, and
 * of fragments. A field that the table lacks does not compile.
 */
export const assignments = <const Name extends Table, const List extends string>(
  _table: Name,
  list: ListOf<List> & Settable<Name, List>,
  fragments: Fragments<Name> = {},
): SQLWrapper =>
  later(() =>
    listOf(
      setIn(list, fragments).map(({ column, value }) => drizzle`${sql.raw(column)} = ${value}`),
    ),
  );

/**
 * Writes an INSERT of one row, with values as {@link assignments} has them. A field without a
 * default that is left out does not compile.
 */
export const insertInto = <
  const Name extends Table,
  const List extends string,
  const Given extends Fragments<Name> = Record<never, never>,
>(
  table: Name,
  list: ListOf<List> & Settable<Name, List> & Whole<Name, List, Given>,
  fragments?: Given,
): SQLWrapper =>
  later(() => {
    const all = setIn(list, fragments ?? {});
    const names = all.map(({ column }) => column).join(', ');
    const set = listOf(all.map(({ value }) => drizzle`${value}`));
    return drizzle`${sql.raw(`INSERT INTO ${table} (${names}) VALUES`)} (${set})`;
  });

/** The column of a statement that asks whether there is a row. */
export const ONE = values<{ one: number }>({ one: sql`1` });

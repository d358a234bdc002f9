/**
 * Fields of records as rows of a table. A table has a row for each field that can be set, and lists
 * of columns, files, parameters, options and entries of the audit log derive from it.
 *
 * @example
 * const FIELDS = {
 *   note: { format: NOTE, usual: null, audit: 'text' },
 *   activeUntilMs: { name: 'active_until', format: TIME, usual: null, audit: isoTime },
 * } as const satisfies Fields<Own>;
 * outside(FIELDS, { activeUntilMs: 5 }) // { active_until: 5 }
 */

import type { Format } from './formats.ts';
import { isRefused, type Misfit, malformed } from './outcome.ts';

/** A value in an entry of the audit log. */
export type Fact = string | number | boolean | null;

export interface Field<T> {
  /** Its name outside; absent: that of the field, as `when_full` for `whenFull`. */
  readonly name?: string;
  /** The format of its values other than null. */
  readonly format: Format<NonNullable<T>>;
  /** The value of a record that is given none; absent: it must be given. */
  readonly usual?: T;
  /**
   * Its form in the audit log. A `text` is only `changed`, a `secret` is also `set` in a new
   * record; absent: the value.
   */
  readonly audit?: 'text' | 'secret' | ((value: T) => Fact);
}

/** A table with a row for each field of a record; one without a row does not compile. */
export type Fields<Own> = { readonly [F in keyof Own]-?: Field<Own[F]> };

/** A table of fields that have their formats elsewhere. */
export type NoFormat<Own> = {
  readonly [F in keyof Own]-?: Omit<Field<Own[F]>, 'format'> & { readonly format?: unknown };
};

export type Snake<Name extends string> = Name extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${Snake<Rest>}`
  : Name;

/** The outside name of a field. */
export type OutsideName<Table, F extends keyof Table> = F extends unknown
  ? Table[F] extends { readonly name: infer Name extends string }
    ? Name
    : Snake<F & string>
  : never;

/** A record with the outside names of a table. */
type Outside<Table, Own> = {
  [F in keyof Table & keyof Own as OutsideName<Table, F>]: Own[F];
};

/** A record of values; a value that may be undefined may be absent. */
type Each<F extends string, V> = undefined extends V
  ? { [Name in F]?: Exclude<V, undefined> }
  : { [Name in F]: V };

/** Returns the fields of a table in its order. */
export const fieldsOf = <Table extends object>(table: Table) =>
  Object.keys(table) as (keyof Table & string)[];

/** Makes a record of a value for each field; undefined leaves it out. */
export const each = <F extends string, V>(fields: readonly F[], get: (field: F) => V) =>
  Object.fromEntries(
    fields.flatMap((field) => {
      const value = get(field);
      return value === undefined ? [] : [[field, value]];
    }),
  ) as Each<F, V>;

/** Returns the part of a record with some of its fields; absent ones stay absent. */
export const only = <Own extends object, F extends keyof Own & string>(
  own: Own,
  fields: readonly F[],
) => each<F, unknown>(fields, (field) => own[field]) as Pick<Own, F>;

/** Returns a field's name in columns and files: `when_full` for `whenFull`. */
export const snakeCase = (field: string) =>
  field.replace(/[A-Z]/g, (big) => `_${big.toLowerCase()}`);

/** Returns a record with the names that it has in files and output. */
export const inSnakeCase = <Own extends object>(own: Own) =>
  Object.fromEntries(Object.entries(own).map(([field, value]) => [snakeCase(field), value])) as {
    [F in keyof Own & string as Snake<F>]: Own[F];
  };

/** Returns the outside name of a field: `when_full` for `whenFull`. */
export const outsideName = <Table extends NoFormat<object>, F extends keyof Table & string>(
  table: Table,
  field: F,
) => ((table[field] as { name?: string }).name ?? snakeCase(field)) as OutsideName<Table, F>;

/** A value for each field; undefined: it is not given. */
export type Given<Own> = { readonly [F in keyof Own]-?: Own[F] | undefined };

/** Returns the fields that are given. */
export const onlyGiven = <Own extends object>(given: Given<Own>) =>
  each<string, unknown>(Object.keys(given), (field) => given[field as keyof Own]) as Partial<Own>;

/** Returns the rows of a table, each with its field and its outside name. */
export const rowsOf = <Own>(table: Fields<Own>) =>
  (fieldsOf(table) as (keyof Own & string)[]).map((field) => {
    const row: Field<Own[keyof Own & string]> = table[field];
    return { ...row, field, name: outsideName(table, field) as string };
  });

/** Returns the fields of a record that a table has, with their outside names. */
export const outside = <Table extends Fields<object>, Own extends object>(table: Table, own: Own) =>
  Object.fromEntries(
    fieldsOf(table)
      .filter((field) => (own as Record<string, unknown>)[field] !== undefined)
      .map((field) => [outsideName(table, field), (own as Record<string, unknown>)[field]]),
  ) as Outside<Table, Own>;

/** Returns the values of a record that is given none; fields that must be given are absent. */
export const usualOf = <Own>(table: Fields<Own>) =>
  each<string, unknown>(fieldsOf(table), (field) => table[field as keyof Own].usual) as Own;

/**
 * Reads the given fields of a record; absent ones stay absent, and null is a value where it is the
 * usual one. Returns a misfit with the name of the first field that does not fit its format.
 */
export function readGiven<Own>(
  table: Fields<Own>,
  given: { readonly [F in keyof Own]?: unknown },
): Partial<Own> | Misfit {
  const own: Partial<Own> = {};
  for (const field of fieldsOf(table) as (keyof Own & string)[]) {
    const value = given[field];
    const { format, usual } = table[field];
    if (value === undefined) continue;
    const read = value === null && usual === null ? null : format.read(value);
    if (isRefused(read)) return malformed(`${field} ${(read as Misfit).detail}`);
    own[field] = read as Own[typeof field];
  }
  return own;
}

/** Rows of statements as records. */

import type { Prepared, Values } from '../backend.ts';

/** Makes a statement return records, each made of a row. */
export function mapped<Row, Out>(
  on: Prepared<Row>,
  make: (row: Row) => Out,
): Pick<Prepared<Out>, 'all' | 'get'> {
  return {
    *all(values?: Values) {
      return (yield* on.all(values)).map(make);
    },
    *get(values?: Values) {
      const row = yield* on.get(values);
      return row === null ? null : make(row);
    },
  };
}

/** A record as a row has it: these flags are 0 or 1. */
export type Flagged<Of, Flag extends keyof Of> = Omit<Of, Flag> & Record<Flag, number>;

/** Returns the maker of records whose flags are booleans. */
export const booleans =
  <Flag extends string>(...flags: Flag[]) =>
  <Row extends Record<Flag, number>>(row: Row): Omit<Row, Flag> & Record<Flag, boolean> => {
    const is = Object.fromEntries(flags.map((flag) => [flag, row[flag] === 1]));
    return { ...row, ...is } as Omit<Row, Flag> & Record<Flag, boolean>;
  };

/** Returns the maker of records whose field is the value of a text of JSON. */
export const parsed =
  <Field extends string, Value = unknown>(field: Field) =>
  <Row extends Record<Field, string>>(row: Row): Omit<Row, Field> & Record<Field, Value> =>
    ({ ...row, [field]: JSON.parse(row[field]) }) as Omit<Row, Field> & Record<Field, Value>;

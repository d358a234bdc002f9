/** Statements as templates of SQL by drizzle for Bun.SQL; each call names its runner. */

import { Placeholder, type SQL, sql } from 'drizzle-orm';
import { PgDialect } from 'drizzle-orm/pg-core';

/** A value of a parameter; elements of arrays may be null. */
export type Bound =
  | string
  | number
  | boolean
  | null
  | Uint8Array
  | readonly (string | number | boolean | null | Uint8Array)[];

type Values = Record<string, Bound>;

/** The rows of a result, and how many the statement returned or changed, without triggers. */
export interface Answer<Row> {
  rows: Row[];
  count: number;
}

/** The pool, or the connection of a transaction. */
export interface Runner {
  ask<Row>(text: string, params: readonly Bound[]): Promise<Answer<Row>>;
}

export interface Statement<Row> {
  all(on: Runner, values?: Values): Promise<Row[]>;
  get(on: Runner, values?: Values): Promise<Row | null>;
  /** Returns the number of rows changed, without those of triggers. */
  run(on: Runner, values?: Values): Promise<number>;
  /** Adds one row and returns its `id`. Throws if the statement returns none. */
  insert(on: Runner, values?: Values): Promise<number>;
}

const dialect = new PgDialect();

interface Written {
  text: string;
  params: readonly (Placeholder | Bound)[];
}

function write(query: SQL): Written {
  const { sql: text, params } = dialect.sqlToQuery(query);
  return { text, params: params as (Placeholder | Bound)[] };
}

function bind({ text, params }: Written, values: Values): Bound[] {
  return params.map((param) => {
    if (!(param instanceof Placeholder)) return param;
    const value = values[param.name];
    if (value === undefined) throw new Error(`no value for ${param.name} in ${text}`);
    return value;
  });
}

/**
 * Makes a statement. Each run fills in every {@link value} by name and throws if one is missing.
 */
export function prepare<Row = unknown>(query: SQL): Statement<Row> {
  let written: Written | null = null;
  const ask = (on: Runner, values: Values = {}) => {
    written ??= write(query);
    return on.ask<Row>(written.text, bind(written, values));
  };
  return {
    all: async (on, values) => (await ask(on, values)).rows,
    get: async (on, values) => (await ask(on, values)).rows[0] ?? null,
    run: async (on, values) => (await ask(on, values)).count,
    insert: async (on, values) => {
      const row = (await ask(on, values)).rows[0] as { id: number } | undefined;
      if (row === undefined) throw new Error(`no id was returned by ${written?.text}`);
      return row.id;
    },
  };
}

/** A value that is filled in at each run. */
export const value = sql.placeholder;

type ColumnType = 'bigint' | 'integer' | 'text' | 'bytea' | 'boolean';

/**
 * Makes a table of rows whose columns are named as fields: `atMs` is `at_ms`. `from` goes behind
 * FROM, and its column `n` numbers the rows from 1; `of` makes the values: an array a column.
 */
export function tableOf<Field extends string>(alias: string, types: Record<Field, ColumnType>) {
  const fields = Object.keys(types) as Field[];
  const arrays = fields.map((field) => sql`${value(field)}::${sql.raw(types[field])}[]`);
  const columns = fields.map((field) => field.replace(/[A-Z]/g, (big) => `_${big.toLowerCase()}`));
  const names = sql.raw(`${alias} (${columns.join(', ')}, n)`);
  type Row = Readonly<Record<Field, string | number | boolean | null | Uint8Array>>;
  return {
    from: sql`unnest(${sql.join(arrays, sql`, `)}) WITH ORDINALITY AS ${names}`,
    of: (rows: readonly Row[]): Values =>
      Object.fromEntries(fields.map((field) => [field, rows.map((row) => row[field])])),
  };
}

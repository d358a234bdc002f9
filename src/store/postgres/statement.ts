/** Statements as templates of SQL by drizzle for Bun.SQL; each call names its runner. */

import { type SQL, sql } from 'drizzle-orm';
import { PgDialect } from 'drizzle-orm/pg-core';
import type { NeededRows } from '../backend.ts';
import { columnOf, numberValues, type StatementText } from '../statement-text.ts';

type Scalar = string | number | boolean | null | Uint8Array;
/** A value of a parameter. */
export type Bound = Scalar | readonly Scalar[];

type Values = Record<string, Bound>;

/** The rows of a result, and the number of rows returned or changed, without triggers. */
export interface QueryResult<Row> {
  rows: Row[];
  count: number;
}

/** The pool, or the connection of a transaction. */
export interface Runner {
  ask<Row>(text: string, params: readonly Bound[]): Promise<QueryResult<Row>>;
  /** The rows that a repeated write locks first. */
  readonly locksFirst?: NeededRows | undefined;
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

function bind({ text, names, given }: StatementText, values: Values): Bound[] {
  return names.map((name, n) => {
    if (name === null) return given[n] as Bound;
    const value = values[name];
    if (value === undefined) throw new Error(`no value for ${name} in ${text}`);
    return value;
  });
}

/**
 * Makes a statement; one whose rows are of no table of `migrations/schema*.ts` names them itself.
 * Each run fills in every `:name` and throws if a value is missing.
 */
export function prepare<Row = unknown>(query: SQL<Row>): Statement<Row>;
export function prepare<Row = unknown>(query: SQL): Statement<Row>;
export function prepare<Row = unknown>(query: SQL): Statement<Row> {
  let written: StatementText | null = null;
  const ask = (on: Runner, values: Values = {}) => {
    written ??= numberValues(dialect.sqlToQuery(query), (n) => `$${n}`);
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

type ColumnType = 'bigint' | 'integer' | 'text' | 'bytea' | 'boolean';

/**
 * Makes a table of rows whose columns are named like fields: `atMs` is `at_ms`. `from` follows
 * FROM, and its column `n` numbers the rows from 1; `of` makes the values: one array a column.
 */
export function tableOf<Field extends string>(alias: string, types: Record<Field, ColumnType>) {
  const fields = Object.keys(types) as Field[];
  const arrays = fields.map((field) => `:${field}::${types[field]}[]`);
  const names = `${alias} (${fields.map(columnOf).join(', ')}, n)`;
  type Row = Readonly<Record<Field, Scalar>>;
  return {
    from: sql.raw(`unnest(${arrays.join(', ')}) WITH ORDINALITY AS ${names}`),
    of: (rows: readonly Row[]): Values =>
      Object.fromEntries(fields.map((field) => [field, rows.map((row) => row[field])])),
  };
}

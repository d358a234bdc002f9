/**
 * Statements as templates of SQL: drizzle writes their text, bun:sqlite runs it. Each is compiled
 * when it first runs: compiling all 300 took 25 of the 30 ms of every start, and a command needs
 * ten.
 */

import type { Changes, Statement as Compilation, Database, SQLQueryBindings } from 'bun:sqlite';
import { type SQL, sql } from 'drizzle-orm';
import { SQLiteSyncDialect } from 'drizzle-orm/sqlite-core';
import { numberValues } from '../statement-text.ts';

/** Values by name. A list is passed as JSON, for json_each. */
type Values = Readonly<Record<string, SQLQueryBindings | readonly (string | number)[]>>;

export interface Statement<Row> {
  all(values?: Values): Row[];
  get(values?: Values): Row | null;
  /** Runs it for its effect; returns the number of rows changed, including those of triggers. */
  run(values?: Values): number;
  /** Adds one row and returns its id; takes a quarter less time than RETURNING. */
  insert(values?: Values): number;
}

/** The parts of a connection that statements run on. */
interface Runner {
  readonly native: Database;
  read(): void;
  met(error: unknown): unknown;
  compile<Row>(text: string): Compilation<Row, SQLQueryBindings[]>;
}

const dialect = new SQLiteSyncDialect();

/** Compiles a query when it first runs; each `:name` in it is filled in at each run. */
export function statementOn<Row>(db: Runner, query: SQL): Statement<Row> {
  let compiled: Compiled<Row> | null = null;
  const at = () => {
    compiled ??= compile<Row>(db, query);
    return compiled;
  };
  const reading = <Result>(work: (on: Compiled<Row>) => Result): Result => {
    try {
      db.read();
      return work(at());
    } catch (error) {
      throw db.met(error);
    }
  };
  return {
    all: (values = {}) => reading(({ native, bind }) => native.all(bind(values))),
    get: (values = {}) => reading(({ native, bind }) => native.get(bind(values))),
    run: (values = {}) => {
      const { native, bind } = at();
      return native.run(bind(values)).changes;
    },
    insert: (values = {}) => {
      const { native, bind } = at();
      return Number(native.run(bind(values)).lastInsertRowid);
    },
  };
}

/**
 * A statement of bun:sqlite that takes its values as one array: separate arguments cost 0.05 us.
 */
interface Native<Row> {
  all(values: SQLQueryBindings[]): Row[];
  get(values: SQLQueryBindings[]): Row | null;
  run(values: SQLQueryBindings[]): Changes;
}

interface Compiled<Row> {
  native: Native<Row>;
  /** The values of a run in the order of the parameters. */
  bind(values: Values): SQLQueryBindings[];
}

function compile<Row>(db: Runner, query: SQL): Compiled<Row> {
  const { text, names, given } = numberValues(dialect.sqlToQuery(query), () => '?');
  // One array for all runs, because SQLite has copied its values when a run returns.
  const bound = given as SQLQueryBindings[];
  const bind = (values: Values): SQLQueryBindings[] => {
    for (let i = 0; i < names.length; i++) {
      const name = names[i];
      if (typeof name !== 'string') continue;
      const value = values[name];
      if (value === undefined) throw new Error(`no value for ${name} in ${text}`);
      bound[i] = Array.isArray(value) ? JSON.stringify(value) : (value as SQLQueryBindings);
    }
    return bound;
  };
  return { native: db.compile<Row>(text) as unknown as Native<Row>, bind };
}

/**
 * A value that the planner does not see: else it plans joins again at each run, 37 of 40 us here.
 */
export const once = (name: string) => sql.raw(`(SELECT :${name})`);

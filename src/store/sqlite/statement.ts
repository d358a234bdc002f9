/**
 * Statements as templates of SQL, prepared once: drizzle writes their text, bun:sqlite runs it, as
 * drizzle's own way would map every row once more.
 */

import type { Database, Statement as Native, SQLQueryBindings } from 'bun:sqlite';
import { Placeholder, type SQL, sql } from 'drizzle-orm';
import { SQLiteSyncDialect } from 'drizzle-orm/sqlite-core';

type Values = Record<string, SQLQueryBindings>;

export interface Statement<Row> {
  all(values?: Values): Row[];
  get(values?: Values): Row | null;
  /** Runs it for its effect and returns the number of rows changed, those of triggers included. */
  run(values?: Values): number;
  /** Adds one row and returns its id: a quarter cheaper than a RETURNING. */
  insert(values?: Values): number;
}

/** The parts of a connection that statements run on. */
interface Runner {
  readonly native: Database;
  read(): void;
  compile<Row>(text: string): Native<Row, SQLQueryBindings[]>;
}

const dialect = new SQLiteSyncDialect();

/** Compiles a query, runs it once and lets go of it. */
export function listOnce<Row>(db: Runner, query: SQL): Row[] {
  const { sql: text, params } = dialect.sqlToQuery(query);
  const native = db.native.prepare<Row, SQLQueryBindings[]>(text);
  try {
    db.read();
    return native.all(...(params as SQLQueryBindings[]));
  } finally {
    native.finalize();
  }
}

/** Compiles a query once. Each {@link value} in it is filled in by name at each run. */
export function statementOn<Row>(db: Runner, query: SQL): Statement<Row> {
  const compiled = dialect.sqlToQuery(query);
  const params = compiled.params as (Placeholder | SQLQueryBindings)[];
  const native = db.compile<Row>(compiled.sql);
  // One array for all runs: SQLite has taken its values over when a run returns.
  const bound = params.map((param) => (param instanceof Placeholder ? null : param));
  const names = params.map((param) => (param instanceof Placeholder ? param.name : null));
  const bind = (values: Values): SQLQueryBindings[] => {
    for (let i = 0; i < names.length; i++) {
      const name = names[i];
      if (typeof name !== 'string') continue;
      const value = values[name];
      if (value === undefined) throw new Error(`no value for ${name} in ${compiled.sql}`);
      bound[i] = value;
    }
    return bound;
  };
  return {
    all: (values = {}) => {
      db.read();
      return native.all(...bind(values));
    },
    get: (values = {}) => {
      db.read();
      return native.get(...bind(values));
    },
    run: (values = {}) => native.run(...bind(values)).changes,
    insert: (values = {}) => Number(native.run(...bind(values)).lastInsertRowid),
  };
}

/** A value that is filled in at each run. */
export const value = sql.placeholder;

/**
 * A value that SQLite cannot see while it plans. With those that it sees, in LIMIT too, it plans a
 * join anew at each run, which took 37 of 40 us here.
 */
export const once = (name: string) => sql`(SELECT ${value(name)})`;

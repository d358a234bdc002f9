/**
 * Statements on a test's data from outside, past the store, in words that both stores know: `?`
 * stands for each value in turn.
 */

import { openBeside } from './database.ts';
import type { TestDatabase } from './postgres-data.ts';

type Value = string | number | null | Uint8Array;

export interface Outside {
  /** The rows that a statement finds, or returns. */
  rows<Row>(sql: string, ...values: readonly Value[]): Promise<Row[]>;
  /** The first of them. */
  row<Row>(sql: string, ...values: readonly Value[]): Promise<Row | undefined>;
  /** Changes something; says how many rows. */
  change(sql: string, ...values: readonly Value[]): Promise<number>;
  close(): void;
}

/** What is looked into: a file in the folder, unless there is a database. */
export interface Looked {
  dataDir: string;
  database: TestDatabase | null;
}

/** The caller closes it, before the data go. */
export function outsideOf({ dataDir, database }: Looked): Outside {
  return database === null ? ofFile(dataDir) : ofDatabase(database);
}

function ofFile(dataDir: string): Outside {
  const db = openBeside(dataDir);
  const rows = async <Row>(sql: string, ...values: readonly Value[]) =>
    db.query<Row, Value[]>(sql).all(...values);
  return {
    rows,
    row: async <Row>(sql: string, ...values: readonly Value[]) =>
      (await rows<Row>(sql, ...values))[0],
    change: async (sql, ...values) => db.run(sql, [...values]).changes,
    close: () => db.close(),
  };
}

function ofDatabase({ sql: db }: TestDatabase): Outside {
  const ask = (sql: string, values: readonly Value[]) => {
    let count = 0;
    return db.unsafe(
      sql.replaceAll('?', () => `$${++count}`),
      [...values],
    );
  };
  const rows = async <Row>(sql: string, ...values: readonly Value[]) =>
    Array.from(await ask(sql, values), (row: Record<string, unknown>) => withNumbers(row) as Row);
  return {
    rows,
    row: async <Row>(sql: string, ...values: readonly Value[]) =>
      (await rows<Row>(sql, ...values))[0],
    change: async (sql, ...values) => Number((await ask(sql, values)).count),
    // The connection belongs to the database.
    close: () => undefined,
  };
}

/** A row with numbers where the driver has bigints: ids and times are far below 2^53. */
export function withNumbers(row: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(row).map(([column, value]) => [
      column,
      typeof value === 'bigint' ? Number(value) : value,
    ]),
  );
}

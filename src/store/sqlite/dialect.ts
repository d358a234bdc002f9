/** Steps and statements on SQLite: a step never waits, so it runs to its end at once. */

import type { SQL } from 'drizzle-orm';
import type { Dialect, Prepared, Statements, Step } from '../backend.ts';
import { sql } from '../statement-text.ts';
import type { Connection } from './connection.ts';
import { once, type Statement } from './statement.ts';

/** A step that has run: one object, because each statement makes one. */
export class Done<T> implements Step<T>, Iterator<never, T>, IteratorReturnResult<T> {
  readonly done = true;

  constructor(readonly value: T) {}

  next(): this {
    return this;
  }

  [Symbol.iterator](): Iterator<never, T> {
    return this;
  }
}

export const NOTHING = new Done<void>(undefined);

/** Runs a step to its end. Throws if it waits for something. */
export function runNow<T>(step: Step<T>): T {
  if (step instanceof Done) return step.value;
  const result = step[Symbol.iterator]().next();
  if (result.done !== true) throw new Error('a step on SQLite waits for nothing');
  return result.value;
}

function preparedOn<Row>(on: Statement<Row>): Prepared<Row> {
  return {
    all: (values) => new Done(on.all(values)),
    get: (values) => new Done(on.get(values)),
    run: (values) => new Done(on.run(values)),
    insert: (values) => new Done(on.insert(values)),
  };
}

const NO_LOCK: Prepared<unknown> = {
  all: () => new Done([]),
  get: () => new Done(null),
  run: () => new Done(0),
  insert: () => new Done(0),
};

const EMPTY = sql.raw('');

const DIALECT: Dialect = {
  locked: EMPTY,
  lockedUnlessBusy: EMPTY,
  deletableUnlessBusy: EMPTY,
  keyLocked: () => EMPTY,
  join: sql.raw('CROSS JOIN'),
  arrival: sql.raw('rowid'),
  fence: EMPTY,
  returningId: EMPTY,
  once,
  among: (name) => sql.raw(`IN (SELECT value FROM json_each(:${name}))`),
  rows: (name, columns) => {
    const read = Object.keys(columns).map((column) => `value->>'${column}' AS "${column}"`);
    return sql.raw(`(SELECT key AS n, ${read.join(', ')} FROM json_each(:${name}))`);
  },
  idOrNext: (name) => sql.raw(`:${name}`),
  greatest: (a, b) => sql`max(${a}, ${b})`,
  least: (a, b) => sql`min(${a}, ${b})`,
  strangersBeyond: (name) => sql.raw(`(SELECT max(0, stranger_count - :${name}) FROM appliance)`),
  fits: (column, name) => sql.raw(`${column} GLOB :${name}`),
  partPattern: (characters) =>
    `*${characters.map(([one = '', ...more]) => (more.length > 0 || /[*?[]/.test(one) ? `[${one}${more.join('')}]` : one)).join('')}*`,
  bytes: (name) => sql`unhex(${once(name)})`,
  hex: (column) => sql.raw(`lower(nullif(hex(${column}), ''))`),
};

export function sqliteStatements(db: Connection): Statements {
  // SQLite keeps the highest id of a table in its own table, from the first id on.
  const beginIds = db.prepare(sql`
      INSERT INTO sqlite_sequence (name, seq)
      SELECT :table, 0 WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = :table)`);
  const raiseIds = db.prepare(
    sql`UPDATE sqlite_sequence SET seq = max(seq, :id) WHERE name = :table`,
  );
  return {
    ...DIALECT,
    stepCountMax: 1_000,
    stepMs: 3,
    prepare: <Row>(query: SQL<Row>) => preparedOn(db.prepare<Row>(query)),
    lockOnly: () => NO_LOCK,
    lockProvider: () => NOTHING,
    lockRows: () => NOTHING,
    readLocked: (read) => read(),
    lockAuditLog: () => NOTHING,
    raiseIds: (name, id) => {
      if (id === 0) return NOTHING;
      beginIds.run({ table: name });
      raiseIds.run({ table: name, id });
      return NOTHING;
    },
    together: (steps) => new Done(steps.map((step) => runNow(step())) as never),
  };
}

/** Steps and statements on PostgreSQL: a step waits for each of its statements. */

import type { SQL } from 'drizzle-orm';
import { WriteFailed } from '../../core/port/store.ts';
import type { Dialect, NeededRows, Prepared, Statements, Step, Values } from '../backend.ts';
import { inRounds } from '../rounds.ts';
import { sql } from '../statement-text.ts';
import { type Bound, prepare, type Runner, type Statement } from './statement.ts';

/** The value that a step on PostgreSQL yields; the step is resumed with the result. */
type Wait = (on: Runner) => Promise<unknown>;

/** Makes a step of work on the connection of the step. */
export function* waitFor<T>(wait: (on: Runner) => Promise<T>): Generator<Wait, T, unknown> {
  return (yield wait) as T;
}

/** Runs a step to its end. */
export async function runOn<T>(on: Runner, step: Step<T>): Promise<T> {
  const running = step[Symbol.iterator]() as Iterator<Wait, T, unknown>;
  let next = running.next();
  while (next.done !== true) {
    let result: unknown;
    try {
      result = await next.value(on);
    } catch (fault) {
      if (running.throw === undefined) throw fault;
      next = running.throw(fault);
      continue;
    }
    next = running.next(result);
  }
  return next.value;
}

/** Runs `run` on rounds of items with different keys, in turn; returns their answers in order. */
export const runInRounds = <Item, Answer>(
  on: Runner,
  items: readonly Item[],
  keyOf: (item: Item) => string | number,
  run: (on: Runner, round: readonly Item[]) => Promise<readonly Answer[]>,
) =>
  runOn(
    on,
    inRounds(items, keyOf, (round) => waitFor((writer) => run(writer, round))),
  );

function preparedOf<Row>(statement: Statement<Row>): Prepared<Row> {
  const bound = (values: Values = {}) => values as Record<string, Bound>;
  return {
    all: (values) => waitFor((on) => statement.all(on, bound(values))),
    get: (values) => waitFor((on) => statement.get(on, bound(values))),
    run: (values) => waitFor((on) => statement.run(on, bound(values))),
    insert: (values) => waitFor((on) => statement.insert(on, bound(values))),
  };
}

/** Most strangers that are counted: a later round deletes those above. */
const STRANGERS_MAX = 100_000;

export const DIALECT: Dialect = {
  locked: sql.raw('FOR NO KEY UPDATE'),
  lockedUnlessBusy: sql.raw('FOR NO KEY UPDATE SKIP LOCKED'),
  deletableUnlessBusy: sql.raw('FOR UPDATE SKIP LOCKED'),
  keyLocked: (alias) => sql.raw(`FOR KEY SHARE OF ${alias}`),
  join: sql.raw('JOIN'),
  arrival: sql.raw('id'),
  fence: sql.raw('OFFSET 0'),
  returningId: sql.raw('RETURNING id'),
  once: (name) => sql.raw(`:${name}`),
  among: (name, type = 'bigint') => sql.raw(`= ANY(:${name}::${type}[])`),
  rows: (name, columns) => {
    const read = Object.entries(columns).map(
      ([column, type]) => `(value->>'${column}')::${type} AS "${column}"`,
    );
    return sql.raw(`(SELECT n - 1 AS n, ${read.join(', ')}
      FROM jsonb_array_elements(:${name}::text::jsonb) WITH ORDINALITY AS t(value, n))`);
  },
  idOrNext: (name, table) => sql.raw(`coalesce(:${name}, nextval('${table}_id_seq'))`),
  greatest: (a, b) => sql`greatest(${a}, ${b})`,
  least: (a, b) => sql`least(${a}, ${b})`,
  strangersBeyond: (name) =>
    sql.raw(`(SELECT count(*) FROM (
    SELECT 1 FROM device WHERE holder_count = 0
    OFFSET :${name} LIMIT ${STRANGERS_MAX}) AS beyond)`),
  fits: (column, name) => sql.raw(`${column} ~ CAST(:${name} AS text)`),
  partPattern: (characters) =>
    characters
      .map(([one = '', ...more]) =>
        more.length > 0 ? `[${one}${more.join('')}]` : one.replace(/[^\p{L}\p{N} ]/u, '\\$&'),
      )
      .join(''),
  bytes: (name) => sql.raw(`decode(:${name}::text, 'hex')`),
  hex: (column) => sql.raw(`encode(${column}, 'hex')`),
};

const lockProvider = prepare(sql`
    SELECT id FROM provider WHERE id = :providerId FOR NO KEY UPDATE`);

const lockRows = (table: string, order = 'id') =>
  prepare(sql`SELECT id FROM ${sql.raw(table)} WHERE id = ANY(:ids::bigint[])
    ORDER BY ${sql.raw(order)} FOR NO KEY UPDATE`);
const ROWS = {
  provider: lockRows('provider'),
  install: lockRows('install'),
  device: lockRows('device', 'hwid'),
  device_token: lockRows('device_token'),
  distribution: lockRows('distribution'),
  recipient: lockRows('recipient'),
  destination: lockRows('destination'),
};

/**
 * Thrown within a write to roll it back: it holds a lock that comes after one that it needs. It is
 * repeated, and locks these rows first.
 */
export class LocksOutOfOrder extends WriteFailed {
  constructor(readonly rows: NeededRows) {
    super('the rows to lock changed at each attempt');
  }
}

/** Locks rows by what names them in {@link NeededRows}, in the order of locks. */
const NEEDED = {
  provider: ROWS.provider,
  install: ROWS.install,
  device: prepare(sql`
    SELECT id FROM device WHERE hwid = ANY(:ids::text[]) ORDER BY hwid FOR NO KEY UPDATE`),
};
const IN_ORDER = ['provider', 'install', 'device'] as const;
const eachTable = (rowsOf: (table: keyof NeededRows) => NeededRows[keyof NeededRows]) => ({
  provider: rowsOf('provider'),
  install: rowsOf('install'),
  device: rowsOf('device'),
});
const NO_ROWS = eachTable(() => []);

async function lockNeeded(on: Runner, rows: NeededRows): Promise<void> {
  for (const table of IN_ORDER) {
    if (rows[table].length > 0) await NEEDED[table].run(on, { ids: rows[table] });
  }
}

const lockAuditHead = prepare(sql`SELECT id FROM audit_head FOR UPDATE`);

/** Statements about the sequence that gives a table its ids. */
const sequenceOf = (table: string) => {
  const name = sql.raw(`${table}_id_seq`);
  return {
    last: prepare<{ lastId: number }>(sql`SELECT last_value AS "lastId" FROM ${name}`),
    /** Changes nothing, but prevents other writes from taking an id until this write ends. */
    hold: prepare(sql`ALTER SEQUENCE ${name} INCREMENT BY 1`),
    raise: prepare(sql`
        SELECT setval(${sql.raw(`'${table}_id_seq'`)}, greatest(last_value, :id::bigint))
        FROM ${name}`),
  };
};
const SEQUENCES = { install: sequenceOf('install'), domain: sequenceOf('domain') };

export const STATEMENTS: Statements = {
  ...DIALECT,
  stepCountMax: 20_000,
  stepMs: 40,
  prepare: <Row>(query: SQL) => preparedOf(prepare<Row>(query)),
  lockOnly: (query) => preparedOf(prepare(query)),
  lockProvider: (providerId) =>
    waitFor((on) => lockProvider.run(on, { providerId }).then(() => undefined)),
  *lockRows(rows) {
    for (const [table, ids] of Object.entries(rows)) {
      if (ids.length > 0) yield* waitFor((on) => ROWS[table as keyof typeof rows].run(on, { ids }));
    }
  },
  *readLocked(read, needs) {
    let held = yield* waitFor(async (on) => {
      await lockNeeded(on, on.locksFirst ?? NO_ROWS);
      return on.locksFirst ?? NO_ROWS;
    });
    for (;;) {
      const result = yield* read();
      const needed = yield* needs(result);
      const missing = eachTable((table) =>
        needed[table].filter((row) => !held[table].includes(row)),
      );
      const first = IN_ORDER.findIndex((table) => missing[table].length > 0);
      if (first < 0) return result;
      const all = eachTable((table) => [...held[table], ...missing[table]]);
      const isLate = IN_ORDER.slice(first).some((table) => held[table].length > 0);
      if (isLate) throw new LocksOutOfOrder(all);
      yield* waitFor((on) => lockNeeded(on, missing));
      held = all;
    }
  },
  *lockAuditLog() {
    const head = yield* waitFor((on) => lockAuditHead.get(on));
    if (head === null) throw new Error('audit_head has lost its row');
  },
  *raiseIds(table, id) {
    if (id === 0) return;
    const { last, hold, raise } = SEQUENCES[table];
    if (((yield* waitFor((on) => last.get(on)))?.lastId ?? 0) >= id) return;
    yield* waitFor((on) => hold.run(on));
    yield* waitFor((on) => raise.run(on, { id }));
  },
  together: <T extends readonly unknown[]>(steps: readonly (() => Step<unknown>)[]) =>
    waitFor(
      async (on) => (await Promise.all(steps.map((step) => runOn(on, step())))) as never as T,
    ),
};

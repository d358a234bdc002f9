/** SQLite as the nouns see it: a step waits for nothing, so it runs through in one go. */

import { type SQL, sql } from 'drizzle-orm';
import type { Backend, Dialect, Notes, Prepared, Step } from '../backend.ts';
import { Refusal } from '../refusal.ts';
import type { Context } from './context.ts';
import { once, type Statement, value } from './statement.ts';

/** A step that has run. */
class Done<T> implements Step<T>, Iterator<never, T> {
  readonly #value: T;

  constructor(result: T) {
    this.#value = result;
  }

  next(): IteratorReturnResult<T> {
    return { done: true, value: this.#value };
  }

  [Symbol.iterator](): Iterator<never, T> {
    return this;
  }
}

const NOTHING = new Done<void>(undefined);

/** Runs a step to its end. Throws if it waits for something. */
export function runNow<T>(step: Step<T>): T {
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

export const DIALECT: Dialect = {
  locked: EMPTY,
  lockedUnlessBusy: EMPTY,
  join: sql.raw('CROSS JOIN'),
  returningId: EMPTY,
  once,
  among: (name) => sql`IN (SELECT value FROM json_each(${value(name)}))`,
  rows: (name, columns) => {
    const read = Object.keys(columns).map((column) => `value->>'${column}' AS "${column}"`);
    return sql`(SELECT key AS n, ${sql.raw(read.join(', '))} FROM json_each(${value(name)}))`;
  },
  idOrNext: (name) => sql`${value(name)}`,
  greatest: (a, b) => sql`max(${a}, ${b})`,
  least: (a, b) => sql`min(${a}, ${b})`,
  bytes: (name) => sql`unhex(${value(name)})`,
  hex: (column) => sql.raw(`lower(nullif(hex(${column}), ''))`),
};

export function sqliteBackend(context: Context): Backend {
  const { db, writer, clock } = context;
  const notes = notesOf(context);
  return {
    ...DIALECT,
    prepare: <Row>(query: SQL) => preparedOn(db.prepare<Row>(query)),
    write: (step) => writer.run(() => runNow(step(notes))),
    change: (step) => writer.run(() => runNow(step())),
    read: (step) => runNow(step()),
    together: (steps) => new Done(steps.map((step) => runNow(step())) as never),
    lockProvider: () => NOTHING,
    lockOnly: () => NO_LOCK,
    storeNowMs: () => clock.nowMs(),
    storeMs: (atMs) => atMs,
  };
}

function notesOf({ audit, events, figures, outbox, ends }: Context): Notes {
  return {
    audit: (act, deed, providerId) => audit.note(act, deed, providerId),
    event: (providerId, atMs, happening) => events.note(providerId, atMs, happening),
    isWanted: (providerId, kind) => new Done(events.isWanted(providerId, kind)),
    quota: (providerId, quota, share, atMs) => events.noteQuota(providerId, quota, share, atMs),
    disableWebhook: (id, why, atMs) => new Done(events.disableWebhook(id, why, atMs)),
    forgetWebhooks: () => events.forgetWebhooks(),
    figure: (providerId, figure, atMs, by) => figures.note(providerId, figure, atMs, by),
    outbox: () => outbox.raise(),
    ended: (status) => ends.note(status),
    // Another process sees the commit: see watch.ts.
    changed: () => undefined,
    refuse: (result) => {
      throw new Refusal(result);
    },
  };
}

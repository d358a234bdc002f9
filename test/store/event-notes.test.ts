/** An event is there if, and only if, its change is: whatever becomes of a write. */

import { Database } from 'bun:sqlite';
import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { CALLERS_WAITING_MAX, WAITING_COUNT_MAX } from '../../src/core/event/wanted.ts';
import type { Happening } from '../../src/core/port/event.ts';
import type { DisabledWebhook } from '../../src/store/kind.ts';
import type { WriteNotes } from '../../src/store/noun/notes.ts';
import { batchNotes } from '../../src/store/sqlite/backend.ts';
import { Connection } from '../../src/store/sqlite/connection.ts';
import { runNow } from '../../src/store/sqlite/dialect.ts';
import { migrate } from '../../src/store/sqlite/file/migrate.ts';
import { GroupWriter } from '../../src/store/sqlite/writer.ts';
import { freshFolder } from '../support/app.ts';
import { notesOn } from '../support/write-notes.ts';

const PROVIDER = 1;
let folder: string;
let native: Database;
let notes: WriteNotes;
let writer: GroupWriter;
/** Events on disk at each signal, as another connection sees them. */
let signals: number[];
let ends: number[];
/** Webhooks that commits disabled. */
let disabled: DisabledWebhook[];

beforeEach(() => {
  folder = freshFolder();
  const file = join(folder, 'gatepost.db');
  native = new Database(file, { create: true, strict: true });
  migrate(native);
  native.run('PRAGMA journal_mode = WAL');
  native.run('PRAGMA foreign_keys = ON');
  native.run(`INSERT INTO provider (id, code, name, plan, key_hash, created_at_ms)
    VALUES (1, 'Provide1', 'one', 'basic', zeroblob(32), 0)`);
  signals = [];
  ends = [];
  disabled = [];
  const onOutbox = () => {
    const beside = new Database(file, { readonly: true });
    signals.push(countOf('event', beside));
    beside.close();
  };
  const db = new Connection(native);
  const onWebhookDisabled = (one: DisabledWebhook) => disabled.push(one);
  const onDistributionEnd = (status: number) => ends.push(status);
  notes = notesOn(db, { onOutbox, onDistributionEnd, onWebhookDisabled });
  writer = new GroupWriter(db, 100, { notes: batchNotes(notes) });
});

afterEach(() => {
  native.close();
  rmSync(folder, { recursive: true, force: true });
});

function addWebhook(id: number, kinds = ''): void {
  native.run(
    `INSERT INTO webhook (id, provider_id, kind, address, events, scheme, secret, locale,
       created_at_ms) VALUES (?, 1, 'webhook', 'https://bot.example.com/', ?, 'v1', 's', '', 0)`,
    [id, kinds],
  );
  native.run(
    `INSERT INTO destination (id, kind, origin, webhook_id) VALUES (?, 'webhook', '', ?)`,
    [id, id],
  );
}

const countOf = (table: string, db = native): number =>
  db.query<{ count: number }, []>(`SELECT count(*) AS count FROM ${table}`).get()?.count ?? -1;

const linkMade = (id: number, kind: Happening['kind'] = 'link.created'): Happening => ({
  kind,
  data: { install_id: id },
});

/** A write that notes an event; then a fault of its own, if it has one. */
const write = (id: number, then: () => void = () => undefined, kind?: Happening['kind']) =>
  writer.run(() => {
    notes.event(PROVIDER, 5, () => linkMade(id, kind));
    then();
  });

const failing = () => {
  throw new Error('a rule was broken');
};

/** The links that wait to be told of at a destination. */
const told = (destinationId = 1) =>
  native
    .query<{ data: string }, [number]>(
      `SELECT e.data FROM outbox o JOIN event e ON e.id = o.event_id
       WHERE o.destination_id = ? ORDER BY o.id`,
    )
    .all(destinationId)
    .map(({ data }) => (JSON.parse(data) as { install_id: number }).install_id);

const disabledOf = (id: number) =>
  native
    .query<{ why: string | null }, [number]>('SELECT disabled_why AS why FROM webhook WHERE id = ?')
    .get(id)?.why;

test('a write that fails leaves none, and those in the same commit leave theirs, once', async () => {
  addWebhook(1);
  addWebhook(2);
  const writes = [write(1), write(2, failing), write(3), write(4, failing), write(5)];
  await Promise.allSettled(writes);
  for (const id of [1, 2]) expect(told(id)).toEqual([1, 3, 5]);
  expect(countOf('event')).toBe(3);
  expect(signals).toEqual([3]);
});

test('a commit that fails leaves none, and signals no signal', async () => {
  addWebhook(1);
  const [lost] = await Promise.allSettled([
    write(1, () => {
      native.run('PRAGMA defer_foreign_keys = ON');
      native.run('INSERT INTO webhook_delivery VALUES (77, 77, 1, 1, 1, NULL)');
    }),
  ]);
  expect(lost?.status).toBe('rejected');
  expect(countOf('event')).toBe(0);
  expect(signals).toEqual([]);
  await write(2);
  expect(told()).toEqual([2]);
});

test('where nobody listens no event is even made', async () => {
  let madeCount = 0;
  const note = () =>
    notes.event(PROVIDER, 5, () => {
      madeCount += 1;
      return linkMade(1);
    });
  await Promise.all([writer.run(note), writer.run(note)]);
  expect([madeCount, countOf('event'), signals]).toEqual([0, 0, []]);
});

test('a webhook that a failed write added is told nothing by those beside it', async () => {
  const adding = writer.run(() => {
    addWebhook(1);
    notes.forgetWebhooks();
    notes.event(PROVIDER, 5, () => linkMade(1));
    failing();
  });
  const settled = await Promise.allSettled([adding, write(2)]);
  expect(settled.map(({ status }) => status)).toEqual(['rejected', 'fulfilled']);
  expect(countOf('event')).toBe(0);
});

test('a write hears of webhooks that one before it in the commit changed', async () => {
  addWebhook(1);
  await Promise.all([
    write(1),
    writer.run(() => {
      native.run(`UPDATE webhook SET disabled_at_ms = 1, disabled_why = 'x' WHERE id = 1`);
      addWebhook(2);
      notes.forgetWebhooks();
    }),
    write(2),
  ]);
  expect([told(1), told(2)]).toEqual([[1], [2]]);
});

test('one that is disabled hears of nothing behind that in the commit', async () => {
  addWebhook(1);
  addWebhook(2);
  await Promise.all([
    write(1),
    writer.run(() => runNow(notes.disableWebhook(1, 'it answered 410', 5))),
    write(2),
  ]);
  expect(told(1)).toEqual([1]);
  // Between the two it is told of the first.
  expect(told(2)).toHaveLength(3);
});

test('a webhook that is disabled already is not disabled again', async () => {
  addWebhook(1);
  const disable = (why: string) => writer.run(() => runNow(notes.disableWebhook(1, why, 5)));
  await disable('first');
  await disable('second');
  expect(disabledOf(1)).toBe('first');
  expect(disabled).toEqual([{ id: 1, providerId: PROVIDER, why: 'first' }]);
});

test('a write that is taken back signals no outbox and reports no end', async () => {
  const mark = notes.mark();
  notes.outbox();
  notes.ended(100);
  notes.undo(mark);
  notes.clear(true);
  expect([signals, ends]).toEqual([[], []]);
  notes.outbox();
  notes.ended(110);
  notes.clear(true);
  expect([signals, ends]).toEqual([[0], [110]]);
});

test('the signal signals for nothing but what a commit put in', async () => {
  addWebhook(1);
  await write(1);
  await writer.run(() => native.run('UPDATE provider SET name = ?', ['two']));
  expect(signals).toEqual([1]);
});

describe('a webhook for which as many wait as may', () => {
  /** As if so many waited already. */
  const fill = (id: number, room: number) =>
    native.run('UPDATE destination SET waiting_count = ? WHERE id = ?', [
      WAITING_COUNT_MAX - room,
      id,
    ]);

  test('is disabled, and the others are told so', async () => {
    addWebhook(1);
    addWebhook(2, 'webhook.disabled');
    fill(1, 2);
    await Promise.all([write(1), write(2), write(3), write(4)]);
    expect(told(1)).toEqual([1, 2]);
    expect(disabledOf(1)).toStartWith('100000 events wait for it');
    const [only, ...more] = native
      .query<{ kind: string; data: string }, []>(
        `SELECT e.kind, e.data FROM outbox o JOIN event e ON e.id = o.event_id
         WHERE o.destination_id = 2`,
      )
      .all();
    expect(more).toEqual([]);
    expect(only?.kind).toBe('webhook.disabled');
    expect(JSON.parse(only?.data ?? '')).toMatchObject({ webhook_id: 1, target: 'webhook' });
  });

  test('is not, if the write that was one too many fails', async () => {
    addWebhook(1);
    fill(1, 1);
    await Promise.allSettled([write(1), write(2, failing)]);
    expect(told(1)).toEqual([1]);
    expect(disabledOf(1)).toBeNull();
    expect(disabled).toEqual([]);
    await write(3);
    expect(disabled).toMatchObject([{ id: 1 }]);
    expect(disabledOf(1)).not.toBeNull();
  });

  test('takes none of its fellows along but those as full', async () => {
    for (const id of [1, 2, 3]) addWebhook(id);
    fill(1, 0);
    fill(2, 0);
    await write(1);
    expect([disabledOf(1), disabledOf(2)]).not.toContain(null);
    expect(disabledOf(3)).toBeNull();
    // The link, and two webhooks.
    expect(told(3)).toHaveLength(3);
  });
});

describe('events that callers without credentials cause', () => {
  const HOUR_MS = 3_600_000;
  const setWaiting = (id: number, count: number) =>
    native.run('UPDATE destination SET waiting_count = ? WHERE id = ?', [count, id]);
  const foldOf = (id: number) =>
    native
      .query<{ fold: string | null; untilMs: number | null }, [number]>(
        'SELECT fold, fold_until_ms AS untilMs FROM destination WHERE id = ?',
      )
      .get(id);
  const refused = (id: number) => write(id, undefined, 'link.full');

  test('leave half of a queue to others; beyond it they are counted, and disable nothing', async () => {
    addWebhook(1);
    addWebhook(2);
    setWaiting(1, CALLERS_WAITING_MAX - 1);
    await Promise.all([refused(1), refused(2), refused(3)]);
    expect([told(1), told(2)]).toEqual([[1], [1, 2, 3]]);
    setWaiting(1, WAITING_COUNT_MAX);
    await refused(4);
    expect(disabledOf(1)).toBeNull();
    expect(JSON.parse(foldOf(1)?.fold ?? '')).toMatchObject({ fromMs: 5, events: 3 });
    expect(foldOf(1)?.untilMs).toBe(5 + HOUR_MS);
    expect(foldOf(2)?.fold).toBeNull();
  });

  test('are one event with their number when the hour is over, and not before', async () => {
    addWebhook(1);
    addWebhook(2);
    setWaiting(1, CALLERS_WAITING_MAX);
    await Promise.all([refused(1), refused(2)]);
    const end = (atMs: number) => writer.run(() => notes.endFold(PROVIDER, 1, atMs));
    await end(5 + HOUR_MS - 1);
    expect(told(1)).toHaveLength(0);
    expect(foldOf(1)?.fold).not.toBeNull();
    await end(5 + HOUR_MS);
    await end(5 + HOUR_MS);
    const sums = native
      .query<{ data: string; at: number }, []>(
        `SELECT e.data, o.destination_id AS at FROM event e JOIN outbox o ON o.event_id = e.id
         WHERE e.kind = 'events.folded'`,
      )
      .all();
    expect(sums).toEqual([{ at: 1, data: '{"events":2,"since":"1970-01-01T00:00:00.005Z"}' }]);
    expect(foldOf(1)).toEqual({ fold: null, untilMs: null });
  });

  test('of a write that fails do not count', async () => {
    addWebhook(1);
    setWaiting(1, CALLERS_WAITING_MAX);
    await Promise.allSettled([refused(1), write(2, failing, 'link.full')]);
    expect(JSON.parse(foldOf(1)?.fold ?? '')).toMatchObject({ events: 1 });
  });
});

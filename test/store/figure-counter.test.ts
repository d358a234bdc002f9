/** What is counted goes to disk once, and not with every commit, whatever becomes of the writes. */

import { Database } from 'bun:sqlite';
import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '../../src/base/clock.ts';
import { DAY_MS, utcDay } from '../../src/core/calendar.ts';
import { GATHERED_LINKS_MAX, GatheredFigures } from '../../src/core/figures.ts';
import type { Figure, FigureStore } from '../../src/core/port/figure.ts';
import { nextTurn } from '../../src/core/turn.ts';
import { figureNoun } from '../../src/store/noun/figure.ts';
import { FigureCounter } from '../../src/store/noun/figure-counter.ts';
import { noteStatements, type WriteNotes } from '../../src/store/noun/notes.ts';
import { batchNotes, sqliteBackend } from '../../src/store/sqlite/backend.ts';
import { Connection } from '../../src/store/sqlite/connection.ts';
import { sqliteStatements } from '../../src/store/sqlite/dialect.ts';
import { migrate } from '../../src/store/sqlite/file/migrate.ts';
import { openSqliteStore } from '../../src/store/sqlite/store.ts';
import { GroupWriter } from '../../src/store/sqlite/writer.ts';
import { freshFolder } from '../support/app.ts';
import { openBeside } from '../support/database.ts';
import { noLeap } from '../support/no-leap.ts';
import { notesOn } from '../support/write-notes.ts';
import { addProvider, NOW_MS } from './contract/fixture.ts';
import { send } from './contract/message-fixture.ts';

const PROVIDER = 1;
let folder: string;
let native: Database;
let notes: WriteNotes;
let figures: FigureStore;
let writer: GroupWriter;

beforeEach(() => {
  folder = freshFolder();
  native = new Database(join(folder, 'gatepost.db'), { create: true, strict: true });
  migrate(native);
  native.run('PRAGMA foreign_keys = ON');
  native.run(`INSERT INTO provider (id, code, name, plan, key_hash, created_at_ms)
    VALUES (1, 'Provide1', 'one', 'basic', zeroblob(32), 0)`);
  const db = new Connection(native);
  const counter = new FigureCounter();
  notes = notesOn(db, { figures: counter });
  writer = new GroupWriter(db, 100, { notes: batchNotes(notes) });
  const backend = sqliteBackend({ db, writer, notes, clock: systemClock, leastMs: noLeap });
  figures = figureNoun(backend, counter, noteStatements(sqliteStatements(db)).events);
});

afterEach(() => {
  native.close();
  rmSync(folder, { recursive: true, force: true });
});

/** A write that counts; then a fault of its own, if it has one. */
const write = (figure: Figure = 'links', then: () => void = () => undefined) =>
  writer.run(() => {
    notes.figure(PROVIDER, figure, NOW_MS);
    then();
  });

const failing = () => {
  throw new Error('a rule was broken');
};

/** The links on disk; null: there is no row. */
const saved = (): number | null =>
  native.query<{ links: number }, []>('SELECT links FROM provider_day').get()?.links ?? null;

/** A commit that cannot succeed. */
const losing = () => {
  native.run('PRAGMA defer_foreign_keys = ON');
  native.run(`INSERT INTO install (provider_id, install_code, install_limit, status, created_at_ms)
    VALUES (99, 'LinkCode0001', 1, 10, 0)`);
};

test('a write that is done again beside one that throws counts once', async () => {
  await Promise.allSettled([write(), write('links', failing), write(), write('links', failing)]);
  await figures.saveFigures();
  expect(saved()).toBe(2);
  await figures.saveFigures();
  expect(saved()).toBe(2);
});

test('a commit that fails counts nothing, and loses nothing of what was counted before', async () => {
  await write();
  const [lost] = await Promise.allSettled([write('links', losing)]);
  expect(lost?.status).toBe('rejected');
  expect(saved()).toBeNull();
  await figures.saveFigures();
  expect(saved()).toBe(1);
});

test('figures that cannot be saved wait', async () => {
  native.run(`CREATE TEMP TRIGGER refusal BEFORE INSERT ON provider_day BEGIN
    SELECT RAISE(ABORT, 'no'); END`);
  await write();
  const [fault] = await Promise.allSettled([figures.saveFigures()]);
  expect(fault?.status).toBe('rejected');
  native.run('DROP TRIGGER refusal');
  await write();
  await figures.saveFigures();
  expect(saved()).toBe(2);
});

test('figures are saved whole or not at all', async () => {
  native.run(`INSERT INTO install (id, provider_id, install_code, install_limit, status,
    created_at_ms) VALUES (1, 1, 'LinkCode0001', 1, 10, 0)`);
  native.run(`CREATE TEMP TRIGGER refusal BEFORE INSERT ON install_refusal BEGIN
    SELECT RAISE(ABORT, 'no'); END`);
  await write();
  figures.countRefusal({ installId: 1, providerId: PROVIDER }, 'link_disabled', NOW_MS);
  const [fault] = await Promise.allSettled([figures.saveFigures()]);
  expect(fault?.status).toBe('rejected');
  expect(saved()).toBeNull();
  native.run('DROP TRIGGER refusal');
  await figures.saveFigures();
  expect(saved()).toBe(1);
});

test('refusals of a later day are counted anew', async () => {
  native.run(`INSERT INTO install (id, provider_id, install_code, install_limit, status,
    created_at_ms) VALUES (1, 1, 'LinkCode0001', 1, 10, 0)`);
  const refuse = (atMs: number) =>
    figures.countRefusal({ installId: 1, providerId: PROVIDER }, 'link_disabled', atMs);
  const ofDay = () =>
    native.query<{ day_count: number }, []>('SELECT day_count FROM install_refusal').get();
  refuse(NOW_MS);
  await figures.saveFigures();
  for (let n = 0; n < 3; n++) refuse(NOW_MS + DAY_MS);
  await figures.saveFigures();
  expect(ofDay()?.day_count).toBe(3);
});

test('the tenth refusal of all nodes is one to tell of', async () => {
  const counter = new FigureCounter();
  const link = { installId: 1, providerId: PROVIDER };
  const refuse = () => counter.addRefusal(link, 'link_disabled', NOW_MS, null);
  expect(refuse()).toBe(true);
  const saving = { installId: 1, day: utcDay(NOW_MS), dayCount: 9 };
  await counter.save(() => Promise.resolve([saving]));
  expect([refuse(), refuse()]).toEqual([true, false]);
});

test('one save of figures follows the other', async () => {
  const counter = new FigureCounter();
  const begun: string[] = [];
  const first = Promise.withResolvers<[]>();
  const save = (name: string, rows: Promise<[]>) => {
    counter.note(PROVIDER, 'links', NOW_MS);
    return counter.save(() => {
      begun.push(name);
      return rows;
    });
  };
  const saves = [save('first', first.promise)];
  await nextTurn();
  saves.push(save('second', Promise.resolve([])), save('third', Promise.resolve([])));
  await nextTurn();
  expect(begun).toEqual(['first']);
  first.resolve([]);
  await Promise.all(saves);
  expect(begun).toEqual(['first', 'second']);
});

test('a commit saves no figures by itself', async () => {
  await write();
  await writer.run(() => native.run(`UPDATE provider SET name = 'changed'`));
  expect(saved()).toBeNull();
});

describe('a process', () => {
  const options = { commitBatchMax: 100, create: true };

  test('that closes its store saves what it counted', async () => {
    const dataDir = freshFolder();
    const store = await openSqliteStore({ ...options, dataDir });
    const { id } = await addProvider(store, 'Provide1');
    await send(store, id);
    store.countRefusal({ installId: 1, providerId: id }, 'link_disabled', NOW_MS);
    await store.close();
    const again = await openSqliteStore({ ...options, dataDir });
    const [day] = await again.listFigures(id, utcDay(NOW_MS), utcDay(NOW_MS));
    expect(day).toMatchObject({ sends: 1, refused_disabled: 1 });
    await again.close();
    rmSync(dataDir, { recursive: true });
  });

  /** A store that has counted a refusal and closes while another process holds the lock. */
  async function closeBeside(release: (beside: Database) => Promise<void>): Promise<number> {
    const dataDir = freshFolder();
    const store = await openSqliteStore({ ...options, dataDir });
    const { id } = await addProvider(store, 'Provide1');
    await store.saveFigures();
    store.countRefusal({ installId: 1, providerId: id }, 'link_disabled', NOW_MS);
    const beside = openBeside(dataDir);
    beside.run('BEGIN IMMEDIATE');
    const closing = store.close();
    await release(beside);
    await closing;
    if (beside.inTransaction) beside.run('ROLLBACK');
    const days = beside.query('SELECT day FROM provider_day').all();
    beside.close();
    rmSync(dataDir, { recursive: true });
    return days.length;
  }

  test('that closes waits a little for the lock of another one', async () => {
    const days = await closeBeside(async (beside) => {
      for (let turn = 0; turn < 20; turn++) await nextTurn();
      beside.run('ROLLBACK');
    });
    expect(days).toBe(1);
  });

  test('that closes does not wait for ever: it goes without its figures', async () => {
    expect(await closeBeside(async () => {})).toBe(0);
  });

  test('that counted nothing writes nothing, when it closes and when it is asked', async () => {
    const dataDir = freshFolder();
    const store = await openSqliteStore({ ...options, dataDir });
    const beside = openBeside(dataDir);
    const version = () => beside.query('PRAGMA data_version').get();
    const before = version();
    await store.saveFigures();
    expect(version()).toEqual(before);
    await store.close();
    expect(version()).toEqual(before);
    beside.close();
    rmSync(dataDir, { recursive: true });
  });
});

test('links beyond the bound are not gathered, but count for their day', () => {
  const gathered = new GatheredFigures();
  const more = 5;
  for (let installId = 1; installId <= GATHERED_LINKS_MAX + more; installId++) {
    gathered.addRefusal({ installId, providerId: PROVIDER }, 'link_disabled', NOW_MS);
  }
  gathered.addRefusal({ installId: 1, providerId: PROVIDER }, 'hwid_required', NOW_MS);
  expect(gathered.rowCount).toBe(GATHERED_LINKS_MAX + 1);
  const { days, refusals } = gathered.take(GATHERED_LINKS_MAX + 1);
  const all = GATHERED_LINKS_MAX + more;
  expect(days).toMatchObject([{ refused_disabled: all, refused_hwid: 1 }]);
  expect(refusals[0]).toMatchObject({ installId: 1, count: 2, reason: 'hwid_required' });
  expect(gathered.rowCount).toBe(0);
  gathered.putBack({ days, refusals, devices: [] });
  expect(gathered.take(1).days).toEqual(days);
});

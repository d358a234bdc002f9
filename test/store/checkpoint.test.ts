/** The write-ahead log is carried into the database between commits, and stays bounded. */

import { Database } from 'bun:sqlite';
import { afterEach, beforeEach, expect, test } from 'bun:test';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { WriteFailed } from '../../src/core/port/store.ts';
import { Checkpoints } from '../../src/store/sqlite/checkpoint.ts';
import { Connection } from '../../src/store/sqlite/connection.ts';
import { WalIndex } from '../../src/store/sqlite/wal-index.ts';
import { GroupWriter } from '../../src/store/sqlite/writer.ts';
import { freshFolder } from '../support/app.ts';

const PAGE_BYTES = 4096;

let folder: string;
let native: Database;
let db: Connection;
let index: WalIndex;
beforeEach(() => {
  folder = freshFolder();
  native = new Database(join(folder, 'gatepost.db'), { create: true, strict: true });
  native.run('PRAGMA journal_mode = WAL');
  native.run('CREATE TABLE page (n INTEGER PRIMARY KEY, filling BLOB)');
  index = WalIndex.of(native) as WalIndex;
  db = new Connection(native, index);
});
afterEach(() => {
  db.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Writes to about so many pages that were not written to before. */
const fill = (pages: number) =>
  native.run(
    `INSERT INTO page (filling) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n
       WHERE i < ${pages}) SELECT zeroblob(${PAGE_BYTES - 100}) FROM n`,
  );

/** Checkpoints of which each seems to take so long. */
function checkpoints(tookMs: number): Checkpoints {
  let nowMs = 0;
  return new Checkpoints(db, () => {
    nowMs += tookMs;
    return nowMs;
  });
}

test('the log is carried when it has taken a thousand pages, not before', () => {
  const upkeep = checkpoints(1);
  fill(900);
  expect(upkeep.isDue()).toBe(false);
  fill(200);
  expect(index.logPages()).toBeGreaterThan(1_000);
  expect(upkeep.isDue()).toBe(true);
  upkeep.run();
  expect(index.logPages()).toBe(0);
  expect(upkeep.isDue()).toBe(false);
});

test('a short one lets the log grow further, up to a bound; a long one does not', () => {
  const [short, long] = [checkpoints(1), checkpoints(100)];
  const dueAfter = (upkeep: Checkpoints) => {
    upkeep.run();
    for (let pages = 0; ; pages += 500) {
      if (upkeep.isDue()) return pages;
      fill(500);
    }
  };
  expect([1, 2, 3].map(() => dueAfter(short))).toEqual([2_000, 4_000, 4_000]);
  expect([1, 2].map(() => dueAfter(long))).toEqual([1_000, 1_000]);
});

test('what somebody still reads stays in the log, and is tried again a thousand pages later', () => {
  const upkeep = checkpoints(100);
  const reader = new Database(join(folder, 'gatepost.db'), { readonly: true });
  reader.run('BEGIN');
  reader.query('SELECT count(*) FROM page').get();
  fill(1_200);
  upkeep.run();
  const left = index.logPages();
  expect(left).toBeGreaterThan(1_000);
  expect(upkeep.isDue()).toBe(false);
  reader.close();
  fill(1_000);
  expect(upkeep.isDue()).toBe(true);
  upkeep.run();
  expect(index.logPages()).toBe(0);
});

test('what a reader held up is forgotten once somebody else has carried it', () => {
  const upkeep = checkpoints(1);
  const reader = new Database(join(folder, 'gatepost.db'), { readonly: true });
  reader.run('BEGIN');
  reader.query('SELECT count(*) FROM page').get();
  fill(9_000);
  upkeep.run();
  expect(index.logPages()).toBeGreaterThan(8_000);
  reader.close();
  native.query('PRAGMA wal_checkpoint(PASSIVE)').all();
  expect(upkeep.isDue()).toBe(false);
  // The step has grown to 2000 pages: not what the log held while it was read.
  fill(2_200);
  expect(upkeep.isDue()).toBe(true);
});

test('one that fails loses nothing, and does not come again at once', () => {
  const upkeep = checkpoints(1);
  fill(1_200);
  native.run('BEGIN IMMEDIATE');
  native.run('DELETE FROM page WHERE n = 1');
  upkeep.run();
  expect(upkeep.isDue()).toBe(false);
  native.run('ROLLBACK');
  expect(native.query('SELECT count(*) AS n FROM page').get()).toEqual({ n: 1_200 });
});

test('a write that comes after the database was closed is refused, and looks at nothing', async () => {
  const writer = new GroupWriter(db, 100, { upkeep: checkpoints(1) });
  await writer.run(() => fill(10));
  db.close();
  await expect(writer.run(() => fill(10))).rejects.toBeInstanceOf(WriteFailed);
  await writer.idle();
});

test('it comes after the answers of the commit that made it due, and before rest', async () => {
  const events: string[] = [];
  const real = checkpoints(1);
  const upkeep = {
    isDue: () => real.isDue(),
    run: () => {
      events.push('carried');
      real.run();
    },
  };
  const writer = new GroupWriter(db, 100, { upkeep });
  const write = writer.run(() => fill(1_200)).then(() => events.push('answered'));
  await writer.idle();
  await write;
  expect(events).toEqual(['answered', 'carried']);
  expect(index.logPages()).toBe(0);
});

import { Database } from 'bun:sqlite';
import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { nextTurn } from '../../src/core/turn.ts';
import { AnswerCache } from '../../src/store/sqlite/answer-cache.ts';
import { Connection } from '../../src/store/sqlite/connection.ts';
import { WalIndex } from '../../src/store/sqlite/wal-index.ts';
import { freshFolder } from '../support/app.ts';

let folder: string;
let own: Connection;
let other: Database;

const open = (hasIndex: boolean) => {
  const native = new Database(join(folder, 'test.db'), { create: true, strict: true });
  native.run('PRAGMA journal_mode = WAL');
  native.run('CREATE TABLE IF NOT EXISTS t (n)');
  const index = hasIndex ? WalIndex.of(native) : null;
  expect(index !== null).toBe(hasIndex);
  return new Connection(native, index);
};

beforeEach(() => {
  folder = freshFolder();
  own = open(true);
  other = new Database(join(folder, 'test.db'));
});

afterEach(() => {
  own.close();
  other.close();
  rmSync(folder, { recursive: true });
});

function count(connection = own): unknown {
  connection.read();
  return connection.native.query<{ n: number }, []>('SELECT count(*) AS n FROM t').get()?.n;
}

const add = () => other.run('INSERT INTO t VALUES (1)');

test('reads of one run of code share a snapshot', () => {
  expect(count()).toBe(0);
  add();
  expect(count()).toBe(0);
});

test('the next run of code sees what was committed since', async () => {
  expect(count()).toBe(0);
  add();
  await null;
  expect(count()).toBe(1);
});

test('a snapshot that nothing is newer than lasts for the turn of the event loop, no longer', async () => {
  expect(count()).toBe(0);
  for (let step = 0; step < 50; step++) await null;
  expect(own.inTransaction).toBe(true);
  expect(count()).toBe(0);
  await nextTurn();
  await nextTurn();
  expect(own.inTransaction).toBe(false);
  add();
  expect(count()).toBe(1);
});

test('a snapshot that SQLite ended by itself is no fault; the next read begins another', () => {
  expect(count()).toBe(0);
  own.native.run('ROLLBACK');
  own.endReads();
  add();
  expect(count()).toBe(1);
  expect(own.inTransaction).toBe(true);
});

test('a write may begin at once when the reads are ended', () => {
  expect(count()).toBe(0);
  own.endReads();
  own.native.run('BEGIN IMMEDIATE');
  own.native.run('INSERT INTO t VALUES (1)');
  expect(count()).toBe(1);
  own.native.run('COMMIT');
  expect(count()).toBe(1);
});

test('where the index cannot be looked at, a snapshot ends with its run of code', async () => {
  const blind = open(false);
  expect(count(blind)).toBe(0);
  add();
  expect(count(blind)).toBe(0);
  await null;
  expect(blind.inTransaction).toBe(false);
  expect(count(blind)).toBe(1);
  blind.close();
});

describe('the version', () => {
  test('moves with each commit of anybody, and with nothing else', async () => {
    const versions = [own.version()];
    const look = () => versions.push(own.version());
    look();
    add();
    look();
    other.run('BEGIN IMMEDIATE');
    add();
    other.run('ROLLBACK');
    look();
    own.native.run('INSERT INTO t VALUES (1)');
    look();
    count();
    await nextTurn();
    look();
    const [first = Number.NaN] = versions;
    expect(versions.map((version) => version - first)).toEqual([0, 0, 1, 1, 2, 2]);
  });

  test('moves each time where the index cannot be looked at', () => {
    const blind = open(false);
    expect(blind.version()).not.toBe(blind.version());
    blind.close();
  });

  test('moves when the log begins anew, and when it is cut off', () => {
    for (let n = 0; n < 3; n++) {
      const before = own.version();
      other.run('PRAGMA wal_checkpoint(TRUNCATE)');
      add();
      expect(own.version()).not.toBe(before);
    }
  });
});

describe('a header half written, as somebody who was killed leaves it', () => {
  /** Overwrites bytes of the index, in another process: closing the file here drops our locks. */
  function spoil(at: number): void {
    const script = `const fs = require('node:fs');
      const fd = fs.openSync(process.argv[1], 'r+');
      fs.writeSync(fd, Buffer.from([0xa5, 0xa5]), 0, 2, Number(process.argv[2]));`;
    const argv = [process.execPath, '-e', script, join(folder, 'test.db-shm'), String(at)];
    expect(Bun.spawnSync(argv).exitCode).toBe(0);
  }

  // The counter of changes, in either copy.
  test.each([8, 48 + 8])('at byte %i: nothing holds until SQLite has mended it', (at) => {
    add();
    const cache = new AnswerCache(own, () => count());
    expect(cache.get('')).toBe(1);
    own.endReads();
    spoil(at);
    expect(own.version()).not.toBe(own.version());
    expect(cache.get('')).toBe(1);
    add();
    expect(cache.get('')).toBe(2);
    expect(own.version()).toBe(own.version());
  });
});

describe('what is kept', () => {
  test('is looked up again after a commit of anybody, and only then', () => {
    let lookUps = 0;
    const cache = new AnswerCache(own, (key) => {
      lookUps += 1;
      return `${key} ${count()}`;
    });
    expect([cache.get('a'), cache.get('b'), cache.get('a')]).toEqual(['a 0', 'b 0', 'a 0']);
    expect(lookUps).toBe(2);
    add();
    expect([cache.get('a'), cache.get('a')]).toEqual(['a 1', 'a 1']);
    expect(lookUps).toBe(3);
    own.endReads();
    own.native.run('DELETE FROM t');
    expect(cache.get('a')).toBe('a 0');
  });

  test('may be that there is nothing, and does not grow without end', () => {
    const asked: string[] = [];
    const cache = new AnswerCache<string, null>(own, (key) => {
      asked.push(key);
      return null;
    });
    for (let n = 0; n < 1_000; n++) cache.get(`${n}`);
    expect(cache.get('0')).toBeNull();
    expect(asked).toHaveLength(1_000);
    cache.get('one more');
    cache.get('0');
    expect(asked.slice(1_000)).toEqual(['one more', '0']);
  });
});

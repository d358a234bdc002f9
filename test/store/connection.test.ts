import { Database } from 'bun:sqlite';
import { afterEach, beforeEach, expect, test } from 'bun:test';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { Connection } from '../../src/store/sqlite/connection.ts';
import { freshFolder } from '../support/app.ts';

let folder: string;
let own: Connection;
let other: Database;

beforeEach(() => {
  folder = freshFolder();
  const file = join(folder, 'test.db');
  const native = new Database(file, { create: true, strict: true });
  native.run('PRAGMA journal_mode = WAL');
  native.run('CREATE TABLE t (n)');
  own = new Connection(native);
  other = new Database(file);
});

afterEach(() => {
  own.close();
  other.close();
  rmSync(folder, { recursive: true });
});

function count(): unknown {
  own.read();
  return own.native.query<{ n: number }, []>('SELECT count(*) AS n FROM t').get()?.n;
}

test('reads that follow at once share a snapshot', () => {
  expect(count()).toBe(0);
  other.run('INSERT INTO t VALUES (1)');
  expect(count()).toBe(0);
});

test('a snapshot ends with the run of promise callbacks, before the event loop goes on', async () => {
  expect(count()).toBe(0);
  other.run('INSERT INTO t VALUES (1)');
  // Nothing but promise callbacks: no timer, no input, no immediate has had its turn.
  for (let step = 0; step < 50; step++) await null;
  expect(own.inTransaction).toBe(false);
  expect(count()).toBe(1);
});

test('a read keeps it open for the callbacks that follow', async () => {
  expect(count()).toBe(0);
  other.run('INSERT INTO t VALUES (1)');
  for (let step = 0; step < 5; step++) {
    await null;
    expect(count()).toBe(0);
  }
});

test('a snapshot that SQLite ended by itself is no fault; the next read begins another', () => {
  expect(count()).toBe(0);
  own.native.run('ROLLBACK');
  own.endReads();
  other.run('INSERT INTO t VALUES (1)');
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

import { Database } from 'bun:sqlite';
import { afterEach, beforeEach, expect, test } from 'bun:test';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { WriteFailed } from '../../src/core/outcome.ts';
import { Connection } from '../../src/store/sqlite/connection.ts';
import { GroupWriter } from '../../src/store/sqlite/writer.ts';
import { freshFolder } from '../support/app.ts';

let folder: string;
beforeEach(() => {
  folder = freshFolder();
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test('a transaction that cannot begin is refused, and the writer comes to rest', async () => {
  const file = join(folder, 'damaged.db');
  const db = new Database(file, { create: true });
  db.run('CREATE TABLE t (a)');
  const writer = new GroupWriter(new Connection(db), 10);
  writeFileSync(file, Buffer.alloc(8192, 1));

  const insert = writer.run(() => db.run('INSERT INTO t VALUES (1)'));
  expect(insert).rejects.toBeInstanceOf(WriteFailed);
  await insert.catch(() => null);
  // Never settles while the writer keeps trying with nothing to write.
  await writer.idle();

  const later = writer.run(() => db.run('INSERT INTO t VALUES (2)'));
  expect(later).rejects.toBeInstanceOf(WriteFailed);
  await later.catch(() => null);
  await writer.idle();
  db.close();
});

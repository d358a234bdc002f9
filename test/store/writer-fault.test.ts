/** A storage that gives way so far that not even the way back is left. */

import { Database } from 'bun:sqlite';
import { describe, expect, test } from 'bun:test';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { WriteFailed } from '../../src/core/port/store.ts';
import { Connection } from '../../src/store/sqlite/connection.ts';
import { GroupWriter } from '../../src/store/sqlite/writer.ts';
import { freshFolder } from '../support/app.ts';
import { faultOf, writerDatabase } from '../support/writer-database.ts';

const at = writerDatabase();

test('a transaction that cannot begin is refused, and the writer comes to rest', async () => {
  const folder = freshFolder();
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
  rmSync(folder, { recursive: true });
});

describe('a write that cannot be taken back', () => {
  /** A connection on which ROLLBACK fails while `isBroken()`. */
  function stubborn(isBroken: () => boolean): Connection {
    const connection = new Connection(at.db);
    return new Connection(
      new Proxy(at.db, {
        get: (target, name) => {
          if (name !== 'prepare') return Reflect.get(target, name, target);
          return (sql: string) => {
            const statement = connection.native.prepare(sql);
            if (sql !== 'ROLLBACK') return statement;
            return {
              finalize: () => statement.finalize(),
              run: () => {
                if (isBroken()) throw new Error('the disk is gone');
                return statement.run();
              },
            };
          };
        },
      }),
    );
  }
  const lost = () => {
    at.db.run('PRAGMA defer_foreign_keys = ON');
    at.db.run('INSERT INTO fact (n, parent_id) VALUES (2, 99)');
  };

  test('is told to everybody, and nothing is read or written until it has been', async () => {
    let isBroken = true;
    const own = stubborn(() => isBroken);
    const writer = new GroupWriter(own, 100);
    for (const write of [writer.run(() => at.add(1)), writer.run(lost)]) {
      expect(await faultOf(write)).toBeInstanceOf(WriteFailed);
    }
    expect(own.inTransaction).toBe(true);
    expect(() => own.read()).toThrow('a write that failed cannot be taken back');
    const later = (await faultOf(writer.run(() => at.add(3)))) as WriteFailed;
    expect(later).toBeInstanceOf(WriteFailed);
    expect((later.cause as Error).message).toBe('a write that failed cannot be taken back');
    await writer.idle();
    isBroken = false;
    own.read();
    own.endReads();
    await writer.run(() => at.add(4));
    expect(at.visible()).toEqual([4]);
  });

  test('is taken back by the next write that can', async () => {
    let isBroken = true;
    const writer = new GroupWriter(
      stubborn(() => isBroken),
      100,
    );
    await faultOf(writer.run(lost));
    isBroken = false;
    await writer.run(() => at.add(5));
    expect(at.visible()).toEqual([5]);
  });

  test('nor to its savepoint: the batch is lost as a whole, and everybody is told', async () => {
    const connection = new Connection(at.db);
    const writer = new GroupWriter(connection, 100);
    const writes = [
      writer.run(() => at.add(1)),
      writer.run(() => {
        // Takes the savepoint away that the write is taken back to.
        at.db.run('RELEASE job');
        throw new Error('on purpose');
      }),
    ];
    for (const write of writes) expect(await faultOf(write)).toBeInstanceOf(WriteFailed);
    expect(at.visible()).toEqual([]);
    await writer.run(() => at.add(2));
    expect(at.visible()).toEqual([2]);
  });
});

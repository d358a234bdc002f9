import { Database } from 'bun:sqlite';
import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { WriteFailed } from '../../src/core/outcome.ts';
import { Connection } from '../../src/store/sqlite/connection.ts';
import { GroupWriter } from '../../src/store/sqlite/writer.ts';
import { freshFolder } from '../support/app.ts';
import { until } from '../support/until.ts';

let folder: string;
let db: Database;
let beside: Database;
beforeEach(() => {
  folder = freshFolder();
  db = new Database(join(folder, 'test.db'), { create: true, strict: true });
  db.run('PRAGMA journal_mode = WAL');
  db.run('PRAGMA foreign_keys = ON');
  db.run('PRAGMA busy_timeout = 1');
  db.run('CREATE TABLE parent (id INTEGER PRIMARY KEY)');
  db.run('CREATE TABLE fact (n INTEGER UNIQUE, parent_id INTEGER REFERENCES parent, text TEXT)');
  beside = new Database(join(folder, 'test.db'), { strict: true });
});
afterEach(() => {
  beside.close();
  db.close();
  rmSync(folder, { recursive: true });
});

const add = (n: number) => db.run('INSERT INTO fact (n) VALUES (?)', [n]);
/** What another connection sees. */
const visible = (): number[] =>
  beside
    .query<{ n: number }, []>('SELECT n FROM fact ORDER BY n')
    .all()
    .map(({ n }) => n);

async function faultOf(write: Promise<unknown>): Promise<unknown> {
  const [result] = await Promise.allSettled([write]);
  return result.status === 'rejected' ? result.reason : 'no fault';
}

describe('the writes of one turn', () => {
  test('are one commit: nothing is visible and nothing is answered before it', async () => {
    const writer = new GroupWriter(new Connection(db), 100);
    const events: string[] = [];
    const writes = [1, 2, 3].map((n) =>
      writer
        .run(() => {
          events.push(`run ${n}, ${visible().length} visible`);
          add(n);
          return n;
        })
        .then((value) => events.push(`answer ${value}, ${visible().length} visible`)),
    );
    expect(events).toEqual([]);
    await Promise.all(writes);
    expect(events).toEqual([
      'run 1, 0 visible',
      'run 2, 0 visible',
      'run 3, 0 visible',
      'answer 1, 3 visible',
      'answer 2, 3 visible',
      'answer 3, 3 visible',
    ]);
  });

  test('share a commit up to the batch size', async () => {
    const writer = new GroupWriter(new Connection(db), 2);
    const before: number[] = [];
    const write = (n: number) =>
      writer.run(() => {
        before.push(visible().length);
        add(n);
      });
    await Promise.all([1, 2, 3, 4, 5].map(write));
    expect(before).toEqual([0, 0, 2, 2, 4]);
  });

  test('asked for from an answer come later', async () => {
    const writer = new GroupWriter(new Connection(db), 100);
    await writer.run(() => add(1)).then(() => writer.run(() => add(2)));
    expect(visible()).toEqual([1, 2]);
  });
});

describe('a failing write', () => {
  test('takes back what it did and does not hurt its neighbours', async () => {
    const writer = new GroupWriter(new Connection(db), 100);
    const first = writer.run(() => add(1));
    const failing = writer.run(() => {
      add(2);
      throw new Error('on purpose');
    });
    const last = writer.run(() => add(3));
    expect(await faultOf(failing)).toEqual(new Error('on purpose'));
    await Promise.all([first, last]);
    expect(visible()).toEqual([1, 3]);
  });

  test('with a mistake of ours is told as it is, not as a failure of the storage', async () => {
    const writer = new GroupWriter(new Connection(db), 100);
    const first = writer.run(() => add(1));
    const fault = await faultOf(writer.run(() => add(1)));
    expect(fault).not.toBeInstanceOf(WriteFailed);
    expect((fault as { code: string }).code).toBe('SQLITE_CONSTRAINT_UNIQUE');
    await first;
    expect(visible()).toEqual([1]);
  });
});

describe('a storage that gives way', () => {
  test('at the commit: none is answered as done, none is kept, the next write works', async () => {
    const writer = new GroupWriter(new Connection(db), 100);
    const writes = [
      writer.run(() => add(1)),
      writer.run(() => {
        db.run('PRAGMA defer_foreign_keys = ON');
        db.run('INSERT INTO fact (n, parent_id) VALUES (2, 99)');
      }),
      writer.run(() => {
        throw new Error('hidden by the lost commit');
      }),
    ];
    for (const write of writes) {
      const fault = (await faultOf(write)) as WriteFailed;
      expect(fault).toBeInstanceOf(WriteFailed);
      expect(String(fault.cause)).toContain('FOREIGN KEY');
    }
    expect(visible()).toEqual([]);
    await writer.run(() => add(4));
    expect(visible()).toEqual([4]);
  });

  test('in the midst, as a full disk does: all are told, with the reason, none is kept', async () => {
    const writer = new GroupWriter(new Connection(db), 100);
    db.run('PRAGMA max_page_count = 20');
    const writes = [
      writer.run(() => add(1)),
      writer.run(() => db.run('INSERT INTO fact (n, text) VALUES (2, zeroblob(1000000))')),
      writer.run(() => add(3)),
    ];
    const faults = await Promise.all(writes.map(faultOf));
    for (const fault of faults) {
      expect(fault).toBeInstanceOf(WriteFailed);
      expect(Bun.inspect(fault)).toContain('SQLITE_FULL');
    }
    expect(visible()).toEqual([]);
    await writer.run(() => add(4));
    expect(visible()).toEqual([4]);
  });
});

describe('while another process holds the database', () => {
  test('a write waits, and the event loop goes on', async () => {
    const writer = new GroupWriter(new Connection(db), 100);
    beside.run('BEGIN IMMEDIATE');
    let isDone = false;
    const write = writer
      .run(() => add(1))
      .then(() => {
        isDone = true;
      });
    let turns = 0;
    await until('the event loop has turned often', () => {
      turns += 1;
      return turns > 50;
    });
    expect(isDone).toBe(false);
    beside.run('COMMIT');
    await write;
    expect(visible()).toEqual([1]);
  });

  test('the order of writes stays', async () => {
    const writer = new GroupWriter(new Connection(db), 2);
    beside.run('BEGIN IMMEDIATE');
    const order: number[] = [];
    const write = (n: number) => writer.run(() => order.push(n));
    const early = [1, 2, 3].map(write);
    let turns = 0;
    await until('the lock was tried for', () => {
      turns += 1;
      return turns > 10;
    });
    const late = [4, 5].map(write);
    beside.run('ROLLBACK');
    await Promise.all([...early, ...late]);
    expect(order).toEqual([1, 2, 3, 4, 5]);
  });

  test('for too long: it is refused, and later ones work', async () => {
    const writer = new GroupWriter(new Connection(db), 100, { lockWaitMaxMs: 20 });
    beside.run('BEGIN IMMEDIATE');
    const fault = (await faultOf(writer.run(() => add(1)))) as WriteFailed;
    expect(fault).toBeInstanceOf(WriteFailed);
    expect(fault.message).toBe('the database could not be locked for writing');
    // Nothing is left to be done, so that a stop need not wait for the lock.
    await writer.idle();
    beside.run('ROLLBACK');
    await writer.run(() => add(2));
    expect(visible()).toEqual([2]);
  });
});

test('idle settles when everything asked for is on disk', async () => {
  const writer = new GroupWriter(new Connection(db), 1);
  await writer.idle();
  const writes = [1, 2, 3].map((n) => writer.run(() => add(n)));
  await writer.idle();
  expect(visible()).toEqual([1, 2, 3]);
  await Promise.all(writes);
});

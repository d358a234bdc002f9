import { describe, expect, test } from 'bun:test';
import { WriteFailed } from '../../src/core/port/store.ts';
import { Connection } from '../../src/store/sqlite/connection.ts';
import { type BatchNotes, GroupWriter } from '../../src/store/sqlite/writer.ts';
import { faultOf, writerDatabase } from '../support/writer-database.ts';

const at = writerDatabase();

describe('the writes of one turn', () => {
  test('are one commit: nothing is visible and nothing is answered before it', async () => {
    const writer = new GroupWriter(new Connection(at.db), 100);
    const events: string[] = [];
    const writes = [1, 2, 3].map((n) =>
      writer
        .run(() => {
          events.push(`run ${n}, ${at.visible().length} visible`);
          at.add(n);
          return n;
        })
        .then((value) => events.push(`answer ${value}, ${at.visible().length} visible`)),
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
    const writer = new GroupWriter(new Connection(at.db), 2);
    const before: number[] = [];
    const write = (n: number) =>
      writer.run(() => {
        before.push(at.visible().length);
        at.add(n);
      });
    await Promise.all([1, 2, 3, 4, 5].map(write));
    expect(before).toEqual([0, 0, 2, 2, 4]);
  });

  test('asked for from an answer come later', async () => {
    const writer = new GroupWriter(new Connection(at.db), 100);
    await writer.run(() => at.add(1)).then(() => writer.run(() => at.add(2)));
    expect(at.visible()).toEqual([1, 2]);
  });
});

describe('a failing write', () => {
  test('takes back what it did and does not hurt its neighbours', async () => {
    const writer = new GroupWriter(new Connection(at.db), 100);
    const first = writer.run(() => at.add(1));
    const failing = writer.run(() => {
      at.add(2);
      throw new Error('on purpose');
    });
    const last = writer.run(() => at.add(3));
    expect(await faultOf(failing)).toEqual(new Error('on purpose'));
    await Promise.all([first, last]);
    expect(at.visible()).toEqual([1, 3]);
  });

  test('has its batch done again, and only that one: the writes behind it come after', async () => {
    const writer = new GroupWriter(new Connection(at.db), 2);
    const ran: number[] = [];
    const write = (n: number) =>
      writer.run(() => {
        ran.push(n);
        at.add(n);
        if (n === 2) throw new Error('on purpose');
      });
    const settled = await Promise.allSettled([1, 2, 3, 4].map(write));
    expect(settled.map(({ status }) => status)).toEqual([
      'fulfilled',
      'rejected',
      'fulfilled',
      'fulfilled',
    ]);
    expect(ran).toEqual([1, 2, 1, 2, 3, 4]);
    expect(at.visible()).toEqual([1, 3, 4]);
  });

  test('with a mistake of ours is told as it is, not as a failure of the storage', async () => {
    const writer = new GroupWriter(new Connection(at.db), 100);
    const first = writer.run(() => at.add(1));
    const fault = await faultOf(writer.run(() => at.add(1)));
    expect(fault).not.toBeInstanceOf(WriteFailed);
    expect((fault as { code: string }).code).toBe('SQLITE_CONSTRAINT_UNIQUE');
    await first;
    expect(at.visible()).toEqual([1]);
  });
});

describe('what the writes of a batch note', () => {
  /** Notes of words, saved as the last fact. */
  function noteBook() {
    let words: string[] = [];
    const sealed: string[][] = [];
    const notes: BatchNotes = {
      mark: () => words.length,
      undo: (mark) => {
        words = words.slice(0, Number(mark));
      },
      endWrite: () => undefined,
      seal: () => sealed.push(words),
      clear: () => {
        words = [];
      },
    };
    return { notes, sealed, say: (word: string) => words.push(word) };
  }

  test('is saved without what a write noted that was taken back', async () => {
    const { notes, sealed, say } = noteBook();
    const writer = new GroupWriter(new Connection(at.db), 100, { notes });
    await Promise.allSettled([
      writer.run(() => say('first')),
      writer.run(() => {
        say('undone');
        throw new Error('on purpose');
      }),
      writer.run(() => say('last')),
    ]);
    expect(sealed).toEqual([['first', 'last']]);
  });

  test('is forgotten with a batch that was lost', async () => {
    const { notes, sealed, say } = noteBook();
    const writer = new GroupWriter(new Connection(at.db), 100, { notes });
    await faultOf(
      writer.run(() => {
        say('lost');
        at.db.run('PRAGMA defer_foreign_keys = ON');
        at.db.run('INSERT INTO fact (n, parent_id) VALUES (1, 99)');
      }),
    );
    await writer.run(() => say('kept'));
    expect(sealed.at(-1)).toEqual(['kept']);
  });
});

describe('a storage that gives way', () => {
  test('at the commit: none is answered as done, none is kept, the next write works', async () => {
    const writer = new GroupWriter(new Connection(at.db), 100);
    const writes = [
      writer.run(() => at.add(1)),
      writer.run(() => {
        at.db.run('PRAGMA defer_foreign_keys = ON');
        at.db.run('INSERT INTO fact (n, parent_id) VALUES (2, 99)');
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
    expect(at.visible()).toEqual([]);
    await writer.run(() => at.add(4));
    expect(at.visible()).toEqual([4]);
  });

  test('in the midst, as a full disk does: all are told, with the reason, none is kept', async () => {
    const writer = new GroupWriter(new Connection(at.db), 100);
    at.db.run('PRAGMA max_page_count = 20');
    const writes = [
      writer.run(() => at.add(1)),
      writer.run(() => at.db.run('INSERT INTO fact (n, text) VALUES (2, zeroblob(1000000))')),
      writer.run(() => at.add(3)),
    ];
    const faults = await Promise.all(writes.map(faultOf));
    for (const fault of faults) {
      expect(fault).toBeInstanceOf(WriteFailed);
      expect(Bun.inspect(fault)).toContain('no space left on the disk');
    }
    expect(at.visible()).toEqual([]);
    await writer.run(() => at.add(4));
    expect(at.visible()).toEqual([4]);
  });
});

test('idle settles when everything asked for is on disk', async () => {
  const writer = new GroupWriter(new Connection(at.db), 1);
  await writer.idle();
  const writes = [1, 2, 3].map((n) => writer.run(() => at.add(n)));
  await writer.idle();
  expect(at.visible()).toEqual([1, 2, 3]);
  await Promise.all(writes);
});

/** Calls of a turn that share a write of SQLite, without a database. */

import { expect, test } from 'bun:test';
import { WriteFailed } from '../../src/core/port/store.ts';
import type { Notes, Step } from '../../src/store/backend.ts';
import { Together } from '../../src/store/sqlite/together.ts';
import type { GroupWriter } from '../../src/store/sqlite/writer.ts';

interface Asked {
  key: string;
  n: number;
  size?: number;
}

/** Notes the calls of each write; `fault` makes a write of these calls fail. */
function start(fault: (calls: readonly Asked[]) => Error | null = () => null) {
  const writes: number[][] = [];
  const commits: number[] = [];
  const writer = {
    run: async (work: () => unknown) => {
      const done = work();
      commits.push(writes.length);
      return done;
    },
  } as unknown as GroupWriter;
  const together = new Together<Asked, string>(writer, {} as Notes, {
    *answer(calls): Step<(string | undefined)[]> {
      return calls.map(({ n }) => (n < 0 ? `known ${n}` : undefined));
    },
    *begin() {},
    keyOf: ({ key }) => key,
    sizeOf: ({ size = 1 }) => size,
    *run(_notes, calls) {
      writes.push(calls.map(({ n }) => n));
      const thrown = fault(calls);
      if (thrown !== null) throw thrown;
      return calls.map(({ n }) => `saved ${n}`);
    },
  });
  return { together, writes, commits };
}

const range = (from: number, to: number) => Array.from({ length: to - from }, (_, n) => from + n);
const ofDevice = (n: number): Asked => ({ key: `device ${n}`, n });

test('a write has 128 calls at most, and each gets its own answer', async () => {
  const { together, writes } = start();
  const all = range(0, 300);
  const answers = await Promise.all(all.map((n) => together.ask(ofDevice(n))));
  expect(answers).toEqual(all.map((n) => `saved ${n}`));
  expect(writes).toEqual([range(0, 128), range(128, 256), range(256, 300)]);
});

test('a call that has more to do is saved with fewer others', async () => {
  const { together, writes } = start();
  const sizes = [100, 28, 1, 200, 1, 127];
  await Promise.all(sizes.map((size, n) => together.ask({ ...ofDevice(n), size })));
  expect(writes).toEqual([[0, 1], [2], [3], [4, 5]]);
});

test('calls of one key are saved one after the other, in their order', async () => {
  const { together, writes } = start();
  const calls = ['a', 'b', 'a', 'c', 'a'].map((key, n) => ({ key, n }));
  const answers = await Promise.all(calls.map((call) => together.ask(call)));
  expect(writes).toEqual([[0, 1, 3], [2], [4]]);
  expect(answers).toEqual(calls.map(({ n }) => `saved ${n}`));
});

test('a caller with many calls at once holds up others by no commit of each', async () => {
  const { together, writes, commits } = start();
  const many = range(0, 300).map((n) => ({ key: 'a', n }));
  await Promise.all([...many, { key: 'b', n: 300 }].map((call) => together.ask(call)));
  expect(writes.flat()).toHaveLength(301);
  expect(commits).toHaveLength(3);
});

test('what reads answer is not written', async () => {
  const { together, writes } = start();
  const answers = await Promise.all([1, -2, 3].map((n) => together.ask(ofDevice(n))));
  expect(answers).toEqual(['saved 1', 'known -2', 'saved 3']);
  expect(await together.ask(ofDevice(-4))).toBe('known -4');
  expect(writes).toEqual([[1, 3]]);
});

test('a fault of one call fails no other', async () => {
  const { together, writes } = start((calls) =>
    calls.some(({ n }) => n === 2) ? new Error('a constraint') : null,
  );
  const answers = await Promise.allSettled([1, 2, 3].map((n) => together.ask(ofDevice(n))));
  expect(answers).toMatchObject([
    { value: 'saved 1' },
    { reason: { message: 'a constraint' } },
    { value: 'saved 3' },
  ]);
  expect(writes).toEqual([[1, 2, 3], [1], [2], [3]]);
});

test('a write that could not be saved fails all its calls, and is not repeated', async () => {
  const { together, writes } = start(() => new WriteFailed('the disk is full'));
  const answers = await Promise.allSettled([1, 2].map((n) => together.ask(ofDevice(n))));
  expect(answers.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(writes).toEqual([[1, 2]]);
});

test('it is idle once all calls are answered', async () => {
  const { together, writes } = start();
  await together.idle();
  for (const n of range(0, 200)) void together.ask(ofDevice(n));
  await together.idle();
  expect(writes.flat()).toEqual(range(0, 200));
});

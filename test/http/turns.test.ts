/** How what is large shares a turn of the event loop with everything else. */

import { expect, test } from 'bun:test';
import { Turns } from '../../src/http/bound/turns.ts';
import { FakeClock } from '../support/clock.ts';

/** Does pieces of work that take so long, beside something small that asks for every turn. */
async function turnsOf(pieces: readonly number[]): Promise<number[]> {
  const clock = new FakeClock();
  const turns = new Turns(clock);
  let turn = 0;
  const work = Promise.all(
    pieces.map(async (tookMs) => {
      await turns.next('one');
      clock.advance(tookMs);
      return turn;
    }),
  );
  let isOver = false;
  const count = () => {
    turn += 1;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  const done = await work;
  isOver = true;
  const [first = 0] = done;
  return done.map((at) => at - first);
}

test('a piece that takes its share of a turn is alone in it', async () => {
  expect(await turnsOf([1, 5, 1, 1])).toEqual([0, 1, 2, 3]);
});

test('small pieces share a turn until its share is used up', async () => {
  expect(await turnsOf([0, 0, 0.5, 0.4, 0.1, 0, 1])).toEqual([0, 0, 0, 0, 0, 1, 1]);
});

test('whoever comes with many pieces has one in turn with the others', async () => {
  const turns = new Turns(new FakeClock());
  const order: string[] = [];
  await Promise.all(
    ['a', 'a', 'a', 'b', 'b', 'c'].map(async (caller) => {
      await turns.next(caller);
      order.push(caller);
    }),
  );
  // The first begins before the others have come.
  expect(order).toEqual(['a', 'a', 'b', 'c', 'a', 'b']);
});

import { expect, test } from 'bun:test';
import { Wheel } from '../../src/http/stream/wheel.ts';
import { until } from '../support/until.ts';

interface Member {
  name: string;
  slot: Set<unknown> | null;
}
const member = (name: string): Member => ({ name, slot: null });
const members = (count: number) => Array.from({ length: count }, (_, n) => member(String(n)));

test('each is called once after its own pause, and may enter again', async () => {
  const called: string[] = [];
  const wheel = new Wheel<Member>(1, (one) => {
    called.push(one.name);
    if (called.length === 1) wheel.enter(one, 60);
  });
  const [late, soon] = [member('late'), member('soon')];
  const startMs = performance.now();
  wheel.enter(late, 30);
  wheel.enter(soon, 0);
  await until('all came', () => called.length === 3);
  expect(called).toEqual(['soon', 'late', 'soon']);
  expect(performance.now() - startMs).toBeGreaterThan(58);
  expect([late.slot?.size, soon.slot?.size]).toEqual([0, 0]);
});

test('none is called that left, also while others are', async () => {
  const called: string[] = [];
  const all = members(60);
  const wheel = new Wheel<Member>(1, ({ name }) => {
    called.push(name);
    for (const one of all.slice(1)) wheel.leave(one);
  });
  const gone = member('gone');
  wheel.enter(gone, 1);
  for (const one of all) wheel.enter(one, 2);
  wheel.leave(gone);
  wheel.leave(gone);
  const last = member('last');
  wheel.enter(last, 20);
  await until('the last came', () => called.includes('last'));
  expect(called).toEqual(['0', 'last']);
});

test('a crowd is called in several turns of the event loop', async () => {
  let turn = 0;
  let isOver = false;
  const countTurns = () => {
    turn += 1;
    if (!isOver) setImmediate(countTurns);
  };
  countTurns();
  const inTurn = new Map<number, number>();
  let count = 0;
  const wheel = new Wheel<Member>(1, () => {
    count += 1;
    inTurn.set(turn, (inTurn.get(turn) ?? 0) + 1);
  });
  for (const one of members(170)) wheel.enter(one, 5);
  await until('all came', () => count === 170);
  isOver = true;
  expect([...inTurn.values()]).toEqual([50, 50, 50, 20]);
});

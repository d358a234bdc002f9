/** The judge of the races, on histories that are right and wrong by their look. */

import { expect, test } from 'bun:test';
import { hasOrder, type Model } from './contract/order.ts';

/** Room for two; a call takes a place, and every third gives one back. */
const ROOM: Model<number> = {
  start: 0,
  step: (taken, n) => {
    if (n % 3 === 2) return ['left', Math.max(0, taken - 1)];
    return taken < 2 ? ['in', taken + 1] : ['full', taken];
  },
};
const explained = (
  answers: string[],
  left: number,
  goesBefore?: (a: number, b: number) => boolean,
) => hasOrder(ROOM, answers, (taken) => taken === left, goesBefore);

test.each([
  ['all in their order', ['in', 'in', 'left', 'in'], 2, true],
  ['one refused before a place was free', ['in', 'in', 'left', 'full'], 1, true],
  ['one more than there is room for', ['in', 'in', 'left', 'in', 'in'], 3, false],
  ['refused with room', ['in', 'full'], 1, false],
  ['an end that no order leads to', ['in', 'in', 'left'], 0, false],
] as const)('%s', (_, answers, left, isRight) => {
  expect(explained([...answers], left)).toBe(isRight);
});

test('what was answered before a call began goes before it', () => {
  const answers = ['in', 'in', 'left', 'full'];
  expect(explained(answers, 1, (one, other) => one === 2 && other === 3)).toBe(false);
  expect(explained(answers, 1, (one, other) => one === 3 && other === 2)).toBe(true);
});

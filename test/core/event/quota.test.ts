import { expect, test } from 'bun:test';
import { levelAfter } from '../../../src/core/event/quota.ts';

test.each([
  // Before, used of 100, after.
  [0, 0, 0],
  [0, 79, 0],
  [0, 80, 80],
  [0, 99, 80],
  [0, 100, 100],
  [0, 130, 100],
  [80, 100, 100],
  [80, 79, 80],
  [80, 75, 80],
  [80, 74, 0],
  [100, 99, 100],
  [100, 95, 100],
  [100, 94, 80],
  [100, 10, 0],
])('from level %i with %i used of 100: %i', (before, used, after) => {
  expect(levelAfter(before, used, 100)).toBe(after);
});

test('of nothing that may be had, all is used', () => {
  expect(levelAfter(0, 0, 0)).toBe(100);
});

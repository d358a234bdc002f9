/** Refusals in memory: the 1st, 10th, 100th of a day is an event, also after a save. */

import { expect, test } from 'bun:test';
import { GatheredFigures, numbersReached } from '../../src/core/figures.ts';

const LINK = { installId: 1, providerId: 2 };
const refuse = (gathered: GatheredFigures) => gathered.addRefusal(LINK, 'link_limit_reached', 5);

test('refusals that were taken out or saved count towards the next event', () => {
  const gathered = new GatheredFigures();
  const areEvents = Array.from({ length: 5 }, () => refuse(gathered));
  expect(areEvents).toEqual([true, false, false, false, false]);
  const rows = gathered.take(10);
  expect(Array.from({ length: 4 }, () => refuse(gathered))).not.toContain(true);
  expect(refuse(gathered)).toBe(true);
  gathered.putBack(rows);
  // 89 that another process saved, and 11 of this one.
  gathered.noteSaved({ installId: 1, day: 0 }, 89);
  expect(refuse(gathered)).toBe(true);
});

test.each([
  [0, 1, [1]],
  [1, 9, []],
  [9, 10, [10]],
  [0, 100, [1, 10, 100]],
])('from %i to %i refusals: %p', (before, after, numbers) => {
  expect(numbersReached(before, after)).toEqual(numbers);
});

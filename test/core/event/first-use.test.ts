import { expect, test } from 'bun:test';
import { DAY_MS } from '../../../src/core/calendar.ts';
import { afterNaming } from '../../../src/core/event/first-use.ts';

test('each key makes one event, from the 101st HWID of a UTC day on', () => {
  let mark: string | null = null;
  const name = (key: string, count: number, nowMs: number): boolean => {
    const after = afterNaming(mark, key, count, nowMs);
    mark = after.mark;
    return after.isFirst;
  };
  expect(name('a', 100, 0)).toBe(false);
  expect(name('a', 1, DAY_MS - 1)).toBe(true);
  expect(name('a', 1, DAY_MS - 1)).toBe(false);
  // Several keys share the number, so that they do not stay below it together.
  expect(name('b', 1, DAY_MS - 1)).toBe(true);
  expect(name('c', 100, DAY_MS)).toBe(false);
  expect(name('b', 100, DAY_MS)).toBe(false);
  expect(name('c', 1, DAY_MS)).toBe(true);
});

test('the mark does not grow with the keys that there were', () => {
  let mark: string | null = null;
  for (let n = 0; n < 1_000; n++) mark = afterNaming(mark, `${n}`, 101, 0).mark;
  expect(mark?.split(' ').length).toBeLessThan(110);
});

import { expect, test } from 'bun:test';
import { SlotHistory } from '../support/slot-history.ts';

// The judge of cap.test.ts must itself be able to say no.

const during = (startMs: number, endMs: number) => ({ startMs, endMs });

test('a HWID too many at one instant is seen', () => {
  const history = new SlotHistory(1);
  history.admitted('a', during(0, 1));
  history.admitted('b', during(2, 3));
  expect(history.problems()).toEqual(['2 HWIDs at once on a link of 1']);
});

test('two that may have taken turns are not', () => {
  const history = new SlotHistory(1);
  history.admitted('a', during(0, 1));
  history.deleted('a', during(2, 5));
  history.admitted('b', during(3, 6));
  expect(history.problems()).toEqual([]);
  expect(history.present()).toEqual(['b']);
});

test('a refusal while a slot was certainly free is seen', () => {
  const history = new SlotHistory(2);
  history.admitted('a', during(0, 1));
  history.admitted('b', during(0, 1));
  history.deleted('b', during(2, 3));
  history.refused('c', during(4, 5));
  expect(history.problems()).toEqual(['refused while at most 1 of 2 slots were taken']);
});

test('a refusal is right if the link may have been full for an instant of it', () => {
  const history = new SlotHistory(1);
  history.admitted('a', during(0, 1));
  history.deleted('a', during(2, 4));
  history.refused('b', during(3, 9));
  expect(history.problems()).toEqual([]);
});

test('a refusal of a HWID that holds a slot is seen at once', () => {
  const history = new SlotHistory(1);
  history.admitted('a', during(0, 1));
  expect(history.refused('a', during(2, 3))).toBe('a was refused while it held a slot');
  expect(history.refused('b', during(2, 3))).toBeNull();
});

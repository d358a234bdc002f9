/** Folds: messages of refusals within their bounds, and the sums of the rest. */

import { expect, test } from 'bun:test';
import {
  type Fold,
  foldEndMs,
  isFoldOver,
  newFold,
  noteRefusal,
  type RefusedPhone,
  sumOfFold,
} from '../../../src/core/event/fold.ts';

const NOW_MS = Date.UTC(2026, 10, 20, 12);
const MINUTE_MS = 60_000;

const phone = (installId: number, more: Partial<RefusedPhone> = {}): RefusedPhone => ({
  installId,
  address: null,
  isFirst: true,
  count: 1,
  ...more,
});

/** Notes phones of a link, two minutes apart; returns which got a message. */
function notes(fold: Fold, phones: readonly RefusedPhone[]): boolean[] {
  return phones.map((one, n) => noteRefusal(fold, one, NOW_MS + 2 * n * MINUTE_MS));
}

test('a link has three messages in an hour; the rest is a sum', () => {
  const fold = newFold(NOW_MS);
  const phones = Array.from({ length: 9 }, () => phone(3));
  expect(notes(fold, phones)).toEqual([true, true, true, ...Array(6).fill(false)]);
  expect(sumOfFold(fold)).toEqual({
    kind: 'events.folded',
    data: { refusals: 6, phones: 6, install_ids: '3', since: '2026-11-20T12:00:00.000Z' },
  });
});

test('a chat has thirty, however many links there are, and a bounded fold', () => {
  const fold = newFold(NOW_MS);
  const told = Array.from({ length: 500 }, (_, n) => noteRefusal(fold, phone(n), NOW_MS));
  expect(told.filter(Boolean)).toHaveLength(30);
  expect(fold.links).toHaveLength(30);
  expect(sumOfFold(fold)?.data).toMatchObject({ refusals: 470, phones: 470, install_ids: '' });
});

test('phones within a minute are one, and so are phones with one address', () => {
  const fold = newFold(NOW_MS);
  const at = (ms: number, one: RefusedPhone) => noteRefusal(fold, one, NOW_MS + ms);
  expect(at(0, phone(3, { address: '192.0.2.1' }))).toBe(true);
  expect(at(MINUTE_MS - 1, phone(3, { address: '192.0.2.2' }))).toBe(false);
  expect(at(0, phone(4, { address: '192.0.2.1' }))).toBe(true);
  expect(at(2 * MINUTE_MS, phone(3, { address: '192.0.2.1' }))).toBe(false);
  // The tenth refusal of the same phone comes from its own address.
  expect(at(3 * MINUTE_MS, phone(3, { address: '192.0.2.1', isFirst: false }))).toBe(true);
  expect(sumOfFold(fold)?.data).toMatchObject({ refusals: 2, phones: 1, install_ids: '3' });
  expect(JSON.stringify(fold)).not.toContain('192.0.2');
});

test('is over after an hour, and when the clock was set back by more than one', () => {
  const fold = newFold(NOW_MS);
  expect(foldEndMs(fold)).toBe(NOW_MS + 60 * MINUTE_MS);
  const over = [0, 60 * MINUTE_MS - 1, 60 * MINUTE_MS, -60 * MINUTE_MS, -60 * MINUTE_MS - 1];
  expect(over.map((ms) => isFoldOver(fold, NOW_MS + ms))).toEqual([
    false,
    false,
    true,
    false,
    true,
  ]);
  expect(sumOfFold(fold)).toBeNull();
});

test('other events are a number; a sum names ten links at most, those with most refusals', () => {
  const fold = newFold(NOW_MS);
  fold.events = 7;
  expect(sumOfFold(fold)?.data).toEqual({ events: 7, since: '2026-11-20T12:00:00.000Z' });
  for (let id = 1; id <= 12; id++) {
    noteRefusal(fold, phone(id), NOW_MS);
    noteRefusal(fold, phone(id, { count: id }), NOW_MS + 1);
  }
  expect(sumOfFold(fold)?.data['install_ids']).toBe('12,11,10,9,8,7,6,5,4,3');
});

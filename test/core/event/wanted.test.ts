import { describe, expect, test } from 'bun:test';
import {
  CALLERS_WAITING_MAX,
  splitByRoom,
  WAITING_COUNT_MAX,
  wantsKind,
} from '../../../src/core/event/wanted.ts';

describe('a webhook', () => {
  test('with no kinds wants all events', () => {
    expect(wantsKind([], 'link.created')).toBe(true);
  });

  test('with kinds wants those alone', () => {
    expect(wantsKind(['link.created', 'link.full'], 'link.full')).toBe(true);
    expect(wantsKind(['link.created', 'link.full'], 'link.updated')).toBe(false);
  });
});

test('an event goes to those that want it and have room, and names those that are full', () => {
  const one = { kinds: [], waitingCount: WAITING_COUNT_MAX - 1 };
  const full = { kinds: ['link.created'], waitingCount: WAITING_COUNT_MAX };
  const other = { kinds: ['link.full'], waitingCount: WAITING_COUNT_MAX };
  expect(splitByRoom([one, full, other], 'link.created')).toEqual({
    takers: [one],
    full: [full],
    folded: [],
  });
});

test('an event that a caller can cause leaves half of the queue to others, and fills none', () => {
  const one = { kinds: [], waitingCount: CALLERS_WAITING_MAX - 1 };
  const half = { kinds: [], waitingCount: CALLERS_WAITING_MAX };
  const full = { kinds: [], waitingCount: WAITING_COUNT_MAX };
  for (const kind of ['link.refused', 'link.full', 'device.admitted', 'device.replaced'] as const) {
    expect(splitByRoom([one, half, full], kind)).toEqual({
      takers: [one],
      full: [],
      folded: [half, full],
    });
  }
});

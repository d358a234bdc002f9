import { describe, expect, test } from 'bun:test';
import { splitByRoom, WAITING_COUNT_MAX, wantsKind } from '../../../src/core/event/wanted.ts';

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
  const full = { kinds: ['link.full'], waitingCount: WAITING_COUNT_MAX };
  const other = { kinds: ['link.created'], waitingCount: WAITING_COUNT_MAX };
  expect(splitByRoom([one, full, other], 'link.full')).toEqual({ takers: [one], full: [full] });
});

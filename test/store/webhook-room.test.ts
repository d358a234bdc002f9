/** A replay of events into a queue that is nearly full. */

import { expect, test } from 'bun:test';
import { fitting } from '../../src/store/noun/webhook-delivery.ts';

const event = (id: number, more: { isWaiting?: number; isWanted?: boolean } = {}) => ({
  id,
  kind: 'link.full' as const,
  isWaiting: 0,
  isWanted: true,
  ...more,
});

test('as many events go in as have room, and one more is one too many', () => {
  const events = [event(1), event(2)];
  expect(fitting(events, 2)).toEqual({ eventIds: [1, 2], isFull: false });
  expect(fitting(events, 1)).toEqual({ eventIds: [1], isFull: true });
  expect(fitting(events, 0)).toEqual({ eventIds: [], isFull: true });
});

test('events that wait already, or that it does not want, take no room', () => {
  const events = [event(1, { isWaiting: 1 }), event(2), event(3, { isWanted: false })];
  expect(fitting(events, 1)).toEqual({ eventIds: [2], isFull: false });
});

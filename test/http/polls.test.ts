/** How many long polls wait at a time, of one device and of all. */

import { expect, test } from 'bun:test';
import { POLLS_PER_DEVICE_MAX, Polls } from '../../src/http/bound/polls.ts';

const never = new AbortController().signal;

/** Parks a poll of a device; the polls that were told to wait no longer are in `over`, in order. */
function parking(polls: Polls) {
  const over: string[] = [];
  const park = (name: string, deviceId: number, signal = never) =>
    polls.park(
      deviceId,
      signal,
      (whenOver) =>
        new Promise<void>((resolve) => {
          whenOver.addEventListener('abort', () => {
            over.push(name);
            resolve();
          });
        }),
    );
  return { over, park };
}

test('of one device the oldest is over when there are too many', async () => {
  const polls = new Polls();
  const { over, park } = parking(polls);
  const names = Array.from({ length: POLLS_PER_DEVICE_MAX + 2 }, (_, n) => `poll ${n}`);
  const parked = names.map((name) => park(name, 1));
  expect(over).toEqual(['poll 0', 'poll 1']);
  await Promise.all(parked.slice(0, 2));
  expect(polls.count).toBe(POLLS_PER_DEVICE_MAX);
});

test('of all the oldest is over when there are too many', async () => {
  const polls = new Polls(3);
  const { over, park } = parking(polls);
  const parked = [1, 2, 3, 4, 5].map((device) => park(`of ${device}`, device));
  expect(over).toEqual(['of 1', 'of 2']);
  await Promise.all(parked.slice(0, 2));
  expect(polls.count).toBe(3);
});

test('one that left makes room', async () => {
  const polls = new Polls(2);
  const { over, park } = parking(polls);
  const leaving = new AbortController();
  const left = park('leaves', 1, leaving.signal);
  void park('stays', 2);
  leaving.abort();
  await left;
  void park('comes', 3);
  expect(over).toEqual(['leaves']);
  expect(polls.count).toBe(2);
});

/** Places of large answers: who gets one, who waits, who is refused. */

import { beforeEach, describe, expect, test } from 'bun:test';
import { type Place, Room, WAIT_MAX_MS } from '../../src/http/bound/room.ts';
import { FakeClock } from '../support/clock.ts';
import { until } from '../support/until.ts';

const BOUNDS = { bytesMax: 100, bytesPerCallerMax: 60, waitingMax: 4, waitingPerPartyMax: 3 };

let clock: FakeClock;
let room: Room;
beforeEach(() => {
  clock = new FakeClock();
  room = new Room(BOUNDS, clock);
});

const unread = () => false;

/** An answer that waits, or has its place. */
function ask(caller: string, bytes: number, isTaken = unread) {
  const asked = { got: undefined as Place | null | undefined };
  const place = room.enter({ caller, bytes, isTaken });
  if (place instanceof Promise) void place.then((settled) => (asked.got = settled));
  else asked.got = place;
  return asked;
}

async function expectRefused(asked: ReturnType<typeof ask>): Promise<void> {
  await until('it is refused', () => asked.got === null);
}

describe('an answer', () => {
  test('has its place at once while there is room', () => {
    expect(ask('a', 60).got).toBeTruthy();
    expect(ask('b', 40).got).toBeTruthy();
    expect(room.unreadBytes).toBe(100);
  });

  test('beyond the room of its caller waits, and others do not wait for it', () => {
    ask('a', 60);
    expect(ask('a', 1).got).toBeUndefined();
    expect(ask('b', 40).got).toBeTruthy();
  });

  test('beyond the room of all waits', () => {
    ask('a', 60);
    expect(ask('b', 41).got).toBeUndefined();
  });

  test('that was taken, or whose caller left, makes room', async () => {
    let isTaken = false;
    ask('a', 60, () => isTaken);
    const second = ask('a', 60);
    isTaken = true;
    await until('the second has its place', () => Boolean(second.got));
    expect(room.unreadBytes).toBe(60);
  });

  test('that was taken makes room at once for one that comes', () => {
    for (let n = 0; n < 100; n += 1) expect(ask('a', 60, () => true).got).toBeTruthy();
  });

  test('that is not made after all makes room', async () => {
    const first = ask('a', 60);
    const second = ask('a', 60);
    first.got?.leave();
    await until('the second has its place', () => Boolean(second.got));
    first.got?.leave();
    expect(room.unreadBytes).toBe(60);
  });

  test('that is smaller than it could have been makes room', async () => {
    const first = ask('a', 60);
    const second = ask('a', 50);
    first.got?.resize(10);
    // At once, not at the next check.
    expect(room.unreadBytes).toBe(60);
    await until('the second has its place', () => Boolean(second.got));
  });

  test('waits behind those of its caller that came before, even if it is small', async () => {
    let isTaken = false;
    ask('a', 30, () => isTaken);
    const large = ask('a', 60);
    const small = ask('a', 1);
    expect(small.got).toBeUndefined();
    isTaken = true;
    await until('the large one has its place', () => Boolean(large.got));
    expect(small.got).toBeUndefined();
  });

  test('of a caller who has many waiting is not the only one to be let in', async () => {
    let isTaken = false;
    ask('a', 60, () => isTaken);
    ask('x', 40);
    const order: string[] = [];
    for (const caller of ['a', 'a', 'b', 'a'] as const) {
      const place = room.enter({ caller, bytes: 20, isTaken: unread });
      void Promise.resolve(place).then(() => order.push(caller));
    }
    isTaken = true;
    await until('three have their places', () => order.length === 3);
    expect(order).toEqual(['a', 'b', 'a']);
  });

  test('that has waited for too long is refused', async () => {
    ask('a', 60);
    const second = ask('a', 60);
    clock.advance(WAIT_MAX_MS - 1);
    const third = ask('a', 60);
    clock.advance(1);
    await expectRefused(second);
    expect(third.got).toBeUndefined();
    expect(room.refusedCount).toBe(1);
  });

  test('whose caller leaves while it waits is forgotten, and not counted as refused', async () => {
    ask('a', 60);
    let isGone = false;
    const second = ask('a', 60, () => isGone);
    isGone = true;
    await expectRefused(second);
    expect(room.refusedCount).toBe(0);
  });

  test('is refused when as many of its caller wait as may', async () => {
    ask('a', 60);
    for (let n = 0; n < 3; n += 1) expect(ask('a', 60).got).toBeUndefined();
    await expectRefused(ask('a', 60));
    expect(room.refusedCount).toBe(1);
  });

  test('takes the place in the queue of the caller who waits with most', async () => {
    ask('a', 60);
    const ofA = [1, 2, 3].map(() => ask('a', 60));
    expect(ask('b', 41).got).toBeUndefined();
    expect(ask('c', 41).got).toBeUndefined();
    await expectRefused(ofA[2] ?? ask('a', 1));
    expect(ofA.slice(0, 2).map(({ got }) => got)).toEqual([undefined, undefined]);
    expect(room.refusedCount).toBe(1);
  });

  test('is refused when the server stops, and so is whatever comes then', async () => {
    ask('a', 60);
    const second = ask('a', 60);
    room.close();
    await expectRefused(second);
    await expectRefused(ask('a', 60));
  });
});

describe('what one provider sent', () => {
  const perSender = { bytesMax: 50, waitingMax: 1 };
  const askOf = (sender: number, caller: string, bytes: number, isTaken = unread) => {
    const place = room.enter({ caller, bytes, sender, isTaken });
    return place instanceof Promise ? null : place;
  };
  beforeEach(() => {
    room = new Room({ ...BOUNDS, perSender }, clock);
  });

  test('takes up no more than its share, on however many devices', () => {
    expect(askOf(1, 'a', 30)).not.toBeNull();
    expect(askOf(1, 'b', 21)).toBeNull();
    expect(askOf(1, 'c', 21)).toBeNull();
    expect(room.refusedCount).toBe(1);
    expect(askOf(2, 'd', 50)).not.toBeNull();
    // Who sent it is not asked of everything.
    expect(ask('e', 20).got).toBeTruthy();
  });

  test('makes room for more of it when it was taken', async () => {
    let isTaken = false;
    askOf(1, 'a', 50, () => isTaken);
    const waiting = room.enter({ caller: 'b', bytes: 50, sender: 1, isTaken: unread });
    isTaken = true;
    expect(await waiting).not.toBeNull();
    expect(room.unreadBytes).toBe(50);
  });
});

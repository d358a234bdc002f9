/** The fair queue: turns, refusals, items that are pushed out, and places that come back. */

import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { Deadline } from '../src/base/deadline.ts';
import { type Leave, PartyQueue, type PlaceBounds, Places } from '../src/base/queue.ts';

const HERE = new AbortController().signal;

/** The same queue as a list in the order of arrival: slow, and easy to believe. */
class ModelQueue {
  items: { party: string; item: object }[] = [];
  /** Parties in the order of their turns. */
  turns: string[] = [];

  constructor(readonly bounds: { waitingMax: number; waitingPerPartyMax: number }) {}

  of(party: string): object[] {
    return this.items.filter((other) => other.party === party).map(({ item }) => item);
  }

  add(party: string, item: object): object | null {
    const own = this.of(party).length;
    if (own >= this.bounds.waitingPerPartyMax) return item;
    let out: object | null = null;
    if (this.items.length >= this.bounds.waitingMax) {
      const most = Math.max(0, ...this.turns.map((other) => this.of(other).length));
      if (own + 1 >= most) return item;
      const candidates = this.turns.filter((other) => this.of(other).length === most);
      // Which of several that wait with as many is not promised: the queue is asked.
      out = this.pushedOut(candidates);
    }
    this.items.push({ party, item });
    if (!this.turns.includes(party)) this.turns.push(party);
    return out;
  }

  pushedOut: (candidates: string[]) => object | null = () => null;

  take(mayGo: (party: string) => boolean): object | null {
    const party = this.turns.find(mayGo);
    const item = party === undefined ? undefined : this.of(party)[0];
    if (party === undefined || item === undefined) return null;
    this.remove(item);
    if (this.turns.includes(party)) {
      this.turns = [...this.turns.filter((other) => other !== party), party];
    }
    return item;
  }

  remove(item: object): void {
    this.items = this.items.filter((other) => other.item !== item);
    this.turns = this.turns.filter((party) => this.of(party).length > 0);
  }
}

const step = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('add'), party: fc.nat(5) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('take'), party: fc.nat(5) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('remove'), party: fc.nat(200) }) },
);

test('a queue does what its model does', () => {
  fc.assert(
    fc.property(
      fc.nat(8).map((n) => n + 1),
      fc.nat(8).map((n) => n + 1),
      fc.array(step, { maxLength: 60 }),
      (waitingMax, waitingPerPartyMax, steps) => {
        const bounds = { waitingMax, waitingPerPartyMax };
        const queue = new PartyQueue<object>(() => bounds);
        const model = new ModelQueue(bounds);
        for (const { kind, party: n } of steps) {
          const party = `party ${n}`;
          if (kind === 'add') {
            const item = { party };
            const out = queue.add(party, item);
            model.pushedOut = (candidates) => {
              const { party: loser } = model.items.find((other) => other.item === out) ?? {};
              expect(candidates).toContain(String(loser));
              expect(model.of(String(loser)).at(-1)).toBe(out as object);
              model.remove(out as object);
              return out;
            };
            expect(model.add(party, item)).toBe(out);
          } else if (kind === 'take') {
            const mayGo = (other: string) => other !== party;
            expect(queue.take(mayGo)?.item ?? null).toBe(model.take(mayGo));
          } else if (model.items.length > 0) {
            const one = model.items[n % model.items.length] as (typeof model.items)[number];
            expect(queue.remove(one.party, one.item)).toBe(true);
            expect(queue.remove(one.party, one.item)).toBe(false);
            model.remove(one.item);
          }
          expect(queue.size).toBe(model.items.length);
          expect(queue.size).toBeLessThanOrEqual(waitingMax);
        }
        for (let next = queue.take(); next !== null; next = queue.take()) {
          expect(next.item).toBe(model.take(() => true) as object);
        }
        expect(model.items).toEqual([]);
      },
    ),
    { numRuns: 500 },
  );
});

/** Takes so many places; each must be free. */
function hold(places: Places, party: string, count: number): Leave[] {
  return Array.from({ length: count }, () => {
    const leave = places.takeAtOnce(party);
    if (leave === null) throw new Error(`no place is free for ${party}`);
    return leave;
  });
}

function placesOf(bounds: Partial<PlaceBounds>): Places {
  return new Places(() => ({ placesMax: 4, waitingMax: 100, ...bounds }));
}

test('one party never has all places', async () => {
  for (const placesMax of [2, 3, 8]) {
    const places = placesOf({ placesMax });
    hold(places, 'greedy', placesMax - 1);
    expect(places.takeAtOnce('greedy')).toBeNull();
    void places.take('greedy', HERE);
    expect(typeof (await places.take('modest', HERE))).toBe('function');
  }
});

test('of a single place a party gets one', () => {
  expect(placesOf({ placesMax: 1 }).takeAtOnce('alone')).toBeFunction();
});

test('a stricter bound of a party holds, and no looser one does', () => {
  const strict = placesOf({ placesPerPartyMax: 2 });
  hold(strict, 'greedy', 2);
  expect(strict.takeAtOnce('greedy')).toBeNull();
  const loose = placesOf({ placesPerPartyMax: 9 });
  hold(loose, 'greedy', 3);
  expect(loose.takeAtOnce('greedy')).toBeNull();
});

test('a newcomer waits for one turn, however many of others wait', async () => {
  const places = placesOf({ placesMax: 2 });
  const [leave] = [...hold(places, 'greedy', 1), ...hold(places, 'other', 1)];
  const served: string[] = [];
  const wait = (party: string) =>
    places.take(party, HERE).then((next) => {
      served.push(party);
      if (typeof next === 'function') next();
    });
  const all = [...Array.from({ length: 40 }, () => wait('greedy')), wait('modest')];
  leave?.();
  await Promise.all(all);
  expect(served.indexOf('modest')).toBe(1);
});

test('a full queue refuses the party that fills it, and lets a newcomer in', async () => {
  const places = placesOf({ placesMax: 1, waitingMax: 4, waitingPerPartyMax: 3 });
  const [leave] = hold(places, 'holder', 1);
  const waiting = Array.from({ length: 3 }, () => places.take('greedy', HERE));
  expect(await places.take('greedy', HERE)).toBe('queue_full');
  const first = places.take('one', HERE);
  const second = places.take('two', HERE);
  expect(await (waiting[2] as Promise<unknown>)).toBe('queue_full');
  leave?.();
  for (const next of [waiting[0], first, second, waiting[1]]) {
    const place = await next;
    expect(place).toBeFunction();
    if (typeof place === 'function') place();
  }
  expect([places.waitingCount, places.takenCount]).toEqual([0, 0]);
});

test('a wait that is ended frees its place in the queue, and takes none later', async () => {
  const places = placesOf({ placesMax: 1, waitingMax: 1 });
  const [leave] = hold(places, 'holder', 1);
  const controller = new AbortController();
  const waiting = places.take('a', controller.signal);
  expect(await places.take('b', HERE)).toBe('queue_full');
  controller.abort();
  expect(await waiting).toBe('wait_ended');
  expect(await places.take('b', controller.signal)).toBe('wait_ended');
  const next = places.take('b', HERE);
  leave?.();
  expect(await next).toBeFunction();
  expect(places.takenCount).toBe(1);
});

test('a deadline ends a wait', async () => {
  const places = placesOf({ placesMax: 1 });
  hold(places, 'holder', 1);
  const deadline = new Deadline(5, HERE, () => 0);
  expect(await places.take('a', deadline.signal)).toBe('wait_ended');
  expect([deadline.isOver, places.waitingCount]).toEqual([true, 0]);
});

test('a place is given back once', () => {
  const places = placesOf({ placesMax: 2 });
  const [leave] = hold(places, 'a', 1);
  leave?.();
  leave?.();
  expect(places.takenCount).toBe(0);
  hold(places, 'b', 1);
  hold(places, 'c', 1);
  expect(places.takeAtOnce('d')).toBeNull();
});

test('a bound that was raised lets several in at the next place that is given back', async () => {
  const bounds = { placesMax: 1, waitingMax: 9 };
  const places = new Places(() => bounds);
  const [leave] = hold(places, 'a', 1);
  const waiting = ['b', 'c', 'd'].map((party) => places.take(party, HERE));
  bounds.placesMax = 3;
  leave?.();
  expect((await Promise.all(waiting)).every((place) => typeof place === 'function')).toBe(true);
});

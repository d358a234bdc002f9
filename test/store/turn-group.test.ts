/** Groups of calls: deadlines, bounds and faults, without a database. */

import { heapStats } from 'bun:jsc';
import { afterEach, expect, test } from 'bun:test';
import { StoreBusy } from '../../src/core/port/store.ts';
import { nextTurn } from '../../src/core/turn.ts';
import { TOO_MANY, TurnGroup } from '../../src/store/postgres/group.ts';
import { onBehalfOf } from '../../src/store/postgres/party.ts';

/** Calls of one party that wait: half of those of all parties. */
const WAITING_OF_PARTY = 4_000;

function usedBytes(): number {
  Bun.gc(true);
  return heapStats().heapSize;
}

const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

/** A group of one call a run; its runs end when `release` is called. */
function heldGroup(callMs: number) {
  const held = Promise.withResolvers<void>();
  const ran: number[] = [];
  const group = new TurnGroup<number, number>(
    { callMs, onClose: (end) => ends.push(end) },
    {
      itemsMax: 1,
      inFlightMax: 1,
      run: async (items) => {
        ran.push(...items);
        await held.promise;
        return items;
      },
    },
  );
  return { group, ran, release: () => held.resolve() };
}

test('a call whose deadline passed while it waited is not run later', async () => {
  const { group, ran, release } = heldGroup(50);
  const first = group.ask(1).catch((fault: unknown) => fault);
  const second = group.ask(2).catch((fault: unknown) => fault);
  expect(await second).toBeInstanceOf(StoreBusy);
  release();
  await first;
  // The run ends in one turn, and the next would begin in another.
  for (let turns = 0; turns < 5; turns++) await nextTurn();
  expect(ran).toEqual([1]);
});

test('a party has a bounded number of calls that wait', async () => {
  const { group, release } = heldGroup(60_000);
  const asked = Array.from({ length: WAITING_OF_PARTY }, (_, n) => group.ask(n));
  const more = group.ask(-1).catch((fault: unknown) => fault);
  expect(await more).toMatchObject({ name: 'StoreBusy', message: TOO_MANY });
  release();
  expect(await Promise.all(asked)).toHaveLength(WAITING_OF_PARTY);
});

test('calls that have more to do are run with fewer others', async () => {
  const ran: number[][] = [];
  const group = new TurnGroup<number, number>(
    { callMs: 5_000, onClose: (end) => ends.push(end) },
    {
      itemsMax: 3,
      inFlightMax: 1,
      sizes: { of: (size) => size, max: 100 },
      run: async (sizes) => {
        ran.push([...sizes]);
        return sizes;
      },
    },
  );
  const sizes = [60, 60, 1, 500, 20, 20, 20, 20];
  expect(await Promise.all(sizes.map((size) => group.ask(size)))).toEqual(sizes);
  expect(ran).toEqual([[60, 60], [1, 500], [20, 20, 20], [20]]);
});

test('a run that leaves a call without an answer is a fault', async () => {
  const group = new TurnGroup<number, number>(
    { callMs: 5_000, onClose: (end) => ends.push(end) },
    { itemsMax: 1, run: async () => [] },
  );
  const [call] = await Promise.allSettled([group.ask(1)]);
  expect(call).toMatchObject({ status: 'rejected' });
});

test('a group keeps nothing of parties whose calls were answered', async () => {
  const group = new TurnGroup<number, number>(
    { callMs: 60_000, onClose: (end) => ends.push(end) },
    { itemsMax: 64, run: async (items) => [...items] },
  );
  // Each party has a name of its own, as each device or address has.
  const ask = (from: number) =>
    Promise.all(
      Array.from({ length: 2_000 }, (_, n) =>
        onBehalfOf(
          from + n,
          (party) => `${party}`.padEnd(10_000, 'x'),
          () => group.ask(n),
        ),
      ),
    );
  await ask(0);
  const before = usedBytes();
  for (let n = 1; n <= 4; n++) await ask(n * 2_000);
  // 80 MB of names.
  expect(usedBytes() - before).toBeLessThan(20_000_000);
});

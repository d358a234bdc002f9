/** The loop that runs the work of a worker. */

import { expect, test } from 'bun:test';
import type { Core } from '../../src/core/core.ts';
import { nextTurn } from '../../src/core/turn.ts';
import { WakeLoop } from '../../src/jobs/wake-loop.ts';
import { FakeClock } from '../support/clock.ts';

/** A loop whose work does, run by run, as the list says; then nothing waits. */
function loopOf(runs: ((loop: WakeLoop) => number | null)[]) {
  const clock = new FakeClock();
  const counts = { runs: 0, starts: 0, faults: 0 };
  const store = {
    onBehalfOf: <T>(_party: string, _name: unknown, work: () => T) => {
      counts.starts += 1;
      return work();
    },
  };
  const loop: WakeLoop = new WakeLoop({
    core: { store } as unknown as Core,
    clock,
    work: async () => {
      counts.runs += 1;
      return runs.shift()?.(loop) ?? null;
    },
    onFault: () => {
      counts.faults += 1;
    },
  });
  return { loop, counts, clock };
}

async function settle(): Promise<void> {
  for (let turns = 0; turns < 20; turns++) await nextTurn();
}

test('runs when it is woken, and by a tick once work is due', async () => {
  const { loop, counts, clock } = loopOf([() => clock.nowMs() + 5_000]);
  loop.tick();
  await settle();
  expect(counts.runs).toBe(1);
  clock.advance(4_000);
  loop.tick();
  await settle();
  expect(counts.runs).toBe(1);
  clock.advance(1_000);
  loop.tick();
  await settle();
  expect(counts.runs).toBe(2);
  // Nothing waits.
  clock.advance(3_600_000);
  loop.tick();
  await settle();
  expect(counts.runs).toBe(2);
  loop.wake();
  await settle();
  expect(counts.runs).toBe(3);
});

test('runs once more when it is woken during a run', async () => {
  const { loop, counts } = loopOf([
    (running) => {
      running.wake();
      running.wake();
      return null;
    },
  ]);
  loop.wake();
  await settle();
  expect(counts).toEqual({ runs: 2, starts: 1, faults: 0 });
});

test('runs again by the next tick after a fault, also if nothing waited before', async () => {
  const { loop, counts } = loopOf([
    () => null,
    () => {
      throw new Error('the disk is full');
    },
  ]);
  loop.wake();
  await settle();
  loop.wake();
  await settle();
  expect(counts).toEqual({ runs: 2, starts: 2, faults: 1 });
  loop.tick();
  await settle();
  expect(counts.runs).toBe(3);
});

test('runs again without a tick if it was woken during a run that failed', async () => {
  const { loop, counts } = loopOf([
    (running) => {
      running.wake();
      throw new Error('the disk is full');
    },
  ]);
  loop.wake();
  await settle();
  expect(counts.runs).toBe(2);
});

test('starts nothing after a stop', async () => {
  const { loop, counts } = loopOf([]);
  await loop.stop();
  loop.wake();
  loop.tick();
  await settle();
  expect(counts).toEqual({ runs: 0, starts: 0, faults: 0 });
});

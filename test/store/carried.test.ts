/** Stamps of what answers carried: once each, within bounds, saved again after a fault. */

import { expect, test } from 'bun:test';
import type { CarriedStamp } from '../../src/core/port/ride.ts';
import { CarriedStamps } from '../../src/store/noun/carried.ts';

const stamp = (deviceId: number, distributionId = 1): CarriedStamp => ({
  distributionId,
  deviceId,
  hwid: `phone-${deviceId}`,
  atMs: 5,
  carried: 'Happ: announce',
});

/** Saves what waits; returns the devices of each write. `unwritten`: messages to wait for. */
async function saved(stamps: CarriedStamps, ...unwritten: number[]): Promise<number[][]> {
  const writes: number[][] = [];
  await stamps.save(async (step) => {
    writes.push(step.map(({ deviceId }) => deviceId ?? -1));
    return new Set(unwritten);
  });
  return writes;
}

test('a device is stamped once a message', async () => {
  const stamps = new CarriedStamps();
  stamps.add([stamp(1), stamp(1), stamp(1, 2)]);
  stamps.add([stamp(1)]);
  expect(await saved(stamps)).toEqual([[1, 1]]);
  stamps.add([stamp(1)]);
  expect(await saved(stamps)).toEqual([]);
});

test('writes are small, and those that wait are bounded', async () => {
  const stamps = new CarriedStamps();
  stamps.add(Array.from({ length: 50_010 }, (_, n) => stamp(n)));
  const writes = await saved(stamps);
  expect([writes.length, writes.flat().length]).toEqual([200, 50_000]);
});

test('what is remembered is bounded too: then the database says that it was stamped', async () => {
  const stamps = new CarriedStamps();
  for (let from = 0; from <= 200_000; from += 50_000) {
    stamps.add(Array.from({ length: 50_000 }, (_, n) => stamp(from + n)));
    await saved(stamps);
  }
  stamps.add([stamp(0)]);
  expect(await saved(stamps)).toEqual([[0]]);
});

test('those of a write that failed wait', async () => {
  const stamps = new CarriedStamps();
  stamps.add([stamp(1)]);
  const failing = stamps.save(() => Promise.reject(new Error('the disk is full')));
  await expect(failing).rejects.toThrow('the disk is full');
  expect(await saved(stamps)).toEqual([[1]]);
});

test('those of a message whose recipients are being written wait', async () => {
  const stamps = new CarriedStamps();
  stamps.add([stamp(1, 1), stamp(2, 2)]);
  expect(await saved(stamps, 2)).toEqual([[1, 2]]);
  expect(await saved(stamps)).toEqual([[2]]);
  expect(await saved(stamps)).toEqual([]);
});

test('two devices without a slot before are two', async () => {
  const stamps = new CarriedStamps();
  stamps.add(['a', 'b', 'a'].map((hwid) => ({ ...stamp(1), deviceId: null, hwid })));
  expect(await saved(stamps)).toEqual([[-1, -1]]);
});

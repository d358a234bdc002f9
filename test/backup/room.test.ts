/** Room on the disk, looked at before and while something is unpacked. */

import { afterEach, beforeEach, expect, test } from 'bun:test';
import { statfsSync } from 'node:fs';
import { hasRoom, RoomWatch, SPARE_BYTES } from '../../src/backup/room.ts';
import { OperatorError } from '../../src/operator-error.ts';
import { MAY_MOUNT, mountSmallDisk, type SmallDisk } from '../support/small-disk.ts';

const MIB = 1024 ** 2;
const testIf = test.skipIf(!MAY_MOUNT);

let disk: SmallDisk;
beforeEach(() => {
  if (MAY_MOUNT) disk = mountSmallDisk(64) as SmallDisk;
});
afterEach(() => disk?.unmount());

testIf('what is left for others counts as taken', () => {
  const { bavail, bsize } = statfsSync(disk.folder);
  const free = bavail * bsize;
  expect(hasRoom(disk.folder, free - SPARE_BYTES)).toBe(true);
  expect(hasRoom(disk.folder, free - SPARE_BYTES + 1)).toBe(false);
  expect(hasRoom(`${disk.folder}/none`, 0)).toBe(false);
});

testIf('a file goes on while the rest of it fits, and no longer', () => {
  disk.fill(8 * MIB);
  // All but 4 MiB is written already: that and what others need fit.
  new RoomWatch(disk.folder, 24 * MIB).wrote(20 * MIB);
  const watch = new RoomWatch(disk.folder, 40 * MIB);
  // Not looked at for each piece.
  watch.wrote(15 * MIB);
  expect(() => watch.wrote(MIB)).toThrow(OperatorError);
  expect(() => new RoomWatch(disk.folder, 40 * MIB).wrote(16 * MIB)).toThrow('24 MiB are needed');
});

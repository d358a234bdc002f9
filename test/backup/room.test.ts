/** Room on the disk, looked at before and while something is unpacked. */

import { afterEach, beforeEach, expect, test } from 'bun:test';
import { rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { OperatorError } from '../../src/base/operator-error.ts';
import { hasRoom, RoomWatch, SPARE_BYTES } from '../../src/disk/room.ts';
import { copyBytesMax } from '../../src/store/sqlite/file/copy.ts';
import { freshFolder } from '../support/app.ts';
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

test('a copy is counted with what is still in the log', () => {
  const folder = freshFolder();
  try {
    writeFileSync(join(folder, 'gatepost.db'), Buffer.alloc(3_000));
    expect(copyBytesMax(folder)).toBe(3_000);
    writeFileSync(join(folder, 'gatepost.db-wal'), Buffer.alloc(500));
    expect(copyBytesMax(folder)).toBe(3_500);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

/** A disk of a few MiB, for tests that fill it. Needs root, who may mount. */

import { mkdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freshFolder } from './app.ts';

export interface SmallDisk {
  folder: string;
  /** Leaves no more than so many bytes. */
  fill(leftBytes?: number): void;
  /** Gives the space back. */
  clear(): void;
  /** Makes the disk read-only, as the system does with one that has faults. */
  makeReadOnly(): void;
  unmount(): void;
}

/** Null: this user may not mount. */
export function mountSmallDisk(mib: number, ...flags: string[]): SmallDisk | null {
  const parent = freshFolder();
  const folder = join(parent, 'disk');
  mkdirSync(folder);
  const options = ['-o', [`size=${mib}m`, 'mode=0700', ...flags].join(',')];
  const mounted = Bun.which('mount')
    ? Bun.spawnSync(['mount', '-t', 'tmpfs', ...options, 'tmpfs', folder])
    : null;
  if (mounted?.exitCode !== 0) {
    rmSync(parent, { recursive: true, force: true });
    return null;
  }
  const ballast = join(folder, 'ballast');
  return {
    folder,
    fill: (leftBytes = 0) => {
      rmSync(ballast, { force: true });
      const { bavail, bsize } = statfsSync(folder);
      writeFileSync(ballast, Buffer.alloc(Math.max(bavail * bsize - leftBytes, 0)));
    },
    clear: () => rmSync(ballast, { force: true }),
    makeReadOnly: () => {
      const made = Bun.spawnSync(['mount', '-o', 'remount,ro', folder]);
      if (made.exitCode !== 0) throw new Error(String(made.stderr));
    },
    unmount: () => {
      Bun.spawnSync(['umount', '-l', folder]);
      rmSync(parent, { recursive: true, force: true });
    },
  };
}

function probe(): boolean {
  const disk = process.getuid?.() === 0 ? mountSmallDisk(1) : null;
  disk?.unmount();
  if (disk === null) console.warn('Tests of full disks are skipped: only root may mount one.');
  return disk !== null;
}

/** Tells whether this user may mount a disk; otherwise the tests that need one are skipped. */
export const MAY_MOUNT = probe();

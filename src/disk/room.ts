/** Space on disks: unpacking leaves the space that a server needs. */

import { statfsSync } from 'node:fs';
import { OperatorError } from '../base/operator-error.ts';

/** Space that stays free for other writers, bytes. */
export const SPARE_BYTES = 4 * 1024 ** 2;
/** Bytes that are written between two checks of the disk. */
const CHECK_BYTES = 16 * 1024 ** 2;

/** Converts bytes to MiB, rounded up. */
export const mib = (bytes: number) => Math.ceil(bytes / 1024 ** 2);

/** Returns the space on the disk of `folder` for a program without privileges, bytes. */
export function freeBytes(folder: string): number {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
}

/** Returns whether the disk of `folder` has room for `bytes`; false also if that is unknown. */
export function hasRoom(folder: string, bytes: number): boolean {
  try {
    return freeBytes(folder) >= bytes + SPARE_BYTES;
  } catch {
    return false;
  }
}

/** Makes the error for `bytes` that no disk of `folders` has room for. */
export function noRoom(bytes: number, ...folders: string[]): OperatorError {
  const where = folders.join(' or ');
  return new OperatorError(
    `no space left on the disk of ${where}: ${mib(bytes)} MiB are needed`,
    'disk_full',
  );
}

/** Watches the disk while a file of `bytes` is written there. */
export class RoomWatch {
  #leftBytes: number;
  #uncheckedBytes = 0;

  constructor(
    readonly folder: string,
    bytes: number,
  ) {
    this.#leftBytes = bytes;
  }

  /** Counts written bytes. Throws `OperatorError` if the disk has no more room for the rest. */
  wrote(bytes: number): void {
    this.#leftBytes -= bytes;
    this.#uncheckedBytes += bytes;
    if (this.#uncheckedBytes < CHECK_BYTES) return;
    this.#uncheckedBytes = 0;
    if (!hasRoom(this.folder, this.#leftBytes)) throw noRoom(this.#leftBytes, this.folder);
  }
}

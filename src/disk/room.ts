/** Room on disks: unpacking never takes the room that a server beside it needs. */

import { statfsSync } from 'node:fs';
import { OperatorError } from '../operator-error.ts';

/** Room that stays free for others who write there, bytes. */
export const SPARE_BYTES = 4 * 1024 ** 2;
/** Bytes that are written between two looks at the disk. */
const LOOK_BYTES = 16 * 1024 ** 2;

/** Whole MiB of so many bytes, rounded up. */
export const mib = (bytes: number) => Math.ceil(bytes / 1024 ** 2);

/** Room on the disk of `folder` that is free for a program without rights, bytes. */
export function freeBytes(folder: string): number {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
}

/** Tells whether the disk of `folder` has room for so much; false also when it cannot be asked. */
export function hasRoom(folder: string, bytes: number): boolean {
  try {
    return freeBytes(folder) >= bytes + SPARE_BYTES;
  } catch {
    return false;
  }
}

/** The refusal of so many bytes, which none of `folders` has room for. */
export function noRoom(bytes: number, ...folders: string[]): OperatorError {
  const where = folders.join(' or ');
  return new OperatorError(
    `no space left on the disk of ${where}: ${mib(bytes)} MiB are needed`,
    'disk_full',
  );
}

/** Watches the disk while a file of so many bytes is written there. */
export class RoomWatch {
  #leftBytes: number;
  #unseenBytes = 0;

  constructor(
    readonly folder: string,
    bytes: number,
  ) {
    this.#leftBytes = bytes;
  }

  /** Throws `OperatorError` when others have taken the room that is still needed. */
  wrote(bytes: number): void {
    this.#leftBytes -= bytes;
    this.#unseenBytes += bytes;
    if (this.#unseenBytes < LOOK_BYTES) return;
    this.#unseenBytes = 0;
    if (!hasRoom(this.folder, this.#leftBytes)) throw noRoom(this.#leftBytes, this.folder);
  }
}

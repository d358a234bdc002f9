/** Room on disks: what is unpacked never takes what a server beside it needs. */

import { statfsSync } from 'node:fs';
import { OperatorError } from '../operator-error.ts';

/** Room that stays free for others who write there, bytes. */
export const SPARE_BYTES = 4 * 1024 ** 2;
/** How much is written between two looks at the disk, bytes. */
const LOOK_BYTES = 16 * 1024 ** 2;

/** Whole MiB of a number of bytes, rounded up. */
export const mib = (bytes: number) => Math.ceil(bytes / 1024 ** 2);

/** Free room on the disk of `folder`, bytes: as much as is left to a program without rights. */
export function freeBytes(folder: string): number {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
}

/** Has the disk of `folder` room for so much? False also when it cannot be asked. */
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
  return new OperatorError(`no space left on the disk of ${where}: ${mib(bytes)} MiB are needed`);
}

/** Looks at the disk now and then while a file of so many bytes is written there. */
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

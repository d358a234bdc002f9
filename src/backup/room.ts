/** Room on disks: what is unpacked never takes what a server beside it needs. */

import { OperatorError } from '../operator-error.ts';
import { freeBytes } from '../store/sqlite/disk.ts';

/** What stays free for whoever else writes there, bytes. */
export const SPARE_BYTES = 4 * 1024 ** 2;
/** How much is written between two looks at the disk, bytes. */
const LOOK_BYTES = 16 * 1024 ** 2;

export const mib = (bytes: number) => Math.ceil(bytes / 1024 ** 2);

/** Has the disk of `folder` room for so much? False also when it cannot be asked. */
export function hasRoom(folder: string, bytes: number): boolean {
  try {
    return freeBytes(folder) >= bytes + SPARE_BYTES;
  } catch {
    return false;
  }
}

export function noRoom(bytes: number, ...folders: string[]): OperatorError {
  const where = folders.join(' or ');
  return new OperatorError(`no space left on the disk of ${where}: ${mib(bytes)} MiB are needed`);
}

/** Looks at the disk now and then while so many more bytes of a file are written there. */
export class RoomWatch {
  #sinceBytes = 0;

  constructor(readonly folder: string) {}

  /** Throws `OperatorError` when what others need is at stake. */
  wrote(bytes: number): void {
    this.#sinceBytes += bytes;
    if (this.#sinceBytes < LOOK_BYTES) return;
    this.#sinceBytes = 0;
    if (!hasRoom(this.folder, LOOK_BYTES)) throw noRoom(LOOK_BYTES, this.folder);
  }
}

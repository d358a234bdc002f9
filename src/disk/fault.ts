/** The sentences for disks that are full, broken, read-only or forbidden. */

import { accessSync, constants } from 'node:fs';
import { OperatorError } from '../operator-error.ts';
import { freeBytes } from './room.ts';

/** Tells whether this is on a disk that takes no writes: the system turns faulty ones into such. */
export function isReadOnly(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return false;
  } catch (error) {
    return codeOf(error) === 'EROFS';
  }
}

/** Room that SQLite needs for the files beside a database, bytes. */
const FULL_BYTES = 1024 ** 2;

/**
 * The operator's sentence for a full, broken or forbidden disk among those of `folders`; any other
 * fault is returned as it is.
 */
export function asDiskFault(fault: unknown, ...folders: string[]): unknown {
  if (!(fault instanceof Error) || fault instanceof OperatorError) return fault;
  const isOfDisk = /^(E[A-Z]+|SQLITE_(FULL|IOERR|CANTOPEN|READONLY).*)$/.test(codeOf(fault));
  if (!isOfDisk) return fault;
  const where = folders.join(' or ');
  return (
    fullDisk(fault, ...folders) ??
    new OperatorError(`cannot write in ${where} (${fault.message}); nothing was changed`)
  );
}

/** The sentence for a fault that a full disk among those of `folders` explains, else null. */
export function fullDisk(fault: unknown, ...folders: string[]): OperatorError | null {
  const code = codeOf(fault);
  // SQLite calls it an I/O error when it cannot make its shared memory.
  if (!/^(ENOSPC|EDQUOT|SQLITE_(FULL|IOERR|CANTOPEN).*)$/.test(code)) return null;
  const isCertain = /^(ENOSPC|EDQUOT|SQLITE_FULL)$/.test(code);
  const where = folders.find(isFull) ?? (isCertain ? folders.join(' or ') : null);
  if (where === null) return null;
  return new OperatorError(
    `no space left on the disk of ${where}: nothing was changed`,
    'disk_full',
  );
}

function codeOf(fault: unknown): string {
  return fault instanceof Error && 'code' in fault ? String(fault.code) : '';
}

function isFull(folder: string): boolean {
  try {
    return freeBytes(folder) < FULL_BYTES;
  } catch {
    return false;
  }
}

/** Sentences for disks that are full, broken, read-only or inaccessible. */

import { accessSync, constants } from 'node:fs';
import { OperatorError } from '../operator-error.ts';
import { freeBytes } from './room.ts';

/** Returns whether a path is on a read-only disk, which the system makes of faulty ones. */
export function isReadOnly(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return false;
  } catch (error) {
    return codeOf(error) === 'EROFS';
  }
}

/** Space that SQLite needs for the files beside a database, bytes. */
const FULL_BYTES = 1024 ** 2;

/**
 * Returns the operator's sentence for a fault of the disks of `folders`; other faults unchanged.
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

/** Returns the sentence for a fault from a full disk of `folders`, else null. */
export function fullDisk(fault: unknown, ...folders: string[]): OperatorError | null {
  const code = codeOf(fault);
  // SQLite reports an I/O error if it cannot create its shared memory.
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

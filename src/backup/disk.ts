/** What a disk says, in a sentence; and what makes a name last. */

import { closeSync, fsyncSync, openSync } from 'node:fs';
import { OperatorError } from '../operator-error.ts';

/** A renamed file has its name for good only when its folder is on disk. */
export function syncFolder(folder: string): void {
  const fd = openSync(folder, 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/** The operator's sentence for a full, broken or forbidden disk; any other fault as it is. */
export function asDiskFault(fault: unknown, folder: string): unknown {
  if (!(fault instanceof Error) || fault instanceof OperatorError) return fault;
  const code = 'code' in fault ? String(fault.code) : '';
  // SQLite reports a disk that fills up during a read of its own files as an I/O error.
  if (/^(ENOSPC|EDQUOT|SQLITE_FULL)$/.test(code)) {
    return new OperatorError(`no space left on the disk of ${folder}: nothing was changed`);
  }
  if (/^(EACCES|EPERM|EROFS|SQLITE_CANTOPEN.*|SQLITE_READONLY.*)$/.test(code)) {
    return new OperatorError(`cannot write in ${folder} (${fault.message}); nothing was changed`);
  }
  if (/^(EIO|ENOENT|SQLITE_IOERR.*)$/.test(code)) {
    return new OperatorError(
      `the disk of ${folder} failed (${fault.message}); nothing was changed`,
    );
  }
  return fault;
}

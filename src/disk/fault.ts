/** Sentences for disks that are full, broken, read-only or inaccessible. */

import { accessSync, constants } from 'node:fs';
import { busyText, messageOf, OperatorError } from '../base/operator-error.ts';
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
  if (codeOf(fault) === 'EROFS') {
    const where = folders.find(isReadOnly) ?? folders.join(' or ');
    return new OperatorError(
      `the disk of ${where} is read-only for this process: nothing was changed`,
      'disk_read_only',
    );
  }
  const where = folders.join(' or ');
  return (
    fullDisk(fault, ...folders) ??
    new OperatorError(`cannot write in ${where} (${messageOf(fault)}); nothing was changed`)
  );
}

/** Returns the sentence for a fault from a full disk of `folders`, else null. */
export function fullDisk(fault: unknown, ...folders: string[]): OperatorError | null {
  const where = whereFull(fault, folders);
  if (where === null) return null;
  return new OperatorError(
    `no space left on the disk of ${where}: nothing was changed`,
    'disk_full',
  );
}

/** Returns which folders have the full disk that a fault comes from; null: none. */
function whereFull(fault: unknown, folders: readonly string[]): string | null {
  const code = codeOf(fault);
  // SQLite reports an I/O error if it cannot create its shared memory.
  if (!/^(ENOSPC|EDQUOT|SQLITE_(FULL|IOERR|CANTOPEN).*)$/.test(code)) return null;
  const isCertain = /^(ENOSPC|EDQUOT|SQLITE_FULL)$/.test(code);
  return folders.find(isFull) ?? (isCertain ? folders.join(' or ') : null);
}

/** Faults that no program causes: of the system, of SQLite, of a connection to PostgreSQL … */
const MACHINE = [
  /^E[A-Z]+$/,
  /^SQLITE_(FULL|IOERR|CANTOPEN|READONLY|CORRUPT|NOTADB|NOMEM|PROTOCOL)/,
  /^ERR_POSTGRES_(?!SERVER)/,
];
/** … and of PostgreSQL by SQLSTATE: connection, rights, means, locks, operator, system. */
const SERVER = /^(08|25006|28|3D|42501|53|55P03|57|58|XX)/;

/**
 * Returns the sentence for a fault of the machine or of a database server; null: it is a fault of
 * the program. `folders` may be on a full disk.
 */
export function machineFault(fault: unknown, ...folders: string[]): OperatorError | null {
  if (!(fault instanceof Error)) return null;
  const inner = machineFault(fault.cause, ...folders);
  if (inner !== null) return inner;
  const where = whereFull(fault, folders);
  if (where !== null) {
    const disk = where === '' ? 'a disk' : `the disk of ${where}`;
    return new OperatorError(`no space left on ${disk}`, 'disk_full');
  }
  const code = codeOf(fault);
  if (code.startsWith('SQLITE_BUSY')) {
    return new OperatorError(busyText('another process holds its lock'), 'locked');
  }
  const state = 'errno' in fault ? String(fault.errno) : '';
  const isServer = code === 'ERR_POSTGRES_SERVER_ERROR' && SERVER.test(state);
  if (!MACHINE.some((kind) => kind.test(code)) && !isServer) return null;
  const of = code.startsWith('SQLITE_') ? 'the database: ' : isServer ? 'PostgreSQL: ' : '';
  return new OperatorError(`${of}${messageOf(fault).replaceAll('\n', ' ')}`);
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

/**
 * Faults of PostgreSQL and of the way to it, by SQLSTATE (appendix A of its manual) and by the
 * codes of Bun.SQL.
 */

import { SQL } from 'bun';
import { StoreAway, WriteFailed } from '../../core/port/store.ts';
import { OperatorError } from '../../operator-error.ts';

/** SQLSTATE of a fault; empty: it has none, as it is of the connection or none of PostgreSQL's. */
export function sqlStateOf(fault: unknown): string {
  return fault instanceof SQL.PostgresError ? String(fault.errno ?? '') : '';
}

/** Name of the constraint that a fault is about; empty: none. */
export function constraintOf(fault: unknown): string {
  return fault instanceof SQL.PostgresError ? (fault.constraint ?? '') : '';
}

/**
 * True if the connection is gone: nothing that was not committed is kept, and the outcome of a
 * COMMIT under way is unknown.
 */
export function isLost(fault: unknown): boolean {
  if (!(fault instanceof SQL.PostgresError)) return false;
  if (/^(08|57P0)/.test(sqlStateOf(fault))) return true;
  return /^ERR_POSTGRES_(CONNECTION|IDLE|LIFETIME|TLS)/.test(fault.code);
}

/** True if the server takes no writes: it is a standby by now, or set so. */
export function isReadOnly(fault: unknown): boolean {
  return sqlStateOf(fault) === '25006';
}

/** True if the server has no room on a disk, no memory, or a disk that fails. */
export function isOutOfMeans(fault: unknown): boolean {
  return /^(53(?!300)|58)/.test(sqlStateOf(fault));
}

/** True if somebody ended this connection: others may go on. */
export function isTerminated(fault: unknown): boolean {
  return sqlStateOf(fault) === '57P01';
}

/** True if the server's certificate is not to be believed, as Node's codes of TLS say. */
export function isUntrusted(fault: unknown): boolean {
  const code = fault instanceof Error && 'code' in fault ? String(fault.code) : '';
  return /CERT|^UNABLE_TO_|^ERR_TLS_/.test(code);
}

/**
 * True if there was no connection to be had, so that the statement cannot have begun: repeating it
 * is safe, even if it writes. 08004, 28 and 3D: the server lets this role or program in no more.
 */
export function isRefusedBefore(fault: unknown): boolean {
  // The password's file is read for each connection.
  if (isUntrusted(fault) || isUnanswered(fault) || fault instanceof OperatorError) return true;
  if (!(fault instanceof SQL.PostgresError)) return false;
  if (/^(08004|28|3D|53300)/.test(sqlStateOf(fault))) return true;
  return /^ERR_POSTGRES_(AUTHENTICATION|SASL|TLS|UNSUPPORTED_AUTH)/.test(fault.code);
}

/** True if the server has no connection left. */
export function isCrowded(fault: unknown): boolean {
  return sqlStateOf(fault) === '53300';
}

/** True if there was no connection as no server answers, or not yet. */
export function isUnanswered(fault: unknown): boolean {
  if (!(fault instanceof SQL.PostgresError)) return false;
  return sqlStateOf(fault) === '57P03' || /REFUSED|CONNECTION_TIMEOUT/.test(fault.code);
}

/** True if a transaction that failed so has only to be done again: a deadlock, or a conflict. */
export function isConflict(fault: unknown): boolean {
  return /^(40001|40P01)$/.test(sqlStateOf(fault));
}

/** True if a constraint was broken: the statement was taken back as a whole. */
export function isBroken(fault: unknown): boolean {
  return sqlStateOf(fault).startsWith('23');
}

/** Why something is done again, for the metrics. */
export function retryReason(fault: unknown): string {
  return isConflict(fault) ? sqlStateOf(fault) : 'connection';
}

/** The storage gave way, as opposed to a mistake of ours such as a broken constraint. */
export function isStorageFault(fault: unknown): boolean {
  if (fault instanceof StoreAway || fault instanceof WriteFailed) return true;
  if (isLost(fault) || isConflict(fault) || isRefusedBefore(fault)) return true;
  // 25006 no writes, 53 means, 55P03 a lock that is taken, 57014 time, 58 and XX the system.
  return /^(25006|53|55P03|57014|58|XX)/.test(sqlStateOf(fault));
}

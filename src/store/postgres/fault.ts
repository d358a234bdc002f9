/**
 * Errors of PostgreSQL by SQLSTATE (appendix A of its manual), and of connections by Bun's codes.
 */

import { OperatorError } from '../../base/operator-error.ts';
import { StoreAway, WriteFailed } from '../../core/port/store.ts';

/** Returns the SQLSTATE of a fault; empty: it has none. */
export const sqlStateOf = (fault: unknown) =>
  fault instanceof Bun.SQL.PostgresError ? String(fault.errno ?? '') : '';

/** Returns the name of the constraint that was broken; empty: none. */
const constraintOf = (fault: unknown) =>
  fault instanceof Bun.SQL.PostgresError ? (fault.constraint ?? '') : '';

/**
 * Returns true if the connection is lost: uncommitted work is undone, a COMMIT in flight is
 * unknown.
 */
export function isLost(fault: unknown): boolean {
  if (!(fault instanceof Bun.SQL.PostgresError)) return false;
  if (/^(08|57P0)/.test(sqlStateOf(fault))) return true;
  return /^ERR_POSTGRES_(CONNECTION|IDLE|LIFETIME|TLS)/.test(fault.code);
}

/** Returns true if the server accepts no writes, as a standby or by a setting. */
export const isReadOnly = (fault: unknown) => sqlStateOf(fault) === '25006';

/** Returns true if the server lacks disk or memory, or its disk fails. */
export const isOutOfMeans = (fault: unknown) => /^(53(?!300)|58)/.test(sqlStateOf(fault));

/** Returns true if the server's disk is full. */
export const isFullDisk = (fault: unknown) => sqlStateOf(fault) === '53100';

/** Returns true if an administrator ended this connection; others may still work. */
export const isTerminated = (fault: unknown) => sqlStateOf(fault) === '57P01';

/** Returns true if the server's certificate is not trusted, by Node's TLS codes. */
export function isUntrusted(fault: unknown): boolean {
  const code = fault instanceof Error && 'code' in fault ? String(fault.code) : '';
  return /CERT|^UNABLE_TO_|^ERR_TLS_/.test(code);
}

/**
 * Returns true if no connection was opened: a repeat is safe. 08004, 28, 3D: role or program
 * refused.
 */
export function isRefusedBefore(fault: unknown): boolean {
  // The password file is read for each connection.
  if (isUntrusted(fault) || isUnanswered(fault) || fault instanceof OperatorError) return true;
  if (!(fault instanceof Bun.SQL.PostgresError)) return false;
  if (/^(08004|28|3D|53300)/.test(sqlStateOf(fault))) return true;
  return /^ERR_POSTGRES_(AUTHENTICATION|SASL|TLS|UNSUPPORTED_AUTH)/.test(fault.code);
}

/** Returns true if the server has no connection left. */
export const isCrowded = (fault: unknown) => sqlStateOf(fault) === '53300';

/** Returns true if no server answers, or it is still starting. */
export function isUnanswered(fault: unknown): boolean {
  if (!(fault instanceof Bun.SQL.PostgresError)) return false;
  return sqlStateOf(fault) === '57P03' || /REFUSED|CONNECTION_TIMEOUT/.test(fault.code);
}

/**
 * Returns true if a repeated transaction may succeed: a deadlock, a conflict, an id or code taken
 * meanwhile.
 */
export function isConflict(fault: unknown): boolean {
  if (/^(40001|40P01)$/.test(sqlStateOf(fault))) return true;
  return /^(install_pkey|domain_pkey|install_install_code_unique)$/.test(constraintOf(fault));
}

/** Returns true if a lock was not to be had in time. */
export const isLocked = (fault: unknown) => sqlStateOf(fault) === '55P03';

/** Returns true if a lock, or the statement itself, took longer than it may. */
export const isTooLong = (fault: unknown) => /^(55P03|57014)$/.test(sqlStateOf(fault));

/** Returns true if a constraint was broken; then the whole statement was rolled back. */
export const isBroken = (fault: unknown) => sqlStateOf(fault).startsWith('23');

/** Returns the reason of a retry for the metrics: a SQLSTATE, or `connection`. */
export function retryReason(fault: unknown): string {
  if (/^(40P01|55P03)$/.test(sqlStateOf(fault))) return sqlStateOf(fault);
  return isConflict(fault) ? '40001' : 'connection';
}

/** Returns true for an error of the storage, as opposed to a broken constraint. */
export function isStorageFault(fault: unknown): boolean {
  if (fault instanceof StoreAway || fault instanceof WriteFailed) return true;
  if (isLost(fault) || isConflict(fault) || isRefusedBefore(fault)) return true;
  // 25006 no writes, 53 no resources, 55P03 a held lock, 57014 timeout, 58 and XX the system.
  return /^(25006|53|55P03|57014|58|XX)/.test(sqlStateOf(fault));
}

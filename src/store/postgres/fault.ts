/**
 * Faults of PostgreSQL and of the way to it, by SQLSTATE (appendix A of its manual) and by the
 * codes of Bun.SQL.
 */

import { SQL } from 'bun';
import { StoreAway, WriteFailed } from '../../core/port/store.ts';

/** The connection went while a COMMIT was under way: it was saved, or it was not. */
export class OutcomeUnknown extends WriteFailed {}

/** SQLSTATE of a fault; empty: it has none, as it is of the connection or none of PostgreSQL's. */
export function sqlStateOf(fault: unknown): string {
  return fault instanceof SQL.PostgresError ? String(fault.errno ?? '') : '';
}

/** Name of the constraint that a fault is about; empty: none. */
export function constraintOf(fault: unknown): string {
  return fault instanceof SQL.PostgresError ? (fault.constraint ?? '') : '';
}

/**
 * True if the connection is gone, or of no use: nothing that was not committed is kept, and of a
 * COMMIT under way nobody knows. 25006: the server takes no writes, as it is a standby by now.
 */
export function isLost(fault: unknown): boolean {
  if (!(fault instanceof SQL.PostgresError)) return false;
  if (/^(08|57P0|25006$)/.test(sqlStateOf(fault))) return true;
  return /^ERR_POSTGRES_(CONNECTION|IDLE|LIFETIME|TLS)/.test(fault.code);
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

/** True if the statement cannot have begun: repeating it is safe, even if it writes. */
export function isRefusedBefore(fault: unknown): boolean {
  if (isUntrusted(fault)) return true;
  if (!(fault instanceof SQL.PostgresError)) return false;
  const isUnavailable = sqlStateOf(fault) === '57P03' || sqlStateOf(fault) === '53300';
  return isUnavailable || /REFUSED|CONNECTION_TIMEOUT/.test(fault.code);
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
  if (fault instanceof StoreAway || isLost(fault) || isConflict(fault)) return true;
  // 53 resources, 55P03 a lock that was not to be had, 57014 out of time, 58 and XX the system.
  return /^(53|55P03|57014|58|XX)/.test(sqlStateOf(fault));
}

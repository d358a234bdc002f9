/** The statuses of distributions and their transitions. */

import { COMMAND, type DistributionType, PUSH } from '../port/distribution.ts';

export const TYPE_NAMES: Readonly<Record<DistributionType, string>> = {
  [PUSH]: 'push notification',
  [COMMAND]: 'command',
};

/** Status values of the specification, "Distribution (notification/command) status values". */
export const LOAD = 5;
export const LOAD_FROM = 6;
export const CREATED = 10;
export const CHECKING = 20;
export const PENDING = 30;
export const SENDING = 40;
export const SENT = 100;
export const SENT_WITH_ERRORS = 110;
export const FAILED = 120;
export const CANCELLED = 130;
export const BLOCKED = 140;

/** Names of the specification. */
export const STATUS_NAMES: Readonly<Record<number, string>> = {
  [LOAD]: 'Load',
  [LOAD_FROM]: 'Load from',
  [CREATED]: 'Created',
  [CHECKING]: 'Checking',
  [PENDING]: 'Pending',
  [SENDING]: 'Sending',
  [SENT]: 'Sent',
  [SENT_WITH_ERRORS]: 'Sent with errors',
  [FAILED]: 'Failed',
  [CANCELLED]: 'Cancelled',
  [BLOCKED]: 'Blocked',
};

/**
 * The allowed transitions. Triggers of the schema and docs/inside/state-machine.md repeat them;
 * tests compare the three.
 */
export const TRANSITIONS: Readonly<Record<number, readonly number[]>> = {
  [CREATED]: [CHECKING, CANCELLED, BLOCKED],
  [CHECKING]: [PENDING, LOAD, CANCELLED, BLOCKED],
  [PENDING]: [CHECKING, CANCELLED, BLOCKED],
  [LOAD]: [LOAD_FROM, SENDING, BLOCKED],
  [LOAD_FROM]: [SENDING, BLOCKED],
  [SENDING]: [SENT, SENT_WITH_ERRORS, FAILED, BLOCKED],
  [SENT]: [],
  [SENT_WITH_ERRORS]: [],
  [FAILED]: [],
  [CANCELLED]: [],
  [BLOCKED]: [],
};

/** Returns the statuses from which `to` follows. */
export function statusesBefore(to: number): number[] {
  return Object.keys(TRANSITIONS)
    .map(Number)
    .filter((from) => TRANSITIONS[from]?.includes(to));
}

/** Returns true for a status before delivery: no recipient is written. */
export function mayBegin(status: number): boolean {
  return status === CREATED || status === CHECKING || status === PENDING;
}

/** Returns the final status of a distribution that was neither cancelled nor blocked. */
export function endOf(sentCount: number, failedCount: number): number {
  if (sentCount === 0) return FAILED;
  return failedCount > 0 ? SENT_WITH_ERRORS : SENT;
}

export function isTerminal(status: number): boolean {
  return TRANSITIONS[status]?.length === 0;
}

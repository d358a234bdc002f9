/** Reasons why a push fails without a final answer of a gateway. */

import { BLOCKED } from './status.ts';

export const WHY_BLOCKED = 'blocked before the gateway took it';
export const WHY_EXPIRED = 'expired before the gateway took it';
/** Why a reminder ended at a device that had not fetched it. */
export const WHY_UNTRUE = 'the reminder is not true any more';

/** The message of a push and the token that reads it, when the push turns out to be moot. */
export interface PushStanding {
  /** Status of its distribution. */
  status: number;
  expiresAtMs: number;
  /** Problem of its last attempt; null: no attempt failed. */
  problem: string | null;
  /** The reader's address as JSON; null: the reader has none. */
  push: string | null;
  /** When and why the reader's last address was dropped; null: none was. */
  droppedAtMs: number | null;
  droppedWhy: string | null;
}

/** Returns why a moot push fails; null: the device has the message without a gateway. */
export function whyPushFailed(
  { queuedAtMs }: { queuedAtMs: number },
  now: PushStanding,
  nowMs: number,
): string | null {
  if (now.status === BLOCKED) return withProblem(WHY_BLOCKED, now.problem);
  if (now.expiresAtMs <= nowMs) return withProblem(WHY_EXPIRED, now.problem);
  const isDropped = now.push === null && (now.droppedAtMs ?? 0) >= queuedAtMs;
  return isDropped ? `the address was dropped: ${now.droppedWhy}` : null;
}

/** Appends the problem of a push's last attempt to a reason; null: no attempt failed. */
export function withProblem(why: string, problem: string | null): string {
  return problem === null ? why : `${why}: ${problem}`;
}

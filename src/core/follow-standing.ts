/** How the following of a panel stands, of which doctor, metrics and console say the same. */

import type { Follow } from './port/follow.ts';

/**
 * The first that applies:
 *
 * | | |
 * |---|---|
 * | `begins` | no pass has ended yet |
 * | `held` | a pass waits for the operator: many users are missing, or others are shown |
 * | `refused` | the panel refuses the token, or the account |
 * | `late` | the last whole pass is older than three intervals |
 * | `failing` | the last pass changed nothing |
 * | `partial` | the token shows the users of one admin alone |
 * | `follows` | the last pass was whole |
 */
export type FollowStanding =
  | 'begins'
  | 'held'
  | 'refused'
  | 'late'
  | 'failing'
  | 'partial'
  | 'follows';

/** A panel that the settings follow. */
export interface Following {
  readonly host: string;
  /** Time between two passes, ms. */
  readonly everyMs: number;
}

/** Intervals without a whole pass after which a panel is late. */
const LATE_INTERVALS = 3;
/** Passes are never late before, ms: a panel may restart. */
const LATE_MIN_MS = 600_000;

export function standingOf(
  follow: Follow | null,
  { everyMs }: Following,
  nowMs: number,
): FollowStanding {
  if (follow === null || (follow.pass === null && follow.failure === null)) return 'begins';
  const { failure, held, isAccepted, pass, view } = follow;
  if (held !== null && !isAccepted) return 'held';
  if (failure?.problem === 'refused') return 'refused';
  const sinceMs = pass?.atMs ?? failure?.sinceMs ?? nowMs;
  const lateMs = Math.max(LATE_MIN_MS, LATE_INTERVALS * everyMs) + (pass?.tookMs ?? 0);
  if (nowMs - sinceMs > lateMs) return 'late';
  if (failure !== null) return 'failing';
  return view ? 'partial' : 'follows';
}

/** Users that the last whole pass found new, changed or gone. */
export const changesOf = ({ addedCount, changedCount, goneCount }: NonNullable<Follow['pass']>) =>
  addedCount + changedCount + goneCount;

/** Returns the panels that upstreams follow. */
export const followingIn = (
  upstreams: readonly { readonly host: string; readonly followMs: number }[],
): Following[] =>
  upstreams.flatMap(({ followMs: everyMs, host }) => (everyMs === 0 ? [] : [{ host, everyMs }]));

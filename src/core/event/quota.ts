/** Quotas of a provider and the levels of use that are events. */

export type Quota = 'links' | 'domains' | 'kept_bytes' | 'ledger_rows';

/** Used shares that are events, percent, the largest first. */
const LEVELS = [100, 80] as const;

/** Use must fall this far below a level to leave it, percent. */
const SLACK = 5;

/**
 * Returns the highest level that is reached, percent; 0: none. The level `before` holds until use
 * is clearly below it, so that use around a level makes one event.
 */
export function levelAfter(before: number, used: number, limit: number): number {
  const isBelow = (percent: number) => used * 100 < limit * percent;
  const level = LEVELS.find((percent) => !isBelow(percent)) ?? 0;
  return level < before && !isBelow(before - SLACK) ? before : level;
}

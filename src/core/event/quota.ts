/** Quotas of a provider: how much of each is used, in the steps of which it is told. */

/** Things of which a provider may have so many. */
export type Quota = 'links' | 'domains' | 'kept_bytes' | 'ledger_rows';

/** Shares of which a provider is told, percent, the largest first. */
const LEVELS = [100, 80] as const;

/** What is used falls so far below a level before it counts as left, percent. */
const SLACK = 5;

/**
 * The largest share that is used up, percent; 0: less than any. Up and down around a level is no
 * news: `before` was it until now, and stays it until clearly less is used.
 */
export function levelAfter(before: number, used: number, limit: number): number {
  const isBelow = (percent: number) => used * 100 < limit * percent;
  const level = LEVELS.find((percent) => !isBelow(percent)) ?? 0;
  return level < before && !isBelow(before - SLACK) ? before : level;
}

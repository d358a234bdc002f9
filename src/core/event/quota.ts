/** Quotas of a provider: how much of each is used, in the steps of which it is told. */

/** Things of which a provider may have so many. */
export type Quota = 'links' | 'domains' | 'kept_bytes' | 'ledger_rows';

/** Shares of which a provider is told, percent, the largest first. */
const LEVELS = [100, 80] as const;

export type QuotaLevel = (typeof LEVELS)[number] | 0;

/** The largest share that is used up; 0: less than any. */
export function levelOf(used: number, limit: number): QuotaLevel {
  return LEVELS.find((percent) => used * 100 >= limit * percent) ?? 0;
}

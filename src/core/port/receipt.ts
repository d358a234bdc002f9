/** Receipts: what became of a provider's distributions at its devices, as the provider sees it. */

import type { Distribution } from './distribution.ts';
import type { LedgerRow } from './ledger.ts';
import type { ReachWays } from './message-reach.ts';
import type { Page } from './page.ts';

/** Recipients of a ledger, counted from the first to a bound. */
export interface LedgerReach extends ReachWays {
  /** Those that got the message, or that an app has registered with the provider. */
  reachable: number;
  /** Those that acknowledged it. */
  received: number;
  /** Those whose subscription's answer carried it. */
  carried: number;
  /** True: counting stopped at the bound, so that both are at least these. */
  isAtLeast: boolean;
}

/** A distribution with its counts. */
export interface DistributionReach extends Distribution {
  recipientCount: number;
  sentCount: number;
  failedCount: number;
  expiresAtMs: number;
  finishedAtMs: number | null;
  /** The notification that it replaces; null: none. */
  replacesId: number | null;
  /** Null: its recipients are not written yet, or its ledger was pruned. */
  reach: LedgerReach | null;
}

/** A recipient, without facts that it told other providers. */
export interface Receipt extends LedgerRow {
  id: number;
  /** Its place among the receipts of its distribution; no caller of the API sees it. */
  deviceId: number;
  /** True: it got the message, or an app has registered it with the provider. */
  isReachable: boolean;
}

/** Position of a page: behind a receipt, by its id or its place; null: the beginning. */
export type ReceiptsAfter = { id: number } | { deviceId: number } | null;

export interface ReceiptStore {
  /** Lists the provider's distributions with their counts, newest first. */
  listReaches(providerId: number, page: Page, rowsMax: number): Promise<DistributionReach[]>;
  /** Counts the recipients of a distribution, `rowsMax` at most. */
  countReach(distributionId: number, rowsMax: number): Promise<LedgerReach>;
  /**
   * Lists receipts of a provider's distribution, those of the newest devices first; none if the
   * provider has no such distribution. Returns `receipt_not_found` if `after` names no receipt of
   * it: the device may have been forgotten.
   */
  listReceipts(
    of: { providerId: number; distributionId: number },
    after: ReceiptsAfter,
    countMax: number,
  ): Promise<Receipt[] | 'receipt_not_found'>;
}

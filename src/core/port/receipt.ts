/** Receipts: what became of a provider's distributions at its devices, as the provider sees it. */

import type { Distribution, DistributionDetail, DistributionType } from './distribution.ts';
import type { LedgerRow, LedgerTotals } from './ledger.ts';
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
  /** By the device's word at this provider; empty: it gave none. */
  deviceName: string;
  /** True: it got the message, or an app has registered it with the provider. */
  isReachable: boolean;
}

/** Which of a provider's messages are listed; null: of any kind. */
export interface MessageFilter {
  /** Only these; null: all. */
  ids: readonly number[] | null;
  notificationType: DistributionType | null;
  statuses: readonly number[];
  /** True: only those that wait for the time of their schedule; false: only others. */
  isScheduled: boolean | null;
}

/** Position of a page: behind a receipt, by its id or its place; null: the beginning. */
export type ReceiptsAfter = { id: number } | { deviceId: number } | null;

export interface ReceiptStore {
  /**
   * Lists those of a provider's messages that a filter lets through, newest first. It looks at
   * `scanMax` messages before `beforeId` (null: the newest). Returns the position of the next page;
   * null: there is none.
   */
  listMessages(
    providerId: number,
    filter: MessageFilter,
    page: { beforeId: number | null; countMax: number; scanMax: number },
  ): Promise<{ messages: DistributionDetail[]; nextId: number | null }>;
  /** Returns when the provider's last general notification was accepted; null: none was. */
  readLastGeneral(providerId: number): Promise<number | null>;
  /**
   * Counts at most `rowsMax` receipts of a provider's distribution in the order of
   * {@link listReceipts}, which says what it refuses. Returns the position behind them; null: the
   * end.
   */
  countReceipts(
    of: { providerId: number; distributionId: number },
    after: ReceiptsAfter,
    rowsMax: number,
  ): Promise<{ totals: LedgerTotals; nextId: number | null } | 'receipt_not_found'>;
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

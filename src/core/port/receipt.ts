/** Receipts: the states of a provider's distributions at devices, as the provider sees them. */

import type { Distribution, DistributionDetail, DistributionType } from './distribution.ts';
import type { LedgerRow, LedgerTotals } from './ledger.ts';
import type { Carriers, ReachWays } from './message-reach.ts';
import type { Page } from './page.ts';

/** Recipients of a ledger, counted from the first to a bound. */
export interface LedgerReach extends ReachWays {
  /** Recipients that got the message, or have a registered app at the provider. */
  reachable: number;
  /** Recipients that acknowledged it. */
  received: number;
  /** Recipients whose subscription's answer carried it. */
  carried: number;
  /** True: counting stopped at the bound, so the numbers are minimums. */
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
  /** The counts; null: the recipients are not written yet, or the ledger was pruned. */
  reach: LedgerReach | null;
}

/** A recipient, without facts that it reported to other providers. */
export interface Receipt extends LedgerRow {
  id: number;
  /** The position among the receipts of its distribution; no caller of the API sees it. */
  deviceId: number;
  /** The name that it reported to this provider; empty: none. */
  deviceName: string;
  /** True: it got the message, or has a registered app at the provider. */
  isReachable: boolean;
}

/** The filter of a provider's messages; null: any. */
export interface MessageFilter {
  /** The ids; null: all. */
  ids: readonly number[] | null;
  notificationType: DistributionType | null;
  statuses: readonly number[];
  /** True: only messages that wait for their planned time; false: only others. */
  isScheduled: boolean | null;
}

/** The position of a page: after a receipt, by its id or its place; null: the beginning. */
export type ReceiptsAfter = { id: number } | { deviceId: number } | null;

export interface ReceiptStore {
  /** Lists the provider's messages whose planned time is to come, the soonest first. */
  listNextMessages(
    providerId: number,
    nowMs: number,
    countMax: number,
  ): Promise<DistributionDetail[]>;
  /**
   * Lists the provider's messages that match a filter, newest first. Reads `scanMax` messages
   * before `beforeId` (null: the newest). Returns the position of the next page; null: none.
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
   * {@link listReceipts}, and refuses as that does. `inboxCount`: those of them in an inbox that an
   * app reads. Returns the position after them; null: the end.
   */
  countReceipts(
    of: { providerId: number; distributionId: number },
    after: ReceiptsAfter,
    rowsMax: number,
  ): Promise<
    { totals: LedgerTotals; inboxCount: number; nextId: number | null } | 'receipt_not_found'
  >;
  /** Lists the provider's distributions with their counts, newest first. */
  listReaches(providerId: number, page: Page, rowsMax: number): Promise<DistributionReach[]>;
  /**
   * Counts the recipients of a distribution, `rowsMax` at most. While it rides, it rides to the
   * apps of `carriers`; null: to each that may carry one of its parts.
   */
  countReach(
    distributionId: number,
    rowsMax: number,
    carriers?: Carriers | null,
  ): Promise<LedgerReach>;
  /**
   * Lists receipts of a provider's distribution, those of the newest devices first; none if the
   * provider has no such distribution. Returns `receipt_not_found` if `after` is no receipt of it:
   * the device may have been removed.
   */
  listReceipts(
    of: { providerId: number; distributionId: number },
    after: ReceiptsAfter,
    countMax: number,
  ): Promise<Receipt[] | 'receipt_not_found'>;
}

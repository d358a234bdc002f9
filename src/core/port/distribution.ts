/** Distributions, their delivery and their ledger: records, and the part of the port about them. */

import type { Act } from './audit.ts';
import type { Cursor, Page } from './page.ts';
import type { Provider } from './provider.ts';
import type { PushGateway } from './registration.ts';

/** A device that a provider names by HWID. */
export interface TargetDevice {
  id: number;
  /** True: on one of the provider's links, or checked in from a binding that is active. */
  isLinked: boolean;
}

/** Position of a search for a provider's devices. */
export type TargetCursor = Cursor<'target'>;

/** A step of that search. */
export interface TargetStep {
  hasMatch: boolean;
  next: TargetCursor | null;
}

export interface NewDistribution {
  providerId: number;
  notificationType: DistributionType;
  targetOs: string | null;
  targetHwid: string;
  /** A command's action, for the audit log; null for a notification. */
  actionType: string | null;
  /** JSON. */
  payload: string;
  createdAtMs: number;
  /** Time that it is scheduled for, which is not when it is created; null: at once. */
  dueAtMs: number | null;
  /** True: it may reach HWIDs that are not linked to the provider. */
  reachesUnbound: boolean;
  expiresAtMs: number;
  unboundCount: number;
}

/** Bounds of what a provider sends and has kept: the operator's numbers. */
export interface SendBounds {
  sendsPerMinuteMax: number;
  /** Distributions whose ledger was not pruned: see KEPT_BYTES_EACH in core/message/send.ts. */
  keptBytesMax: number;
  /** Recipients in ledgers that were not pruned. */
  ledgerRowsMax: number;
}

/** Bounds of a provider that a send may pass. */
export type BoundReached = 'too_many_sends' | 'kept_bytes_full' | 'ledger_full';

/** A provider's sends as they are counted. */
export interface SendCount {
  /** Time of the last general notification that was accepted. */
  lastGeneralAtMs: number | null;
  /** Beginning of the window that sends are counted in, and their number in it. */
  sendsFromMs: number;
  sendCount: number;
}

/** A provider's share of its bounds before a send. */
export interface SendUsage extends SendCount {
  keptBytes: number;
  ledgerCount: number;
  /** Unbound recipients in the time of the quota; 0 where it is not asked. */
  unboundCount: number;
}

/** Conditions at the moment at which a distribution is added; null: not asked. */
export interface DistributionGuards {
  /** Least time since the provider's last general notification, ms. */
  generalIntervalMs: number | null;
  /** Most unbound recipients since then, the new ones included. */
  unboundQuota: { sinceMs: number; countMax: number } | null;
  bounds: SendBounds & {
    /** Time over which sends are counted, ms. A clock set back by as much begins another count. */
    windowMs: number;
    /** The share of each beside its payload and HWIDs. */
    bytesEach: number;
  };
}

/** A worker's hold on a distribution; every step renews it. */
export interface Lease {
  id: number;
  owner: string;
  /** The worker's time, UTC ms: what is due by it, and when what a step does happened. */
  nowMs: number;
  /** Length of the hold by the store's own clock, the same for every worker, ms. */
  leaseMs: number;
}

/** A distribution that a worker has got hold of. */
export interface ClaimedDistribution {
  id: number;
  providerCode: string;
  notificationType: DistributionType;
  status: number;
  /** True: its time has come, and none of the provider's goes before it. */
  isDue: boolean;
  /** Recipients that the provider has in ledgers. */
  ledgerCount: number;
  /** True: the next step may take some 5 ms; not many of those are for one commit. */
  isBulky: boolean;
  /** True: another worker, an earlier life of this one, or nobody held it last. */
  isTakenOver: boolean;
}

/**
 * With the last recipient: how many of all got the message and how many did not. `isHandedOver`:
 * gateways have yet to answer for others, and the worker holds it no longer. Null: there are more.
 */
export type ServeOutcome = {
  sentCount: number;
  failedCount: number;
  isHandedOver: boolean;
} | null;

/** The rules of a delivery that a store takes through all statuses in one write. */
export interface DeliveryRules {
  /** Returns the status that follows 20 Checking for a distribution that is due. */
  afterChecking(
    provider: Provider,
    work: Pick<ClaimedDistribution, 'notificationType' | 'ledgerCount'>,
  ): number;
  ledgerRowsMax: number;
  /** Messages of the provider that may wait for a device. */
  waitingMax: number;
  gateways: readonly PushGateway[];
}

/** The work of one such write. */
export interface NamedDeliveries {
  /** Distributions that were taken further. */
  count: number;
  /** Devices that got a message; one may be there twice. */
  deviceIds: number[];
  failedCount: number;
}

/** A distribution as the operator sees it. */
export interface DistributionDetail extends Distribution {
  providerCode: string;
  payload: string;
  dueAtMs: number;
  expiresAtMs: number;
  beganAtMs: number | null;
  finishedAtMs: number | null;
  recipientCount: number;
  sentCount: number;
  failedCount: number;
  /** Since then it waits for gateways alone, or waited; null: it never did. */
  handedOverAtMs: number | null;
  isPruned: boolean;
}

/** Fate of a distribution: recipients in each state, and by what they said. */
export interface LedgerTotals {
  queued: number;
  sent: number;
  failed: number;
  expired: number;
  received: number;
  opened: number;
  executed: number;
  refused: number;
  /** Of those, by what gateways said. */
  atGateway: Record<PushState, number>;
}

/** The state of a push: it waits for a gateway, the gateway took it, or did not. */
export type PushState = 'queued' | 'accepted' | 'failed';

export interface LedgerRow {
  hwid: string;
  state: 'queued' | 'sent' | 'failed' | 'expired';
  queuedAtMs: number;
  sentAtMs: number | null;
  failedAtMs: number | null;
  expiredAtMs: number | null;
  receivedAtMs: number | null;
  openedAtMs: number | null;
  executedAtMs: number | null;
  refusedAtMs: number | null;
  detail: string | null;
  /** Null: no gateway has anything to do with it. `problem`: of the last attempt. */
  push: { state: PushState; problem: string | null } | null;
}

export const PUSH = 10;
export const COMMAND = 20;

export type DistributionType = typeof PUSH | typeof COMMAND;

/** Distribution as `remote/list` shows it. */
export interface Distribution {
  id: number;
  notificationType: DistributionType;
  status: number;
  targetOs: string | null;
  targetHwid: string;
  createdAtMs: number;
  /** Time at which delivery began, or, until then, is planned. */
  sentAtMs: number;
}

export interface DistributionStore {
  /** Finds for each HWID, in order, the device or null. */
  findTargets(providerId: number, hwids: readonly string[]): Promise<(TargetDevice | null)[]>;
  /** One bounded step of looking for linked devices with one of these operating systems. */
  scanTargets(
    providerId: number,
    os: readonly string[],
    after: TargetCursor | null,
  ): Promise<TargetStep>;
  addDistribution(
    draft: NewDistribution,
    guards: DistributionGuards,
    act: Act,
  ): Promise<{ id: number } | 'general_too_soon' | 'unbound_quota_exceeded' | BoundReached>;
  listDistributions(providerId: number, page: Page): Promise<Distribution[]>;
  /** Cancels if it is scheduled, due from `dueFromMs` on, and in `from`; else says its status. */
  cancelDistribution(
    providerId: number,
    id: number,
    guard: { from: readonly number[]; dueFromMs: number; nowMs: number },
    act: Act,
  ): Promise<'ok' | 'notification_not_found' | number>;
  /**
   * Gets hold of some work: what is new and what is due, unless another worker holds it. Of each
   * provider's due distributions only the first, so that a device gets them in order, and never one
   * that waits for its time before one that does not; of the providers those first that were served
   * longest ago. Leases end by the store's clock. One that ends further ahead than any lasts is
   * from before it was set back, and holds nothing.
   */
  claimWork(lease: Omit<Lease, 'id'>): Promise<ClaimedDistribution[]>;
  /** Says when a worker will have something to do; 0: at once; null: nothing waits. */
  nextDueMs(): Promise<number | null>;
  /**
   * One transition by the worker that holds it. False: it was lost meanwhile, or was to become 5
   * while another one of the provider is in delivery.
   */
  moveDistribution(lease: Lease, from: number, to: number): Promise<boolean>;
  /** Gives back what a worker holds, so that another need not wait for its leases to end. */
  releaseWork(owner: string): Promise<void>;
  /**
   * Delivers small sends by HWID that are due, the first of their lanes, unless another worker
   * holds them: in one write each goes through every status, by the steps of the other methods.
   * Lanes take turns, one send at a time, until a number or a time is reached.
   */
  deliverNamed(lease: Omit<Lease, 'id'>, rules: DeliveryRules): Promise<NamedDeliveries>;
  /**
   * Writes the next recipients, though they be more than `ledgerRowsMax` of the provider: that is
   * an event alone. Null: the distribution was lost meanwhile.
   */
  loadRecipients(lease: Lease, ledgerRowsMax: number): Promise<{ isDone: boolean } | null>;
  /**
   * Hands the message to the next recipients and says to which devices. A device for which
   * `waitingMax` messages of the provider wait already does not get it. For one whose token has an
   * address for one of `gateways` a push is put into the outbox, and it counts once the gateway has
   * answered. Null: it was lost.
   */
  sendRecipients(
    lease: Lease,
    waitingMax: number,
    gateways: readonly PushGateway[],
  ): Promise<{ deviceIds: number[]; outcome: ServeOutcome } | null>;
  /**
   * Marks some recipients expired whose message nobody fetched in time, or before it was blocked;
   * says how many. Null: there was nothing left to look at.
   */
  expireRecipients(nowMs: number): Promise<number | null>;
  listAllDistributions(filter: {
    providerCode: string | null;
    countMax: number;
  }): Promise<DistributionDetail[]>;
  findDistribution(
    id: number,
    ledgerCountMax: number,
  ): Promise<{
    distribution: DistributionDetail;
    totals: LedgerTotals;
    /** Recipients that did not say that they received it. */
    missing: LedgerRow[];
  } | null>;
  /** Blocks if it is in `from`; else says its status. */
  blockDistribution(
    id: number,
    from: readonly number[],
    nowMs: number,
    act: Act,
  ): Promise<'ok' | 'distribution_not_found' | number>;
}

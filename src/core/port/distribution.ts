/** Distributions, their delivery and their ledgers: records and their part of the port. */

import type { Act } from './audit.ts';
import type { DeviceSearch } from './device-search.ts';
import type { KeyedCall, KeyRefusal, Made } from './idempotency.ts';
import type { LedgerRow, LedgerTotals } from './ledger.ts';
import type { ReachFacts, ReachGroup } from './message-reach.ts';
import type { Cursor, Page } from './page.ts';
import type { Provider } from './provider.ts';
import type { PushGateway } from './registration.ts';
import type { ReplaceRefusal } from './replacing.ts';
import type { RideRules } from './ride.ts';

/** A device that a provider targets by its HWID. */
export interface TargetDevice extends ReachFacts {
  id: number;
  /** True: attached to the provider by a link or an active binding. */
  isLinked: boolean;
  /** True: the browser of a link, which gets no commands. */
  isBrowser?: boolean;
}

/** Position of `scanTargets`. */
export type TargetCursor = Cursor<'target'>;

export interface TargetStep {
  /** Devices of the step that are targets. */
  count: number;
  /** Those of them with a registered app at the provider. */
  reachableCount: number;
  /** The same devices, grouped by the facts that decide the way of a message to them. */
  groups: readonly ReachGroup[];
  next: TargetCursor | null;
}

export interface NewDistribution {
  providerId: number;
  notificationType: DistributionType;
  targetOs: string | null;
  targetHwid: string;
  /** The action of a command, for the audit log; null: a notification. */
  actionType: string | null;
  /** JSON. */
  payload: string;
  createdAtMs: number;
  /** Time for which it is scheduled, which differs from `createdAtMs`; null: at once. */
  dueAtMs: number | null;
  /** True: it also reaches HWIDs that are not attached to the provider. */
  reachesUnbound: boolean;
  expiresAtMs: number;
  unboundCount: number;
  /** The notification that it replaces; null or absent: none. */
  replacesId?: number | null;
  /** JSON of a `Segment`; null or absent: its targets are named. */
  segment?: string | null;
}

/** The operator's bounds of what a provider sends and keeps. */
export interface SendBounds {
  sendsPerMinuteMax: number;
  /** Size of unpruned distributions: see KEPT_BYTES_EACH of core/send.ts. */
  keptBytesMax: number;
  /** Recipients in unpruned ledgers. */
  ledgerRowsMax: number;
}

/** Refusals of a send by these bounds. */
export type BoundReached = 'too_many_sends' | 'kept_bytes_full' | 'ledger_full';
/** Refusals of a send by its guards. */
export type GuardRefusal =
  | 'general_too_soon'
  | 'unbound_quota_exceeded'
  | BoundReached
  | ReplaceRefusal;

/** A provider's counts of sends. */
export interface SendCount {
  /** Time of the last accepted general notification; null: there was none. */
  lastGeneralAtMs: number | null;
  /** Start of the present window. */
  sendsFromMs: number;
  /** Sends in that window. */
  sendCount: number;
}

/** A provider's use of its bounds before a send. */
export interface SendUsage extends SendCount {
  keptBytes: number;
  ledgerCount: number;
  /** Unbound recipients in the time of the quota; 0 without a quota. */
  unboundCount: number;
}

/** Conditions for adding a distribution; null: no condition. */
export interface DistributionGuards {
  /** Least time between two general notifications of the provider, ms. */
  generalIntervalMs: number | null;
  /** Most unbound recipients since a time, the new ones included. */
  unboundQuota: { sinceMs: number; countMax: number } | null;
  /** A call with a key is accepted once, before all other conditions. */
  keyed?: KeyedCall | null;
  bounds: SendBounds & {
    /** Length of the window, ms. A clock set back by as much begins another window. */
    windowMs: number;
    /** Size of a distribution beside its payload and HWIDs. */
    bytesEach: number;
  };
}

/** The lease of a distribution; each step renews it. */
export interface Lease {
  id: number;
  owner: string;
  /** The worker's time, UTC ms, which decides what is due and dates the records of a step. */
  nowMs: number;
  /** Length by the store's clock, ms; the same for all workers. */
  leaseMs: number;
}

/** A distribution that a worker has claimed. */
export interface ClaimedDistribution {
  id: number;
  providerCode: string;
  notificationType: DistributionType;
  status: number;
  /** True: it is due and the first in the provider's lane. */
  isDue: boolean;
  /** Recipients in all ledgers of the provider. */
  ledgerCount: number;
  /** True: its next step may take 5 ms, so that few of them fit into one commit. */
  isBulky: boolean;
  /** True: this worker did not hold the previous lease. */
  isTakenOver: boolean;
}

/**
 * The counts after the last recipient; null: recipients are left. `isHandedOver`: gateways have to
 * answer for the others, and the lease has ended.
 */
export type ServeOutcome = {
  sentCount: number;
  failedCount: number;
  isHandedOver: boolean;
} | null;

/** The rules of `deliverNamed`. */
export interface DeliveryRules {
  /** Returns the status after 20 Checking of a due distribution. */
  afterChecking(
    provider: Provider,
    work: Pick<ClaimedDistribution, 'notificationType' | 'ledgerCount'>,
  ): number;
  ledgerRowsMax: number;
  /** Most messages of a provider that wait for one device. */
  waitingMax: number;
  gateways: readonly PushGateway[];
  /** The rules of rides; absent: nothing rides. */
  rides?: RideRules;
}

/** The result of `deliverNamed`. */
export interface NamedDeliveries {
  /** Distributions that advanced. */
  count: number;
  /** Devices that got a message, with duplicates. */
  deviceIds: number[];
  failedCount: number;
}

/** A distribution with the operator's details. */
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
  /** The time since which it waits, or waited, only for gateways; null: it never did. */
  handedOverAtMs: number | null;
  /** The notification that it replaces; null: none. */
  replacesId: number | null;
  /** JSON of the `Segment` whose devices it is for; null: its targets are named. */
  segment: string | null;
  isPruned: boolean;
}

export const PUSH = 10;
export const COMMAND = 20;

export type DistributionType = typeof PUSH | typeof COMMAND;

/** A distribution as `remote/list` shows it. */
export interface Distribution {
  id: number;
  notificationType: DistributionType;
  status: number;
  targetOs: string | null;
  targetHwid: string;
  createdAtMs: number;
  /** The time at which delivery began; before that, the planned time. */
  sentAtMs: number;
}

export interface DistributionStore {
  /** Finds the device of each HWID, in their order; null: it is unknown. */
  findTargets(providerId: number, hwids: readonly string[]): Promise<(TargetDevice | null)[]>;
  /**
   * Counts those of some devices that are attached and have one of these operating systems. Returns
   * the counts and the next position (null: the end). The first step is short. `isCommand`: without
   * the browsers of links.
   */
  scanTargets(
    providerId: number,
    os: readonly string[],
    after: TargetCursor | null,
    isCommand?: boolean,
  ): Promise<TargetStep>;
  /** Counts, as {@link scanTargets}, those that a search finds. */
  scanSegment(
    providerId: number,
    search: DeviceSearch,
    after: TargetCursor | null,
    isCommand?: boolean,
  ): Promise<TargetStep>;
  /**
   * Adds a distribution, as 10 Created. Returns a {@link GuardRefusal} if the guards forbid it. One
   * that it replaces expires in the same write.
   */
  addDistribution(
    draft: NewDistribution,
    guards: DistributionGuards,
    act: Act,
  ): Promise<Made | GuardRefusal | KeyRefusal>;
  /** Returns the refusal that {@link addDistribution} would give now; null: it would add it. */
  checkDistribution(
    draft: NewDistribution,
    guards: DistributionGuards,
  ): Promise<GuardRefusal | null>;
  /** Reads a provider's use of its bounds; null: no such provider. */
  readSendUsage(providerId: number): Promise<Omit<SendUsage, 'unboundCount'> | null>;
  /** Lists the provider's distributions, newest first. */
  listDistributions(providerId: number, page: Page): Promise<Distribution[]>;
  /**
   * Cancels a scheduled distribution with a status of `from` that is due at `dueFromMs` or later;
   * else returns its status. Returns `notification_not_found` if the provider has none with the id.
   */
  cancelDistribution(
    providerId: number,
    id: number,
    guard: { from: readonly number[]; dueFromMs: number; nowMs: number },
    act: Act,
  ): Promise<'ok' | 'notification_not_found' | number>;
  /**
   * Claims some new or due distributions without a lease of another worker, from the providers
   * served least recently. Of a provider's due ones it claims only the first, unscheduled before
   * scheduled ones, so that devices get them in order. Leases end by the store's clock; a lease
   * that ends later than any lease can is void, because that clock was set back.
   */
  claimWork(lease: Omit<Lease, 'id'>): Promise<ClaimedDistribution[]>;
  /** Finds the time at which a distribution can be claimed; 0: at once; null: none waits. */
  findNextDueMs(): Promise<number | null>;
  /**
   * Changes the status from `from` to `to`; from 5 Load on the message rides by these rules
   * (absent: nothing rides). Returns false if the lease was lost, or if `to` is 5 Load and another
   * distribution of the provider is in delivery.
   */
  moveDistribution(lease: Lease, from: number, to: number, rides?: RideRules): Promise<boolean>;
  /** Releases all leases of a worker. */
  releaseWork(owner: string): Promise<void>;
  /**
   * Delivers small due distributions by HWID that are the first of their lanes and have no lease of
   * another worker: takes each through all statuses in one write, by the steps of the other
   * methods. Lanes take turns, one distribution at a time, until a number or a time is reached.
   */
  deliverNamed(lease: Omit<Lease, 'id'>, rules: DeliveryRules): Promise<NamedDeliveries>;
  /**
   * Writes the next recipients into the ledger. If the provider then has more than `ledgerRowsMax`,
   * it continues and adds the event `quota.reached`. A message to a segment begins to ride to them
   * by these rules (absent: nothing rides). Returns null if the lease was lost.
   */
  loadRecipients(
    lease: Lease,
    ledgerRowsMax: number,
    rides?: RideRules,
  ): Promise<{ isDone: boolean } | null>;
  /**
   * Puts the message into the inboxes of the next recipients and returns their devices. Fails
   * recipients with `waitingMax` waiting messages of the provider. Queues a push for a recipient
   * whose token has an address at one of `gateways`, and counts it when the gateway has answered.
   * Returns null if the lease was lost.
   */
  sendRecipients(
    lease: Lease,
    waitingMax: number,
    gateways: readonly PushGateway[],
  ): Promise<{ deviceIds: number[]; outcome: ServeOutcome } | null>;
  /**
   * Marks some recipients expired that did not fetch their message before it expired or was
   * blocked. Returns their number; null: none is left.
   */
  expireRecipients(nowMs: number): Promise<number | null>;
  /** Lists the distributions of a provider, or of all (null), newest first. */
  listAllDistributions(filter: {
    providerCode: string | null;
    countMax: number;
    /** Distributions with a lower id; absent or null: from the newest on. */
    beforeId?: number | null;
    /** True: distributions that have not ended. */
    isUnfinished?: boolean;
  }): Promise<DistributionDetail[]>;
  /** Finds a distribution with the totals of its ledger. Returns null if none has the id. */
  findDistribution(
    id: number,
    ledgerCountMax: number,
  ): Promise<{
    distribution: DistributionDetail;
    totals: LedgerTotals;
    /** At most `ledgerCountMax` recipients without an acknowledgement. */
    missing: LedgerRow[];
  } | null>;
  /**
   * Blocks a distribution with a status of `from`, which also ends its ride. With another status
   * only the ride ends (`ride_ended`); if it has no ride, returns that status. Returns
   * `distribution_not_found` if none has the id.
   */
  blockDistribution(
    id: number,
    from: readonly number[],
    nowMs: number,
    act: Act,
  ): Promise<'ok' | 'ride_ended' | 'distribution_not_found' | number>;
}

/**
 * The outbox: pushes and events to send, saved in the commit of their cause. Each destination has
 * its own queue, which one process at a time holds by a lease. A killed process repeats at most the
 * attempts that were in flight.
 */

import type { DistributionType } from './distribution.ts';
import type { StoredEvent } from './event.ts';
import { PUSH_GATEWAYS, type PushAddress } from './registration.ts';

export const DESTINATION_KINDS = [...PUSH_GATEWAYS, 'webhook', 'telegram'] as const;

export type DestinationKind = (typeof DESTINATION_KINDS)[number];

const PUSH_WAIT_MAX_MS = 75 * 60_000;
const EVENT_WAIT_MAX_MS = 27 * 3_600_000;

/**
 * The longest wait before another attempt, ms. A time further ahead comes from a clock that was set
 * back since, and counts as due.
 */
export const WAIT_MAX_MS: Readonly<Record<DestinationKind, number>> = {
  fcm: PUSH_WAIT_MAX_MS,
  apns: PUSH_WAIT_MAX_MS,
  webpush: PUSH_WAIT_MAX_MS,
  webhook: EVENT_WAIT_MAX_MS,
  telegram: EVENT_WAIT_MAX_MS,
};

/** Time after which a stopped destination gets a trial attempt, ms. */
export const STOPPED_MS = 3_600_000;

/**
 * The most push services that are unproven or failing with pushes waiting, and the most in all.
 * Beyond that, a message for an unknown service gets no push: only the inbox has it.
 */
export const PUSH_SERVICES_MAX = 1_000;
export const KNOWN_SERVICES_MAX = 5_000;

/** The health of a destination. */
export interface DestinationHealth {
  /** Failed attempts since the last good one; a new push service begins with 1. */
  failureCount: number;
  /** The time of the first of them; null: none. */
  failingSinceMs: number | null;
  /** Time of the next attempt, UTC ms; 0: at once. */
  retryAtMs: number;
  /** The time of the last rejection of our credentials; null: the destination is not stopped. */
  stoppedAtMs: number | null;
  /** The problem of the last attempt; null: the attempt succeeded. */
  problem: string | null;
}

export interface Destination extends DestinationHealth {
  id: number;
  kind: DestinationKind;
  /** Origin of the push service for `webpush`; else empty. */
  origin: string;
  /** Null: the destination is a gateway. */
  webhookId: number | null;
  /** Dispatches in its queue. */
  waitingCount: number;
}

/** The lease of destinations; each step on one renews it. */
export interface OutboxLease {
  owner: string;
  /** The worker's time, UTC ms. */
  nowMs: number;
  /** Length by the store's clock, ms. */
  leaseMs: number;
}

/** Position of a dispatch in its destination's queue. */
export interface DispatchCursor {
  /** Time at which it is tried next, UTC ms; 0: at once. */
  nextAtMs: number;
  id: number;
}

interface DispatchOf<K extends string> extends DispatchCursor {
  kind: K;
  queuedAtMs: number;
  /** Attempts that failed. */
  attemptCount: number;
}

/** A push of a message to a device. */
export interface PushDispatch extends DispatchOf<'push'> {
  distributionId: number;
  deviceId: number;
  /** The token that reads the message, with its push address and language; null: none does. */
  token: {
    id: number;
    push: PushAddress | null;
    /** Time at which the app registered the address last, UTC ms; null: unknown. */
    pushAtMs: number | null;
    locale: string | null;
  } | null;
  /**
   * The reason not to send it; null: the token has an address at this destination. `moved`: it has
   * none here.
   */
  moot: 'expired' | 'blocked' | 'moved' | null;
}

/** An event for a webhook. */
export interface EventDispatch extends DispatchOf<'event'> {
  event: StoredEvent;
}

export type Dispatch = PushDispatch | EventDispatch;

/** The outcome of an attempt. */
export type Settlement = { id: number } & (
  | { outcome: 'accepted' }
  /**
   * A push that is moot here. The store checks again: the push fails if the message expired or was
   * blocked, or the address was dropped; a device with another address is tried there; a device
   * without one counts as reached.
   */
  | { outcome: 'moot' }
  /** `nextAtMs` is at most {@link WAIT_MAX_MS} ahead. */
  | { outcome: 'retry'; nextAtMs: number; problem: string }
  /** As `retry`, but does not count as an attempt. */
  | { outcome: 'wait'; nextAtMs: number; problem: string }
  | { outcome: 'failed'; problem: string }
  /**
   * The address is dead: the token loses it unless it has another one, or registered the same again
   * after `asOfMs` (null: that does not count).
   */
  | { outcome: 'dead'; problem: string; tokenId: number; push: PushAddress; asOfMs: number | null }
);

/** The message of a push: the same for all recipients. */
export interface PushMessage {
  id: number;
  providerId: number;
  notificationType: DistributionType;
  createdAtMs: number;
  expiresAtMs: number;
  payload: unknown;
}

/** A message as gateways get it, in the language of the device. */
export interface PushContent {
  /** The distribution's id: the same for all recipients and attempts. */
  id: number;
  /** A command is silent and makes the app fetch its inbox. */
  kind: 'notification' | 'command';
  title: string | null;
  /** Plain text; null: the message has only a title. */
  body: string | null;
  link: string | null;
  image: string | null;
  /** True for `force` notifications: high priority and sound. */
  isUrgent: boolean;
  /** Time after which the message is useless, UTC ms. */
  expiresAtMs: number;
  /** The message of the inbox as JSON; null: the operator does not allow gateways to carry it. */
  inboxMessage: string | null;
}

/** The sums of one kind of destinations. */
export interface OutboxTotals {
  kind: DestinationKind;
  destinationCount: number;
  waitingCount: number;
  /** Time at which the oldest waiting dispatch was queued; null: none waits. */
  oldestQueuedAtMs: number | null;
  failingCount: number;
  stoppedCount: number;
}

export interface OutboxStore {
  /**
   * Claims at most `countMax` destinations of these kinds with due dispatches, least recently
   * served first. Skips those that have a lease (also of this owner), were stopped less than
   * {@link STOPPED_MS} ago, wait for `retryAtMs`, belong to a disabled webhook, or are in `except`.
   * At most `failingMax` of them failed last. A lease that ends later than any lease can, because
   * the clock was set back since, is void. Writes nothing if there are none.
   */
  claimDestinations(
    lease: OutboxLease,
    kinds: readonly DestinationKind[],
    countMax: number,
    failingMax: number,
    except: readonly number[],
  ): Promise<Destination[]>;
  /**
   * Lists the due dispatches of a destination after a position (null: from the beginning): retries
   * first, which end as attempts are counted, then new ones in the order of their ids.
   */
  listDispatches(
    destinationId: number,
    nowMs: number,
    countMax: number,
    after: DispatchCursor | null,
  ): Promise<Dispatch[]>;
  /** Finds the message of a distribution. Returns null if it was deleted. */
  findPushMessage(distributionId: number): Promise<PushMessage | null>;
  /**
   * Saves the outcomes of attempts, also after the lease was lost; skips deleted dispatches. Saves
   * `health` while the lease holds. In the same commit a distribution ends with its last push, a
   * stop makes the event `gateway.stopped`, and the webhook is disabled if `disables` has a reason.
   * Returns false if the lease was lost.
   */
  settleDispatches(
    lease: OutboxLease & { destinationId: number },
    settlements: readonly Settlement[],
    health: DestinationHealth,
    disables: string | null,
  ): Promise<boolean>;
  /** Releases a destination; null: all destinations of the owner. */
  releaseDestinations(owner: string, destinationId: number | null): Promise<void>;
  /**
   * Makes at most `countMax` dispatches due at once that wait for a later attempt, the soonest
   * first; they count as new ones in the order of the queue. Returns their number.
   */
  hastenDispatches(destinationId: number, countMax: number): Promise<number>;
  /** Finds the time at which a destination of these kinds can be claimed; null: none has to be. */
  findNextDispatchMs(kinds: readonly DestinationKind[]): Promise<number | null>;
  /** Lets stopped and waiting destinations be tried at once. Returns their number. */
  resumeDestinations(kinds: readonly DestinationKind[]): Promise<number>;
  /** Lists destinations with dispatches or a problem, the longest queues first. */
  listDestinations(kinds: readonly DestinationKind[], countMax: number): Promise<Destination[]>;
  /** Reads the sums of each kind of destinations. */
  readOutboxTotals(): Promise<OutboxTotals[]>;
  /**
   * Ends some distributions that wait for gateways alone and have expired, or have no push left.
   * Returns false if there were none.
   */
  endHandedOver(nowMs: number): Promise<boolean>;
  /**
   * Deletes some push services with an empty queue; a healthy one stays for a week. Returns false
   * if there were none.
   */
  forgetDestinations(): Promise<boolean>;
}

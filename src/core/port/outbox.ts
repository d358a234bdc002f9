/**
 * The outbox: what is to be handed to somebody outside, put in with the commit of the change that
 * it tells of. Each destination has a queue of its own, which one process at a time holds by a
 * lease. A kill repeats at most what was under way.
 */

import type { DistributionType } from './distribution.ts';
import type { StoredEvent } from './event.ts';
import { PUSH_GATEWAYS, type PushAddress } from './registration.ts';

export const DESTINATION_KINDS = [...PUSH_GATEWAYS, 'webhook', 'telegram'] as const;

export type DestinationKind = (typeof DESTINATION_KINDS)[number];

const PUSH_WAIT_MAX_MS = 75 * 60_000;
const EVENT_WAIT_MAX_MS = 27 * 3_600_000;

/**
 * The longest wait before another attempt, ms. A time that is further ahead is from before the
 * clock was set back, and holds nothing up.
 */
export const WAIT_MAX_MS: Readonly<Record<DestinationKind, number>> = {
  fcm: PUSH_WAIT_MAX_MS,
  apns: PUSH_WAIT_MAX_MS,
  webpush: PUSH_WAIT_MAX_MS,
  webhook: EVENT_WAIT_MAX_MS,
  telegram: EVENT_WAIT_MAX_MS,
};

/** Time after which a destination that was stopped is tried once more, ms. */
export const STOPPED_MS = 3_600_000;

/**
 * Push services that are new or fail, and that have something waiting, at a time; and those that
 * are known in all. Beyond, of a service that is not known the inbox alone has it.
 */
export const PUSH_SERVICES_MAX = 1_000;
export const KNOWN_SERVICES_MAX = 5_000;

/** The health of a destination, as whoever tries it sees it. */
export interface DestinationHealth {
  /**
   * Failed attempts since the last one that went well, and since when. A push service that is new
   * begins with 1, and since never.
   */
  failureCount: number;
  failingSinceMs: number | null;
  /** Nothing is tried before, UTC ms; 0: at once. */
  retryAtMs: number;
  /** Time at which our credentials were refused last, so that it is stopped; null: it is not. */
  stoppedAtMs: number | null;
  /** The last failure, in plain words; null: the last attempt went well. */
  problem: string | null;
}

export interface Destination extends DestinationHealth {
  id: number;
  kind: DestinationKind;
  /** Origin of the push service, for `webpush`; else empty. */
  origin: string;
  /** Null: it is a gateway. */
  webhookId: number | null;
  /** Dispatches that wait. */
  waitingCount: number;
}

/** A process's hold on destinations; each step on one renews it. */
export interface OutboxLease {
  owner: string;
  /** The worker's time, UTC ms. */
  nowMs: number;
  /** Length of the hold by the store's own clock, ms. */
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

/** A message that is to be pushed to a device. */
export interface PushDispatch extends DispatchOf<'push'> {
  distributionId: number;
  deviceId: number;
  /** The token that reads the message, with its address and its language; null: none does. */
  token: {
    id: number;
    push: PushAddress | null;
    /** Time at which the app registered the address last, UTC ms; null: nobody knows. */
    pushAtMs: number | null;
    locale: string | null;
  } | null;
  /**
   * Why no push is needed here any more; null: it is, and the token has an address for the
   * destination. `moved`: no token reads the message that has one.
   */
  moot: 'expired' | 'blocked' | 'moved' | null;
}

/** An event of which a webhook is to be told. */
export interface EventDispatch extends DispatchOf<'event'> {
  event: StoredEvent;
}

export type Dispatch = PushDispatch | EventDispatch;

/** The outcome of an attempt. */
export type Settlement = { id: number } & (
  | { outcome: 'accepted' }
  /**
   * A push that is not needed here. The store looks again: a device without an address counts as
   * reached; one with another address is tried there; what expired or was blocked, and whose
   * address was dropped, failed.
   */
  | { outcome: 'moot' }
  /** At most {@link WAIT_MAX_MS} from now on. */
  | { outcome: 'retry'; nextAtMs: number; problem: string }
  /** The same, but no attempt is counted. */
  | { outcome: 'wait'; nextAtMs: number; problem: string }
  | { outcome: 'failed'; problem: string }
  /**
   * The address is dead: the token loses it if it still is the same, and was not registered again
   * after `asOfMs` (null: whenever that was).
   */
  | { outcome: 'dead'; problem: string; tokenId: number; push: PushAddress; asOfMs: number | null }
);

/** What a push is about: the same for all of its recipients. */
export interface PushMessage {
  id: number;
  notificationType: DistributionType;
  createdAtMs: number;
  expiresAtMs: number;
  payload: unknown;
}

/** A message as a gateway shows it, in the device's language. */
export interface PushContent {
  /** The distribution's id: the same in every copy and every attempt. */
  id: number;
  /** A command is silent: it makes the app fetch its inbox. */
  kind: 'notification' | 'command';
  title: string | null;
  /** Plain text; null beside a title, where the message shows nothing but a picture. */
  body: string | null;
  link: string | null;
  image: string | null;
  /** `force` of a notification: high priority and sound. */
  isUrgent: boolean;
  /** Time after which nobody needs it, UTC ms. */
  expiresAtMs: number;
  /** The whole message as the inbox has it, as JSON, if the operator lets it travel; else null. */
  inboxMessage: string | null;
}

/** The state of one kind of destinations. */
export interface OutboxTotals {
  kind: DestinationKind;
  destinationCount: number;
  waitingCount: number;
  /** Time at which the dispatch was put in that waits longest; null: none does. */
  oldestQueuedAtMs: number | null;
  /** Destinations that fail, and those that were stopped. */
  failingCount: number;
  stoppedCount: number;
}

export interface OutboxStore {
  /**
   * Gets hold of destinations of these kinds that have something due, unless they were stopped
   * less than {@link STOPPED_MS} ago, wait for their `retryAtMs`, are of a webhook that is
   * disabled, or somebody holds them, be it this owner: those first that were served longest ago.
   * At most `failingMax` are such that failed last, and none is of `except`. A lease that ends
   * further ahead than any lasts is from before the clock was set back, and holds nothing. Looking
   * alone writes nothing.
   */
  claimDestinations(
    lease: OutboxLease,
    kinds: readonly DestinationKind[],
    countMax: number,
    failingMax: number,
    except: readonly number[],
  ): Promise<Destination[]>;
  /**
   * The dispatches of a destination that are due, behind `after` (null: from the beginning). Those
   * first that were tried already, which starve nothing as attempts are counted; then what is new,
   * in the order in which it was put in.
   */
  listDispatches(
    destinationId: number,
    nowMs: number,
    countMax: number,
    after: DispatchCursor | null,
  ): Promise<Dispatch[]>;
  /** The message of a distribution; null: it is gone. */
  findPushMessage(distributionId: number): Promise<PushMessage | null>;
  /**
   * Notes the outcomes of attempts, whoever holds the destination by now: an attempt was made. A
   * dispatch that is not there any more is passed over. `health` is noted while the lease holds. In
   * the same commit a distribution ends whose last push was settled; a stop becomes the event
   * `gateway.stopped`, and an event that failed for good disables its webhook if `disables` says
   * why. False: the lease is another's.
   */
  settleDispatches(
    lease: OutboxLease & { destinationId: number },
    settlements: readonly Settlement[],
    health: DestinationHealth,
    disables: string | null,
  ): Promise<boolean>;
  /** Gives back a destination, or (null) all that the owner holds. */
  releaseDestinations(owner: string, destinationId: number | null): Promise<void>;
  /**
   * Makes some dispatches due at once that were put off, those first that would be due first; they
   * go in the order in which they were put in again. Returns how many.
   */
  hastenDispatches(destinationId: number, countMax: number): Promise<number>;
  /** Says when something of these kinds is due that may be tried; null: nothing waits. */
  nextDispatchMs(kinds: readonly DestinationKind[]): Promise<number | null>;
  /** Lets what was stopped or waits for its `retryAtMs` be tried at once; returns how many. */
  resumeDestinations(kinds: readonly DestinationKind[]): Promise<number>;
  /** Destinations with something waiting or a problem, those with most waiting first. */
  listDestinations(kinds: readonly DestinationKind[], countMax: number): Promise<Destination[]>;
  outboxTotals(): Promise<OutboxTotals[]>;
  /**
   * Ends some distributions that wait for gateways alone although there is nothing to wait for, or
   * their time is over. False: there were none.
   */
  endHandedOver(nowMs: number): Promise<boolean>;
  /**
   * Deletes some push services for which nothing waits: one that took its last push stays for a
   * week. False: there were none.
   */
  forgetDestinations(): Promise<boolean>;
}

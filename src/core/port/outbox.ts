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

/** The health of a destination, as whoever tries it sees it. */
export interface DestinationHealth {
  /** Failed attempts since the last one that went well, and since when. */
  failureCount: number;
  failingSinceMs: number | null;
  /** Nothing is tried before, UTC ms; 0: at once. */
  retryAtMs: number;
  /** Time at which it was stopped, as our credentials are wrong; null: it is not. */
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

interface DispatchOf<K extends string> {
  kind: K;
  id: number;
  queuedAtMs: number;
  /** Attempts that failed. */
  attemptCount: number;
}

/** A message that is to be pushed to a device. */
export interface PushDispatch extends DispatchOf<'push'> {
  distributionId: number;
  deviceId: number;
  /** The token that reads the message, with its address and its language; null: none does. */
  token: { id: number; push: PushAddress | null; locale: string | null } | null;
  /** Why no push is needed any more; null: it is. */
  moot: 'fetched' | 'expired' | 'blocked' | null;
}

/** An event of which a webhook is to be told. */
export interface EventDispatch extends DispatchOf<'event'> {
  event: StoredEvent;
}

export type Dispatch = PushDispatch | EventDispatch;

/** The outcome of an attempt. */
export type Settlement = { id: number } & (
  | { outcome: 'accepted' }
  /** It was not needed any more; for a push the device counts as reached. */
  | { outcome: 'moot' }
  | { outcome: 'retry'; nextAtMs: number; problem: string }
  | { outcome: 'failed'; problem: string }
  /** The address is dead: the token loses it if it still is the same. */
  | { outcome: 'dead'; problem: string; tokenId: number; push: PushAddress }
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
   * Gets hold of destinations of these kinds that have something due, unless they are stopped, wait
   * for their `retryAtMs`, or another process holds them: those first that were served longest ago.
   * A lease that ends further ahead than any lasts is from before the clock was set back, and holds
   * nothing. Looking alone writes nothing.
   */
  claimDestinations(
    lease: OutboxLease,
    kinds: readonly DestinationKind[],
    countMax: number,
  ): Promise<Destination[]>;
  /** The dispatches of a destination that are due, those first that were due first. */
  listDispatches(destinationId: number, nowMs: number, countMax: number): Promise<Dispatch[]>;
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
  /** Deletes some push services for which nothing waits. False: there were none. */
  forgetDestinations(): Promise<boolean>;
}

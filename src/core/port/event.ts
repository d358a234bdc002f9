/** Events for webhooks: their kinds, their records and their part of the port. */

import type { Cursor } from './page.ts';

/** Kinds of events of a provider. */
export const PROVIDER_EVENTS = [
  'link.created',
  'link.updated',
  'link.revoked',
  'link.removed',
  'link.tie',
  'link.cut_off',
  'link.full',
  'link.over_limit',
  'link.refused',
  'link.ending',
  'link.ended',
  'link.renewed',
  'link.traffic_low',
  'link.inactive',
  'device.admitted',
  'device.removed',
  'device.replaced',
  'device.inactive',
  'hwid.copied',
  'reminders.stopped',
  'distribution.finished',
  'distribution.failed',
  'distribution.blocked',
  'distribution.cancelled',
  'subscription.ending',
  'subscription.ended',
  'quota.reached',
  'key.rotated',
  'key.first_use',
  'change.waiting',
  'webhook.disabled',
] as const;

/** Kinds of events of the operator. */
export const OPERATOR_EVENTS = [
  'backup.failed',
  'backup.recovered',
  'certificate.ending',
  'disk.low',
  'doctor.found',
  'doctor.over',
  'doctor.figures',
  'gateway.stopped',
  'release.available',
  'provider.added',
  'provider.changed',
  'provider.suspended',
  'provider.resumed',
  'provider.key-rotated',
  'provider.removed',
  'key.first_use',
  'change.waiting',
  'webhook.disabled',
] as const;

export type EventKind = (typeof PROVIDER_EVENTS)[number] | (typeof OPERATOR_EVENTS)[number];

/** Kind of the event that `webhook test` sends; no webhook can choose it. */
export const TEST_EVENT = 'webhook.test';

/**
 * Kind of the event with the sums of what was not sent to a receiver: see core/event/fold.ts. No
 * webhook can choose it, because it stands for events that were chosen.
 */
export const FOLDED_EVENT = 'events.folded';

/**
 * Kinds of events that a call without credentials can cause, such as a device's, or what a panel
 * answers to it.
 */
export const CALLERS_EVENTS: readonly string[] = [
  'link.full',
  'link.over_limit',
  'link.refused',
  'link.tie',
  'link.ending',
  'link.ended',
  'link.renewed',
  'link.traffic_low',
  'link.inactive',
  'device.admitted',
  'device.removed',
  'device.replaced',
  'device.inactive',
  'hwid.copied',
] satisfies EventKind[];

/** Data of an event: flat and small, without credentials. */
export type EventData = Readonly<Record<string, string | number | boolean | null>>;

/** The content of an event, without its owner and time. */
export interface Happening {
  kind: EventKind | typeof FOLDED_EVENT;
  data: EventData;
}

export interface NewEvent extends Happening {
  /** The provider; null: an event of the operator. */
  providerId: number | null;
  atMs: number;
}

export interface StoredEvent extends Omit<NewEvent, 'kind'> {
  id: number;
  kind: Happening['kind'] | typeof TEST_EVENT;
}

/** Position of `forgetEvents`. */
export type EventCursor = Cursor<'event'>;

/** Bounds of the kept events for which no webhook waits. */
export interface EventBounds {
  beforeMs: number;
  /** Most events of one owner. */
  countMax: number;
}

/** A subscription with an end whose provider has an enabled webhook. */
export interface WatchedSubscription {
  providerId: number;
  /** The first instant after its end. */
  activeUntilMs: number;
  /** The state of its last notice; null: there was none. */
  mark: string | null;
}

/**
 * Most events are saved by the steps of other parts of the port, in the commit of the change. An
 * event is saved only if an enabled webhook of its owner wants its kind.
 */
export interface EventStore {
  /** Saves an event that belongs to no other step. Writes nothing if no webhook wants it. */
  addEvent(event: NewEvent): Promise<void>;
  /**
   * Saves an event unless there was one for this state of the subject; `mark` names the state.
   * Returns false if there was one, or if no webhook wants the event, which saves no mark. With
   * `follows` it also returns false unless the last mark begins with that.
   */
  addNotice(event: NewEvent, subject: string, mark: string, follows?: string): Promise<boolean>;
  /** Returns the mark of a subject of the operator; null: none. */
  findNotice(subject: string): Promise<string | null>;
  /**
   * Saves events of the operator and the next mark of their subject, if the mark still is `before`
   * (null: none). Returns false if it is another, which saves nothing.
   */
  addNotices(
    events: readonly NewEvent[],
    subject: string,
    before: string | null,
    mark: string,
  ): Promise<boolean>;
  /**
   * Reports in one event what was not sent to each of some receivers in an hour that is over.
   * Returns false if there were none.
   */
  endEventFolds(nowMs: number): Promise<boolean>;
  /** Lists the subscriptions that end before a time, with their marks for `subject`. */
  listWatchedSubscriptions(endsBeforeMs: number, subject: string): Promise<WatchedSubscription[]>;
  /**
   * Deletes some events after the position that are before `beforeMs` or beyond the newest
   * `countMax` of their owner, unless an enabled webhook still waits for them. Returns the next
   * position; null: it is done.
   */
  forgetEvents(bounds: EventBounds, after: EventCursor | null): Promise<EventCursor | null>;
}

/** Events: that something happened, for bots that want to know. */

import type { Cursor } from './page.ts';

/** Kinds of events of a provider. */
export const PROVIDER_EVENTS = [
  'link.created',
  'link.updated',
  'link.full',
  'link.refused',
  'device.admitted',
  'device.removed',
  'device.replaced',
  'device.inactive',
  'distribution.finished',
  'distribution.failed',
  'distribution.blocked',
  'distribution.cancelled',
  'subscription.ending',
  'subscription.ended',
  'quota.reached',
  'key.rotated',
  'webhook.disabled',
] as const;

/** Kinds of events of the operator. */
export const OPERATOR_EVENTS = [
  'backup.failed',
  'certificate.ending',
  'disk.low',
  'gateway.stopped',
  'provider.added',
  'provider.changed',
  'provider.suspended',
  'provider.resumed',
  'provider.key-rotated',
  'provider.removed',
  'webhook.disabled',
] as const;

export type EventKind = (typeof PROVIDER_EVENTS)[number] | (typeof OPERATOR_EVENTS)[number];

/** Kind of the event by which a webhook is tried out; it is in no filter. */
export const TEST_EVENT = 'webhook.test';

/** Data of an event: flat, thin, never a credential. */
export type EventData = Readonly<Record<string, string | number | boolean | null>>;

/** The thing that happened, whenever and to whomsoever. */
export interface Happening {
  kind: EventKind;
  data: EventData;
}

export interface NewEvent extends Happening {
  /** Null: it is for the operator. */
  providerId: number | null;
  atMs: number;
}

export interface StoredEvent extends Omit<NewEvent, 'kind'> {
  id: number;
  kind: EventKind | typeof TEST_EVENT;
}

/** Position of a look at events that may be over. */
export type EventCursor = Cursor<'event'>;

/** Bounds of the events that are kept though nothing waits for them. */
export interface EventBounds {
  beforeMs: number;
  /** The most of one owner. */
  countMax: number;
}

/** A subscription with an end, of a provider that has an enabled webhook. */
export interface WatchedSubscription {
  providerId: number;
  /** First instant at which it is over. */
  activeUntilMs: number;
  /** The state of which it was told last; null: none. */
  mark: string | null;
}

/**
 * Other parts note events by themselves, in the commit of what they change: nothing is told that
 * was not saved, and nothing is left out that was. An event is kept only if an enabled webhook of
 * its owner wants its kind.
 */
export interface EventStore {
  /** Notes an event that no other write is about. Writes nothing if nobody wants it. */
  addEvent(event: NewEvent): Promise<void>;
  /**
   * Notes an event unless one was noted for this state of the subject already: `mark` names the
   * state. False: it was, or nobody wants it, which leaves no mark.
   */
  addNotice(event: NewEvent, subject: string, mark: string): Promise<boolean>;
  /** Subscriptions that end before, with the marks of `subject`. */
  listWatchedSubscriptions(endsBeforeMs: number, subject: string): Promise<WatchedSubscription[]>;
  /**
   * Deletes some events that are before, or beyond so many of an owner: for which nothing waits at
   * an enabled webhook, or, of those that are before, at any. Says where to go on behind `after`;
   * null: there is nothing more.
   */
  forgetEvents(bounds: EventBounds, after: EventCursor | null): Promise<EventCursor | null>;
}

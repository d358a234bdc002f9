/** Events: that something happened, for bots that want to know. */

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

export interface NewEvent {
  /** Null: it is for the operator. */
  providerId: number | null;
  kind: EventKind;
  atMs: number;
  data: EventData;
}

export interface StoredEvent extends Omit<NewEvent, 'kind'> {
  id: number;
  kind: EventKind | typeof TEST_EVENT;
}

export interface EventStore {
  /** Notes an event that no other write is about. */
  addEvent(event: NewEvent): Promise<void>;
  /**
   * Notes an event unless one was noted for this state of the subject already: `mark` names the
   * state. False: it was.
   */
  addNotice(event: NewEvent, subject: string, mark: string): Promise<boolean>;
  /** Deletes some events of before for which nothing waits. False: there were none. */
  forgetEvents(beforeMs: number): Promise<boolean>;
}

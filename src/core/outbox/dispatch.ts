/** Dispatches as stores read them: the order of due ones, and rows as records. */

import type { StoredEvent } from '../port/event.ts';
import {
  type DestinationKind,
  type DispatchCursor,
  type EventDispatch,
  type PushDispatch,
  WAIT_MAX_MS,
} from '../port/outbox.ts';
import type { PushAddress } from '../port/registration.ts';
import { destinationOf } from './destination.ts';

/** Dispatches after a position and up to a time. */
interface DueRange {
  afterMs: number;
  afterId: number;
  toMs: number;
}

/**
 * Returns the ranges of due dispatches after a position (null: all), in the order of attempts:
 * retries, which end as attempts are counted; retries that a clock set back since has put too far
 * ahead; new ones.
 */
export function dueRanges(
  kind: DestinationKind,
  nowMs: number,
  after: DispatchCursor | null,
): DueRange[] {
  const isNew = after?.nextAtMs === 0;
  const again = { afterMs: 1, afterId: 0, toMs: nowMs };
  const setBackMs = nowMs + WAIT_MAX_MS[kind] + 1;
  const setBack = { afterMs: setBackMs, afterId: 0, toMs: Number.MAX_SAFE_INTEGER };
  const fresh = { afterMs: 0, afterId: isNew ? after.id : 0, toMs: 0 };
  if (isNew) return [fresh];
  if (after === null) return [again, setBack, fresh];
  const behind = { afterMs: after.nextAtMs, afterId: after.id };
  return after.nextAtMs < setBack.afterMs
    ? [{ ...again, ...behind }, setBack, fresh]
    : [{ ...setBack, ...behind }, fresh];
}

/** A push as a row. */
export interface PushRow extends DispatchCursor {
  queuedAtMs: number;
  attemptCount: number;
  distributionId: number;
  deviceId: number;
  /** True: the message was blocked. */
  isBlocked: boolean;
  expiresAtMs: number;
  /** The token that reads it; null: none does. */
  tokenId: number | null;
  /** The token's push address as JSON; null: it has none. */
  push: string | null;
  pushAtMs: number | null;
  locale: string | null;
}

/** Reads the row of a push in the queue of a destination. */
export function pushDispatch(
  row: PushRow,
  to: { kind: string; origin: string },
  nowMs: number,
): PushDispatch {
  const { tokenId, push: text, pushAtMs, locale, isBlocked, expiresAtMs, ...dispatch } = row;
  const push = text === null ? null : (JSON.parse(text) as PushAddress);
  const key = push === null ? null : destinationOf(push);
  const isHere = key?.kind === to.kind && key.origin === to.origin;
  let moot: PushDispatch['moot'] = isHere ? null : 'moved';
  if (expiresAtMs <= nowMs) moot = 'expired';
  if (isBlocked) moot = 'blocked';
  const token = tokenId === null ? null : { id: tokenId, push, pushAtMs, locale };
  return { kind: 'push', ...dispatch, token, moot };
}

/** An event as a row. */
type EventRow = Omit<EventDispatch, 'kind' | 'event'> &
  Pick<StoredEvent, 'providerId' | 'atMs'> & {
    eventId: number;
    eventKind: StoredEvent['kind'];
    /** JSON. */
    data: string;
  };

/** Reads the row of an event. */
export function eventDispatch(row: EventRow): EventDispatch {
  const { eventId, eventKind, providerId, atMs, data, ...dispatch } = row;
  const event = { id: eventId, kind: eventKind, providerId, atMs, data: JSON.parse(data) };
  return { kind: 'event', ...dispatch, event };
}

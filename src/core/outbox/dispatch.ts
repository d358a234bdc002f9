/** Dispatches as stores read them: which are due, in which order, and what each is by now. */

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

/** Dispatches of a destination behind a place, up to a time. */
export interface DueRange {
  afterMs: number;
  afterId: number;
  toMs: number;
}

/**
 * Ranges of what is due behind `after` (null: from the beginning), in the order in which it is
 * tried: first what was tried already, which is older, and of which there is an end, as attempts
 * are counted; what was to be tried later by a clock that was set back since; what is new.
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

/** A push as it lies in a store. */
export interface PushRow extends DispatchCursor {
  queuedAtMs: number;
  attemptCount: number;
  distributionId: number;
  deviceId: number;
  /** The message was blocked. */
  isBlocked: boolean;
  expiresAtMs: number;
  /** The token that reads it, with its address as JSON; null: none does. */
  tokenId: number | null;
  push: string | null;
  pushAtMs: number | null;
  locale: string | null;
}

/** The push at one of its destinations. */
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

/** An event as it lies in a store. */
export type EventRow = Omit<EventDispatch, 'kind' | 'event'> &
  Pick<StoredEvent, 'providerId' | 'atMs'> & {
    eventId: number;
    eventKind: StoredEvent['kind'];
    /** JSON. */
    data: string;
  };

export function eventDispatch(row: EventRow): EventDispatch {
  const { eventId, eventKind, providerId, atMs, data, ...dispatch } = row;
  const event = { id: eventId, kind: eventKind, providerId, atMs, data: JSON.parse(data) };
  return { kind: 'event', ...dispatch, event };
}

/**
 * The port between the outbox and its carriers: gateways send pushes, event senders call webhooks.
 * A carrier knows its protocol and maps each answer to a verdict; the outbox decides on retries.
 */

import type { StoredEvent } from '../port/event.ts';
import type { PushContent } from '../port/outbox.ts';
import type { PushAddress, PushGateway } from '../port/registration.ts';
import type { Webhook, WebhookTarget } from '../port/webhook.ts';

/** The outcome of an attempt, by the carrier's table of answers. */
export type AttemptVerdict =
  | { verdict: 'accepted' }
  /**
   * The attempt failed for now. `afterMs`: the wait that `Retry-After` asks for; null: none.
   * `isOfOne`: the answer concerns this address alone, and the other side is healthy.
   */
  | { verdict: 'retry'; afterMs: number | null; problem: string; isOfOne?: true }
  /** The other side asks for a wait (429): not an attempt. `isOfOne` as above. */
  | { verdict: 'wait'; afterMs: number; problem: string; isOfOne?: true }
  /** No connection became free in time: not an attempt. */
  | { verdict: 'busy'; problem: string }
  /**
   * The address is dead: no dispatch to it will ever arrive. `asOfMs`: since when; `movedTo`: the
   * new id of the chat.
   */
  | { verdict: 'dead'; problem: string; asOfMs?: number; movedTo?: string }
  /** The other side rejects our credentials: all dispatches would fail. */
  | { verdict: 'credentials'; problem: string }
  /** This dispatch will never be accepted. */
  | { verdict: 'failed'; problem: string };

/** A carrier of pushes. */
export interface Gateway {
  /** Most pushes in flight to one destination. */
  readonly concurrency: number;
  /** Sends a push once. Never throws; returns `retry` when the signal aborts. */
  send(address: PushAddress, content: PushContent, signal: AbortSignal): Promise<AttemptVerdict>;
}

/** A carrier of events. */
export interface EventSender {
  /** Most events in flight to one destination. */
  readonly concurrency: number;
  /** Least time between two calls to one destination, ms. */
  readonly spacingMs: number;
  /** Sends an event once. Never throws; returns `retry` when the signal aborts. */
  deliver(
    webhook: Webhook,
    event: StoredEvent,
    nowMs: number,
    signal: AbortSignal,
  ): Promise<AttemptVerdict>;
}

/** The gateways that are configured. */
export type Gateways = Readonly<Partial<Record<PushGateway, Gateway>>>;

/** The senders of events by kind of target. */
export type EventSenders = Readonly<Record<WebhookTarget['kind'], EventSender>>;

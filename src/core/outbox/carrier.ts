/**
 * The port between the outbox and those who hand things over: a gateway to devices, and whoever
 * tells webhooks. They know protocols, and judge each answer by one table; the outbox knows when to
 * try again.
 */

import type { StoredEvent } from '../port/event.ts';
import type { PushContent } from '../port/outbox.ts';
import type { PushAddress, PushGateway } from '../port/registration.ts';
import type { Webhook, WebhookTarget } from '../port/webhook.ts';

/** The outcome of an attempt, by the gateway's table of answers. `problem` is plain English. */
export type Verdict =
  | { verdict: 'accepted' }
  /**
   * Not now. `afterMs`: as the other side asked, from its `Retry-After`; null: it did not say.
   * `isOfOne`: the answer is about this address alone, and the other side is well.
   */
  | { verdict: 'retry'; afterMs: number | null; problem: string; isOfOne?: true }
  /** Too much for now (429), and when to come again: no attempt. `isOfOne` as above. */
  | { verdict: 'wait'; afterMs: number; problem: string; isOfOne?: true }
  /** No place became free in time, so that nothing was sent: no attempt. */
  | { verdict: 'busy'; problem: string }
  /**
   * The address is dead: no push to it will ever arrive; of a webhook: it wants no more. `asOfMs`:
   * since when; `movedTo`: what the chat is called now.
   */
  | { verdict: 'dead'; problem: string; asOfMs?: number; movedTo?: string }
  /** Our credentials are wrong: nothing gets through until somebody mends them. */
  | { verdict: 'credentials'; problem: string }
  /** This one is wrong, and will be. */
  | { verdict: 'failed'; problem: string };

/** A way to devices. */
export interface Gateway {
  /** Most pushes that are under way at a time to one destination. */
  readonly concurrency: number;
  /** Hands a push over once. Never throws; leaves off, with `retry`, when the signal says so. */
  send(address: PushAddress, content: PushContent, signal: AbortSignal): Promise<Verdict>;
}

/** Tells webhooks of events. */
export interface EventSender {
  readonly concurrency: number;
  /** Least time between two calls to one destination, ms. */
  readonly spacingMs: number;
  /** Tells once. Never throws. */
  deliver(
    webhook: Webhook,
    event: StoredEvent,
    nowMs: number,
    signal: AbortSignal,
  ): Promise<Verdict>;
}

/** Gateways that are set up. */
export type Gateways = Readonly<Partial<Record<PushGateway, Gateway>>>;

/** Those who tell, by the kind of target. */
export type EventSenders = Readonly<Record<WebhookTarget['kind'], EventSender>>;

/** Webhooks: their records, and the part of the port that remembers them. */

import type { Act } from './audit.ts';
import type { EventKind, TEST_EVENT } from './event.ts';

export const WEBHOOK_LOCALES = ['en', 'ru', 'zh', 'fa'] as const;

/** Signatures of Standard Webhooks: HMAC-SHA256, Ed25519. */
export const SIGNATURE_SCHEMES = ['v1', 'v1a'] as const;

/** Why a webhook is disabled that nobody but its owner disabled. */
export const DISABLED_BY_OWNER = 'its owner disabled it';

/** The destination of a webhook, and how it is spoken to. */
export type WebhookTarget =
  | { kind: 'webhook'; url: string; scheme: (typeof SIGNATURE_SCHEMES)[number] }
  | { kind: 'telegram'; chat: string; locale: (typeof WEBHOOK_LOCALES)[number] };

export interface Webhook {
  id: number;
  /** Null: it is the operator's. */
  providerId: number | null;
  target: WebhookTarget;
  /** Kinds of events that it wants; empty: all. */
  events: readonly EventKind[];
  /** The secret that signs (`whsec_…`, `whsk_…`); for Telegram the bot's token. */
  secret: string;
  /** The secret before the last rotation: it signs too, until then. */
  previous: { secret: string; untilMs: number } | null;
  createdAtMs: number;
  /** Null: it is enabled. */
  disabled: { atMs: number; why: string } | null;
}

export type NewWebhook = Omit<Webhook, 'id' | 'previous' | 'disabled'>;

/** A change; an absent field stays as it is. */
export interface WebhookChange {
  target?: WebhookTarget;
  events?: readonly EventKind[];
  disabled?: Webhook['disabled'];
  /** A new secret, with the old one signing until then (null: no longer). */
  rotation?: { secret: string; previousUntilMs: number | null };
}

export const DELIVERY_STATES = ['waiting', 'delivered', 'failed'] as const;

/** An event on its way to a webhook, or at the end of it. */
export interface Delivery {
  eventId: number;
  kind: EventKind | typeof TEST_EVENT;
  /** When it happened. */
  atMs: number;
  state: (typeof DELIVERY_STATES)[number];
  attemptCount: number;
  /** Waiting: when it is tried next; else when it ended. */
  stateAtMs: number;
  /** Why the last attempt failed; null: none did. */
  problem: string | null;
}

export interface WebhookStore {
  /** Refuses more than `countMax` of the provider's, or the operator's. */
  addWebhook(
    draft: NewWebhook,
    countMax: number,
    act: Act,
  ): Promise<{ id: number } | 'webhook_limit_reached'>;
  /** `providerId` null: the operator's. */
  listWebhooks(providerId: number | null): Promise<Webhook[]>;
  /** Of whichever owner if `providerId` is undefined. */
  findWebhook(id: number, providerId?: number | null): Promise<Webhook | null>;
  /**
   * Enabling it, another target or another secret lets what waits for it be tried at once, with all
   * its attempts again.
   */
  updateWebhook(
    id: number,
    providerId: number | null,
    change: WebhookChange,
    act: Act,
  ): Promise<Webhook | 'webhook_not_found'>;
  /**
   * Lets what waits for it be tried at once, with the attempts that are left: its receiver works
   * again. False: it is disabled or gone, or nothing that was put off waits.
   */
  resumeWebhook(id: number): Promise<boolean>;
  /**
   * One bounded step of deleting events from its queue that are of none of the `wanted` kinds,
   * those after `afterEventId`. Returns where the next step begins; null: this was the last one.
   */
  dropUnwanted(
    id: number,
    wanted: readonly EventKind[],
    afterEventId: number,
  ): Promise<number | null>;
  /** Deletes some secrets before a rotation that sign no longer. False: there were none. */
  forgetOldSecrets(nowMs: number): Promise<boolean>;
  /** Removes it with all that waits for it. */
  removeWebhook(
    id: number,
    providerId: number | null,
    act: Act,
  ): Promise<'ok' | 'webhook_not_found'>;
  /**
   * Its deliveries, the newest event first, before `beforeEventId`; `state` null: all. An event
   * that goes out again waits, whatever became of it before.
   */
  listDeliveries(
    webhookId: number,
    state: Delivery['state'] | null,
    beforeEventId: number | null,
    countMax: number,
  ): Promise<Delivery[]>;
  /**
   * One bounded step of putting kept events into the outbox again, those that do not wait already:
   * one, or those of the kinds that it wants from `sinceMs` on, after `afterEventId`. `next` is
   * null when it is done; `isFull`: it left off, as so many wait for the webhook as may.
   */
  replayEvents(
    webhook: Webhook,
    which: { eventId: number } | { sinceMs: number; afterEventId: number },
    nowMs: number,
  ): Promise<{ count: number; next: number | null; isFull: boolean }>;
}

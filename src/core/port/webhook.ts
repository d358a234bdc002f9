/** Webhooks: their records and their part of the port. */

import type { Act } from './audit.ts';
import type { EventKind, StoredEvent } from './event.ts';

export const WEBHOOK_LOCALES = ['en', 'ru', 'zh', 'fa'] as const;

/** Facts that the texts of a chat show only if its owner chose them. */
export const CHAT_FACTS = ['note', 'phone'] as const;

export type ChatFact = (typeof CHAT_FACTS)[number];

/** Signature schemes of Standard Webhooks: HMAC-SHA256 and Ed25519. */
export const SIGNATURE_SCHEMES = ['v1', 'v1a'] as const;

/** The reason of a webhook that its owner disabled. */
export const DISABLED_BY_OWNER = 'its owner disabled it';

export interface UrlTarget {
  kind: 'webhook';
  url: string;
  scheme: (typeof SIGNATURE_SCHEMES)[number];
}

export interface ChatTarget {
  kind: 'telegram';
  chat: string;
  locale: (typeof WEBHOOK_LOCALES)[number];
  /** Absent: none. */
  shows?: readonly ChatFact[];
}

/** The destination of a webhook: a URL or a Telegram chat. */
export type WebhookTarget = UrlTarget | ChatTarget;

/** The settings of webhooks of both kinds; core/webhook-fields.ts has a row for each. */
export interface OwnWebhook {
  /** Kinds of events to send; empty: all. */
  events: readonly EventKind[];
  /** 1: events about a link have the figures of its subscription: core/webhook-figures.ts. */
  figures: 0 | 1;
}

export interface Webhook extends OwnWebhook {
  id: number;
  /** The provider; null: a webhook of the operator. */
  providerId: number | null;
  /** The provider's code, from reads of single webhooks; absent: unknown, or the operator's. */
  providerCode?: string;
  target: WebhookTarget;
  /** The signing secret (`whsec_…`, `whsk_…`); for Telegram the bot's token. */
  secret: string;
  /** The secret before the last rotation, which signs too until `untilMs`. */
  previous: { secret: string; untilMs: number } | null;
  createdAtMs: number;
  /** When and why it was disabled; null: it is enabled. */
  disabled: { atMs: number; why: string } | null;
}

export type NewWebhook = Omit<Webhook, 'id' | 'previous' | 'disabled'>;

/** A change of a webhook; absent fields stay unchanged. */
export interface WebhookChange extends Partial<OwnWebhook> {
  target?: WebhookTarget;
  disabled?: Webhook['disabled'];
  /** A new secret; the old one signs until `previousUntilMs` (null: no longer). */
  rotation?: { secret: string; previousUntilMs: number | null };
}

export const DELIVERY_STATES = ['waiting', 'delivered', 'failed'] as const;

/** The delivery of an event to a webhook. */
export interface Delivery {
  eventId: number;
  kind: StoredEvent['kind'];
  /** Time of the event. */
  atMs: number;
  state: (typeof DELIVERY_STATES)[number];
  attemptCount: number;
  /** Time of the next attempt while it waits; else the time of its end. */
  stateAtMs: number;
  /** Problem of the last attempt; null: no attempt failed. */
  problem: string | null;
}

/** Webhooks that were disabled for their failures, not by their owners. */
export interface DisabledWebhooks {
  operatorCount: number;
  providerCount: number;
  /** Some of them, the operator's first, those of providers with their codes. */
  some: Webhook[];
}

export interface WebhookStore {
  /** Adds a webhook. Returns `webhook_limit_reached` if its owner has `countMax` already. */
  addWebhook(
    draft: NewWebhook,
    countMax: number,
    act: Act,
  ): Promise<{ id: number } | 'webhook_limit_reached'>;
  /** Lists the webhooks of a provider; null: of the operator. */
  listWebhooks(providerId: number | null): Promise<Webhook[]>;
  /** Reads the webhooks of all owners that were disabled for failures, `countMax` of them whole. */
  readDisabledWebhooks(countMax: number): Promise<DisabledWebhooks>;
  /** Finds a webhook of an owner; undefined: of any. Returns null if there is none. */
  findWebhook(id: number, providerId?: number | null): Promise<Webhook | null>;
  /**
   * Changes a webhook. If it is enabled, or gets another target or secret, all waiting events are
   * due at once, with their attempts counted from 0. Returns `webhook_not_found` if the owner has
   * none with the id.
   */
  updateWebhook(
    id: number,
    providerId: number | null,
    change: WebhookChange,
    act: Act,
  ): Promise<Webhook | 'webhook_not_found'>;
  /**
   * Makes waiting events due at once, because the receiver works again; their attempts stay
   * counted. Returns false if the webhook is disabled or removed, or no event was postponed.
   */
  resumeWebhook(id: number): Promise<boolean>;
  /**
   * Deletes some events after `afterEventId` from the queue whose kinds are not `wanted`. Returns
   * the `afterEventId` of the next step; null: it is done.
   */
  dropUnwanted(
    id: number,
    wanted: readonly EventKind[],
    afterEventId: number,
  ): Promise<number | null>;
  /** Deletes some previous secrets that no longer sign. Returns false if there were none. */
  forgetOldSecrets(nowMs: number): Promise<boolean>;
  /**
   * Removes a webhook with its queue. Returns `webhook_not_found` if the owner has none with the
   * id.
   */
  removeWebhook(
    id: number,
    providerId: number | null,
    act: Act,
  ): Promise<'ok' | 'webhook_not_found'>;
  /**
   * Lists deliveries, the newest event first, before `beforeEventId`; `state` null: all. An event
   * that is sent again counts as waiting.
   */
  listDeliveries(
    webhookId: number,
    state: Delivery['state'] | null,
    beforeEventId: number | null,
    countMax: number,
  ): Promise<Delivery[]>;
  /**
   * Queues some saved events again that do not wait already: one event, or those since `sinceMs`
   * after `afterEventId` of the webhook's kinds. Returns their number and the `afterEventId` of the
   * next step (`next` null: it is done); `isFull`: it stopped because the queue is full.
   */
  replayEvents(
    webhook: Webhook,
    which: { eventId: number } | { sinceMs: number; afterEventId: number },
    nowMs: number,
  ): Promise<{ count: number; next: number | null; isFull: boolean }>;
}

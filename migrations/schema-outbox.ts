/** The tables of what goes out: the outbox, webhooks, events. The third part of schema.ts. */

import { sql } from 'drizzle-orm';
import {
  check,
  index,
  integer,
  primaryKey,
  sqliteTable,
  text,
  uniqueIndex,
} from 'drizzle-orm/sqlite-core';
import type { StoredEvent } from '../src/core/port/event.ts';
import { id, provider } from './schema.ts';
import { recipient } from './schema-device.ts';

/** An address that receives events of the operator or a provider. */
export const webhook = sqliteTable(
  'webhook',
  {
    id: id(),
    /** Null: the operator's. */
    provider_id: integer().references(() => provider.id, { onDelete: 'cascade' }),
    kind: text({ enum: ['webhook', 'telegram'] }).notNull(),
    /** A URL; for `telegram` the chat. */
    address: text().notNull(),
    /** Kinds of events, comma-separated; empty: all. */
    events: text().notNull(),
    /** `v1` HMAC-SHA256, `v1a` Ed25519 of Standard Webhooks; for `telegram` empty. */
    scheme: text({ enum: ['v1', 'v1a', ''] }).notNull(),
    /** The secret that signs, as Standard Webhooks writes it; for `telegram` the bot's token. */
    secret: text().notNull(),
    /** The secret before the last rotation, which signs too until `previous_until_ms`. */
    previous_secret: text(),
    previous_until_ms: integer(),
    /** Language of the texts for `telegram`. */
    locale: text().notNull(),
    /** For `telegram`: what a text shows besides, of `note` and `phone`; null: nothing. */
    shows: text(),
    /** 1: events about a link have the figures of its subscription; an account sets it. */
    figures: integer().$type<0 | 1>().notNull().default(0),
    created_at_ms: integer().notNull(),
    disabled_at_ms: integer(),
    disabled_why: text(),
  },
  (t) => [
    index('webhook_by_provider').on(t.provider_id, t.id),
    index('webhook_off').on(t.disabled_at_ms).where(sql`disabled_at_ms IS NOT NULL`),
    index('webhook_rotated').on(t.previous_until_ms).where(sql`previous_until_ms IS NOT NULL`),
    check('webhook_kind', sql`${t.kind} IN ('webhook', 'telegram')`),
    check('webhook_disabled', sql`(${t.disabled_at_ms} IS NULL) = (${t.disabled_why} IS NULL)`),
  ],
);

/** A thing that happened, kept for the webhooks that wanted to know of it. */
export const event = sqliteTable(
  'event',
  {
    id: id(),
    /** Null: it is for the operator. */
    provider_id: integer().references(() => provider.id, { onDelete: 'cascade' }),
    kind: text().$type<StoredEvent['kind']>().notNull(),
    at_ms: integer().notNull(),
    /** `data` of the body, as JSON. */
    data: text().notNull(),
  },
  (t) => [index('event_by_provider').on(t.provider_id, t.id), index('event_by_time').on(t.at_ms)],
);

/** The end of an event's way to a webhook. What still waits for it is in the outbox. */
export const webhookDelivery = sqliteTable(
  'webhook_delivery',
  {
    webhook_id: integer()
      .notNull()
      .references(() => webhook.id, { onDelete: 'cascade' }),
    event_id: integer()
      .notNull()
      .references(() => event.id, { onDelete: 'cascade' }),
    is_delivered: integer().notNull(),
    attempt_count: integer().notNull(),
    ended_at_ms: integer().notNull(),
    /** Why it failed. */
    problem: text(),
  },
  (t) => [
    primaryKey({ columns: [t.webhook_id, t.event_id] }),
    index('webhook_delivery_by_event').on(t.event_id),
  ],
);

/** A receiver with a queue of its own, which one process leases at a time. */
export const destination = sqliteTable(
  'destination',
  {
    id: id(),
    kind: text({ enum: ['fcm', 'apns', 'webpush', 'webhook', 'telegram'] }).notNull(),
    /** Origin of the push service, for `webpush`; else empty. */
    origin: text().notNull(),
    webhook_id: integer().references(() => webhook.id, { onDelete: 'cascade' }),
    /** Rows of the outbox, kept by triggers. */
    waiting_count: integer().notNull().default(0),
    lease_owner: text(),
    lease_until_ms: integer(),
    /** Failed attempts since the last that did not fail, and since when. */
    failure_count: integer().notNull().default(0),
    failing_since_ms: integer(),
    /** Nothing is tried before. */
    retry_at_ms: integer().notNull().default(0),
    /** Nothing is tried until the operator corrects our credentials. */
    stopped_at_ms: integer(),
    /** The last failure, in plain words. */
    problem: text(),
    /** For webhooks: the events of this hour that are told in one sum, as JSON, and its end. */
    fold: text(),
    fold_until_ms: integer(),
  },
  (t) => [
    uniqueIndex('destination_of_gateway').on(t.kind, t.origin).where(sql`webhook_id IS NULL`),
    uniqueIndex('destination_of_webhook').on(t.webhook_id).where(sql`webhook_id IS NOT NULL`),
    index('destination_waiting').on(t.id).where(sql`waiting_count > 0`),
    index('destination_folding').on(t.fold_until_ms).where(sql`fold_until_ms IS NOT NULL`),
    check('destination_kind', sql`${t.kind} IN ('fcm', 'apns', 'webpush', 'webhook', 'telegram')`),
  ],
);

/** A dispatch: a push, or an event, that is to be handed to a destination. */
export const outbox = sqliteTable(
  'outbox',
  {
    id: id(),
    destination_id: integer()
      .notNull()
      .references(() => destination.id, { onDelete: 'cascade' }),
    /** When it is tried next; 0: at once, whatever becomes of the clock. */
    next_at_ms: integer().notNull(),
    queued_at_ms: integer().notNull(),
    attempt_count: integer().notNull().default(0),
    recipient_id: integer().references(() => recipient.id, { onDelete: 'cascade' }),
    event_id: integer().references(() => event.id, { onDelete: 'cascade' }),
    /** Why the last attempt failed. */
    problem: text(),
  },
  (t) => [
    index('outbox_due').on(t.destination_id, t.next_at_ms, t.id),
    uniqueIndex('outbox_push').on(t.recipient_id).where(sql`recipient_id IS NOT NULL`),
    index('outbox_of_webhook').on(t.destination_id, t.event_id).where(sql`event_id IS NOT NULL`),
    uniqueIndex('outbox_event').on(t.event_id, t.destination_id).where(sql`event_id IS NOT NULL`),
    check('outbox_one_thing', sql`(${t.recipient_id} IS NULL) <> (${t.event_id} IS NULL)`),
  ],
);

/** A notice that is given once for each state of its subject: which state it was given for last. */
export const notice = sqliteTable(
  'notice',
  {
    id: id(),
    /** Null: of the appliance. */
    provider_id: integer().references(() => provider.id, { onDelete: 'cascade' }),
    subject: text().notNull(),
    mark: text().notNull(),
  },
  (t) => [
    uniqueIndex('notice_of_provider')
      .on(t.provider_id, t.subject)
      .where(sql`provider_id IS NOT NULL`),
    uniqueIndex('notice_of_appliance').on(t.subject).where(sql`provider_id IS NULL`),
  ],
);

/**
 * The tables, as drizzle knows them. `make migration` turns a change here into SQL under
 * `migrations/sqlite/`. Property names are the column names: a row read with bun:sqlite and a row
 * typed by drizzle are then the same thing.
 *
 * Three columns are kept by triggers and by nothing else (migration 0001): `install.device_count`
 * and `provider.install_count` are always the true number of rows, and `install.device_count` can
 * not pass `install.install_limit` because a CHECK forbids it.
 */

import { sql } from 'drizzle-orm';
import {
  blob,
  check,
  index,
  integer,
  primaryKey,
  sqliteTable,
  text,
  unique,
  uniqueIndex,
} from 'drizzle-orm/sqlite-core';

const id = () => integer().primaryKey({ autoIncrement: true });
const hash = () => blob({ mode: 'buffer' });

export const provider = sqliteTable(
  'provider',
  {
    id: id(),
    code: text().notNull().unique(),
    name: text().notNull(),
    plan: text({ enum: ['basic', 'pro', 'enterprise'] }).notNull(),
    key_hash: hash().notNull(),
    /** The key before the last rotation, good until `previous_key_until_ms`. */
    previous_key_hash: hash(),
    previous_key_until_ms: integer(),
    /** First instant at which the subscription is over; null: it has no end. */
    active_until_ms: integer(),
    suspended_at_ms: integer(),
    /** The operator's cap for this provider; null: the appliance's. */
    install_count_max: integer(),
    /** When the last general notification was accepted: the five-minute rule counts from it. */
    last_general_at_ms: integer(),
    install_count: integer().notNull().default(0),
    created_at_ms: integer().notNull(),
  },
  (t) => [
    check('provider_plan', sql`${t.plan} IN ('basic', 'pro', 'enterprise')`),
    check('provider_key_hash', sql`length(${t.key_hash}) = 32`),
  ],
);

export const install = sqliteTable(
  'install',
  {
    id: id(),
    provider_id: integer()
      .notNull()
      .references(() => provider.id, { onDelete: 'cascade' }),
    install_code: text().notNull().unique(),
    install_limit: integer().notNull(),
    device_count: integer().notNull().default(0),
    status: integer().notNull(),
    note: text(),
    created_at_ms: integer().notNull(),
  },
  (t) => [
    index('install_by_provider').on(t.provider_id),
    check('install_limit_range', sql`${t.install_limit} BETWEEN 1 AND 100`),
    check('install_never_over_full', sql`${t.device_count} BETWEEN 0 AND ${t.install_limit}`),
    check('install_status', sql`${t.status} IN (5, 10)`),
  ],
);

export const domain = sqliteTable(
  'domain',
  {
    id: id(),
    provider_id: integer()
      .notNull()
      .references(() => provider.id, { onDelete: 'cascade' }),
    domain_hash: text().notNull(),
    domain_name: text().notNull(),
    status: integer().notNull(),
    created_at_ms: integer().notNull(),
  },
  (t) => [
    unique('domain_once_per_provider').on(t.provider_id, t.domain_hash),
    check('domain_status', sql`${t.status} IN (5, 10)`),
  ],
);

export const device = sqliteTable(
  'device',
  {
    id: id(),
    hwid: text().notNull().unique(),
    /** SHA-256 of the token that opens its inbox; null: it never registered for messages. */
    token_hash: hash(),
    /** Since when the HWID has had a token, each shown for the next: it proves no more. */
    unproven_from_ms: integer(),
    /** BCP 47 tag of the language that the app shows. */
    locale: text(),
    /** A faster way to the same inbox: `fcm`, `apns` or `webpush` and its address, as JSON. */
    push: text(),
    /** `ios`, `android`, or whatever else the device said; empty when it said nothing. */
    os: text().notNull(),
    os_version: text().notNull(),
    device_name: text().notNull(),
    app_version: text().notNull(),
    user_agent: text().notNull(),
    first_seen_at_ms: integer().notNull(),
    last_seen_at_ms: integer().notNull(),
  },
  (t) => [uniqueIndex('device_by_token').on(t.token_hash).where(sql`token_hash IS NOT NULL`)],
);

/** A device's slot on a link: what the cap counts. */
export const installDevice = sqliteTable(
  'install_device',
  {
    id: id(),
    install_id: integer()
      .notNull()
      .references(() => install.id, { onDelete: 'cascade' }),
    device_id: integer()
      .notNull()
      .references(() => device.id, { onDelete: 'cascade' }),
    registered_at_ms: integer().notNull(),
  },
  (t) => [
    unique('install_device_once').on(t.install_id, t.device_id),
    index('install_device_by_device').on(t.device_id),
  ],
);

/** A device that checked in with a provider's code, linked or not. */
export const deviceProvider = sqliteTable(
  'device_provider',
  {
    device_id: integer()
      .notNull()
      .references(() => device.id, { onDelete: 'cascade' }),
    provider_id: integer()
      .notNull()
      .references(() => provider.id, { onDelete: 'cascade' }),
    last_seen_at_ms: integer().notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.device_id, t.provider_id] }),
    index('device_provider_by_provider').on(t.provider_id),
  ],
);

/** A device that checked in from a binding: linked for as long as the binding is active. */
export const deviceDomain = sqliteTable(
  'device_domain',
  {
    device_id: integer()
      .notNull()
      .references(() => device.id, { onDelete: 'cascade' }),
    domain_id: integer()
      .notNull()
      .references(() => domain.id, { onDelete: 'cascade' }),
    linked_at_ms: integer().notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.device_id, t.domain_id] }),
    index('device_domain_by_domain').on(t.domain_id, t.device_id),
  ],
);

/** A link or binding of a provider was shown with the device's token: what that opens. */
export const deviceProof = sqliteTable(
  'device_proof',
  {
    device_id: integer()
      .notNull()
      .references(() => device.id, { onDelete: 'cascade' }),
    provider_id: integer()
      .notNull()
      .references(() => provider.id, { onDelete: 'cascade' }),
    /** A link, or (0) a binding alone. */
    is_by_link: integer().notNull(),
    /** What was addressed to the device since then is the token's to read. */
    from_ms: integer().notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.device_id, t.provider_id] }),
    index('device_proof_by_provider').on(t.provider_id),
  ],
);

/** One push notification or remote command with all its recipients. */
export const distribution = sqliteTable(
  'distribution',
  {
    id: id(),
    provider_id: integer()
      .notNull()
      .references(() => provider.id, { onDelete: 'cascade' }),
    /** 10 push, 20 command. */
    notification_type: integer().notNull(),
    /** See core/distribution.ts; a trigger allows the transitions in `distribution_transition`. */
    status: integer().notNull(),
    /** Like `ios,android`; null when the targets are HWIDs. */
    target_os: text(),
    /** Comma-separated; empty when the targets are operating systems. */
    target_hwid: text().notNull(),
    created_at_ms: integer().notNull(),
    /** When delivery is to begin; the time of creation when it was not scheduled. */
    due_at_ms: integer().notNull(),
    is_scheduled: integer().notNull(),
    expires_at_ms: integer().notNull(),
    began_at_ms: integer(),
    finished_at_ms: integer(),
    /** The worker that delivers it, until when; see core/delivery.ts. */
    lease_owner: text(),
    lease_until_ms: integer(),
    /**
     * Where loading continues: 0 is the provider's links, else a binding, and the id reached there.
     */
    cursor_source: integer().notNull().default(0),
    cursor_id: integer().notNull().default(0),
    /** HWIDs that were not linked to the provider when the command was accepted. */
    unbound_count: integer().notNull().default(0),
    recipient_count: integer().notNull().default(0),
    sent_count: integer().notNull().default(0),
    failed_count: integer().notNull().default(0),
    /** When the last recipient that never fetched it was marked expired. */
    expired_at_ms: integer(),
    /** When its ledger was pruned. */
    pruned_at_ms: integer(),
    /** What the device gets, as JSON: last, as it can be long and most reads are without it. */
    payload: text().notNull(),
  },
  (t) => [
    index('distribution_by_provider').on(t.provider_id),
    index('distribution_unfinished').on(t.provider_id, t.due_at_ms).where(sql`status < 100`),
    index('distribution_in_delivery').on(t.provider_id).where(sql`status IN (5, 6, 40)`),
    index('distribution_unchecked').on(t.due_at_ms).where(sql`status IN (10, 20)`),
    index('distribution_to_expire').on(t.expires_at_ms).where(sql`expired_at_ms IS NULL`),
    index('distribution_to_prune').on(t.finished_at_ms).where(sql`pruned_at_ms IS NULL`),
    index('distribution_unbound').on(t.provider_id, t.created_at_ms).where(sql`unbound_count > 0`),
    check('distribution_type', sql`${t.notification_type} IN (10, 20)`),
    check(
      'distribution_status',
      sql`${t.status} IN (5, 6, 10, 20, 30, 40, 100, 110, 120, 130, 140)`,
    ),
  ],
);

/** Which status may follow which: filled by migration 0002, compared with the core by a test. */
export const distributionTransition = sqliteTable(
  'distribution_transition',
  { from_status: integer().notNull(), to_status: integer().notNull() },
  (t) => [primaryKey({ columns: [t.from_status, t.to_status] })],
);

/** The ledger: what became of a distribution at one device. */
export const recipient = sqliteTable(
  'recipient',
  {
    id: id(),
    distribution_id: integer()
      .notNull()
      .references(() => distribution.id, { onDelete: 'cascade' }),
    device_id: integer()
      .notNull()
      .references(() => device.id, { onDelete: 'cascade' }),
    /** 1 queued, 2 sent, 3 failed, 4 expired. */
    state: integer().notNull(),
    /** Addressed although the device is not linked to the provider. */
    is_unbound: integer().notNull(),
    /** Still in the device's inbox: sent, not acknowledged, not expired. */
    is_waiting: integer().notNull(),
    queued_at_ms: integer().notNull(),
    sent_at_ms: integer(),
    failed_at_ms: integer(),
    expired_at_ms: integer(),
    received_at_ms: integer(),
    opened_at_ms: integer(),
    executed_at_ms: integer(),
    refused_at_ms: integer(),
    /** Why it failed, here or on the device. */
    detail: text(),
  },
  (t) => [
    unique('recipient_once').on(t.distribution_id, t.device_id),
    index('recipient_inbox').on(t.device_id, t.id).where(sql`is_waiting = 1`),
    check('recipient_state', sql`${t.state} BETWEEN 1 AND 4`),
  ],
);

/** The audit log: a row is the entries of one commit. See core/audit-chain.ts. */
export const audit = sqliteTable(
  'audit',
  {
    last_number: integer().primaryKey(),
    at_ms: integer().notNull(),
    prev_hash: hash().notNull(),
    hash: hash().notNull(),
    entries: text().notNull(),
  },
  (t) => [check('audit_hashes', sql`length(${t.prev_hash}) = 32 AND length(${t.hash}) = 32`)],
);

/** The last link that was pruned: where the chain that is left begins. One row or none. */
export const auditAnchor = sqliteTable(
  'audit_anchor',
  {
    id: integer().primaryKey(),
    last_number: integer().notNull(),
    hash: hash().notNull(),
    until_ms: integer().notNull(),
  },
  (t) => [check('audit_anchor_once', sql`${t.id} = 1`)],
);

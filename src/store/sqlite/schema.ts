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

export const device = sqliteTable('device', {
  id: id(),
  hwid: text().notNull().unique(),
  /** `ios`, `android`, or whatever else the device said; empty when it said nothing. */
  os: text().notNull(),
  os_version: text().notNull(),
  device_name: text().notNull(),
  app_version: text().notNull(),
  user_agent: text().notNull(),
  first_seen_at_ms: integer().notNull(),
  last_seen_at_ms: integer().notNull(),
});

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
    index('device_domain_by_domain').on(t.domain_id),
  ],
);

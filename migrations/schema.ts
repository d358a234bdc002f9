/**
 * The tables, as drizzle knows them; others are in schema-account.ts, schema-device.ts,
 * schema-link.ts, schema-outbox.ts and schema-reminder.ts. `make migration` turns a change here
 * into SQL under `migrations/sqlite/`. Property names are the column names: a row read with
 * bun:sqlite and a row typed by drizzle are then the same thing.
 *
 * Triggers alone (migrations 0001, 0004, 0005, 0008, 0013, 0014, 0016) write some columns, and
 * delete a token that lost its last place:
 *
 * | Columns | Always |
 * |---|---|
 * | `install.device_count` | the number of rows; a CHECK bounds it: `install_limit`, `over_max` |
 * | `provider.install_count`, `domain_count`, `slot_end_count` | the number of rows |
 * | `provider.tombstone_count`, `idempotent_count` | the number of rows |
 * | `device_provider.slot_count` | the number of rows |
 * | `device_provider.tie_count` | the number of rows, and 1 for a browser of a link |
 * | `device.holder_count`, `appliance.stranger_count` | the number of rows |
 * | `provider.kept_bytes`, `ledger_count` | the sum over its distributions |
 * | `domain.ride_version`, `ride_until_ms` | the provider's |
 * | `device_provider.home_install_id` | the first link, until a write moves it |
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
import type { FollowProblem, PanelUserState } from '../src/core/port/follow.ts';
import type { SightingKind } from '../src/core/port/sighting.ts';
import type { UpkeepTask } from '../src/core/port/upkeep.ts';

export const id = () => integer().primaryKey({ autoIncrement: true });
export const hash = () => blob({ mode: 'buffer' });

/** The life of slots, see core/slot.ts; null: as the provider has it, or the program. */
const policy = () => ({
  inactive_days: integer(),
  when_full: text({ enum: ['refuse', 'replace-oldest'] }),
  cool_down_hours: integer(),
});

/** Whether a full link refuses, and what becomes of calls without a HWID; null: as above. */
const enforcement = () => ({
  /** 0: devices above the limit are admitted and counted. */
  enforce: integer().$type<0 | 1>(),
  without_hwid: text({ enum: ['refuse', 'pass', 'count'] }),
});

/** What a full link does with a phone that came back with another HWID; null: as above. */
const phones = () => ({
  same_phone: text({ enum: ['off', 'ask', 'replace'] }),
  /** Hours of silence after which it may. */
  same_phone_hours: integer(),
  /** What becomes of several phones with one HWID. */
  copied_hwid: text({ enum: ['off', 'tell', 'count', 'refuse'] }),
});

/** What becomes of a HWID that was not named; null: as above. */
const newcomers = () => ({
  when_new: text({ enum: ['admit', 'refuse'] }),
});

/** Addresses that apps show as buttons beside a subscription; null: as above, or none. */
const buttons = () => ({
  support_url: text(),
  web_page_url: text(),
  /** The addresses before a key changed them, as JSON, and when it did: core/unconfirmed.ts. */
  former_buttons: text(),
  buttons_at_ms: integer().notNull().default(0),
});

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
    domain_count: integer().notNull().default(0),
    /** Of distributions with a ledger: bytes of payloads and HWIDs, and 200 for each. */
    kept_bytes: integer().notNull().default(0),
    /** Recipients written for distributions whose ledger was not pruned. */
    ledger_count: integer().notNull().default(0),
    /** When the minute began in which sends are counted, and how many there were in it. */
    sends_from_ms: integer().notNull().default(0),
    send_count: integer().notNull().default(0),
    /** The minute and day of its entries in the audit log: core/audit/listed.ts. */
    changes_from_ms: integer().notNull().default(0),
    change_count: integer().notNull().default(0),
    alone_count: integer().notNull().default(0),
    audit_day: integer().notNull().default(0),
    change_day_count: integer().notNull().default(0),
    alone_day_count: integer().notNull().default(0),
    /** Deeds that 0.18.0 and earlier counted without an entry; the next entry has their number. */
    unlisted_count: integer().notNull().default(0),
    ...policy(),
    slot_end_count: integer().notNull().default(0),
    ...enforcement(),
    tombstone_count: integer().notNull().default(0),
    idempotent_count: integer().notNull().default(0),
    /** What may ride at most, see core/ride; null: as the operator's file has it. */
    ride: text({ enum: ['off', 'notifications'] }),
    /** 1: general notifications ride to other systems than iOS and Android too. */
    ride_desktop: integer().$type<0 | 1>().notNull().default(0),
    ...buttons(),
    /** When its buttons are shown; null: where the panel sends none. */
    buttons: text({ enum: ['always'] }),
    /** 1: an app that asks finds the server of messages by its subscription: docs/discovery.md. */
    discovery: integer().$type<0 | 1>().notNull().default(0),
    /** 1: its users have a page, see core/my, with its own name and colour (`#1a2b3c`) there. */
    my: integer().$type<0 | 1>().notNull().default(0),
    my_name: text(),
    my_color: text(),
    /** 1: its users may cut off a device that they free: core/cut-off.ts. */
    my_cut_off: integer().$type<0 | 1>().notNull().default(0),
    /** 1: its users see their traffic on the page, too. */
    my_traffic: integer().$type<0 | 1>().notNull().default(0),
    ...phones(),
    /** `on`: `rc` 2 of add-install names the provider's own link; null: as the operator has it. */
    rc2_body: text({ enum: ['on', 'off'] }),
    /** 1: add-install accepts codes of 8 to 11 characters. */
    short_codes: integer().$type<0 | 1>().notNull().default(0),
    /** The UTC day of its last copied HWIDs, and the number of those found on it. */
    copied_day: integer().notNull().default(0),
    copied_count: integer().notNull().default(0),
    /** 1: the figures of its customers' subscriptions are kept. */
    subscription_figures: integer().$type<0 | 1>().notNull().default(0),
    /** Since when; null: they are not kept, or nobody knows. */
    figures_since_ms: integer(),
    /** Grows with each change of what rides to all devices; until when anything does. */
    ride_version: integer().notNull().default(0),
    ride_until_ms: integer().notNull().default(0),
    /** 1: fetches may tie keys to links: core/link-tie.ts. */
    ties: integer().$type<0 | 1>().notNull().default(1),
    ...newcomers(),
    /** Hours without pushes of reminders, `HH:MM`, and the zone of its dates, as `+03:00`. */
    quiet_from: text(),
    quiet_to: text(),
    time_zone: text(),
    /** Until when a person looked through what keys changed: core/unconfirmed.ts. */
    confirmed_at_ms: integer().notNull().default(0),
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
    /** SHA-256 of the key by which a panel knows the subscription; null: it has none. */
    subscription_key_hash: hash(),
    ...policy(),
    /** When a slot was last replaced: the cool-down counts from it. */
    replaced_at_ms: integer(),
    ...enforcement(),
    /**
     * Devices that the link may hold although they are more than its limit: those that it admitted
     * while it did not enforce. Triggers lower it with each slot that ends.
     */
    over_max: integer().notNull().default(0),
    /** The lower limit that it gets as its devices leave; null: none. */
    limit_wanted: integer(),
    ...buttons(),
    /** When its user last freed a slot: a cool-down counts from it. */
    freed_at_ms: integer(),
    ...phones(),
    /** 1: some slots may be held by the hash of a HWID (core/formats.ts), or by a named HWID. */
    has_hashes: integer().notNull().default(0),
    /** 1: some HWIDs of it may have several phones, rows of `slot_phone`. */
    has_phones: integer().notNull().default(0),
    /** 1: some HWIDs may be barred. */
    has_bars: integer().notNull().default(0),
    /** 1: some devices may not have fetched since the credentials changed. */
    awaits_fetch: integer().notNull().default(0),
    /** The link's user in a panel, `panel:user`, and what that panel last said. */
    panel_user: text(),
    panel_facts: text(),
    /** 1: the proxy made the link for a key that no link had. */
    of_gate: integer().$type<0 | 1>().notNull().default(0),
    ...newcomers(),
    /** What placeholders of messages show as the user's name. */
    greeting: text(),
  },
  (t) => [
    index('install_by_provider').on(t.provider_id),
    uniqueIndex('install_by_panel_user')
      .on(t.provider_id, t.panel_user)
      .where(sql`panel_user IS NOT NULL`),
    uniqueIndex('install_by_subscription_key')
      .on(t.subscription_key_hash, t.provider_id)
      .where(sql`subscription_key_hash IS NOT NULL`),
    check('install_limit_range', sql`${t.install_limit} BETWEEN 1 AND 100`),
    check(
      'install_never_over_full',
      sql`${t.device_count} >= 0 AND (${t.device_count} <= ${t.install_limit} OR ${t.device_count} <= ${t.over_max})`,
    ),
    check('install_over_max', sql`${t.over_max} BETWEEN 0 AND 100`),
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
    /** The provider's: doors read bindings, and not providers. */
    ride_version: integer().notNull().default(0),
    ride_until_ms: integer().notNull().default(0),
  },
  (t) => [
    unique('domain_once_per_provider').on(t.provider_id, t.domain_hash),
    index('domain_by_provider').on(t.provider_id),
    check('domain_status', sql`${t.status} IN (5, 10)`),
  ],
);

/** The audit log: a row is the entries of one commit. See core/audit/chain.ts. */
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

/** The last block that was pruned: the chain that is left begins behind it. One row or none. */
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

/** Deeds of one action that get one entry together. By code: they outlive their provider. */
export const auditFold = sqliteTable(
  'audit_fold',
  {
    provider: text().notNull(),
    action: text().notNull(),
    from_ms: integer().notNull(),
    deed_count: integer().notNull(),
    /** The rest as JSON: core/audit/fold.ts. */
    fold: text().notNull(),
  },
  (t) => [primaryKey({ columns: [t.provider, t.action] })],
);

/** An upstream of the gate that was added in the console; others are in the configuration. */
export const gateUpstream = sqliteTable('gate_upstream', {
  id: id(),
  name: text().notNull().unique(),
  /** Its settings as JSON, as the configuration spells them. */
  settings: text().notNull(),
  created_at_ms: integer().notNull(),
  updated_at_ms: integer().notNull(),
  /** Who changed it last, as the audit log names them. */
  updated_by: text().notNull(),
});

/** Things seen at panels, for the doctor: src/core/port/sighting.ts. */
export const sighting = sqliteTable(
  'sighting',
  {
    host: text().notNull(),
    kind: text().$type<SightingKind>().notNull(),
    subject: text().notNull(),
    seen_count: integer().notNull(),
    first_seen_at_ms: integer().notNull(),
    last_seen_at_ms: integer().notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.host, t.kind, t.subject] }),
    index('sighting_by_time').on(t.last_seen_at_ms),
  ],
);

/** The time by the steady clock of each machine that serves: src/core/leap.ts. */
export const steadyTime = sqliteTable('steady_time', {
  /** Name of the node; empty: the one machine of a file. */
  name: text().primaryKey(),
  at_ms: integer().notNull(),
  ran_ms: integer().notNull(),
  /** The leap of its clock as JSON; null: none. */
  leap: text(),
  /** Suspended time by day as JSON. */
  spent: text().notNull(),
});

/** How each task of upkeep went last: src/core/port/upkeep.ts. A row for each task. */
export const upkeep = sqliteTable(
  'upkeep',
  {
    task: text().$type<UpkeepTask>().primaryKey(),
    /** When it runs, in the words of its setting; empty: it is off. */
    schedule: text().notNull(),
    scheduled_at_ms: integer().notNull(),
    succeeded_at_ms: integer(),
    /** The file that it made, or the version that it found. */
    result: text(),
    bytes: integer(),
    took_ms: integer(),
    failed_at_ms: integer(),
    reason: text(),
    code: text(),
    is_failing: integer().notNull(),
    /** Of the last row of failures, which stay after its end. */
    failing_since_ms: integer(),
    failure_count: integer().notNull(),
  },
  (t) => [check('upkeep_is_failing', sql`${t.is_failing} IN (0, 1)`)],
);

/** Panels that are followed, and how their passes went: src/core/port/follow.ts. */
export const follow = sqliteTable('follow', {
  id: id(),
  /** The host of the upstream. */
  host: text().notNull().unique(),
  /** The provider and the panel whose users it has. */
  source: text().notNull(),
  /** The key by which ids of users are hashed. */
  hash_key: hash().notNull(),
  /** The admin whose API showed the users; empty: all users; null: none were seen yet. */
  view: text(),
  claimed_at_ms: integer().notNull(),
  next_at_ms: integer().notNull(),
  lease: text(),
  lease_until_ms: integer().notNull().default(0),
  /** The last whole pass; null: there was none. */
  passed_at_ms: integer(),
  took_ms: integer(),
  user_count: integer().notNull().default(0),
  added_count: integer().notNull().default(0),
  changed_count: integer().notNull().default(0),
  gone_count: integer().notNull().default(0),
  missing_count: integer().notNull().default(0),
  /** The last failures in a row, since the last whole pass. */
  problem: text().$type<FollowProblem>(),
  reason: text(),
  failed_at_ms: integer(),
  failing_since_ms: integer(),
  failure_count: integer().notNull().default(0),
  /** A pass that waits for the operator: the users that it missed of those known, and its view. */
  held_missing_count: integer(),
  held_known_count: integer(),
  held_view: text(),
  /** 1: the operator agreed to that pass. */
  is_accepted: integer().notNull().default(0),
});

/** Users of a followed panel as the last pass saw them. */
export const followedUser = sqliteTable(
  'followed_user',
  {
    follow_id: integer()
      .notNull()
      .references(() => follow.id, { onDelete: 'cascade' }),
    user_hash: hash().notNull(),
    key_hash: hash().notNull(),
    state: text().$type<PanelUserState>().notNull(),
    /** The limit; 0: unlimited; null: the panel sets none. */
    panel_limit: integer(),
    /** The end of the user; null: none, or it begins later. */
    ends_at_ms: integer(),
    note: text(),
    /** Whole passes in a row that did not see it. */
    missed_count: integer().notNull().default(0),
  },
  (t) => [
    primaryKey({ columns: [t.follow_id, t.user_hash] }),
    index('followed_user_by_key').on(t.key_hash, t.follow_id),
  ],
);

/** Counts of the whole appliance, kept by triggers, and facts about the file. One row. */
export const appliance = sqliteTable(
  'appliance',
  {
    id: integer().primaryKey(),
    /** Devices on no link and tied to no binding. */
    stranger_count: integer().notNull(),
    /** The version of the program that migrated it last, for older ones. */
    program: text(),
    /** Where the data moved, for people; null: they did not. */
    moved_to: text(),
  },
  (t) => [check('appliance_once', sql`${t.id} = 1`)],
);

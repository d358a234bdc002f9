/** The tables of devices, and of what is sent to them: see schema.ts. */

import { sql } from 'drizzle-orm';
import {
  check,
  index,
  integer,
  primaryKey,
  sqliteTable,
  text,
  unique,
  uniqueIndex,
} from 'drizzle-orm/sqlite-core';
import type { DistributionType } from '../src/core/port/distribution.ts';
import { domain, hash, id, install, provider } from './schema.ts';

/**
 * A device's facts by its own word. `os` is `ios`, `android` or another text; empty: unknown.
 */
const facts = () => ({
  os: text().notNull(),
  os_version: text().notNull(),
  device_name: text().notNull(),
  app_version: text().notNull(),
  user_agent: text().notNull(),
});

/** A HWID. Its facts here are of calls that name no provider: no provider sees them. */
export const device = sqliteTable(
  'device',
  {
    id: id(),
    hwid: text().notNull().unique(),
    ...facts(),
    first_seen_at_ms: integer().notNull(),
    last_seen_at_ms: integer().notNull(),
    /** At how many providers it has a slot or a tie; 0: it is a stranger, and may be forgotten. */
    holder_count: integer().notNull().default(0),
  },
  (t) => [index('device_stranger').on(t.last_seen_at_ms).where(sql`holder_count = 0`)],
);

/**
 * A token. It reads the places that it holds: rows of `device_provider` with its id, and perhaps
 * the device's unattached inbox, with messages of providers that the device is not linked to.
 */
export const deviceToken = sqliteTable(
  'device_token',
  {
    id: id(),
    device_id: integer()
      .notNull()
      .references(() => device.id, { onDelete: 'cascade' }),
    /** SHA-256 of the token. */
    token_hash: hash().notNull().unique(),
    /** BCP 47 tag of the language that the app shows. */
    locale: text(),
    /** A faster way to the same inbox: `fcm`, `apns` or `webpush` and its address, as JSON. */
    push: text(),
    /** When the app registered last, with this address. Null: before that was noted. */
    push_at_ms: integer(),
    /** When a gateway said that the address is dead, and why; it was dropped then. */
    push_dropped_at_ms: integer(),
    push_dropped_why: text(),
    /** It was registered without evidence: the unattached inbox keeps it alive. */
    stands_alone: integer().notNull(),
    /**
     * The newest distribution and ledger row when the unattached inbox was taken: it opens later
     * ones. Null: the token does not hold that place.
     */
    nobody_after_distribution_id: integer(),
    nobody_after_recipient_id: integer(),
    /** Time at which the token was last shown; a UTC day writes it once. */
    last_seen_at_ms: integer().notNull().default(0),
    /** 1: its app opened a stream, so that it gets messages by streams. */
    has_stream: integer().notNull().default(0),
    /** Ends that no answer has carried yet, as src/core/port/ended.ts writes them; null: none. */
    ended: text(),
  },
  (t) => [
    index('device_token_by_device').on(t.device_id),
    index('device_token_to_tell').on(t.id).where(sql`ended IS NOT NULL`),
    uniqueIndex('device_token_of_nobody')
      .on(t.device_id)
      .where(sql`nobody_after_distribution_id IS NOT NULL`),
    check(
      'device_token_marks',
      sql`(${t.nobody_after_distribution_id} IS NULL) = (${t.nobody_after_recipient_id} IS NULL)`,
    ),
    check(
      'device_token_stands',
      sql`${t.stands_alone} = 0 OR ${t.nobody_after_distribution_id} IS NOT NULL`,
    ),
  ],
);

/** A token that ended with the slot of its last place: refused with the reason for a day. */
export const endedToken = sqliteTable(
  'ended_token',
  {
    /** SHA-256 of the token. */
    token_hash: hash().primaryKey(),
    why: text({ enum: ['slot_freed', 'link_ended', 'link_replaced'] }).notNull(),
    ended_at_ms: integer().notNull(),
    /** The provider of that place, which may be removed: only its hosts know the token. */
    provider_id: integer(),
  },
  (t) => [
    index('ended_token_by_time').on(t.ended_at_ms),
    check('ended_token_why', sql`${t.why} IN ('slot_freed', 'link_ended', 'link_replaced')`),
  ],
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
    /** The link's. */
    provider_id: integer().notNull(),
    registered_at_ms: integer().notNull(),
    /** The newest ledger row when the slot was taken: a registration by it opens later ones. */
    after_recipient_id: integer().notNull(),
    /** Time at which the device last called with the link; a UTC day writes it once. */
    last_seen_at_ms: integer().notNull().default(0),
    /**
     * Until then its first phone is in doubt; -1: the facts of the device may be those of another
     * link. See core/copied-hwid.ts.
     */
    doubt_until_ms: integer().notNull().default(0),
  },
  (t) => [
    unique('install_device_once').on(t.install_id, t.device_id),
    index('install_device_by_device').on(t.device_id, t.provider_id, t.id),
  ],
);

/**
 * A device at a provider that it is linked to, was linked to, or named: its facts there, and its
 * registration for the provider's messages. Triggers count its slots and ties, so whether it is
 * linked is one look; a provider's devices by operating system are a range of an index. WITHOUT
 * ROWID (migration 0007), for which drizzle has no word: the row is found by its key at once.
 */
export const deviceProvider = sqliteTable(
  'device_provider',
  {
    device_id: integer()
      .notNull()
      .references(() => device.id, { onDelete: 'cascade' }),
    provider_id: integer()
      .notNull()
      .references(() => provider.id, { onDelete: 'cascade' }),
    ...facts(),
    last_seen_at_ms: integer().notNull(),
    /** Slots on the provider's links. */
    slot_count: integer().notNull().default(0),
    /** Ties to the provider's bindings, active or not: 16 at most. */
    tie_count: integer().notNull().default(0),
    /** The token that is registered here; null: none is. */
    token_id: integer().references(() => deviceToken.id, { onDelete: 'set null' }),
    /** It showed a link that spoke for the HWID, or (0) a binding alone. */
    is_by_link: integer().notNull().default(0),
    /** The newest ledger row when it began: it opens later ones. */
    after_recipient_id: integer().notNull().default(0),
    /** The newest slot when it began: later slots are younger than the registration. */
    after_slot_id: integer().notNull().default(0),
    /** Time at which it last called without naming a link: all its slots here were seen then. */
    checked_in_at_ms: integer().notNull().default(0),
    /**
     * The link by which the registration was claimed. It speaks for the registration when its slot
     * is gone, and when the link is gone no other has its id: so it refers to no row. Null: it was
     * claimed by a binding, or by a version that did not remember the link.
     */
    claim_install_id: integer(),
    /** When the token ended with its last slot: the claim keeps others off for a while. */
    claim_ended_at_ms: integer(),
    /** 1: its only slot was last seen on an earlier day than the device: another slot ended. */
    seen_apart: integer().notNull().default(0),
    /** Until when a message that names the device rides. */
    ride_until_ms: integer().notNull().default(0),
    /**
     * The home link: that of the first slot, which alone carries what is for this device. It refers
     * to no row, as {@link claim_install_id}.
     */
    home_install_id: integer(),
    /** When the home slot that ended was last seen; null: it is there. */
    home_left_at_ms: integer(),
    /** When another link became the home link: it carries later messages. */
    home_moved_at_ms: integer().notNull().default(0),
    /**
     * A browser that gets messages on the user's page: the link that it is tied to. Triggers end
     * the tie, and the registration with it, when the link ends, is disabled or gets another code.
     */
    browser_install_id: integer(),
  },
  (t) => [
    primaryKey({ columns: [t.device_id, t.provider_id] }),
    index('device_provider_by_os').on(t.provider_id, t.os, t.device_id),
    index('device_provider_idle')
      .on(t.last_seen_at_ms)
      .where(sql`slot_count = 0 AND tie_count = 0`),
    index('device_provider_by_token').on(t.token_id).where(sql`token_id IS NOT NULL`),
    index('device_provider_browser')
      .on(t.browser_install_id)
      .where(sql`browser_install_id IS NOT NULL`),
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
    /** The binding's. */
    provider_id: integer().notNull(),
    linked_at_ms: integer().notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.device_id, t.domain_id] }),
    index('device_domain_by_domain').on(t.domain_id, t.device_id),
    index('device_domain_by_provider').on(t.device_id, t.provider_id),
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
    notification_type: integer().$type<DistributionType>().notNull(),
    /** See core/message/status.ts; a trigger allows what `distribution_transition` has. */
    status: integer().notNull(),
    /** Like `ios,android`; null when the targets are HWIDs or a segment. */
    target_os: text(),
    /** Comma-separated; empty when the targets are operating systems or a segment. */
    target_hwid: text().notNull(),
    created_at_ms: integer().notNull(),
    /** When delivery is to begin: the time of creation, unless it is scheduled for a later one. */
    due_at_ms: integer().notNull(),
    /** It may reach HWIDs that are not linked to the provider: decided when it was accepted. */
    reaches_unbound: integer().notNull(),
    expires_at_ms: integer().notNull(),
    began_at_ms: integer(),
    finished_at_ms: integer(),
    /** The worker that delivers it, until when; see core/message/deliver.ts. */
    lease_owner: text(),
    lease_until_ms: integer(),
    /** Where loading continues: which of its operating systems, and the device reached there. */
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
    /**
     * When the last inbox had it: from then on it waits for gateways alone, in no lane. Null:
     * before that, or there was nothing to wait for.
     */
    handed_over_at_ms: integer(),
    /** Recipients whose gateway has not given a final answer. */
    push_waiting_count: integer().notNull().default(0),
    /** The notification that this one corrects; it may be pruned since. */
    replaces_id: integer(),
    /**
     * The reminder that it is a round of, and the UTC day; null: somebody sent it. It refers to no
     * row: what was sent by a reminder that is removed stays a round.
     */
    reminder_id: integer(),
    reminder_day: integer(),
    /**
     * JSON of a search whose devices it is for, which is made when delivery begins, its times
     * counted from then; null: its targets are named. See core/message/segment.ts.
     */
    segment: text(),
    /** Where loading of such a one continues: the operating system of `cursor_id`. */
    cursor_os: text(),
    /** When its rides to devices were ended: such a one may have too many to end each. */
    ride_ended_at_ms: integer(),
    /** The message, as JSON: last, as it can be long and most reads are without it. */
    payload: text().notNull(),
  },
  (t) => [
    index('distribution_by_provider').on(t.provider_id),
    uniqueIndex('distribution_round')
      .on(t.reminder_id, t.reminder_day)
      .where(sql`reminder_id IS NOT NULL`),
    index('distribution_rounds').on(t.provider_id, t.id).where(sql`reminder_id IS NOT NULL`),
    index('distribution_unfinished')
      .on(t.provider_id, t.due_at_ms)
      .where(sql`status < 100 AND handed_over_at_ms IS NULL`),
    index('distribution_unscheduled')
      .on(t.provider_id)
      .where(sql`status < 100 AND handed_over_at_ms IS NULL AND due_at_ms = created_at_ms`),
    index('distribution_in_delivery')
      .on(t.provider_id)
      .where(sql`status IN (5, 6, 40) AND handed_over_at_ms IS NULL`),
    index('distribution_at_gateways')
      .on(t.expires_at_ms)
      .where(sql`status = 40 AND handed_over_at_ms IS NOT NULL`),
    index('distribution_awaits_none')
      .on(t.id)
      .where(sql`status = 40 AND handed_over_at_ms IS NOT NULL AND push_waiting_count = 0`),
    index('distribution_unchecked').on(t.due_at_ms).where(sql`status IN (10, 20)`),
    index('distribution_blocked').on(t.id).where(sql`status = 140 AND expired_at_ms IS NULL`),
    index('distribution_to_expire')
      .on(t.expires_at_ms)
      .where(sql`expired_at_ms IS NULL AND status >= 100`),
    index('distribution_to_prune').on(t.finished_at_ms).where(sql`pruned_at_ms IS NULL`),
    index('distribution_pruned').on(t.finished_at_ms).where(sql`pruned_at_ms IS NOT NULL`),
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
    /**
     * The provider's id: for the token registered there. Below 0, the same number: the device was
     * not linked to the provider, so it is for the token that holds the unattached inbox.
     */
    inbox: integer().notNull(),
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
    /** At a gateway: 1 queued, 2 accepted, 3 failed; null: it was for none, or needed none. */
    push_state: integer(),
    pushed_at_ms: integer(),
    /** Why the gateway failed. */
    push_problem: text(),
    /** When it was first in an answer to the device's fetch, and in which app and form. */
    carried_at_ms: integer(),
    carried: text(),
  },
  (t) => [
    unique('recipient_once').on(t.distribution_id, t.device_id),
    // Not only of what waits: a device is forgotten by its rows.
    index('recipient_inbox').on(t.device_id, t.is_waiting, t.inbox),
    check('recipient_state', sql`${t.state} BETWEEN 1 AND 4`),
    check('recipient_inbox_of', sql`${t.inbox} <> 0`),
  ],
);

/**
 * What rides on subscriptions: a message, or one setting of a command. A newer one of the same
 * provider, device, system and part takes its place.
 */
export const ride = sqliteTable(
  'ride',
  {
    id: id(),
    provider_id: integer()
      .notNull()
      .references(() => provider.id, { onDelete: 'cascade' }),
    /** Null: it is for all devices with the operating system. */
    device_id: integer().references(() => device.id, { onDelete: 'cascade' }),
    /** Empty for a named device. */
    os: text().notNull(),
    /** `message`, `domain`, `url`, `update`, or `set:` and the key of a setting. */
    part: text().notNull(),
    distribution_id: integer()
      .notNull()
      .references(() => distribution.id, { onDelete: 'cascade' }),
    from_ms: integer().notNull(),
    until_ms: integer().notNull(),
  },
  (t) => [
    uniqueIndex('ride_of_all').on(t.provider_id, t.os, t.part).where(sql`device_id IS NULL`),
    uniqueIndex('ride_of_device')
      .on(t.device_id, t.provider_id, t.part)
      .where(sql`device_id IS NOT NULL`),
    index('ride_by_distribution').on(t.distribution_id),
    index('ride_by_end').on(t.until_ms),
    check('ride_ends', sql`${t.until_ms} >= ${t.from_ms}`),
  ],
);

/** Tables of what links have seen: ended slots, refusals, tombstones, repeated calls, figures. */

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
import type { RefusalReason } from '../src/core/port/figure.ts';
import type { SlotPhone } from '../src/core/port/phone.ts';
import { hash, id, install, provider } from './schema.ts';
import { device } from './schema-device.ts';

/** The end of a slot: with the slots that are there, the story of a link. */
export const slotEnd = sqliteTable(
  'slot_end',
  {
    id: id(),
    install_id: integer()
      .notNull()
      .references(() => install.id, { onDelete: 'cascade' }),
    /** The link's. */
    provider_id: integer().notNull(),
    /** The device that held the slot; null: it was forgotten since. */
    device_id: integer().references(() => device.id, { onDelete: 'set null' }),
    registered_at_ms: integer().notNull(),
    last_seen_at_ms: integer().notNull(),
    ended_at_ms: integer().notNull(),
    why: text({ enum: ['deleted', 'inactive', 'replaced', 'forgotten'] }).notNull(),
    /** Name of who ended it, as the audit log has it; `device`: a newcomer. */
    actor: text().notNull(),
    /** The newcomer that needed it. */
    for_device_id: integer().references(() => device.id, { onDelete: 'set null' }),
  },
  (t) => [
    index('slot_end_by_install').on(t.install_id, t.id),
    index('slot_end_by_provider').on(t.provider_id, t.id),
    index('slot_end_by_device').on(t.device_id).where(sql`device_id IS NOT NULL`),
    index('slot_end_by_newcomer').on(t.for_device_id).where(sql`for_device_id IS NOT NULL`),
    check('slot_end_why', sql`${t.why} IN ('deleted', 'inactive', 'replaced', 'forgotten')`),
  ],
);

/**
 * A HWID that a provider named for a link, and that has not come yet. It counts as a device of the
 * link and is none: nothing joins it with the table of devices.
 */
export const namedHwid = sqliteTable(
  'named_hwid',
  {
    id: id(),
    install_id: integer()
      .notNull()
      .references(() => install.id, { onDelete: 'cascade' }),
    /** The link's. */
    provider_id: integer().notNull(),
    hwid: text().notNull(),
    named_at_ms: integer().notNull(),
    /** What a panel knew of it; empty: nothing. */
    os: text().notNull(),
    os_version: text().notNull(),
    device_name: text().notNull(),
    app_version: text().notNull(),
    user_agent: text().notNull(),
  },
  (t) => [
    uniqueIndex('named_hwid_once').on(t.install_id, t.hwid),
    index('named_hwid_by_provider').on(t.provider_id),
    index('named_hwid_by_hwid').on(t.hwid),
  ],
);

/** Devices that a link refused, and when the last time. */
export const installRefusal = sqliteTable('install_refusal', {
  install_id: integer()
    .primaryKey()
    .references(() => install.id, { onDelete: 'cascade' }),
  refused_count: integer().notNull(),
  refused_at_ms: integer().notNull(),
  /** Why the last one was. */
  reason: text().$type<RefusalReason>().notNull(),
  /** The UTC day of the last one, as days since 1970, and how many there were that day. */
  day: integer().notNull().default(0),
  day_count: integer().notNull().default(0),
});

/** A device that a link refused: the last twenty of a link. Texts have 64 characters at most. */
export const refusedDevice = sqliteTable(
  'refused_device',
  {
    install_id: integer()
      .notNull()
      .references(() => install.id, { onDelete: 'cascade' }),
    /** Empty: the calls without a HWID. */
    hwid: text().notNull(),
    device_name: text().notNull(),
    os: text().notNull(),
    /** Why the last call was refused. */
    reason: text().$type<RefusalReason>().notNull(),
    refused_count: integer().notNull(),
    first_refused_at_ms: integer().notNull(),
    last_refused_at_ms: integer().notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.install_id, t.hwid] }),
    index('refused_device_by_time').on(t.last_refused_at_ms),
    index('refused_device_by_hwid').on(t.hwid),
  ],
);

/**
 * The phones that send one HWID of a link: core/phones.ts. A slot has rows from the second phone
 * on. WITHOUT ROWID, as `device_provider` is.
 */
export const slotPhone = sqliteTable(
  'slot_phone',
  {
    install_id: integer()
      .notNull()
      .references(() => install.id, { onDelete: 'cascade' }),
    /** The device with the HWID that they send. */
    device_id: integer()
      .notNull()
      .references(() => device.id, { onDelete: 'cascade' }),
    number: integer().notNull(),
    /** Where it asked; empty: the phone is known by the facts of the slot alone. */
    door: text().$type<SlotPhone['door']>().notNull(),
    family: text().notNull(),
    app: text().notNull(),
    /** The keyed hash of the model, hexadecimal; empty: it is not known. */
    model_hash: text().notNull(),
    state: text({ enum: ['first', 'pending', 'hint', 'certain', 'ignored'] }).notNull(),
    first_seen_at_ms: integer().notNull(),
    last_seen_at_ms: integer().notNull(),
    /** The device with the derived HWID that holds a slot for it; null: it has none. */
    own_device_id: integer().references(() => device.id, { onDelete: 'set null' }),
    /** When it last was in an event; 0: never. */
    told_at_ms: integer().notNull().default(0),
  },
  (t) => [
    primaryKey({ columns: [t.install_id, t.device_id, t.number] }),
    index('slot_phone_by_device').on(t.device_id),
    index('slot_phone_by_own_device').on(t.own_device_id).where(sql`own_device_id IS NOT NULL`),
    index('slot_phone_by_time').on(t.last_seen_at_ms),
    index('slot_phone_certain').on(t.install_id).where(sql`state = 'certain'`),
    check(
      'slot_phone_state',
      sql`${t.state} IN ('first', 'pending', 'hint', 'certain', 'ignored')`,
    ),
  ],
);

/** A link that was removed, or the code that a revoked link had: neither is made again. */
export const installTombstone = sqliteTable(
  'install_tombstone',
  {
    id: id(),
    provider_id: integer()
      .notNull()
      .references(() => provider.id, { onDelete: 'cascade' }),
    install_code: text().notNull().unique(),
    /** Null: the link had no key, or keeps it. */
    subscription_key_hash: hash(),
    ended_at_ms: integer().notNull(),
    why: text({ enum: ['removed', 'revoked'] }).notNull(),
  },
  (t) => [
    index('install_tombstone_by_provider').on(t.provider_id, t.id),
    index('install_tombstone_by_key')
      .on(t.subscription_key_hash, t.provider_id)
      .where(sql`subscription_key_hash IS NOT NULL`),
    check('install_tombstone_why', sql`${t.why} IN ('removed', 'revoked')`),
  ],
);

/** A key that a fetch with the code of another link named: core/link-tie.ts. */
export const linkTie = sqliteTable(
  'link_tie',
  {
    id: id(),
    provider_id: integer()
      .notNull()
      .references(() => provider.id, { onDelete: 'cascade' }),
    /** The link of the code. */
    install_id: integer()
      .notNull()
      .references(() => install.id, { onDelete: 'cascade' }),
    subscription_key_hash: hash().notNull(),
    state: text({ enum: ['waits', 'tied', 'undone'] }).notNull(),
    /** When a fetch last asked for it, to a day; that of a tie: when it was made. */
    at_ms: integer().notNull(),
    /** What a tie ended, as JSON; null: no link had the key, or it is not tied. */
    former: text(),
  },
  (t) => [
    unique('link_tie_once').on(t.provider_id, t.subscription_key_hash, t.install_id),
    index('link_tie_by_provider').on(t.provider_id, t.state, t.at_ms),
    index('link_tie_by_install').on(t.install_id),
    index('link_tie_by_time').on(t.at_ms),
    check('link_tie_state', sql`${t.state} IN ('waits', 'tied', 'undone')`),
  ],
);

/** A HWID that was cut off from a link, and is refused there. */
export const slotBar = sqliteTable(
  'slot_bar',
  {
    install_id: integer()
      .notNull()
      .references(() => install.id, { onDelete: 'cascade' }),
    /** SHA-256 of the HWID, as `barHashOf` of core/bar.ts spells it. */
    hwid_hash: hash().notNull(),
    made_at_ms: integer().notNull(),
    until_ms: integer().notNull(),
    /** The traits of the further phone whose HWID it is, as in `slot_phone`; empty: of none. */
    family: text().notNull().default(''),
    app: text().notNull().default(''),
    model_hash: text().notNull().default(''),
  },
  (t) => [
    primaryKey({ columns: [t.install_id, t.hwid_hash] }),
    index('slot_bar_by_time').on(t.until_ms),
    index('slot_bar_by_hwid').on(t.hwid_hash),
  ],
);

/** A change of the credentials of a link's user in its panel: core/cut-off.ts. */
export const cutOff = sqliteTable(
  'cut_off',
  {
    id: id(),
    provider_id: integer()
      .notNull()
      .references(() => provider.id, { onDelete: 'cascade' }),
    install_id: integer()
      .notNull()
      .references(() => install.id, { onDelete: 'cascade' }),
    /** Host of the upstream; empty: none can cut the link off. */
    host: text().notNull(),
    /** The key of the link at that time; null: it had none. */
    subscription_key_hash: hash(),
    /** That of the bar; null: the cut bars no HWID. */
    hwid_hash: hash(),
    state: text({
      enum: ['waiting', 'done', 'impossible', 'differs', 'cancelled', 'ended', 'changed'],
    }).notNull(),
    /** Why the last attempt failed, or why it ended; null: nothing to say. */
    why: text(),
    /** 1: the user of the link asked for it. */
    is_by_user: integer().$type<0 | 1>().notNull().default(0),
    asked_at_ms: integer().notNull(),
    /** When the first attempt began. */
    begun_at_ms: integer(),
    ended_at_ms: integer(),
    next_at_ms: integer().notNull(),
    attempt_count: integer().notNull().default(0),
    /** The print of the credentials that a failed attempt saw; null: none saw them. */
    seen: text(),
    /** Devices that must fetch again, and until when their apps do by themselves. */
    device_count: integer().notNull().default(0),
    fetch_until_ms: integer(),
    /** The worker that makes the attempt. */
    lease: text(),
    lease_until_ms: integer().notNull().default(0),
  },
  (t) => [
    index('cut_off_by_provider').on(t.provider_id, t.id),
    index('cut_off_by_install').on(t.install_id, t.id),
    index('cut_off_by_hwid').on(t.hwid_hash).where(sql`hwid_hash IS NOT NULL`),
    index('cut_off_begun').on(t.provider_id, t.begun_at_ms).where(sql`begun_at_ms IS NOT NULL`),
    index('cut_off_due').on(t.next_at_ms).where(sql`state = 'waiting'`),
    check(
      'cut_off_state',
      sql`${t.state} IN ('waiting', 'done', 'impossible', 'differs', 'cancelled', 'ended', 'changed')`,
    ),
  ],
);

/** A device that has not fetched its subscription since the credentials changed. */
export const cutWait = sqliteTable(
  'cut_wait',
  {
    install_id: integer()
      .notNull()
      .references(() => install.id, { onDelete: 'cascade' }),
    device_id: integer()
      .notNull()
      .references(() => device.id, { onDelete: 'cascade' }),
    until_ms: integer().notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.install_id, t.device_id] }),
    index('cut_wait_by_device').on(t.device_id),
    index('cut_wait_by_time').on(t.until_ms),
  ],
);

/** An upstream whose cut-offs stopped: a write changed another field, too. */
export const cutStop = sqliteTable('cut_stop', {
  host: text().primaryKey(),
  /** Names of those fields, with commas. */
  fields: text().notNull(),
  stopped_at_ms: integer().notNull(),
});

/** The upstreams whose panels proved the present key of a link by a subscription. */
export const keyProof = sqliteTable(
  'key_proof',
  {
    install_id: integer()
      .notNull()
      .references(() => install.id, { onDelete: 'cascade' }),
    host: text().notNull(),
    subscription_key_hash: hash().notNull(),
    proved_at_ms: integer().notNull(),
  },
  (t) => [primaryKey({ columns: [t.install_id, t.host] })],
);

/** What a panel says of the subscription of a link: src/core/subscription-figures.ts. */
export const subscriptionFigures = sqliteTable(
  'subscription_figures',
  {
    install_id: integer()
      .primaryKey()
      .references(() => install.id, { onDelete: 'cascade' }),
    provider_id: integer().notNull(),
    /** Null: never, or not known. */
    ends_at_ms: integer(),
    total_bytes: integer(),
    used_bytes: integer(),
    read_at_ms: integer().notNull(),
    source: text({ enum: ['proxy', 'panel'] }).notNull(),
    /** Since when end and total are read alike. */
    since_ms: integer().notNull(),
    /** End and total that two reads agreed on. */
    period_ends_at_ms: integer(),
    period_total_bytes: integer(),
    /** When the period began, and when its traffic was last counted anew. */
    period_at_ms: integer().notNull().default(0),
    traffic_at_ms: integer().notNull().default(0),
    /** When a read last renewed it, or made it end soon; null: none did. */
    moved_at_ms: integer(),
    /** When an event last said that it was renewed. */
    renewal_told_at_ms: integer(),
    /** What events said of the period: the fewest hours before the end, and the most per cent. */
    told_hours: integer(),
    told_percent: integer(),
  },
  (t) => [
    index('subscription_figures_by_end').on(t.provider_id, t.ends_at_ms),
    index('subscription_figures_by_provider').on(t.provider_id, t.install_id),
    index('subscription_figures_moved')
      .on(t.provider_id, t.moved_at_ms)
      .where(sql`moved_at_ms IS NOT NULL`),
    index('subscription_figures_by_time').on(t.read_at_ms),
    check('subscription_figures_source', sql`${t.source} IN ('proxy', 'panel')`),
  ],
);

/**
 * A call that succeeded, by the key that the provider gave it: the same call again gets the same
 * answer. Kept for a day.
 */
export const idempotentCall = sqliteTable(
  'idempotent_call',
  {
    provider_id: integer()
      .notNull()
      .references(() => provider.id, { onDelete: 'cascade' }),
    idempotency_key: text().notNull(),
    /** Name of the call. */
    call: text().notNull(),
    /** SHA-256 of its parameters. */
    params_hash: hash().notNull(),
    /** The answer, as JSON. */
    answer: text().notNull(),
    answered_at_ms: integer().notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.provider_id, t.idempotency_key] }),
    index('idempotent_call_by_time').on(t.answered_at_ms),
  ],
);

const figure = () => integer().notNull().default(0);

/**
 * The figures of a provider and a UTC day, see core/figures.ts. WITHOUT ROWID (migration 0008): the
 * row is found by its key alone.
 */
export const providerDay = sqliteTable(
  'provider_day',
  {
    provider_id: integer()
      .notNull()
      .references(() => provider.id, { onDelete: 'cascade' }),
    /** Days since 1970. */
    day: integer().notNull(),
    admitted: figure(),
    seen: figure(),
    refused_hwid: figure(),
    refused_domain: figure(),
    refused_disabled: figure(),
    refused_full: figure(),
    freed: figure(),
    links: figure(),
    sends: figure(),
    recipients: figure(),
    delivered: figure(),
    received: figure(),
    opened: figure(),
    executed: figure(),
    failed: figure(),
    expired: figure(),
    admitted_over: figure(),
    carried: figure(),
  },
  (t) => [primaryKey({ columns: [t.provider_id, t.day] }), index('provider_day_by_day').on(t.day)],
);

/** What a provider tells its users by itself: core/reminder.ts. */
export const reminder = sqliteTable(
  'reminder',
  {
    id: id(),
    provider_id: integer()
      .notNull()
      .references(() => provider.id, { onDelete: 'cascade' }),
    kind: text({ enum: ['before_end', 'after_end', 'traffic', 'inactive'] }).notNull(),
    /** Hours, days, per cent or days, by the kind. */
    amount: integer().notNull(),
    /** HTML by language, as JSON. */
    texts: text().notNull(),
    /** The texts before a key changed them, null: none; and when it did: core/unconfirmed.ts. */
    former_texts: text(),
    texts_at_ms: integer().notNull().default(0),
    push_text: text({ enum: ['neutral', 'full'] }).notNull(),
    enabled: integer().$type<0 | 1>().notNull(),
    created_at_ms: integer().notNull(),
  },
  (t) => [
    uniqueIndex('reminder_once').on(t.provider_id, t.kind, t.amount),
    check('reminder_kind', sql`${t.kind} IN ('before_end', 'after_end', 'traffic', 'inactive')`),
    check('reminder_amount', sql`${t.amount} BETWEEN 0 AND 720`),
    check('reminder_push_text', sql`${t.push_text} IN ('neutral', 'full')`),
    check('reminder_enabled', sql`${t.enabled} IN (0, 1)`),
  ],
);

/** The tables of what reminders sent: see schema.ts. */

import { sql } from 'drizzle-orm';
import { index, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import { install, provider } from './schema.ts';
import { device } from './schema-device.ts';

/** The ledger of reminders: a device gets one once in a period. */
export const reminderSent = sqliteTable(
  'reminder_sent',
  {
    /** It refers to no row: the bounds hold for removed reminders too. */
    reminder_id: integer().notNull(),
    device_id: integer()
      .notNull()
      .references(() => device.id, { onDelete: 'cascade' }),
    /** When the period began, UTC ms. */
    period: integer().notNull(),
    install_id: integer()
      .notNull()
      .references(() => install.id, { onDelete: 'cascade' }),
    /** The link's. */
    provider_id: integer().notNull(),
    /** The round; null: the device had no way for it. It may be pruned since. */
    distribution_id: integer(),
    sent_at_ms: integer().notNull(),
    /** When it ended because it no longer holds, or was too old; null: it goes on. */
    ended_at_ms: integer(),
  },
  (t) => [
    primaryKey({ columns: [t.reminder_id, t.device_id, t.period] }),
    index('reminder_sent_by_device').on(t.device_id, t.sent_at_ms),
    index('reminder_sent_by_install').on(t.install_id),
    index('reminder_sent_by_time').on(t.sent_at_ms),
    index('reminder_sent_open').on(t.provider_id, t.install_id).where(sql`ended_at_ms IS NULL`),
  ],
);

/** Who sends the reminders of a provider at present, and whether they go on. */
export const reminding = sqliteTable('reminding', {
  provider_id: integer()
    .primaryKey()
    .references(() => provider.id, { onDelete: 'cascade' }),
  lease_owner: text(),
  lease_until_ms: integer().notNull().default(0),
  /** When many links moved at once, and how many of how many; null: they go on. */
  stopped_at_ms: integer(),
  stopped_moved: integer(),
  stopped_links: integer(),
  /** When a person last let them go on: what moved before is not counted. */
  resumed_at_ms: integer().notNull().default(0),
});

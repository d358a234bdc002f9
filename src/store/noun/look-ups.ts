/** Parts of statements that several nouns share: rows found by an external key, and times seen. */

import type { SQL } from 'drizzle-orm';
import { FACT_FIELDS } from '../../core/device-facts.ts';
import type { DeviceAtProvider } from '../../core/port/device.ts';
import { DOMAIN_ACTIVE } from '../../core/port/domain.ts';
import type { Dialect, Statements } from '../backend.ts';
import { columns, ofTable, sql, values } from '../statement-text.ts';
import { shared } from './shared.ts';

/** Time at which the slot `s` was last seen; row `p` has its device at the provider. */
export const slotSeen = ({ greatest }: Dialect): SQL =>
  greatest(sql.raw('s.last_seen_at_ms'), sql.raw('p.checked_in_at_ms'));

/** Joins the device of the slot `s` as its provider knows it, row `p`. */
export const withDevice = ({ join }: Dialect): SQL => sql`${join} device_provider p
  ON p.device_id = s.device_id AND p.provider_id = s.provider_id`;

/**
 * Condition: the only slot of `p`, if any, was last seen with the device: the slots need no read.
 */
export const SEEN_AS_ONE = sql.raw('p.slot_count < 2 - p.seen_apart');

/** The earliest time seen of the device of row `p` and of its slots at the provider. */
export const allSeen = ({ greatest }: Dialect): SQL => sql`
  CASE WHEN ${SEEN_AS_ONE} THEN p.last_seen_at_ms ELSE ${greatest(
    sql.raw('p.checked_in_at_ms'),
    sql.raw(`(SELECT min(s.last_seen_at_ms) FROM install_device s
      WHERE s.device_id = p.device_id AND s.provider_id = p.provider_id)`),
  )} END`;

/** A device at a provider as read from the database: `isRegistered` is 0 or 1. */
export type RowAtProvider = Omit<DeviceAtProvider, 'isRegistered'> & { isRegistered: number };

/** Columns of a row `p` of `device_provider`. */
export const AT_PROVIDER_COLUMNS = sql`
  ${columns({ p: 'device_provider' }, ofTable('p', FACT_FIELDS))},
  ${values<{ isRegistered: number }>({
    isRegistered: sql`CAST(p.token_id IS NOT NULL AS integer)`,
  })}`;
export const LAST_SEEN = columns({ p: 'device_provider' }, 'p.lastSeenAtMs');

/** Returns the row with its flag as a boolean. */
export function atProvider<Row extends RowAtProvider>(row: Row) {
  return { ...row, isRegistered: row.isRegistered === 1 };
}

export const lookUpStatements = shared(({ prepare }: Statements) => {
  return {
    deviceId: prepare(sql`SELECT ${columns('device', 'id')} FROM device WHERE hwid = :hwid`),
    atProvider: prepare(sql`
        SELECT ${AT_PROVIDER_COLUMNS}, ${LAST_SEEN} FROM device_provider p
        WHERE p.device_id = :deviceId AND p.provider_id = :providerId`),
    provider: prepare(
      sql`SELECT ${columns('provider', 'id')} FROM provider WHERE code = :providerCode`,
    ),
    /** The provider's binding of a hash, if it is active. */
    activeDomain: prepare(sql`
        SELECT ${columns('domain', 'id')}
        FROM domain WHERE provider_id = :providerId AND domain_hash = :domainHash
          AND status = ${DOMAIN_ACTIVE}`),
  };
});

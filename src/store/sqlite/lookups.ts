/** Look-ups by a key from outside, which several nouns begin with. */

import { and, eq, sql } from 'drizzle-orm';
import type { DeviceAtProvider } from '../../core/port/device.ts';
import { DOMAIN_ACTIVE } from '../../core/port/domain.ts';
import type { Context } from './context.ts';
import { raw } from './raw.ts';
import { domain, provider } from './schema.ts';
import { device } from './schema-device.ts';
import { prepare, value } from './statement.ts';

/** `isRegistered` is 0 or 1 as it comes from SQLite. */
export type RowAtProvider = Omit<DeviceAtProvider, 'isRegistered'> & { isRegistered: number };

/** Of a row `p` of `device_provider`. */
export const AT_PROVIDER_COLUMNS = sql.raw(`
  p.os AS os, p.os_version AS "osVersion", p.device_name AS "deviceName",
  p.app_version AS "appVersion", p.user_agent AS "userAgent", p.last_seen_at_ms AS "lastSeenAtMs",
  p.token_id IS NOT NULL AS "isRegistered"`);

/** A row with its flag as a boolean. */
export function atProvider<Row extends RowAtProvider>(row: Row) {
  return { ...row, isRegistered: row.isRegistered === 1 };
}

/**
 * A value that SQLite cannot see while it plans. With those that it sees, in LIMIT too, it plans a
 * join anew at each run, which took 37 of 40 us here.
 */
export const once = (name: string) => sql`(SELECT ${value(name)})`;

export function lookups({ db, query }: Context) {
  return {
    deviceId: prepare(
      db,
      query
        .select({ id: device.id })
        .from(device)
        .where(eq(device.hwid, value('hwid'))),
    ),
    atProvider: prepare(
      db,
      raw<RowAtProvider>(sql`
        SELECT ${AT_PROVIDER_COLUMNS} FROM device_provider p
        WHERE p.device_id = ${value('deviceId')} AND p.provider_id = ${value('providerId')}`),
    ),
    provider: prepare(
      db,
      query
        .select({ id: provider.id })
        .from(provider)
        .where(eq(provider.code, value('providerCode'))),
    ),
    /** The provider's binding of a hash, if it is active. */
    activeDomain: prepare(
      db,
      query
        .select({ id: domain.id })
        .from(domain)
        .where(
          and(
            eq(domain.provider_id, value('providerId')),
            eq(domain.domain_hash, value('domainHash')),
            eq(domain.status, DOMAIN_ACTIVE),
          ),
        ),
    ),
  };
}

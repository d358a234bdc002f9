/** Look-ups by a key from outside, which several nouns begin with. */

import { sql } from 'drizzle-orm';
import type { DeviceAtProvider } from '../../core/port/device.ts';
import { DOMAIN_ACTIVE } from '../../core/port/domain.ts';
import { allSeen, SEEN_AS_ONE, slotSeen } from '../noun/look-ups.ts';
import { DIALECT } from './backend.ts';
import { prepare, value } from './statement.ts';

export const SLOT_SEEN = slotSeen(DIALECT);
export const ALL_SEEN = allSeen(DIALECT);
export { SEEN_AS_ONE };

export type RowAtProvider = DeviceAtProvider;

/** Of a row `p` of `device_provider`. */
export const AT_PROVIDER_COLUMNS = sql.raw(`
  p.os AS os, p.os_version AS "osVersion", p.device_name AS "deviceName",
  p.app_version AS "appVersion", p.user_agent AS "userAgent",
  p.token_id IS NOT NULL AS "isRegistered"`);
export const LAST_SEEN = sql.raw('p.last_seen_at_ms AS "lastSeenAtMs"');

export const lookups = {
  deviceId: prepare<{ id: number }>(sql`SELECT id FROM device WHERE hwid = ${value('hwid')}`),
  atProvider: prepare<RowAtProvider>(sql`
      SELECT ${AT_PROVIDER_COLUMNS}, ${LAST_SEEN} FROM device_provider p
      WHERE p.device_id = ${value('deviceId')} AND p.provider_id = ${value('providerId')}`),
  provider: prepare<{ id: number }>(
    sql`SELECT id FROM provider WHERE code = ${value('providerCode')}`,
  ),
  /** The provider's binding of a hash, if it is active. */
  activeDomain: prepare<{ id: number }>(sql`
      SELECT id FROM domain
      WHERE provider_id = ${value('providerId')} AND domain_hash = ${value('domainHash')}
        AND status = ${DOMAIN_ACTIVE}`),
};

/**
 * The first row that most writes lock: whoever changes what a provider has, or counts it, comes one
 * after the other. What depends on it is looked at behind it, by a statement of its own: each sees
 * what was committed before it began.
 */
export const lockProvider = prepare<{ id: number; code: string }>(sql`
    SELECT id, code FROM provider WHERE id = ${value('providerId')} FOR NO KEY UPDATE`);

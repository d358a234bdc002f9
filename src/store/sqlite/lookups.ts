/** Bridge to noun/look-ups.ts for nouns that are not written once yet. */

import { sql } from 'drizzle-orm';
import { DOMAIN_ACTIVE } from '../../core/port/domain.ts';
import {
  AT_PROVIDER_COLUMNS,
  allSeen,
  atProvider,
  LAST_SEEN,
  type RowAtProvider,
  SEEN_AS_ONE,
  slotSeen,
} from '../noun/look-ups.ts';
import { DIALECT } from './backend.ts';
import type { Context } from './context.ts';
import { value } from './statement.ts';

export const SLOT_SEEN = slotSeen(DIALECT);
export const ALL_SEEN = allSeen(DIALECT);
export { AT_PROVIDER_COLUMNS, atProvider, LAST_SEEN, type RowAtProvider, SEEN_AS_ONE };

export function lookups({ db }: Context) {
  return {
    deviceId: db.prepare<{ id: number }>(sql`SELECT id FROM device WHERE hwid = ${value('hwid')}`),
    atProvider: db.prepare<RowAtProvider>(sql`
        SELECT ${AT_PROVIDER_COLUMNS}, ${LAST_SEEN} FROM device_provider p
        WHERE p.device_id = ${value('deviceId')} AND p.provider_id = ${value('providerId')}`),
    provider: db.prepare<{ id: number }>(
      sql`SELECT id FROM provider WHERE code = ${value('providerCode')}`,
    ),
    /** The provider's binding of a hash, if it is active. */
    activeDomain: db.prepare<{ id: number }>(sql`
        SELECT id FROM domain
        WHERE provider_id = ${value('providerId')} AND domain_hash = ${value('domainHash')}
          AND status = ${DOMAIN_ACTIVE}`),
  };
}

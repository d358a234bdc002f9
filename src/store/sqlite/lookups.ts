/** Look-ups by a key from outside, which several nouns begin with. */

import { and, eq } from 'drizzle-orm';
import { DOMAIN_ACTIVE } from '../../core/domain.ts';
import { type Context, value } from './context.ts';
import { device, domain, provider } from './schema.ts';
import { named, prepare } from './statement.ts';

export const DEVICE_COLUMNS = named({
  id: device.id,
  hwid: device.hwid,
  os: device.os,
  osVersion: device.os_version,
  deviceName: device.device_name,
  appVersion: device.app_version,
  userAgent: device.user_agent,
  firstSeenAtMs: device.first_seen_at_ms,
  lastSeenAtMs: device.last_seen_at_ms,
});

export function lookups({ db, query }: Context) {
  return {
    device: prepare(
      db,
      query
        .select(DEVICE_COLUMNS)
        .from(device)
        .where(eq(device.hwid, value('hwid'))),
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

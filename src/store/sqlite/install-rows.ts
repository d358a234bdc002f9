/** Rows of links and slots, as parts of writes. */

import { and, eq, sql } from 'drizzle-orm';
import type { Context } from './context.ts';
import { raw } from './raw.ts';
import { install, provider } from './schema.ts';
import { installDevice } from './schema-device.ts';
import { named, prepare, value } from './statement.ts';

/** Statements that add links and slots, for links that are new and for links that move in. */
export function rowStatements({ db, query }: Context) {
  return {
    countOf: prepare(
      db,
      query
        .select(named({ installCount: provider.install_count }))
        .from(provider)
        .where(eq(provider.id, value('providerId'))),
    ),
    add: prepare(
      db,
      query
        .insert(install)
        .values({
          // A null makes SQLite take the next id.
          id: value('id'),
          provider_id: value('providerId'),
          install_code: value('installCode'),
          install_limit: value('installLimit'),
          status: value('status'),
          note: value('note'),
          created_at_ms: value('createdAtMs'),
        })
        .returning({ id: install.id }),
    ),
    holdsSlot: prepare(
      db,
      query
        .select({ id: installDevice.id })
        .from(installDevice)
        .where(
          and(
            eq(installDevice.install_id, value('installId')),
            eq(installDevice.device_id, value('deviceId')),
          ),
        ),
    ),
    /** A registration by this slot opens what is addressed to the device from now on. */
    takeSlot: prepare(
      db,
      raw(sql`
        INSERT INTO install_device (install_id, device_id, provider_id, registered_at_ms,
          after_recipient_id)
        SELECT id, ${value('deviceId')}, provider_id, ${value('registeredAtMs')},
          (SELECT coalesce(max(id), 0) FROM recipient)
        FROM install WHERE id = ${value('installId')}`),
    ),
  };
}

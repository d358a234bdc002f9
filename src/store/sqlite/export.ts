/** All that a provider owns, read from one snapshot on a connection of its own. */

import { Database } from 'bun:sqlite';
import { and, asc, eq, gt } from 'drizzle-orm';
import type { ExportRecord } from '../../core/import-store.ts';
import type { Store } from '../../core/store.ts';
import { nextTurn } from '../../core/turn.ts';
import { Connection } from './connection.ts';
import { type Context, value } from './context.ts';
import { PROVIDER_COLUMNS } from './provider.ts';
import { device, domain, install, installDevice, provider } from './schema.ts';
import { named, prepare } from './statement.ts';

type ExportStore = Pick<Store, 'exportProvider'>;

/** How many records are read before everything else that is ready may run. */
const PAGE = 200;

function statements({ query }: Context, db: Connection) {
  const ofProvider = value('providerId');
  const afterId = value('afterId');
  return {
    provider: prepare(
      db,
      query
        .select(PROVIDER_COLUMNS)
        .from(provider)
        .where(eq(provider.code, value('code'))),
    ),
    domains: prepare(
      db,
      query
        .select(
          named({
            id: domain.id,
            domainHash: domain.domain_hash,
            domainName: domain.domain_name,
            status: domain.status,
            createdAtMs: domain.created_at_ms,
          }),
        )
        .from(domain)
        .where(and(eq(domain.provider_id, ofProvider), gt(domain.id, afterId)))
        .orderBy(asc(domain.id))
        .limit(PAGE),
    ),
    installs: prepare(
      db,
      query
        .select(
          named({
            id: install.id,
            installCode: install.install_code,
            installLimit: install.install_limit,
            status: install.status,
            note: install.note,
            createdAtMs: install.created_at_ms,
          }),
        )
        .from(install)
        .where(and(eq(install.provider_id, ofProvider), gt(install.id, afterId)))
        .orderBy(asc(install.id))
        .limit(PAGE),
    ),
    slots: prepare(
      db,
      query
        .select(
          named({
            hwid: device.hwid,
            registeredAtMs: installDevice.registered_at_ms,
            os: device.os,
            osVersion: device.os_version,
            deviceName: device.device_name,
            appVersion: device.app_version,
            userAgent: device.user_agent,
            firstSeenAtMs: device.first_seen_at_ms,
            lastSeenAtMs: device.last_seen_at_ms,
          }),
        )
        .from(installDevice)
        .innerJoin(device, eq(device.id, installDevice.device_id))
        .where(eq(installDevice.install_id, value('installId')))
        .orderBy(asc(installDevice.id)),
    ),
  };
}

/** The rows of a table, page by page, with a turn of the event loop between two. */
async function* pages<Row extends { id: number }>(
  read: (afterId: number) => Row[],
): AsyncGenerator<Row> {
  for (let afterId = 0; ; ) {
    const rows = read(afterId);
    yield* rows;
    const last = rows.at(-1);
    if (last === undefined) return;
    afterId = last.id;
    await nextTurn();
  }
}

async function* records(context: Context, code: string): AsyncGenerator<ExportRecord> {
  const db = new Connection(
    new Database(context.db.native.filename, { readonly: true, strict: true }),
  );
  try {
    // One read transaction over all of it: writers go on in the log beside the file.
    db.native.run('BEGIN');
    const on = statements(context, db);
    const found = on.provider.get({ code });
    if (found === null) return;
    const providerId = found.id;
    yield { kind: 'provider', provider: found };
    for await (const row of pages((afterId) => on.domains.all({ providerId, afterId }))) {
      yield { kind: 'domain', domain: row };
    }
    for await (const row of pages((afterId) => on.installs.all({ providerId, afterId }))) {
      const slots = on.slots.all({ installId: row.id });
      yield { kind: 'install', install: { ...row, slots } };
    }
  } finally {
    if (db.inTransaction) db.native.run('ROLLBACK');
    db.close();
  }
}

export function exportStore(context: Context): ExportStore {
  return { exportProvider: (code) => records(context, code) };
}

/** All that a provider owns, read from one snapshot on a connection of its own. */

import { join } from 'node:path';
import { sql } from 'drizzle-orm';
import type { InstallTerms } from '../../core/port/install.ts';
import type {
  ExportRecord,
  ImportedDomain,
  ImportedInstall,
  ImportedSlot,
} from '../../core/port/moving.ts';
import type { Provider } from '../../core/port/provider.ts';
import type { Store } from '../../core/port/store.ts';
import { nextTurn } from '../../core/turn.ts';
import { PROVIDER_COLUMNS } from '../noun/provider.ts';
import { Connection } from './connection.ts';
import { DATABASE_FILE, openToLook } from './file/open.ts';
import { TERMS_COLUMNS } from './install-rows.ts';
import { SLOT_SEEN } from './lookups.ts';
import { value } from './statement.ts';

type ExportStore = Pick<Store, 'exportProvider'>;

/** Records that are read before everything else that is ready may run. */
const PAGE = 200;

type InstallRow = Omit<ImportedInstall, 'slots' | 'terms' | 'replacedAtMs'> &
  InstallTerms & { id: number; replacedAtMs: number | null };

function statements(db: Connection) {
  const ofProvider = sql`provider_id = ${value('providerId')} AND id > ${value('afterId')}`;
  return {
    provider: db.prepare<Provider>(
      sql`SELECT ${PROVIDER_COLUMNS} FROM provider WHERE code = ${value('code')}`,
    ),
    domains: db.prepare<ImportedDomain & { id: number }>(sql`
        SELECT id, domain_hash AS "domainHash", domain_name AS "domainName", status,
          created_at_ms AS "createdAtMs"
        FROM domain WHERE ${ofProvider} ORDER BY id LIMIT ${PAGE}`),
    installs: db.prepare<InstallRow>(sql`
        SELECT id, install_code AS "installCode", install_limit AS "installLimit", status, note,
          created_at_ms AS "createdAtMs", replaced_at_ms AS "replacedAtMs", ${TERMS_COLUMNS}
        FROM install WHERE ${ofProvider} ORDER BY id LIMIT ${PAGE}`),
    slots: db.prepare<ImportedSlot>(sql`
        SELECT d.hwid AS hwid, s.registered_at_ms AS "registeredAtMs", p.os AS os,
          p.os_version AS "osVersion", p.device_name AS "deviceName",
          p.app_version AS "appVersion", p.user_agent AS "userAgent",
          d.first_seen_at_ms AS "firstSeenAtMs", p.last_seen_at_ms AS "lastSeenAtMs",
          ${SLOT_SEEN} AS "slotSeenAtMs"
        FROM install_device s CROSS JOIN device d ON d.id = s.device_id
          CROSS JOIN device_provider p
            ON p.device_id = s.device_id AND p.provider_id = s.provider_id
        WHERE s.install_id = ${value('installId')} ORDER BY s.id`),
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

async function* records(file: string, code: string): AsyncGenerator<ExportRecord> {
  const db = new Connection(openToLook(file));
  try {
    // One read transaction over all of it: writers go on in the log beside the file.
    db.native.run('BEGIN');
    const on = statements(db);
    const found = on.provider.get({ code });
    if (found === null) return;
    const providerId = found.id;
    yield { kind: 'provider', provider: found };
    for await (const row of pages((afterId) => on.domains.all({ providerId, afterId }))) {
      yield { kind: 'domain', domain: row };
    }
    for await (const row of pages((afterId) => on.installs.all({ providerId, afterId }))) {
      const slots = on.slots.all({ installId: row.id });
      const { subscriptionKeyHash, inactiveDays, whenFull, coolDownHours, ...rest } = row;
      const terms = { subscriptionKeyHash, inactiveDays, whenFull, coolDownHours };
      const { replacedAtMs, ...facts } = rest;
      const replaced = replacedAtMs === null ? {} : { replacedAtMs };
      yield { kind: 'install', install: { ...facts, ...replaced, terms, slots } };
    }
  } finally {
    if (db.inTransaction) db.native.run('ROLLBACK');
    db.close();
  }
}

export function exportStore(dataDir: string): ExportStore {
  const file = join(dataDir, DATABASE_FILE);
  return { exportProvider: (code) => records(file, code) };
}

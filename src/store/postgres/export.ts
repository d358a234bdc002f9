/**
 * All that a provider owns, read from one snapshot on a connection of its own: whoever takes it may
 * be slow, and nobody is to wait for a connection meanwhile.
 */

import { sql } from 'drizzle-orm';
import { systemClock } from '../../clock.ts';
import type { InstallTerms } from '../../core/port/install.ts';
import type {
  ExportRecord,
  ImportedDomain,
  ImportedInstall,
  ImportedSlot,
} from '../../core/port/moving.ts';
import type { Provider } from '../../core/port/provider.ts';
import type { Store } from '../../core/port/store.ts';
import { StoreAway } from '../../core/port/store.ts';
import { Deadlines } from '../../deadline.ts';
import { PROVIDER_COLUMNS } from '../noun/provider.ts';
import type { Context } from './context.ts';
import { isLost, isRefusedBefore } from './fault.ts';
import { TERMS_COLUMNS } from './install-rows.ts';
import { SLOT_SEEN } from './lookups.ts';
import { answerOf, sendOn } from './pools.ts';
import { prepare, type Runner, type Statement, value } from './statement.ts';

/** Records that are read at a time. */
const PAGE = 200;

/** Time that a statement has beyond what the server gives it, ms. */
const SILENCE_MS = 500;

/** It lasts for as long as its taker wants, in no transaction that locks anything. */
const BEGIN = `
  BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;
  SET LOCAL idle_in_transaction_session_timeout = 0`;

type InstallRow = Omit<ImportedInstall, 'slots' | 'terms' | 'replacedAtMs'> &
  InstallTerms & { id: number; replacedAtMs: number | null };

const OF_PROVIDER = sql`provider_id = ${value('providerId')} AND id > ${value('afterId')}`;

const on = {
  provider: prepare<Provider>(
    sql`SELECT ${PROVIDER_COLUMNS} FROM provider WHERE code = ${value('code')}`,
  ),
  domains: prepare<ImportedDomain & { id: number }>(sql`
      SELECT id, domain_hash AS "domainHash", domain_name AS "domainName", status,
        created_at_ms AS "createdAtMs"
      FROM domain WHERE ${OF_PROVIDER} ORDER BY id LIMIT ${PAGE}`),
  installs: prepare<InstallRow>(sql`
      SELECT id, install_code AS "installCode", install_limit AS "installLimit", status, note,
        created_at_ms AS "createdAtMs", replaced_at_ms AS "replacedAtMs", ${TERMS_COLUMNS}
      FROM install WHERE ${OF_PROVIDER} ORDER BY id LIMIT ${PAGE}`),
  /** Those of the links of a page. */
  slots: prepare<ImportedSlot & { installId: number }>(sql`
      SELECT s.install_id AS "installId", d.hwid AS hwid,
        s.registered_at_ms::float8 AS "registeredAtMs", p.os AS os, p.os_version AS "osVersion",
        p.device_name AS "deviceName", p.app_version AS "appVersion",
        p.user_agent AS "userAgent", d.first_seen_at_ms::float8 AS "firstSeenAtMs",
        p.last_seen_at_ms::float8 AS "lastSeenAtMs", ${SLOT_SEEN}::float8 AS "slotSeenAtMs"
      FROM install_device s JOIN device d ON d.id = s.device_id
        JOIN device_provider p ON p.device_id = s.device_id AND p.provider_id = s.provider_id
      WHERE s.install_id = ANY(${value('installIds')}::bigint[]) ORDER BY s.install_id, s.id`),
};

/** The rows of a table, page by page. */
async function* pages<Row extends { id: number }>(
  runner: Runner,
  page: Statement<Row>,
  providerId: number,
): AsyncGenerator<Row[]> {
  for (let afterId = 0; ; ) {
    const rows = await page.all(runner, { providerId, afterId });
    const last = rows.at(-1);
    if (last === undefined) return;
    yield rows;
    afterId = last.id;
  }
}

async function* records(context: Context, code: string): AsyncGenerator<ExportRecord> {
  const { db, statementMs } = context;
  const connection = db.connectBeside(() => {});
  const silence = () => new StoreAway('the database does not answer');
  const deadlines = new Deadlines(statementMs + SILENCE_MS, systemClock.steadyMs, silence);
  const inTime = async <T>(asked: Promise<T>): Promise<T> => {
    try {
      return await deadlines.within(() => asked);
    } catch (fault) {
      if (!isLost(fault) && !isRefusedBefore(fault)) throw fault;
      throw new StoreAway('the database went away', { cause: fault });
    }
  };
  const runner: Runner = {
    ask: (text, params) => inTime(answerOf(sendOn(connection, text, params))),
  };
  try {
    await inTime(connection.unsafe(BEGIN).simple());
    const found = await on.provider.get(runner, { code });
    if (found === null) return;
    yield { kind: 'provider', provider: found };
    for await (const rows of pages(runner, on.domains, found.id)) {
      for (const domain of rows) yield { kind: 'domain', domain };
    }
    for await (const rows of pages(runner, on.installs, found.id)) yield* installs(runner, rows);
  } finally {
    deadlines.close();
    await connection.close({ timeout: 0 });
  }
}

async function* installs(
  runner: Runner,
  rows: readonly InstallRow[],
): AsyncGenerator<ExportRecord> {
  const held = await on.slots.all(runner, { installIds: rows.map(({ id }) => id) });
  const byLink = Map.groupBy(held, ({ installId }) => installId);
  for (const row of rows) {
    const slots = (byLink.get(row.id) ?? []).map(({ installId: _, ...slot }) => slot);
    const { subscriptionKeyHash, inactiveDays, whenFull, coolDownHours, ...rest } = row;
    const terms = { subscriptionKeyHash, inactiveDays, whenFull, coolDownHours };
    const { replacedAtMs, ...facts } = rest;
    const replaced = replacedAtMs === null ? {} : { replacedAtMs };
    yield { kind: 'install', install: { ...facts, ...replaced, terms, slots } };
  }
}

export function exportStore(context: Context): Pick<Store, 'exportProvider'> {
  return { exportProvider: (code) => records(context, code) };
}

/**
 * The records of a provider, in steps that read one page each; the store keeps the snapshot open.
 */

import { FACT_FIELDS } from '../../core/device-facts.ts';
import { BINDING_NAMES } from '../../core/domain-fields.ts';
import { fieldsOf, only } from '../../core/field.ts';
import type { LinkTermsAndKey } from '../../core/port/link.ts';
import type { ExportRecord, ImportedLink, ImportedSlot } from '../../core/port/moving.ts';
import { LINK_TERMS } from '../../core/terms.ts';
import type { Statements, Step } from '../backend.ts';
import { columns, ofTable, sql, values } from '../statement-text.ts';
import { termsColumns } from './link-rows.ts';
import { slotSeen, withDevice } from './look-ups.ts';
import { PROVIDER_COLUMNS } from './provider.ts';
import { ownReminder, REMINDER_COLUMNS } from './reminder.ts';

/** Records that a step reads. */
const PAGE = 200;

/** The fields that only some links have. */
type Rare = Pick<ImportedLink, 'replacedAtMs' | 'overMax' | 'limitWanted'>;
type LinkRow = Omit<ImportedLink, 'slots' | 'terms' | keyof Rare> &
  LinkTermsAndKey & { id: number } & { [F in keyof Rare]-?: number | null };

const TERM_FIELDS = ['subscriptionKeyHash', ...fieldsOf(LINK_TERMS)] as const;

function statements(backend: Statements) {
  const { prepare, join } = backend;
  const page = sql`WHERE provider_id = :providerId AND id > :afterId ORDER BY id LIMIT ${PAGE}`;
  return {
    provider: prepare(sql`SELECT ${PROVIDER_COLUMNS} FROM provider WHERE code = :code`),
    reminders: prepare(sql`
        SELECT ${REMINDER_COLUMNS} FROM reminder WHERE provider_id = :providerId ORDER BY id`),
    domains: prepare(sql`
        SELECT ${columns('domain', ['id', 'domainHash', ...BINDING_NAMES, 'createdAtMs'])}
        FROM domain ${page}`),
    installs: prepare(sql`
        SELECT ${columns(
          'install',
          'id, installCode, installLimit, status, note, createdAtMs, replacedAtMs, limitWanted',
        )},
          ${values<{ overMax: LinkRow['overMax'] }>({
            overMax: sql`CASE WHEN over_max > install_limit THEN over_max END`,
          })},
          ${termsColumns(backend)}
        FROM install ${page}`),
    bars: prepare(sql`
        SELECT ${columns('slot_bar', 'installId, madeAtMs, untilMs')}, ${values<{
          hwidHash: string;
        }>({ hwidHash: backend.hex('hwid_hash') })} FROM slot_bar
        WHERE install_id ${backend.among('installIds')} ORDER BY install_id, made_at_ms, hwid_hash`),
    /**
     * Without those of further phones of a HWID: another server makes other hashes of models, and
     * distinguishes the phones again.
     */
    slots: prepare(sql`
        SELECT ${columns({ s: 'install_device', d: 'device', p: 'device_provider' }, [
          's.installId, d.hwid, s.registeredAtMs',
          ...ofTable('p', FACT_FIELDS),
          'd.firstSeenAtMs, p.lastSeenAtMs',
        ])},
          ${values<{ slotSeenAtMs: number }>({ slotSeenAtMs: slotSeen(backend) })}
        FROM install_device s ${join} device d ON d.id = s.device_id ${withDevice(backend)}
        WHERE s.install_id ${backend.among('installIds')} AND NOT EXISTS (
          SELECT 1 FROM slot_phone f
          WHERE f.own_device_id = s.device_id AND f.install_id = s.install_id)
        ORDER BY s.install_id, s.id`),
    named: prepare(sql`
        SELECT ${columns('named_hwid', [
          'installId',
          'hwid',
          'namedAtMs AS registeredAtMs',
          ...FACT_FIELDS,
          'namedAtMs AS firstSeenAtMs',
          'namedAtMs AS lastSeenAtMs',
        ])}
        FROM named_hwid WHERE install_id ${backend.among('installIds')} ORDER BY install_id, id`),
  };
}

/** Yields the records of a provider. `run` runs a step within the snapshot of the export. */
export async function* exportRecords(
  backend: Statements,
  run: <T>(step: () => Step<T>) => Promise<T>,
  code: string,
): AsyncGenerator<ExportRecord> {
  const on = statements(backend);
  const provider = await run(() => on.provider.get({ code }));
  if (provider === null) return;
  const providerId = provider.id;
  const reminders = (await run(() => on.reminders.all({ providerId }))).map(ownReminder);
  yield { kind: 'provider', provider, ...(reminders.length > 0 && { reminders }) };
  for await (const rows of pages((afterId) => run(() => on.domains.all({ providerId, afterId })))) {
    for (const domain of rows) yield { kind: 'domain', domain };
  }
  for await (const rows of pages((afterId) =>
    run(() => on.installs.all({ providerId, afterId })),
  )) {
    const installIds = rows.map(({ id }) => id);
    const slots = await run(() => on.slots.all({ installIds }));
    const named = await run(() => on.named.all({ installIds }));
    const waiting = named.map((name) => ({ ...name, isNamed: true as const }));
    const byLink = Map.groupBy([...slots, ...waiting], ({ installId }) => installId);
    const barred = await run(() => on.bars.all({ installIds }));
    const barsOf = Map.groupBy(barred, ({ installId }) => installId);
    for (const row of rows) {
      const own = (byLink.get(row.id) ?? []).map(({ installId: _, ...slot }) => slot);
      const bars = (barsOf.get(row.id) ?? []).map(({ installId: _, ...bar }) => bar);
      const link = linkOf(row, own);
      yield { kind: 'install', install: bars.length > 0 ? { ...link, bars } : link };
    }
  }
}

function linkOf(row: LinkRow, slots: ImportedSlot[]): ImportedLink {
  const { id, installCode, installLimit, status, note, createdAtMs } = row;
  const { limitWanted, overMax, replacedAtMs } = row;
  return {
    id,
    installCode,
    installLimit,
    status,
    note,
    createdAtMs,
    ...(replacedAtMs !== null && { replacedAtMs }),
    ...(overMax !== null && { overMax }),
    ...(limitWanted !== null && { limitWanted }),
    terms: only(row, TERM_FIELDS),
    slots,
  };
}

/** Reads the rows of a table page by page. */
async function* pages<Row extends { id: number }>(
  read: (afterId: number) => Promise<Row[]>,
): AsyncGenerator<Row[]> {
  for (let afterId = 0; ; ) {
    const rows = await read(afterId);
    const last = rows.at(-1);
    if (last === undefined) return;
    yield rows;
    afterId = last.id;
  }
}

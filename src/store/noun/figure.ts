/** Figures by day and provider. Each save adds to the row, so that several nodes can count. */

import type { SQL } from 'drizzle-orm';
import { linkRefused, phoneRefused } from '../../core/event/happenings.ts';
import { type FigureRows, numbersReached } from '../../core/figures.ts';
import { FIGURES, type FigureStore, type Figures } from '../../core/port/figure.ts';
import { PromptSave } from '../../core/prompt-save.ts';
import type { GatheredDevice } from '../../core/refused-devices.ts';
import type { Backend, Notes, Step } from '../backend.ts';
import { columns, sql, values } from '../statement-text.ts';
import { CarriedStamps, carriedSteps } from './carried.ts';
import { type EventStatements, isWantedNow } from './event-notes.ts';
import type { FigureCounter, SavedRefusals } from './figure-counter.ts';
import { refusedDeviceSteps } from './refused-device.ts';

/** Rows that a step deletes. */
const FORGET_COUNT = 1_000;

const each = (write: (figure: string) => string): SQL => sql.raw(FIGURES.map(write).join(', '));
const COLUMNS = each((figure) => figure) as SQL<Figures>;

/** Saves only if the provider, or the link, still exists. */
function savingStatements({ prepare, greatest, hex, join, keyLocked, rows }: Backend) {
  const days = rows('days', {
    providerId: 'bigint',
    day: 'bigint',
    ...Object.fromEntries(FIGURES.map((figure) => [figure, 'bigint'] as const)),
  });
  const refusals = rows('refusals', {
    installId: 'bigint',
    count: 'bigint',
    refusedAtMs: 'bigint',
    reason: 'text',
    day: 'bigint',
  });
  return {
    addDays: prepare(sql`
        INSERT INTO provider_day AS d (provider_id, day, ${COLUMNS})
        SELECT p.id, x.day, ${each((figure) => `x.${figure}`)}
        FROM ${days} x ${join} provider p ON p.id = x."providerId"
        WHERE true ORDER BY p.id, x.day ${keyLocked('p')} ON CONFLICT (provider_id, day) DO UPDATE
        SET ${each((figure) => `${figure} = d.${figure} + excluded.${figure}`)}`),
    nameOf: prepare(sql`
        SELECT ${columns('install', 'installCode, note')},
          ${values<{ keyHash: string | null; hasMy: 0 | 1 }>({
            keyHash: hex('subscription_key_hash'),
            hasMy: sql`(SELECT p.my FROM provider p WHERE p.id = install.provider_id)`,
          })}
        FROM install WHERE id = :installId`),
    addRefusals: prepare(sql`
        INSERT INTO install_refusal AS r (install_id, refused_count, refused_at_ms, reason, day,
          day_count)
        SELECT i.id, x.count, x."refusedAtMs", x.reason, x.day, x.count
        FROM ${refusals} x ${join} install i ON i.id = x."installId"
        WHERE true ORDER BY i.id ${keyLocked('i')} ON CONFLICT (install_id) DO UPDATE SET
          day_count = CASE WHEN excluded.day = r.day THEN r.day_count + excluded.day_count
            WHEN excluded.day > r.day THEN excluded.day_count ELSE r.day_count END,
          day = ${greatest(sql`r.day`, sql`excluded.day`)},
          refused_count = r.refused_count + excluded.refused_count,
          reason = CASE WHEN excluded.refused_at_ms >= r.refused_at_ms THEN excluded.reason
            ELSE r.reason END,
          refused_at_ms = ${greatest(sql`r.refused_at_ms`, sql`excluded.refused_at_ms`)}
        RETURNING ${columns('install_refusal', 'installId, day, dayCount')}`),
  };
}

function readingStatements({ prepare, deletableUnlessBusy, join }: Backend) {
  const sums = each((figure) => `CAST(sum(${figure}) AS bigint) AS ${figure}`) as SQL<Figures>;
  const inDays = sql`day BETWEEN :fromDay AND :toDay`;
  const isOver = sql`day < :beforeDay`;
  return {
    list: prepare(sql`
        SELECT ${columns('provider_day', 'day')}, ${COLUMNS} FROM provider_day
        WHERE provider_id = :providerId AND ${inDays} ORDER BY day`),
    listAll: prepare(sql`
        SELECT ${columns('provider_day', 'day')}, ${sums}
        FROM provider_day WHERE ${inDays} GROUP BY day ORDER BY day`),
    sum: prepare(sql`
        SELECT ${columns({ p: 'provider' }, 'p.code AS providerCode')}, ${sums}
        FROM provider_day d ${join} provider p ON p.id = d.provider_id
        WHERE ${inDays} GROUP BY p.id ORDER BY p.id`),
    refusals: prepare(sql`
        SELECT ${columns(
          { r: 'install_refusal', i: 'install' },
          'i.id AS installId, i.installCode, r.refusedCount, r.refusedAtMs, r.reason',
        )}
        FROM install_refusal r ${join} install i ON i.id = r.install_id
        WHERE i.provider_id = :providerId AND r.refused_at_ms >= :sinceMs
        ORDER BY r.refused_count DESC, i.id LIMIT :countMax`),
    oldest: prepare(
      sql`SELECT ${columns('provider_day', 'day')} FROM provider_day WHERE ${isOver} LIMIT 1`,
    ),
    /** Leaves rows to another node that is deleting them. */
    forget: prepare(sql`
        WITH gone AS (
          SELECT provider_id, day FROM provider_day WHERE ${isOver}
          ORDER BY day, provider_id LIMIT ${FORGET_COUNT} ${deletableUnlessBusy})
        DELETE FROM provider_day WHERE (provider_id, day) IN (SELECT provider_id, day FROM gone)`),
  };
}

/** Further records of a process that are saved with its figures. */
interface Gathered {
  carried: CarriedStamps;
  saveSightings(): Promise<void>;
}

export function figureNoun(
  backend: Backend,
  counter: FigureCounter,
  events: EventStatements,
  others: Gathered = { carried: new CarriedStamps(), saveSightings: async () => {} },
): FigureStore {
  const stamp = carriedSteps(backend);
  const saving = savingStatements(backend);
  const refused = refusedDeviceSteps(backend);
  const on = readingStatements(backend);

  function* addRows(notes: Notes, { days, refusals, devices }: FigureRows): Step<SavedRefusals[]> {
    if (days.length > 0) yield* saving.addDays.run({ days: JSON.stringify(days) });
    const saved: SavedRefusals[] = [];
    // A statement takes each link once.
    for (const [day, rows] of Map.groupBy(refusals, (row) => row.day)) {
      const added = yield* saving.addRefusals.all({ refusals: JSON.stringify(rows) });
      saved.push(...added);
      const byLink = new Map(added.map((row) => [row.installId, row]));
      for (const { installId, providerId, count, refusedAtMs, reason, device } of rows) {
        const after = byLink.get(installId);
        // The row is already for a later day: refusals of an earlier day are not counted any more.
        if (after?.day !== day) continue;
        for (const number of numbersReached(after.dayCount - count, after.dayCount)) {
          const refused = function* () {
            const link = { id: installId, ...(yield* saving.nameOf.get({ installId })) };
            return linkRefused(link, { reason, device, count: number, day });
          };
          notes.event(providerId, refusedAtMs, refused);
        }
      }
    }
    for (const device of yield* refused.add(devices)) notePhone(notes, device);
    return saved;
  }

  function notePhone(notes: Notes, device: GatheredDevice & { refusedCount: number }): void {
    const { installId, providerId, count, refusedCount, reason, lastAtMs, address = null } = device;
    const reached = numbersReached(refusedCount - count, refusedCount);
    if (reached.length === 0) return;
    const phone = { installId, address, count, isFirst: reached[0] === 1 };
    notes.refusal(providerId, lastAtMs, phone, function* () {
      const link = { id: installId, ...(yield* saving.nameOf.get({ installId })) };
      return phoneRefused(link, device, { reason, count: reached.at(-1) ?? count });
    });
  }

  const saveCounts = () => counter.save((rows) => backend.write((notes) => addRows(notes, rows)));
  // First, because messages that rode are counted when their stamps are saved.
  const saveAll = async () => {
    await others.carried.save((stamps) => backend.write((notes) => stamp(notes, stamps)));
    await saveCounts();
    await others.saveSightings();
  };
  const prompt = new PromptSave({
    isWanted: (providerId) => backend.read(() => isWantedNow(events, providerId, 'link.refused')),
    save: saveCounts,
  });
  return {
    countRefusal: (link, reason, atMs, device) => {
      if (counter.addRefusal(link, reason, atMs, device ?? null)) prompt.ask(link.providerId);
    },
    saveFigures: saveAll,
    listFigures: async (providerId, fromDay, toDay) =>
      backend.read(() =>
        providerId === null
          ? on.listAll.all({ fromDay, toDay })
          : on.list.all({ providerId, fromDay, toDay }),
      ),
    sumFigures: async (fromDay, toDay) => backend.read(() => on.sum.all({ fromDay, toDay })),
    listRefusals: async (providerId, sinceMs, countMax) =>
      backend.read(() => on.refusals.all({ providerId, sinceMs, countMax })),
    forgetFigures: async (beforeDay) => {
      if ((await backend.read(() => on.oldest.get({ beforeDay }))) === null) return false;
      return (await backend.change(() => on.forget.run({ beforeDay }))) > 0;
    },
  };
}

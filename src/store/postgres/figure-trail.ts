/**
 * Counts what writes did, once they are saved. What is counted is gathered in memory and saved when
 * somebody asks, by adding, so that several nodes may, and only if there still is whom it is about.
 * No other write carries it: two that save the same figures would wait for each other.
 */

import { sql } from 'drizzle-orm';
import { linkRefused } from '../../core/event/happenings.ts';
import {
  FIGURE_OF_REFUSAL,
  type FigureRows,
  GatheredFigures,
  type GatheredRefusals,
  numbersReached,
} from '../../core/figures.ts';
import {
  FIGURES,
  type Figure,
  type KnownLink,
  type RefusalReason,
} from '../../core/port/figure.ts';
import type { FigureObserver } from '../kind.ts';
import type { EventNotes } from './event-trail.ts';
import { OutcomeUnknown } from './fault.ts';
import { prepare, type Runner, value } from './statement.ts';

/** Rows that are saved in one step. */
const SAVE_COUNT = 1_000;

export const FIGURE_COLUMNS = sql.raw(FIGURES.join(', '));

const on = {
  addDays: prepare(sql`
      INSERT INTO provider_day AS d (provider_id, day, ${FIGURE_COLUMNS})
      SELECT p.id, x.day, ${sql.raw(FIGURES.map((figure) => `x.${figure}`).join(', '))}
      FROM unnest(${value('providerId')}::bigint[], ${value('day')}::bigint[], ${sql.join(
        FIGURES.map((figure) => sql`${value(figure)}::bigint[]`),
        sql`, `,
      )}) AS x(provider_id, day, ${FIGURE_COLUMNS}) JOIN provider p ON p.id = x.provider_id
      ORDER BY p.id, x.day FOR KEY SHARE OF p
      ON CONFLICT (provider_id, day) DO UPDATE SET ${sql.raw(
        FIGURES.map((figure) => `${figure} = d.${figure} + excluded.${figure}`).join(', '),
      )}`),
  /** Each link once. */
  addRefusals: prepare<SavedRefusals>(sql`
      INSERT INTO install_refusal AS r (install_id, refused_count, refused_at_ms, reason, day,
        day_count)
      SELECT i.id, x.count, x.refused_at_ms, x.reason, ${value('day')}, x.count
      FROM unnest(${value('installId')}::bigint[], ${value('count')}::bigint[],
          ${value('refusedAtMs')}::bigint[], ${value('reason')}::text[])
        AS x(install_id, count, refused_at_ms, reason) JOIN install i ON i.id = x.install_id
      ORDER BY i.id FOR KEY SHARE OF i
      ON CONFLICT (install_id) DO UPDATE SET
        day_count = CASE WHEN excluded.day = r.day THEN r.day_count + excluded.day_count
          WHEN excluded.day > r.day THEN excluded.day_count ELSE r.day_count END,
        day = greatest(r.day, excluded.day),
        refused_count = r.refused_count + excluded.refused_count,
        reason = CASE WHEN excluded.refused_at_ms >= r.refused_at_ms THEN excluded.reason
          ELSE r.reason END,
        refused_at_ms = greatest(r.refused_at_ms, excluded.refused_at_ms)
      RETURNING install_id AS "installId", day, day_count AS "dayCount"`),
};

interface Note {
  providerId: number;
  figure: Figure;
  atMs: number;
  by: number;
}

/** A transaction that saves figures. */
type Saving = Runner & { readonly events: Pick<EventNotes, 'note'> };

/** Runs `work` as one transaction. */
type Transact = (work: (w: Saving) => Promise<void>) => Promise<void>;

/** What this process has counted and not saved. */
export class FigureTrail {
  readonly #gathered = new GatheredFigures();
  /** Settles when those who asked before have what they asked for. */
  #saved: Promise<void> = Promise.resolve();
  readonly #onFigure: FigureObserver;

  constructor(onFigure: FigureObserver = () => {}) {
    this.#onFigure = onFigure;
  }

  /** Counts what was saved by now: for statements that are a write by themselves. */
  note(providerId: number, figure: Figure, atMs: number, by = 1): void {
    if (by <= 0) return;
    this.#gathered.add(providerId, figure, atMs, by);
    this.#onFigure(figure, by);
  }

  /** Counts a refusal, which no write is about. Returns true if it may be an event. */
  refuse(link: KnownLink, reason: RefusalReason, atMs: number): boolean {
    this.#onFigure(FIGURE_OF_REFUSAL[reason], 1);
    return this.#gathered.addRefusal(link, reason, atMs);
  }

  /** Saves all that has been counted, in steps, each a transaction. */
  save(transact: Transact): Promise<void> {
    const saved = this.#saved.catch(() => undefined).then(() => this.#saveAll(transact));
    this.#saved = saved;
    return saved;
  }

  async #saveAll(transact: Transact): Promise<void> {
    const stepCount = Math.ceil(this.#gathered.rowCount / SAVE_COUNT);
    for (let step = 0; step < stepCount; step++) {
      const rows = this.#gathered.take(SAVE_COUNT);
      try {
        let saved: SavedRefusals[] = [];
        await transact(async (w) => {
          saved = await add(w, rows);
        });
        for (const row of saved) this.#gathered.noteSaved(row, row.dayCount);
      } catch (fault) {
        // Figures may be lost, but nothing counts twice.
        if (!(fault instanceof OutcomeUnknown)) this.#gathered.putBack(rows);
        throw fault;
      }
    }
  }
}

/** Refusals of a link on a day, those of all nodes. */
interface SavedRefusals {
  installId: number;
  day: number;
  dayCount: number;
}

/** The figures of one write. */
export class FigureNotes {
  #notes: Note[] = [];
  readonly #trail: FigureTrail;

  constructor(trail: FigureTrail) {
    this.#trail = trail;
  }

  /** Counts what a write did, within it: with it, it is taken back, or done again. */
  note(providerId: number, figure: Figure, atMs: number, by = 1): void {
    this.#notes.push({ providerId, figure, atMs, by });
  }

  /** The transaction is over. */
  clear(isSaved: boolean): void {
    if (isSaved) {
      for (const { providerId, figure, atMs, by } of this.#notes) {
        this.#trail.note(providerId, figure, atMs, by);
      }
    }
    this.#notes = [];
  }
}

async function add(w: Saving, { days, refusals }: FigureRows): Promise<SavedRefusals[]> {
  if (days.length > 0) {
    const figures = FIGURES.map((figure) => [figure, days.map((row) => row[figure])]);
    await on.addDays.run(w, {
      ...(Object.fromEntries(figures) as Record<Figure, number[]>),
      providerId: days.map(({ providerId }) => providerId),
      day: days.map(({ day }) => day),
    });
  }
  const byDay = Map.groupBy(refusals, ({ day }) => day);
  const saved: SavedRefusals[] = [];
  for (const [day, rows] of byDay) saved.push(...(await addRefusals(w, day, rows)));
  return saved;
}

/** Notes an event for the first refusal of a day, the 10th, the 100th and so on. */
async function addRefusals(
  w: Saving,
  day: number,
  rows: readonly GatheredRefusals[],
): Promise<SavedRefusals[]> {
  const added = await on.addRefusals.all(w, {
    day,
    installId: rows.map(({ installId }) => installId),
    count: rows.map(({ count }) => count),
    refusedAtMs: rows.map(({ refusedAtMs }) => refusedAtMs),
    reason: rows.map(({ reason }) => reason),
  });
  const after = new Map(added.map((row) => [row.installId, row]));
  for (const { installId, providerId, count, refusedAtMs, reason } of rows) {
    const link = after.get(installId);
    if (link?.day !== day) continue;
    for (const number of numbersReached(link.dayCount - count, link.dayCount)) {
      w.events.note(providerId, refusedAtMs, () => linkRefused(installId, reason, number, day));
    }
  }
  return added;
}

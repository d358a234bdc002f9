/**
 * Counts what the writes of a commit did, as `audit-trail.ts` notes it. What is counted is gathered
 * in memory, and saved in the transaction of a later commit, no more than once a second: by adding,
 * so that several processes may, and only if there still is whom it is about.
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
import { WriteFailed } from '../../core/port/store.ts';
import type { FigureObserver } from '../kind.ts';
import type { Connection } from './connection.ts';
import type { EventTrail } from './event-trail.ts';
import { value } from './statement.ts';
import type { BatchNotes, GroupWriter } from './writer.ts';

/** Time between two commits that save figures, ms. */
const SAVE_INTERVAL_MS = 1_000;
/** Rows that are saved with one commit: some 2 ms. */
const SAVE_COUNT = 250;

export const FIGURE_COLUMNS = sql.raw(FIGURES.join(', '));

function statements(db: Connection) {
  const added = sql.join(
    FIGURES.map((figure) => value(figure)),
    sql`, `,
  );
  const sums = FIGURES.map((figure) => sql.raw(`${figure} = ${figure} + excluded.${figure}`));
  return {
    addDay: db.prepare(sql`
        INSERT INTO provider_day (provider_id, day, ${FIGURE_COLUMNS})
        SELECT id, ${value('day')}, ${added} FROM provider WHERE id = ${value('providerId')}
        ON CONFLICT (provider_id, day) DO UPDATE SET ${sql.join(sums, sql`, `)}`),
    addRefusals: db.prepare(sql`
        INSERT INTO install_refusal (install_id, refused_count, refused_at_ms, reason, day,
          day_count)
        SELECT id, ${value('count')}, ${value('refusedAtMs')}, ${value('reason')},
          ${value('day')}, ${value('count')}
        FROM install WHERE id = ${value('installId')}
        ON CONFLICT (install_id) DO UPDATE SET
          day_count = CASE WHEN excluded.day = day THEN day_count + excluded.day_count
            WHEN excluded.day > day THEN excluded.day_count ELSE day_count END,
          day = max(day, excluded.day),
          refused_count = refused_count + excluded.refused_count,
          reason = iif(excluded.refused_at_ms >= refused_at_ms, excluded.reason, reason),
          refused_at_ms = max(refused_at_ms, excluded.refused_at_ms)`),
    refusedOn: db.prepare<{ dayCount: number }>(sql`
        SELECT day_count AS "dayCount" FROM install_refusal
        WHERE install_id = ${value('installId')} AND day = ${value('day')}`),
    savepoint: db.compile('SAVEPOINT figures'),
    release: db.compile('RELEASE figures'),
    rollbackTo: db.compile('ROLLBACK TO figures'),
  };
}

interface Note {
  providerId: number;
  figure: Figure;
  atMs: number;
  by: number;
}

export class FigureTrail implements BatchNotes {
  /** Counts that are not saved yet. */
  readonly #gathered = new GatheredFigures();
  /** Notes of the writes of the present commit. */
  #noted: Note[] = [];
  /** The rows that the present commit saves beside; null: it saves none. */
  #saving: FigureRows | null = null;
  #mustSave = false;
  #savedMs: number;
  /** The reason that figures could not be saved when they were last tried. */
  #fault: unknown = null;
  readonly #db: Connection;
  readonly #steadyMs: () => number;
  readonly #onFigure: FigureObserver;
  readonly #events: EventTrail | null;
  readonly #on: ReturnType<typeof statements>;

  constructor(
    db: Connection,
    steadyMs: () => number,
    onFigure: FigureObserver = () => {},
    events: EventTrail | null = null,
  ) {
    this.#db = db;
    this.#events = events;
    this.#onFigure = onFigure;
    this.#steadyMs = steadyMs;
    this.#savedMs = steadyMs();
    this.#on = statements(db);
  }

  /** Counts what a write did, within it: with it, it is taken back, or done again. */
  note(providerId: number, figure: Figure, atMs: number, by = 1): void {
    if (by > 0) this.#noted.push({ providerId, figure, atMs, by });
  }

  /** Counts a refusal, which no write is about. Returns true if it may be an event. */
  refuse(link: KnownLink, reason: RefusalReason, atMs: number): boolean {
    this.#onFigure(FIGURE_OF_REFUSAL[reason], 1);
    return this.#gathered.addRefusal(link, reason, atMs);
  }

  /** Saves all that has been counted. Throws {@link WriteFailed} if it cannot. */
  async save(writer: GroupWriter): Promise<void> {
    const stepCount = Math.ceil(this.#gathered.rowCount / SAVE_COUNT);
    for (let step = 0; step < stepCount; step++) {
      await writer.run(() => {
        this.#mustSave = true;
      });
      if (this.#fault === null) continue;
      throw new WriteFailed('figures could not be saved', { cause: this.#fault });
    }
  }

  mark(): number {
    return this.#noted.length;
  }

  undo(mark: number): void {
    this.#noted.length = mark;
  }

  seal(): void {
    const nowMs = this.#steadyMs();
    if (!this.#mustSave && nowMs - this.#savedMs < SAVE_INTERVAL_MS) return;
    if (this.#noted.length + this.#gathered.rowCount === 0) return;
    this.#savedMs = nowMs;
    this.#fault = null;
    this.#on.savepoint.run();
    const rows = this.#gathered.take(SAVE_COUNT);
    try {
      this.#add(rows);
      this.#add(rowsOf(this.#noted));
      this.#saving = rows;
    } catch (fault) {
      // A figure that cannot be saved is no reason to refuse the writes beside it.
      this.#fault = fault;
      this.#gathered.putBack(rows);
      // A full disk can make SQLite roll the whole transaction back: then the commit fails.
      if (!this.#db.inTransaction) throw fault;
      this.#on.rollbackTo.run();
    }
    this.#on.release.run();
  }

  clear(isSaved: boolean): void {
    if (this.#saving === null) {
      if (isSaved) gather(this.#noted, this.#gathered);
    } else if (!isSaved) {
      this.#gathered.putBack(this.#saving);
    }
    if (isSaved) for (const { figure, by } of this.#noted) this.#onFigure(figure, by);
    this.#noted = [];
    this.#saving = null;
    this.#mustSave = false;
  }

  #add({ days, refusals }: FigureRows): void {
    for (const row of days) this.#on.addDay.run({ ...row });
    for (const row of refusals) this.#addRefusals(row);
  }

  /** Notes an event for the first refusal of a day, the 10th, the 100th and so on. */
  #addRefusals(row: GatheredRefusals): void {
    const { installId, providerId, day, count, refusedAtMs, reason } = row;
    const isAdded = this.#on.addRefusals.run({ ...row }) > 0;
    if (!isAdded || !this.#events?.isWanted(providerId, 'link.refused')) return;
    const after = this.#on.refusedOn.get({ installId, day })?.dayCount ?? 0;
    // An earlier day than that of the row: its refusals are counted no more.
    if (after === 0) return;
    this.#gathered.noteSaved(row, after);
    for (const number of numbersReached(after - count, after)) {
      this.#events.note(providerId, refusedAtMs, () => linkRefused(installId, reason, number, day));
    }
  }
}

function gather(notes: readonly Note[], gathered: GatheredFigures): GatheredFigures {
  for (const { providerId, figure, atMs, by } of notes) gathered.add(providerId, figure, atMs, by);
  return gathered;
}

function rowsOf(notes: readonly Note[]): FigureRows {
  const own = gather(notes, new GatheredFigures());
  return own.take(own.rowCount);
}

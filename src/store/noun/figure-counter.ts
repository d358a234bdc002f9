/** Counts figures in this process until they are saved. */

import {
  FIGURE_OF_REFUSAL,
  type FigureRows,
  GatheredFigures,
  type GatheredRefusals,
} from '../../core/figures.ts';
import type { Figure, KnownLink, RefusalReason, RefusedDevice } from '../../core/port/figure.ts';
import type { FigureObserver } from '../kind.ts';
import { OutcomeUnknown } from '../refusal.ts';

/** Rows that one step saves: some 2 ms on SQLite. */
const SAVE_COUNT = 250;

/** The refusals of a link on a day, counted by all nodes. */
export interface SavedRefusals extends Pick<GatheredRefusals, 'installId' | 'day'> {
  dayCount: number;
}

/** Adds rows to the saved ones in one write. */
type SaveRows = (rows: FigureRows) => Promise<readonly SavedRefusals[]>;

export class FigureCounter {
  readonly #gathered = new GatheredFigures();
  /** Settles when earlier saves have ended. */
  #saved: Promise<void> = Promise.resolve();
  readonly #onFigure: FigureObserver;

  constructor(onFigure: FigureObserver = () => {}) {
    this.#onFigure = onFigure;
  }

  /** Counts the figures of a write that was saved. */
  note(providerId: number, figure: Figure, atMs: number, by = 1): void {
    this.#gathered.add(providerId, figure, atMs, by);
    this.#onFigure(figure, by);
  }

  /** Counts a refusal, which has no write. Returns true if it may become an event. */
  addRefusal(
    link: KnownLink,
    reason: RefusalReason,
    atMs: number,
    device: RefusedDevice | null,
  ): boolean {
    this.#onFigure(FIGURE_OF_REFUSAL[reason], 1);
    return this.#gathered.addRefusal(link, reason, atMs, device);
  }

  /** Saves all counted figures, in steps. Rejects with `WriteFailed` if they cannot be saved. */
  save(saveRows: SaveRows): Promise<void> {
    const saved = this.#saved.catch(() => undefined).then(() => this.#saveAll(saveRows));
    this.#saved = saved;
    return saved;
  }

  async #saveAll(saveRows: SaveRows): Promise<void> {
    const stepCount = Math.ceil(this.#gathered.rowCount / SAVE_COUNT);
    for (let step = 0; step < stepCount; step++) {
      const rows = this.#gathered.take(SAVE_COUNT);
      try {
        const saved = await saveRows(rows);
        for (const row of saved) this.#gathered.noteSaved(row, row.dayCount);
      } catch (fault) {
        // Figures may be lost, but must not be counted twice.
        if (!(fault instanceof OutcomeUnknown)) this.#gathered.putBack(rows);
        throw fault;
      }
    }
  }
}

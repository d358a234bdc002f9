/** The folds of receivers within a write: read once under the lock of their queues, saved once. */

import { type Fold, foldEndMs, isFoldOver, newFold, sumOfFold } from '../../core/event/fold.ts';
import type { Happening } from '../../core/port/event.ts';
import type { Statements, Step } from '../backend.ts';
import { columns, sql } from '../statement-text.ts';

export function foldStatements({ prepare }: Pick<Statements, 'prepare'>) {
  return {
    find: prepare(sql`SELECT ${columns('destination', 'fold')} FROM destination WHERE id = :id`),
    save: prepare(sql`
        UPDATE destination SET fold = :fold, fold_until_ms = :untilMs WHERE id = :id`),
  };
}

type FoldStatements = ReturnType<typeof foldStatements>;

export class Folds {
  /** By destination; null: none. */
  readonly #folds = new Map<number, Fold | null>();

  constructor(private readonly on: FoldStatements) {}

  /**
   * Returns the fold of this hour, and the sums of an earlier one (null: none), which the caller
   * has to report. The destination is locked.
   */
  *at(id: number, nowMs: number): Step<{ fold: Fold; sum: Happening | null }> {
    const known = yield* this.#find(id);
    if (known !== null && !isFoldOver(known, nowMs)) return { fold: known, sum: null };
    const fold = newFold(nowMs);
    this.#folds.set(id, fold);
    return { fold, sum: known && sumOfFold(known) };
  }

  /** Ends the fold of an hour that is over. Returns its sums; null: there are none. */
  *end(id: number, nowMs: number): Step<Happening | null> {
    const known = yield* this.#find(id);
    if (known === null || !isFoldOver(known, nowMs)) return null;
    this.#folds.set(id, null);
    return sumOfFold(known);
  }

  *save(): Step<void> {
    for (const [id, fold] of this.#folds) {
      const untilMs = fold && foldEndMs(fold);
      yield* this.on.save.run({ id, fold: fold && JSON.stringify(fold), untilMs });
    }
  }

  *#find(id: number): Step<Fold | null> {
    const known = this.#folds.get(id);
    if (known !== undefined) return known;
    const text = (yield* this.on.find.get({ id }))?.fold ?? null;
    const fold = text === null ? null : (JSON.parse(text) as Fold);
    this.#folds.set(id, fold);
    return fold;
  }
}

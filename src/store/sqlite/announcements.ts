import type { BatchNotes } from './writer.ts';

/** Tells somebody of each thing that a commit did, once it is on disk. */
export class Announcements<T> implements BatchNotes {
  #noted: T[] = [];
  readonly #tell: (thing: T) => void;

  constructor(tell: (thing: T) => void = () => {}) {
    this.#tell = tell;
  }

  /** Notes what a write did, within it: with it, it is taken back, or done again. */
  note(thing: T): void {
    this.#noted.push(thing);
  }

  mark(): number {
    return this.#noted.length;
  }

  undo(mark: number): void {
    this.#noted.length = mark;
  }

  seal(): void {}

  clear(isSaved: boolean): void {
    if (this.#noted.length === 0) return;
    const noted = this.#noted;
    this.#noted = [];
    if (isSaved) for (const thing of noted) this.#tell(thing);
  }
}

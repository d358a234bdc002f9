import type { BatchNotes } from './writer.ts';

/** Tells that something waits in the outbox, once it is on disk. */
export class OutboxSignal implements BatchNotes {
  #putCount = 0;
  readonly #onOutbox: () => void;

  constructor(onOutbox: () => void = () => {}) {
    this.#onOutbox = onOutbox;
  }

  /** Notes that a write put something into the outbox, within it. */
  raise(): void {
    this.#putCount += 1;
  }

  mark(): number {
    return this.#putCount;
  }

  undo(mark: number): void {
    this.#putCount = mark;
  }

  seal(): void {}

  clear(isSaved: boolean): void {
    const isPut = this.#putCount > 0;
    this.#putCount = 0;
    if (isSaved && isPut) this.#onOutbox();
  }
}

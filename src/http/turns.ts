/** How what is large shares the one thread with everybody's calls. */

import type { Clock } from '../clock.ts';
import { nextTurn } from '../core/turn.ts';

/** How much of a turn of the event loop goes to what is large, ms. */
const SLICE_MS = 1;

/**
 * Pieces of work that take up to some milliseconds each: pages of lists, looks into inboxes, large
 * bodies. However many callers come with them at once, whoever asks for less waits for one piece.
 */
export class Turns {
  #last: Promise<void> = Promise.resolve();
  #sinceMs = Number.NEGATIVE_INFINITY;

  constructor(private readonly clock: Clock) {}

  /** Settles when the next piece may be done, at once and without another wait in between. */
  next(): Promise<void> {
    this.#last = this.#last.then(this.#begin);
    return this.#last;
  }

  #begin = async (): Promise<void> => {
    if (this.clock.steadyMs() - this.#sinceMs < SLICE_MS) return;
    await nextTurn();
    this.#sinceMs = this.clock.steadyMs();
  };
}

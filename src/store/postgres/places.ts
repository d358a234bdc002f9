/** Places that few may have at a time; the others wait in the order in which they came. */

import { StoreAway } from '../../core/port/store.ts';

/** Callers that wait; one more is refused at once. */
const WAITING_MAX = 2_000;

/** The problem of a call whose time is over. */
export const TOO_LONG = 'it takes too long';
/** The problem of a call that is refused as too many wait. */
export const TOO_MANY = 'too many calls wait for the database';

interface Waiting {
  resolve: () => void;
  isGone: boolean;
}

export class Places {
  #free: number;
  #waiting: Waiting[] = [];

  constructor(count: number) {
    this.#free = count;
  }

  /**
   * Takes a place. `bounded` says for how long it is waited for. Throws {@link StoreAway} when too
   * many wait, else what `bounded` throws.
   */
  async take(bounded: (taken: Promise<void>) => Promise<void>): Promise<void> {
    if (this.#free > 0) {
      this.#free -= 1;
      return;
    }
    if (this.#waiting.length >= WAITING_MAX) {
      throw new StoreAway(TOO_MANY);
    }
    const waiting: Waiting = { resolve: () => undefined, isGone: false };
    const taken = new Promise<void>((resolve) => {
      waiting.resolve = resolve;
    });
    this.#waiting.push(waiting);
    try {
      await bounded(taken);
    } catch (fault) {
      waiting.isGone = true;
      throw fault;
    }
  }

  /** Gives a place to whoever waits for longest. */
  giveBack(): void {
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
      if (next.isGone) continue;
      next.resolve();
      return;
    }
    this.#free += 1;
  }
}

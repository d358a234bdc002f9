/** Turns by which long work shares the one thread with everybody's calls. */

import type { Clock } from '../../clock.ts';
import { nextTurn } from '../../core/turn.ts';
import { PartyQueue } from '../../queue.ts';

/** The part of a turn of the event loop that goes to long work, ms. */
const SLICE_MS = 1;

/**
 * Pieces of work that take up to some milliseconds each: pages of lists, looks into inboxes, large
 * bodies. However many callers come with them at once, whoever asks for less waits for one piece,
 * and of those with such pieces each has one in turn.
 */
export class Turns {
  /** Pieces that wait: of each call one at most, so that their number has no bound of its own. */
  readonly #waiting = new PartyQueue<() => void>(() => ({
    waitingMax: Number.POSITIVE_INFINITY,
  }));
  #isRunning = false;
  #sinceMs = Number.NEGATIVE_INFINITY;

  constructor(private readonly clock: Clock) {}

  /** Settles when the next piece of `caller` may be done, without another wait before it. */
  next(caller: string): Promise<void> {
    return new Promise((begin) => {
      this.#waiting.add(caller, begin);
      if (!this.#isRunning) void this.#run();
    });
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    for (let next = this.#waiting.take(); next !== null; next = this.#waiting.take()) {
      if (this.clock.steadyMs() - this.#sinceMs >= SLICE_MS) {
        await nextTurn();
        this.#sinceMs = this.clock.steadyMs();
      }
      next.item();
      // The piece is done by now, or has begun to wait for something else.
      await Promise.resolve();
    }
    this.#isRunning = false;
  }
}

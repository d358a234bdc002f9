/** Turns by which long work shares the one thread with all other calls. */

import type { Clock } from '../../base/clock.ts';
import { PartyQueue } from '../../base/queue.ts';
import { nextTurn } from '../../core/turn.ts';

/** The part of a turn of the event loop for long work, ms. */
const SLICE_MS = 1;

/**
 * Queues pieces of work that take up to some milliseconds each: pages of lists, reads of inboxes,
 * large bodies. Callers with such pieces take turns; other calls wait for one piece at most.
 */
export class Turns {
  /** Each call has one waiting piece at most, so their number needs no bound here. */
  readonly #waiting = new PartyQueue<() => void>(() => ({
    waitingMax: Number.POSITIVE_INFINITY,
  }));
  #isRunning = false;
  #sinceMs = Number.NEGATIVE_INFINITY;

  constructor(private readonly clock: Clock) {}

  /** Settles when `caller` may run its next piece; the piece must run without further waiting. */
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
      // When this resumes, the piece has ended or waits for something else.
      await Promise.resolve();
    }
    this.#isRunning = false;
  }
}

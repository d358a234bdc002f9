/**
 * Deadlines of statements. Bun.SQL waits for ever for a network that went silent, so whoever waits
 * for longer than the server itself would let a statement run is answered here.
 */

import { systemClock } from '../../clock.ts';

interface Waiting {
  endsMs: number;
  reject: (fault: unknown) => void;
}

export class Deadlines {
  /** In the order in which they end, as each gets the same time. */
  readonly #waiting = new Set<Waiting>();
  #timer: Timer | null = null;
  readonly #timeMs: number;
  readonly #onPassed: () => unknown;

  /** `onPassed` is called when one passes, and gives the fault of all that are over. */
  constructor(timeMs: number, onPassed: () => unknown) {
    this.#timeMs = timeMs;
    this.#onPassed = onPassed;
  }

  get waitingCount(): number {
    return this.#waiting.size;
  }

  /** Settles as `promise` does, or is rejected once its time is over. */
  within<T>(promise: Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const waiting = { endsMs: systemClock.steadyMs() + this.#timeMs, reject };
      this.#waiting.add(waiting);
      this.#timer ??= setTimeout(this.#look, this.#timeMs);
      promise.then(
        (value) => {
          this.#waiting.delete(waiting);
          resolve(value);
        },
        (fault) => {
          this.#waiting.delete(waiting);
          reject(fault);
        },
      );
    });
  }

  /** Ends the timer; nobody is to wait any more. */
  close(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }

  #look = (): void => {
    this.#timer = null;
    const nowMs = systemClock.steadyMs();
    const over: Waiting[] = [];
    let nextMs: number | null = null;
    for (const waiting of this.#waiting) {
      nextMs = waiting.endsMs;
      if (waiting.endsMs > nowMs) break;
      over.push(waiting);
      nextMs = null;
    }
    for (const waiting of over) this.#waiting.delete(waiting);
    if (nextMs !== null) this.#timer = setTimeout(this.#look, nextMs - nowMs + 1);
    if (over.length === 0) return;
    const fault = this.#onPassed();
    for (const { reject } of over) reject(fault);
  };
}

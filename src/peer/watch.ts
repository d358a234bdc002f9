/** Waits for what the other side of a connection does: a peer that plays a script looks at it. */

import { systemClock } from '../base/clock.ts';

const { steadyMs } = systemClock;

export class Watch {
  readonly #waiting = new Set<() => void>();

  /** Checks the awaited conditions. */
  look(): void {
    for (const wake of [...this.#waiting]) wake();
  }

  /** Waits for a condition; returns false after the time. */
  async until(isSo: () => boolean, ms: number): Promise<boolean> {
    const endMs = steadyMs() + ms;
    while (!isSo()) {
      const restMs = endMs - steadyMs();
      if (restMs <= 0) return false;
      const { promise, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(resolve, restMs);
      this.#waiting.add(resolve);
      await promise;
      clearTimeout(timer);
      this.#waiting.delete(resolve);
    }
    return true;
  }
}

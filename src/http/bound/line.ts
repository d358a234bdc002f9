/**
 * The line before a bounded number of places: who finds none waits, for a bounded time and among a
 * bounded number. One caller has half of the places at most, so that the others come in between.
 */

interface LineBounds {
  placesMax: number;
  waitingMax: number;
  /** The time that one may wait, ms. */
  waitMaxMs: number;
}

/** Gives a place up; a second call does nothing. */
export type Leave = () => void;

interface Waiter {
  caller: string;
  resolve(leave: Leave | null): void;
}

export class Line {
  #heldCount = 0;
  readonly #heldBy = new Map<string, number>();
  /** Callers in the order in which they came. */
  readonly #waiting = new Set<Waiter>();

  /** `bounds` is asked at each use, so that a change holds at once. */
  constructor(private readonly bounds: () => LineBounds) {}

  /** A place; null: there was none in time, too many waited for one, or `signal` was aborted. */
  async enter(caller: string, signal: AbortSignal): Promise<Leave | null> {
    const { waitingMax, waitMaxMs } = this.bounds();
    if (signal.aborted) return null;
    if (this.#isFree(caller)) return this.#hold(caller);
    if (this.#waiting.size >= waitingMax) return null;
    return new Promise((resolve) => {
      const giveUp = () => waiter.resolve(null);
      const timer = setTimeout(giveUp, waitMaxMs);
      const waiter: Waiter = {
        caller,
        resolve: (leave) => {
          clearTimeout(timer);
          signal.removeEventListener('abort', giveUp);
          this.#waiting.delete(waiter);
          resolve(leave);
        },
      };
      this.#waiting.add(waiter);
      signal.addEventListener('abort', giveUp);
    });
  }

  #isFree(caller: string): boolean {
    const { placesMax } = this.bounds();
    const held = this.#heldBy.get(caller) ?? 0;
    return this.#heldCount < placesMax && held < Math.ceil(placesMax / 2);
  }

  #hold(caller: string): Leave {
    this.#count(caller, 1);
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      this.#count(caller, -1);
      const next = this.#waiting.values().find((waiter) => this.#isFree(waiter.caller));
      next?.resolve(this.#hold(next.caller));
    };
  }

  #count(caller: string, by: number): void {
    this.#heldCount += by;
    const held = (this.#heldBy.get(caller) ?? 0) + by;
    if (held === 0) this.#heldBy.delete(caller);
    else this.#heldBy.set(caller, held);
  }
}

/** Limits of events a minute from one client: the rest is refused until the minute is over. */

const WINDOW_MS = 60_000;
/** Clients remembered at a time; the longest known is forgotten first. */
const CLIENTS_MAX = 10_000;

interface Window {
  startMs: number;
  count: number;
}

/**
 * Tells whether a window still runs. A clock set far back starts a new one, or it would never end.
 * A little earlier is a call whose body was held back: with a window of its own, each of them would
 * give the count back.
 */
function isWithin({ startMs }: Window, nowMs: number): boolean {
  return Math.abs(nowMs - startMs) < WINDOW_MS;
}

/** Counts events per client in windows of a minute, for a bounded number of clients. */
export class MinuteCounter {
  readonly #windows = new Map<string, Window>();

  /** Counts one more; returns how many there were in this window, this one included. */
  count(client: string, nowMs: number): number {
    const window = this.#windowOf(client, nowMs);
    window.count += 1;
    return window.count;
  }

  /** Tells whether there were so many in this window, and counts none. */
  hasReached(client: string, max: number, nowMs: number): boolean {
    const known = this.#windows.get(client);
    return (known !== undefined && isWithin(known, nowMs) ? known.count : 0) >= max;
  }

  /** Takes back one that was counted and did not come about. */
  takeBack(client: string): void {
    const window = this.#windows.get(client);
    if (window && window.count > 0) window.count -= 1;
  }

  #windowOf(client: string, nowMs: number): Window {
    const known = this.#windows.get(client);
    if (known && isWithin(known, nowMs)) return known;
    const window = { startMs: nowMs, count: 0 };
    this.#windows.delete(client);
    this.#windows.set(client, window);
    if (this.#windows.size > CLIENTS_MAX) {
      const oldest = this.#windows.keys().next().value;
      if (oldest !== undefined) this.#windows.delete(oldest);
    }
    return window;
  }
}

/** A line of the log that comes once a minute at most, with the number of its causes. */
export class MinuteLine {
  #window: Window = { startMs: Number.NEGATIVE_INFINITY, count: 0 };

  /** Counts one more cause; returns how many there were since the last line. 0: none is due. */
  due(nowMs: number): number {
    this.#window.count += 1;
    if (isWithin(this.#window, nowMs)) return 0;
    const { count } = this.#window;
    this.#window = { startMs: nowMs, count: 0 };
    return count;
  }
}

export class MinuteLimiter {
  /** Calls that were refused since the start. */
  refusedCount = 0;
  readonly #counter = new MinuteCounter();
  readonly #perMinuteMax: () => number;

  /** Asks `perMinuteMax` each time, so that a change holds at once. */
  constructor(perMinuteMax: () => number) {
    this.#perMinuteMax = perMinuteMax;
  }

  /** Counts one more, unless the minute is used up. */
  admits(client: string, nowMs: number): boolean {
    const isAdmitted = !this.isUsedUp(client, nowMs);
    if (isAdmitted) this.#counter.count(client, nowMs);
    else this.refusedCount += 1;
    return isAdmitted;
  }

  /** Tells whether the minute is used up. */
  isUsedUp(client: string, nowMs: number): boolean {
    return this.#counter.hasReached(client, this.#perMinuteMax(), nowMs);
  }

  /**
   * Runs `act`, which counts only if its outcome `counts`: a call that is refused for another
   * reason must not use up the minute of everybody behind an address. Null if it is used up.
   */
  async attempt<T>(
    client: string,
    nowMs: number,
    act: () => Promise<T>,
    counts: (done: T) => boolean,
  ): Promise<T | null> {
    if (!this.admits(client, nowMs)) return null;
    let isCounted = false;
    try {
      const done = await act();
      isCounted = counts(done);
      return done;
    } finally {
      if (!isCounted) this.#counter.takeBack(client);
    }
  }
}

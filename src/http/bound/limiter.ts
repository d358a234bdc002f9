/** Limits of events per minute and client. Further events are refused until the minute ends. */

const WINDOW_MS = 60_000;
/** Clients remembered at a time; beyond it the oldest is forgotten. */
const CLIENTS_MAX = 10_000;

interface Window {
  startMs: number;
  count: number;
}

/**
 * Returns whether a window still runs. It ends too if the clock was set far back. A time slightly
 * before its start belongs to it: a call whose body came late must not reset the count.
 */
function isWithin({ startMs }: Window, nowMs: number): boolean {
  return Math.abs(nowMs - startMs) < WINDOW_MS;
}

/** Counts events by client in windows of a minute, for a bounded number of clients. */
export class MinuteCounter {
  readonly #windows = new Map<string, Window>();

  /** Counts an event; returns the count of the window, this event included. */
  count(client: string, nowMs: number): number {
    const window = this.#windowOf(client, nowMs);
    window.count += 1;
    return window.count;
  }

  /** Returns whether the window has reached `max`. Counts nothing. */
  hasReached(client: string, max: number, nowMs: number): boolean {
    const known = this.#windows.get(client);
    return (known !== undefined && isWithin(known, nowMs) ? known.count : 0) >= max;
  }

  /** Takes back a counted event that did not happen. */
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

/** A log line that is written once a minute at most, with the number of its causes. */
export class MinuteLine {
  #window: Window = { startMs: Number.NEGATIVE_INFINITY, count: 0 };

  /** Counts a cause; returns the causes since the last line if a line is due, else 0. */
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

  /** Reads `perMinuteMax` each time, so that a changed setting applies at once. */
  constructor(private readonly perMinuteMax: () => number) {}

  /** Counts a call. Returns false, and counts a refusal, if the limit is reached. */
  admits(client: string, nowMs: number): boolean {
    const isAdmitted = !this.isUsedUp(client, nowMs);
    if (isAdmitted) this.#counter.count(client, nowMs);
    else this.refusedCount += 1;
    return isAdmitted;
  }

  /** Returns whether the limit is reached. Counts nothing. */
  isUsedUp(client: string, nowMs: number): boolean {
    return this.#counter.hasReached(client, this.perMinuteMax(), nowMs);
  }

  /**
   * Runs `act`, and counts it only if its outcome `counts`: calls that are refused for another
   * reason must not use up the limit of all clients behind an address. Null: the limit is reached.
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

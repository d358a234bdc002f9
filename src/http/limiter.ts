/** At most so many a minute from one client; the rest is refused until the minute is over. */

const WINDOW_MS = 60_000;
/** Clients remembered at a time; the longest known is forgotten first. */
const CLIENTS_MAX = 10_000;

interface Window {
  startMs: number;
  count: number;
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

  #windowOf(client: string, nowMs: number): Window {
    const known = this.#windows.get(client);
    // A clock set back starts a new window too, or it would never end.
    if (known && nowMs >= known.startMs && nowMs - known.startMs < WINDOW_MS) return known;
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

export class MinuteLimiter {
  /** Since the start. */
  refusedCount = 0;
  readonly #counter = new MinuteCounter();
  readonly #perMinuteMax: () => number;

  /** `perMinuteMax` is asked each time, so that a change holds at once. */
  constructor(perMinuteMax: () => number) {
    this.#perMinuteMax = perMinuteMax;
  }

  admits(client: string, nowMs: number): boolean {
    const isAdmitted = this.#counter.count(client, nowMs) <= this.#perMinuteMax();
    if (!isAdmitted) this.refusedCount += 1;
    return isAdmitted;
  }
}

/** Long polls that wait for messages: bounded for each token and in total. */

/**
 * Polls with one token at a time. An app needs one; a second may still be open after its network
 * changed. Beyond this bound the oldest poll is answered at once.
 */
export const POLLS_PER_DEVICE_MAX = 4;

/** Polls of all tokens: each costs a connection and some kilobytes. */
const POLLS_MAX = 20_000;

export class Polls {
  readonly #parked = new Map<number, Set<AbortController>>();
  /** All polls that wait, the oldest first. */
  readonly #all = new Set<AbortController>();

  constructor(private readonly countMax: number = POLLS_MAX) {}

  /** The number of polls that wait. */
  get count(): number {
    return this.#all.size;
  }

  /** Runs `poll`; its signal aborts with `signal`, or when newer polls take its place. */
  async park<T>(
    tokenId: number,
    signal: AbortSignal,
    poll: (whenOver: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const end = new AbortController();
    const ofToken = this.#parked.get(tokenId) ?? new Set();
    this.#parked.set(tokenId, ofToken.add(end));
    this.#all.add(end);
    if (ofToken.size > POLLS_PER_DEVICE_MAX) this.#endOldest(ofToken);
    if (this.#all.size > this.countMax) this.#endOldest(this.#all);
    try {
      return await poll(AbortSignal.any([signal, end.signal]));
    } finally {
      ofToken.delete(end);
      this.#all.delete(end);
      if (ofToken.size === 0 && this.#parked.get(tokenId) === ofToken) {
        this.#parked.delete(tokenId);
      }
    }
  }

  #endOldest(parked: Set<AbortController>): void {
    const [oldest] = parked;
    if (oldest === undefined) return;
    // Removed now: if more polls come before it has ended, the next oldest ends.
    parked.delete(oldest);
    this.#all.delete(oldest);
    oldest.abort();
  }
}

/** Long polls that wait for messages: a bounded number for each token, and of all. */

/**
 * Polls with one token at a time. An app needs one; a second may still be known here when its
 * network changed. Beyond this the one that has waited longest is answered at once.
 */
export const POLLS_PER_DEVICE_MAX = 4;

/** The most polls of all tokens: each costs a connection and some kilobytes. */
const POLLS_MAX = 20_000;

export class Polls {
  readonly #parked = new Map<number, Set<AbortController>>();
  /** Polls under way, the one that has waited longest first. */
  readonly #all = new Set<AbortController>();

  constructor(private readonly countMax: number = POLLS_MAX) {}

  /** The number of polls that wait. */
  get count(): number {
    return this.#all.size;
  }

  /**
   * Runs `poll`, whose signal says that it must wait no longer: `signal` does, or newer polls with
   * the token took its place.
   */
  async park<T>(
    tokenId: number,
    signal: AbortSignal,
    poll: (whenOver: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const end = new AbortController();
    const ofToken = this.#parked.get(tokenId) ?? new Set();
    this.#parked.set(tokenId, ofToken.add(end));
    this.#all.add(end);
    if (ofToken.size > POLLS_PER_DEVICE_MAX) this.#end(ofToken);
    if (this.#all.size > this.countMax) this.#end(this.#all);
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

  /** Makes the poll that has waited longest be answered. */
  #end(parked: Set<AbortController>): void {
    const [oldest] = parked;
    if (oldest === undefined) return;
    // Another one's turn, should more come before it has left.
    parked.delete(oldest);
    this.#all.delete(oldest);
    oldest.abort();
  }
}

/** A token bucket: an amount per second, with a reserve for bursts. */
export class Budget {
  #left: number;
  #atMs: number;

  /** Starts full; `nowMs` is the time of a steady clock, here and below. */
  constructor(
    private readonly perSecond: number,
    private readonly reserve: number,
    nowMs: number,
  ) {
    this.#left = reserve;
    this.#atMs = nowMs;
  }

  /** Takes `amount`. Returns false, and takes nothing, if less is left. */
  take(amount: number, nowMs: number): boolean {
    const gained = ((nowMs - this.#atMs) * this.perSecond) / 1000;
    this.#left = Math.min(this.#left + gained, this.reserve);
    this.#atMs = nowMs;
    if (amount > this.#left) return false;
    this.#left -= amount;
    return true;
  }
}

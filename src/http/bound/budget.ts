/** An amount that may be used up in a second, with a reserve for a burst. */
export class Budget {
  #left: number;
  #atMs: number;

  /** Begins full; `nowMs` is a steady clock's, here and below. */
  constructor(
    private readonly perSecond: number,
    private readonly reserve: number,
    nowMs: number,
  ) {
    this.#left = reserve;
    this.#atMs = nowMs;
  }

  /** Takes `amount`, if there is so much. */
  take(amount: number, nowMs: number): boolean {
    const gained = ((nowMs - this.#atMs) * this.perSecond) / 1000;
    this.#left = Math.min(this.#left + gained, this.reserve);
    this.#atMs = nowMs;
    if (amount > this.#left) return false;
    this.#left -= amount;
    return true;
  }
}

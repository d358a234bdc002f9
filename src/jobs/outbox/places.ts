/** Places of a pool: how many attempts are under way at a time, handed out in turns. */

export interface Taker {
  /** True: it keeps a place for long; all such together get no more than a share. */
  readonly isSlow: boolean;
  /** Begins one attempt, which ends with `giveBack`; false: it has none to begin. */
  begin(): boolean;
}

export class Places {
  #freeCount: number;
  #freeOfSlow: number;
  /** Those who want a place, whoever got none for longest first. */
  readonly #waiting = new Set<Taker>();
  #isSharing = false;

  /** `slowMax`: most places for those that keep them for long. */
  constructor(count: number, slowMax: number) {
    this.#freeCount = count;
    this.#freeOfSlow = slowMax;
  }

  /** Asks for places for as long as the taker has something to begin. */
  want(taker: Taker): void {
    this.#waiting.add(taker);
    this.#share();
  }

  /** Gives back the place of an attempt that has ended; `isSlow` as it was when it began. */
  giveBack(isSlow: boolean): void {
    this.#freeCount += 1;
    if (isSlow) this.#freeOfSlow += 1;
    this.#share();
  }

  #share(): void {
    // A taker that asks while it begins has its turn in the loop below.
    if (this.#isSharing) return;
    this.#isSharing = true;
    for (const taker of this.#waiting) {
      if (this.#freeCount === 0) break;
      const { isSlow } = taker;
      if (isSlow && this.#freeOfSlow === 0) continue;
      this.#waiting.delete(taker);
      if (!taker.begin()) continue;
      this.#freeCount -= 1;
      if (isSlow) this.#freeOfSlow -= 1;
      this.#waiting.add(taker);
    }
    this.#isSharing = false;
  }
}

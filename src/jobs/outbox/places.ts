/** Places of a pool: how many attempts are under way at a time, handed out in turns. */

export interface Taker {
  /** Begins one attempt, which ends with `giveBack`; false: it has none to begin. */
  begin(): boolean;
}

export class Places {
  #freeCount: number;
  /** Those who want a place, whoever got none for longest first. */
  readonly #waiting = new Set<Taker>();
  #isSharing = false;

  constructor(count: number) {
    this.#freeCount = count;
  }

  /** Asks for places for as long as the taker has something to begin. */
  want(taker: Taker): void {
    this.#waiting.add(taker);
    this.#share();
  }

  /** Gives back the place of an attempt that has ended. */
  giveBack(): void {
    this.#freeCount += 1;
    this.#share();
  }

  #share(): void {
    // A taker that asks while it begins has its turn in the loop below.
    if (this.#isSharing) return;
    this.#isSharing = true;
    for (const taker of this.#waiting) {
      if (this.#freeCount === 0) break;
      this.#waiting.delete(taker);
      if (!taker.begin()) continue;
      this.#freeCount -= 1;
      this.#waiting.add(taker);
    }
    this.#isSharing = false;
  }
}

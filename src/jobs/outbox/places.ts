/** Places of a pool: how many attempts are under way at a time, handed out in turns. */

import { PartyQueue } from '../../queue.ts';

export interface Taker {
  /** True: it keeps a place for long; all such together get no more than a share. */
  readonly isSlow: boolean;
  /** Begins one attempt, which ends with `giveBack`; false: it has none to begin. */
  begin(): boolean;
}

const ONCE_EACH = { waitingMax: Number.POSITIVE_INFINITY, waitingPerPartyMax: 1 };

export class Places {
  #freeCount: number;
  #freeOfSlow: number;
  /** Takers that want a place, once each: there are no more of them than runs. */
  readonly #waiting = new PartyQueue<Taker>(() => ONCE_EACH);
  #isSharing = false;

  /** `slowMax`: most places for those that keep them for long. */
  constructor(count: number, slowMax: number) {
    this.#freeCount = count;
    this.#freeOfSlow = slowMax;
  }

  /** Asks for places, in turns by party, for as long as the taker has something to begin. */
  want(party: string, taker: Taker): void {
    this.#waiting.add(party, taker);
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
    while (this.#freeCount > 0) {
      const next = this.#waiting.take((_, { isSlow }) => !isSlow || this.#freeOfSlow > 0);
      if (next === null) break;
      const { party, item: taker } = next;
      const { isSlow } = taker;
      if (!taker.begin()) continue;
      this.#freeCount -= 1;
      if (isSlow) this.#freeOfSlow -= 1;
      this.#waiting.add(party, taker);
    }
    this.#isSharing = false;
  }
}

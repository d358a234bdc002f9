/**
 * The one fair queue: parties (a provider, a client address, the operator, the jobs) take turns,
 * and each has its own order. Wherever callers wait for something scarce, they wait here.
 *
 * - A party waits with a bounded number, and all parties together too. When all of that is taken, a
 *   newcomer pushes out the last of the party that waits with most, unless it would then wait with
 *   as many itself: it is refused.
 * - Of the places that {@link Places} hands out, one is never the same party's: whatever a party
 *   does, another one waits for a single place, not for all of them.
 */

/** Bounds of a queue. A function gives them, so that a change of settings holds at once. */
export interface WaitingBounds {
  /** Items that may wait. */
  waitingMax: number;
  /** Items of one party that may wait. Default: half of all, rounded up. */
  waitingPerPartyMax?: number;
}

/** Items that wait, in turns by party. */
export class PartyQueue<Item> {
  /** Parties that wait, the one whose turn it is first; the items of each in their order. */
  readonly #waiting = new Map<string, Set<Item>>();
  /** The same parties by the number of their items: the last entry is of those that have most. */
  readonly #byCount: Set<string>[] = [];
  #size = 0;

  constructor(private readonly bounds: () => WaitingBounds) {}

  /** The number of items that wait. */
  get size(): number {
    return this.#size;
  }

  /** The items that wait, party by party. */
  *items(): Generator<Item> {
    for (const items of this.#waiting.values()) yield* items;
  }

  /** Tells whether items of a party wait. */
  has(party: string): boolean {
    return this.#waiting.has(party);
  }

  /**
   * Adds an item behind the others of its party. Returns the item for which there is no room: null
   * if there is room for all, `item` itself if it is refused, else the one that it pushed out.
   */
  add(party: string, item: Item): Item | null {
    const { waitingMax, waitingPerPartyMax = Math.ceil(waitingMax / 2) } = this.bounds();
    const own = this.#waiting.get(party)?.size ?? 0;
    if (own >= waitingPerPartyMax) return item;
    const isFull = this.#size >= waitingMax;
    const mostItems = this.#byCount.length;
    if (isFull && own + 1 >= mostItems) return item;
    const pushedOut = isFull ? this.#removeLast() : null;
    const items = this.#waiting.get(party) ?? new Set();
    items.add(item);
    this.#waiting.set(party, items);
    this.#count(party, items.size - 1, items.size);
    return pushedOut;
  }

  /**
   * Takes the first item of the party whose turn it is, of those that `mayGo`; the party then has
   * its next turn behind the others. Null: none waits that may go.
   */
  take(
    mayGo: (party: string, item: Item) => boolean = () => true,
  ): { party: string; item: Item } | null {
    for (const [party, items] of this.#waiting) {
      for (const item of items) {
        if (!mayGo(party, item)) break;
        this.remove(party, item);
        if (this.#waiting.delete(party)) this.#waiting.set(party, items);
        return { party, item };
      }
    }
    return null;
  }

  /** Removes an item. Returns false if it does not wait. */
  remove(party: string, item: Item): boolean {
    const items = this.#waiting.get(party);
    if (items === undefined || !items.delete(item)) return false;
    if (items.size === 0) this.#waiting.delete(party);
    this.#count(party, items.size + 1, items.size);
    return true;
  }

  /** Removes the last item of the party that waits with most. Null: none waits. */
  #removeLast(): Item | null {
    const [party = ''] = this.#byCount.at(-1) ?? [];
    const items = [...(this.#waiting.get(party) ?? [])];
    const last = items.at(-1);
    if (last === undefined) return null;
    this.remove(party, last);
    return last;
  }

  /** Notes that a party has another number of items: one more or one fewer. */
  #count(party: string, from: number, to: number): void {
    this.#size += to - from;
    this.#byCount[from - 1]?.delete(party);
    if (to > 0) {
      this.#byCount[to - 1] ??= new Set();
      this.#byCount[to - 1]?.add(party);
    }
    while (this.#byCount.at(-1)?.size === 0) this.#byCount.pop();
  }
}

/** Bounds of places and of the queue before them. */
export interface PlaceBounds extends WaitingBounds {
  /** Places that may be taken at a time. */
  placesMax: number;
  /** Places that one party may take. Default and most: all but one, and one at least. */
  placesPerPartyMax?: number;
}

/** Gives a place back. A second call does nothing. */
export type Leave = () => void;

/** The reason why there is no place: too many wait, or the wait was ended. */
export type NoPlace = 'queue_full' | 'wait_ended';

interface Waiter {
  settle(outcome: Leave | NoPlace): void;
}

/** Places that a bounded number of callers may have at a time; the others wait in turns. */
export class Places {
  #takenCount = 0;
  readonly #takenBy = new Map<string, number>();
  readonly #queue: PartyQueue<Waiter>;

  constructor(private readonly bounds: () => PlaceBounds) {
    this.#queue = new PartyQueue(bounds);
  }

  /** The number of callers that wait. */
  get waitingCount(): number {
    return this.#queue.size;
  }

  /** The number of places that are taken. */
  get takenCount(): number {
    return this.#takenCount;
  }

  /** Takes a place if one is free for the party. Null: none is. */
  takeAtOnce(party: string): Leave | null {
    return this.#isFree(party) ? this.#hold(party) : null;
  }

  /**
   * Takes a place, as soon as one is free and it is the party's turn. Resolves with `queue_full` if
   * too many wait, at once or when others push it out, and with `wait_ended` once `signal` is
   * aborted. Never rejects.
   */
  take(party: string, signal: AbortSignal): Promise<Leave | NoPlace> {
    if (signal.aborted) return Promise.resolve('wait_ended');
    const leave = this.takeAtOnce(party);
    if (leave !== null) return Promise.resolve(leave);
    return new Promise((resolve) => {
      const giveUp = () => {
        this.#queue.remove(party, waiter);
        resolve('wait_ended');
      };
      const waiter: Waiter = {
        settle: (outcome) => {
          signal.removeEventListener('abort', giveUp);
          resolve(outcome);
        },
      };
      signal.addEventListener('abort', giveUp, { once: true });
      this.#queue.add(party, waiter)?.settle('queue_full');
    });
  }

  #isFree(party: string): boolean {
    const { placesMax, placesPerPartyMax = placesMax } = this.bounds();
    const most = Math.max(1, Math.min(placesPerPartyMax, placesMax - 1));
    return this.#takenCount < placesMax && (this.#takenBy.get(party) ?? 0) < most;
  }

  #hold(party: string): Leave {
    this.#count(party, 1);
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      this.#count(party, -1);
      this.#handOn();
    };
  }

  /** Gives what is free to those whose turn it is: more than one after a bound was raised. */
  #handOn(): void {
    for (;;) {
      const next = this.#queue.take((party) => this.#isFree(party));
      if (next === null) return;
      next.item.settle(this.#hold(next.party));
    }
  }

  #count(party: string, by: number): void {
    this.#takenCount += by;
    const taken = (this.#takenBy.get(party) ?? 0) + by;
    if (taken === 0) this.#takenBy.delete(party);
    else this.#takenBy.set(party, taken);
  }
}

/**
 * The fair queue for every scarce resource: parties (a provider, a client address, the operator,
 * the jobs) take turns, and the items of a party keep their order.
 *
 * - The items of a party, and of all parties, are bounded. A new item in a full queue pushes out
 *   the last item of the party with most items, or is refused if its own party would have as many.
 * - A party never takes all of {@link Places}: another party waits for a single place.
 */

/** Bounds of a queue; a function returns them, so that changed settings take effect at once. */
interface WaitingBounds {
  /** The most items that wait. */
  waitingMax: number;
  /** The most items of a party that wait. Default: half of all, rounded up. */
  waitingPerPartyMax?: number;
}

/** Waiting items, in turns by party. */
export class PartyQueue<Item> {
  /** The items of each party; the party with the next turn is first. */
  readonly #waiting = new Map<string, Set<Item>>();
  /** The same parties by their number of items; last, those with most. */
  readonly #byCount: Set<string>[] = [];
  #size = 0;

  constructor(private readonly bounds: () => WaitingBounds) {}

  /** The number of waiting items. */
  get size(): number {
    return this.#size;
  }

  /** Yields the waiting items, party by party. */
  *items(): Generator<Item> {
    for (const items of this.#waiting.values()) yield* items;
  }

  /** Returns whether items of a party wait. */
  has(party: string): boolean {
    return this.#waiting.has(party);
  }

  /** Returns whether {@link add} takes an item of a party. */
  takes(party: string): boolean {
    const { waitingMax, waitingPerPartyMax = Math.ceil(waitingMax / 2) } = this.bounds();
    const own = this.#waiting.get(party)?.size ?? 0;
    if (own >= waitingPerPartyMax) return false;
    const mostItems = this.#byCount.length;
    return this.#size < waitingMax || own + 1 < mostItems;
  }

  /**
   * Adds an item after the others of its party. Returns null, `item` itself if it is refused, or
   * the item that it pushed out.
   */
  add(party: string, item: Item): Item | null {
    if (!this.takes(party)) return item;
    const pushedOut = this.#size >= this.bounds().waitingMax ? this.#removeLast() : null;
    const items = this.#waiting.get(party) ?? new Set();
    items.add(item);
    this.#waiting.set(party, items);
    this.#count(party, items.size - 1, items.size);
    return pushedOut;
  }

  /**
   * Takes the first item of the next party for which `mayGo` is true; the party's next turn is
   * after the others. Null: no item may go.
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

  /** Removes an item. Returns false if it is not in the queue. */
  remove(party: string, item: Item): boolean {
    const items = this.#waiting.get(party);
    if (items === undefined || !items.delete(item)) return false;
    if (items.size === 0) this.#waiting.delete(party);
    this.#count(party, items.size + 1, items.size);
    return true;
  }

  /** Removes the last item of the party with most items. Null: the queue is empty. */
  #removeLast(): Item | null {
    const [party = ''] = this.#byCount.at(-1) ?? [];
    const items = [...(this.#waiting.get(party) ?? [])];
    const last = items.at(-1);
    if (last === undefined) return null;
    this.remove(party, last);
    return last;
  }

  /** Updates the number of items of a party, by one. */
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

/** Bounds of places and of their queue. */
export interface PlaceBounds extends WaitingBounds {
  /** The most places that are taken. */
  placesMax: number;
  /** The most places of a party. Default and maximum: all but one, but at least one. */
  placesPerPartyMax?: number;
}

/** Releases a place. A second call does nothing. */
export type Leave = () => void;

/** The queue is full, or the wait was aborted. */
export type NoPlace = 'queue_full' | 'wait_ended';

interface Waiter {
  settle(outcome: Leave | NoPlace): void;
}

/**
 * A bounded number of places for callers; other callers wait in turns.
 *
 * @example
 * const leave = await places.take(provider.code, request.signal);
 * if (typeof leave === 'string') return tooBusy(leave);
 * return work().finally(leave);
 */
export class Places {
  #takenCount = 0;
  readonly #takenBy = new Map<string, number>();
  readonly #queue: PartyQueue<Waiter>;

  constructor(private readonly bounds: () => PlaceBounds) {
    this.#queue = new PartyQueue(bounds);
  }

  /** The number of waiting callers. */
  get waitingCount(): number {
    return this.#queue.size;
  }

  /** The number of taken places. */
  get takenCount(): number {
    return this.#takenCount;
  }

  /** Takes a place. Null: none is free for the party. */
  takeAtOnce(party: string): Leave | null {
    return this.#isFree(party) ? this.#hold(party) : null;
  }

  /**
   * Waits for a place and the turn of the party. Resolves with `queue_full` if the queue has no
   * room or a later caller pushes this one out, and with `wait_ended` if `signal` aborts. Never
   * rejects.
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

  /** Hands free places to the queue; more than one after a bound was raised. */
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

/**
 * The dispatches that are due at a destination, as its run reads them: page by page, and anew from
 * the beginning once the last page was read. What is in the queue or under way is not read again.
 */

import type { Clock } from '../../clock.ts';
import type { Dispatch, DispatchCursor, OutboxStore } from '../../core/port/outbox.ts';
import { nextTurn } from '../../core/turn.ts';

/** Dispatches that are made due in one step. */
const HASTEN_COUNT = 1_000;
/** The position before what was not tried yet. */
const BEFORE_NEW: DispatchCursor = { nextAtMs: 0, id: 0 };
/** Least time between two looks for what is new while attempts are under way, ms. */
const RENEWAL_MS = 100;

interface Options {
  store: Pick<OutboxStore, 'hastenDispatches' | 'listDispatches'>;
  clock: Clock;
  destinationId: number;
  pageSize: number;
  /** True: the first page begins with what was not tried yet. */
  beginsWithNew: boolean;
}

export class DueQueue {
  #queue: Dispatch[] = [];
  #cursor: DispatchCursor | null;
  /** True: another page may follow; false: the last one was read. */
  #hasNextPage = true;
  /** True: something may have been put in since the last look. */
  #hasNews = false;
  #lookedMs = Number.NEGATIVE_INFINITY;
  /** Ids of what is in the queue or under way. */
  readonly #inHand = new Set<number>();
  /** What was put off is made due before the next look. */
  #mustHasten = false;

  constructor(private readonly options: Options) {
    this.#cursor = options.beginsWithNew ? BEFORE_NEW : null;
  }

  get length(): number {
    return this.#queue.length;
  }

  get hasNextPage(): boolean {
    return this.#hasNextPage;
  }

  /** Notes that something may have been put in. */
  wake(): void {
    this.#hasNews = true;
  }

  add(dispatch: Dispatch): void {
    this.#inHand.add(dispatch.id);
    this.#queue.push(dispatch);
  }

  /** Takes the first one, which stays in hand until `settle`. */
  take(): Dispatch | undefined {
    return this.#queue.shift();
  }

  settle({ id }: Dispatch): void {
    this.#inHand.delete(id);
  }

  /** Puts back what was no attempt, to its place. */
  putBack(dispatch: Dispatch): void {
    this.#inHand.add(dispatch.id);
    const at = this.#queue.findIndex((other) => isBefore(dispatch, other));
    this.#queue.splice(at < 0 ? this.#queue.length : at, 0, dispatch);
  }

  /** Forgets what waits here. */
  clear(): void {
    for (const { id } of this.#queue) this.#inHand.delete(id);
    this.#queue = [];
  }

  /** Has all be read anew, with what was put off made due. */
  hasten(): void {
    this.#mustHasten = true;
    this.#hasNextPage = false;
    this.clear();
  }

  /** Tells whether it is time to read; `isAtRest`: nothing is under way, all is saved. */
  mustRead(isAtRest: boolean, hasRoom: boolean): boolean {
    if (this.#hasNextPage) return this.#queue.length < this.options.pageSize / 2;
    if (this.#queue.length > 0) return false;
    return isAtRest || (this.#hasNews && hasRoom && this.renewalMs() === 0);
  }

  /** The time until what is new is looked for, ms; 0: nothing is to be waited for. */
  renewalMs(): number {
    if (!this.#hasNews) return 0;
    return Math.max(0, this.#lookedMs + RENEWAL_MS - this.options.clock.steadyMs());
  }

  /**
   * Reads the next page, or anew, without what is in hand or in `unsaved`; `goesOn` is asked
   * between steps. `isEmpty`: nothing at all is due. Rejects as the store does.
   */
  async read(
    unsaved: readonly number[],
    goesOn: () => boolean,
  ): Promise<{ found: Dispatch[]; isEmpty: boolean }> {
    const { store, clock, destinationId, pageSize } = this.options;
    while (this.#mustHasten && goesOn()) {
      const count = await store.hastenDispatches(destinationId, HASTEN_COUNT);
      if (count < HASTEN_COUNT) this.#mustHasten = false;
      else await nextTurn();
    }
    const after = this.#hasNextPage ? this.#cursor : null;
    // As the look begins: what is saved meanwhile may be read once more.
    const known = new Set([...this.#inHand, ...unsaved]);
    const countMax = pageSize + (after === null ? known.size : 0);
    this.#hasNews = false;
    this.#lookedMs = clock.steadyMs();
    const page = await store.listDispatches(destinationId, clock.nowMs(), countMax, after);
    this.#cursor = page.at(-1) ?? null;
    this.#hasNextPage = page.length === countMax;
    const found = page.filter(({ id }) => !known.has(id));
    return { found, isEmpty: page.length === 0 && after === null };
  }
}

/** Tells which comes first: what was tried already, by its time, then what is new. */
function isBefore(one: Dispatch, other: Dispatch): boolean {
  const isNew = Number(one.nextAtMs === 0) - Number(other.nextAtMs === 0);
  return (isNew || one.nextAtMs - other.nextAtMs || one.id - other.id) < 0;
}

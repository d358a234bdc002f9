/**
 * The dispatches that are due at a destination, read page by page; after the last page from the
 * beginning again. Dispatches that are queued here or in progress are not read a second time.
 */

import type { Clock } from '../../base/clock.ts';
import type { Dispatch, DispatchCursor, OutboxStore } from '../../core/port/outbox.ts';
import { nextTurn } from '../../core/turn.ts';

/** Dispatches that are made due in one step. */
const HASTEN_COUNT = 1_000;
/** The cursor before the dispatches that were never tried. */
const BEFORE_NEW: DispatchCursor = { nextAtMs: 0, id: 0 };
/** The least time between two reads while attempts are in progress: each repeats their rows, ms. */
const REREAD_MS = 100;

interface Options {
  store: Pick<OutboxStore, 'hastenDispatches' | 'listDispatches'>;
  clock: Clock;
  destinationId: number;
  pageSize: number;
  /** True: the first page begins with dispatches that were never tried. */
  beginsWithNew: boolean;
}

export class DueQueue {
  #queue: Dispatch[] = [];
  #cursor: DispatchCursor | null;
  /** False: the last page was read. */
  #hasNextPage = true;
  /** True: dispatches may have been added since the last read. */
  #hasAdditions = false;
  #readMs = Number.NEGATIVE_INFINITY;
  /** Ids of the dispatches that are queued or in progress. */
  readonly #taken = new Set<number>();
  /** True: the next read first makes due what was put off. */
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

  /** Notes that dispatches may have been added. */
  noteAdditions(): void {
    this.#hasAdditions = true;
  }

  add(dispatch: Dispatch): void {
    this.#taken.add(dispatch.id);
    this.#queue.push(dispatch);
  }

  /** Takes the first dispatch, which is in progress until `settle`. */
  take(): Dispatch | undefined {
    return this.#queue.shift();
  }

  settle({ id }: Dispatch): void {
    this.#taken.delete(id);
  }

  /** Puts a dispatch back to its place: its attempt does not count. */
  putBack(dispatch: Dispatch): void {
    this.#taken.add(dispatch.id);
    const at = this.#queue.findIndex((other) => isBefore(dispatch, other));
    this.#queue.splice(at < 0 ? this.#queue.length : at, 0, dispatch);
  }

  clear(): void {
    for (const { id } of this.#queue) this.#taken.delete(id);
    this.#queue = [];
  }

  /** Makes due what was put off, and reads from the beginning. */
  hasten(): void {
    this.#mustHasten = true;
    this.#hasNextPage = false;
    this.clear();
  }

  /**
   * Returns whether to read now; `isAtRest`: no attempt is in progress and every outcome is saved.
   */
  mustRead(isAtRest: boolean, hasRoom: boolean): boolean {
    if (this.#hasNextPage) return this.#queue.length < this.options.pageSize / 2;
    if (this.#queue.length > 0) return false;
    return isAtRest || (this.#hasAdditions && hasRoom && this.rereadMs() === 0);
  }

  /** Returns the time until additions may be read, ms; 0: now, or there are none. */
  rereadMs(): number {
    if (!this.#hasAdditions) return 0;
    return Math.max(0, this.#readMs + REREAD_MS - this.options.clock.steadyMs());
  }

  /**
   * Reads the next page, without dispatches that are taken or whose outcome is `unsaved`;
   * `mayContinue` is asked between steps. `isEmpty`: no dispatch is due. Rejects as the store does.
   */
  async read(
    unsaved: readonly number[],
    mayContinue: () => boolean,
  ): Promise<{ found: Dispatch[]; isEmpty: boolean }> {
    const { store, clock, destinationId, pageSize } = this.options;
    while (this.#mustHasten && mayContinue()) {
      const count = await store.hastenDispatches(destinationId, HASTEN_COUNT);
      if (count < HASTEN_COUNT) this.#mustHasten = false;
      else await nextTurn();
    }
    const after = this.#hasNextPage ? this.#cursor : null;
    // Taken before the read: an outcome that is saved meanwhile may still be in the page.
    const known = new Set([...this.#taken, ...unsaved]);
    const countMax = pageSize + (after === null ? known.size : 0);
    this.#hasAdditions = false;
    this.#readMs = clock.steadyMs();
    const page = await store.listDispatches(destinationId, clock.nowMs(), countMax, after);
    this.#cursor = page.at(-1) ?? null;
    this.#hasNextPage = page.length === countMax;
    const found = page.filter(({ id }) => !known.has(id));
    return { found, isEmpty: page.length === 0 && after === null };
  }
}

/** Compares the order of two: dispatches that were tried, by their time, then new ones. */
function isBefore(one: Dispatch, other: Dispatch): boolean {
  const isNew = Number(one.nextAtMs === 0) - Number(other.nextAtMs === 0);
  return (isNew || one.nextAtMs - other.nextAtMs || one.id - other.id) < 0;
}

/**
 * The rows of the list of links. The server sends them in slices. In the order of creation the list
 * reads as far as the person scrolls; in another order it reads all matching links and sorts them
 * here.
 */

import { signal } from '@preact/signals';
import type { Got } from '../../call/table.ts';
import { call } from '../call.ts';
import { texts, wordsFor } from '../state.ts';
import { isEvery, type LinkFilter, type Order } from './link-query.ts';

export type Link = Got<'links.list'>['rows'][number];

const PAGE_COUNT = 100;
const PAGE_COUNT_MAX = 1_000;
/** Rows that are sorted in without a pause: comparing two Chinese texts takes 10 us. */
const SORTED_AT_ONCE = 64;
/** The most ids of one call. */
const IDS_MAX = 200;

type Compare = (a: Link, b: Link) => number;

/** Links without an end are the last of those that end. */
const endOf = ({ figures }: Link) => figures?.endsAtMs ?? Number.MAX_SAFE_INTEGER;

function comparing({ by, isDown }: Order): Compare {
  const { compare } = new Intl.Collator(texts.tag, { numeric: true });
  const orders: Record<Order['by'], Compare> = {
    code: (a, b) => (a.code < b.code ? -1 : a.code > b.code ? 1 : 0),
    note: (a, b) => compare(a.note ?? '', b.note ?? ''),
    devices: (a, b) => a.deviceCount / a.limit - b.deviceCount / b.limit || a.limit - b.limit,
    ends: (a, b) => endOf(a) - endOf(b),
    status: (a, b) => a.status - b.status,
    made: (a, b) => a.id - b.id,
  };
  const order = orders[by];
  return (a, b) => (isDown ? order(b, a) : order(a, b)) || b.id - a.id;
}

/** Merges two sorted lists with few comparisons: 100,000 would delay the page visibly. */
function merged(rows: readonly Link[], more: readonly Link[], compare: Compare): Link[] {
  const all: Link[] = [];
  let from = 0;
  for (const link of more) {
    let low = from;
    for (let high = rows.length; low < high; ) {
      const middle = (low + high) >> 1;
      if (compare(rows[middle] as Link, link) < 0) low = middle + 1;
      else high = middle;
    }
    for (; from < low; from++) all.push(rows[from] as Link);
    all.push(link);
  }
  for (; from < rows.length; from++) all.push(rows[from] as Link);
  return all;
}

/** Lets the browser draw and handle input; a timer would wait for milliseconds. */
const breathe = () =>
  new Promise<void>((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(null);
  });

export class LinkList {
  rows: Link[] = [];
  /** Increases with each change of the rows. */
  readonly version = signal(0);
  readonly state = signal<'reading' | 'waiting' | 'stopped' | 'whole'>('reading');
  readonly problem = signal<string | null>(null);
  /** The number of links that were added since the list was read. */
  readonly fresh = signal(0);
  /** The number of the provider's links; null: unknown. */
  allCount: number | null = null;
  /** Whether figures of subscriptions are shown; null: unknown. */
  readonly figures = signal<Got<'links.list'>['figures'] | null>(null);

  #nextId: number | null = null;
  #wanted = PAGE_COUNT;
  #isReading = false;
  readonly #leaving = new AbortController();
  readonly #byId = new Map<number, Link>();
  readonly #freshIds = new Set<number>();
  readonly #compare: Compare | null;

  constructor(
    readonly at: string,
    readonly filter: LinkFilter,
    readonly order: Order,
  ) {
    this.#compare = order.by === 'made' ? null : comparing(order);
    void this.#read();
  }

  /** True: the list has every link in the order of creation; some rows may be unread. */
  get isWhole(): boolean {
    return this.#compare === null && isEvery(this.filter);
  }

  /** Returns the number of rows, unread ones of a whole list included. */
  get length(): number {
    const isOver = this.state.value === 'whole';
    return this.isWhole && !isOver
      ? Math.max(this.allCount ?? 0, this.rows.length)
      : this.rows.length;
  }

  /** Reads until there are this many rows. */
  want(count: number): void {
    this.#wanted = Math.max(this.#wanted, count);
    if (this.state.value === 'waiting' && this.rows.length < this.#wanted) void this.#read();
  }

  /** Stops reading and keeps the rows. */
  stop(): void {
    if (this.state.value === 'reading') this.state.value = 'stopped';
  }

  /** Continues after a stop or a fault. */
  goOn(): void {
    if (this.state.value !== 'whole') void this.#read();
  }

  leave(): void {
    this.#leaving.abort();
  }

  async #read(): Promise<void> {
    this.state.value = 'reading';
    this.problem.value = null;
    if (this.#isReading) return;
    this.#isReading = true;
    try {
      while (this.state.value === 'reading') await this.#readSlice();
    } catch (fault) {
      if (this.#leaving.signal.aborted) return;
      this.state.value = 'stopped';
      this.problem.value = wordsFor(fault);
    } finally {
      this.#isReading = false;
    }
  }

  async #readSlice(): Promise<void> {
    const missing = this.#compare === null ? this.#wanted - this.rows.length : PAGE_COUNT_MAX;
    const given = {
      at: this.at,
      filter: this.filter,
      beyondId: this.#nextId,
      isOldest: this.order.by === 'made' && !this.order.isDown,
      countMax: Math.min(PAGE_COUNT_MAX, Math.max(PAGE_COUNT, missing)),
    };
    const answer = await call('links.list', given, this.#leaving.signal);
    const { allCount, nextId, rows } = answer;
    this.figures.value = answer.figures;
    this.allCount = allCount;
    this.#nextId = nextId;
    await this.#add(rows);
    const isEnough = this.#compare === null && this.rows.length >= this.#wanted;
    if (nextId === null) this.state.value = 'whole';
    else if (isEnough && this.state.value === 'reading') this.state.value = 'waiting';
    this.version.value += 1;
  }

  async #add(found: readonly Link[]): Promise<void> {
    const rows = found.filter(({ id }) => !this.#byId.has(id));
    for (const link of rows) this.#byId.set(link.id, link);
    const compare = this.#compare;
    if (compare === null) {
      this.rows.push(...rows);
      return;
    }
    for (let from = 0; from < rows.length; from += SORTED_AT_ONCE) {
      await breathe();
      // Links may have been removed meanwhile.
      const some = rows.slice(from, from + SORTED_AT_ONCE).filter(({ id }) => this.#byId.has(id));
      this.rows = merged(this.rows, some.toSorted(compare), compare);
    }
  }

  /** Reloads changed links: updates their rows in place and counts new ones. */
  async refresh(ids: readonly number[]): Promise<void> {
    for (let at = 0; at < ids.length; at += IDS_MAX) {
      const some = ids.slice(at, at + IDS_MAX);
      const given = { at: this.at, filter: this.filter, beyondId: null, isOldest: false };
      const answer = await call(
        'links.list',
        { ...given, countMax: 1, ids: some },
        this.#leaving.signal,
      ).catch(() => null);
      // The next change or action asks again.
      if (answer === null) return;
      this.allCount = answer.allCount;
      this.#put(some, new Map(answer.rows.map((link) => [link.id, link])));
    }
    // With a filter, only a new read of the list shows whether the link matches.
    if (isEvery(this.filter)) this.fresh.value = this.#freshIds.size;
    this.version.value += 1;
  }

  /**
   * Puts changed links into their rows, and takes those out that no longer match. A changed link is
   * another object: a row is drawn again for that alone.
   */
  #put(ids: readonly number[], found: ReadonlyMap<number, Link>): void {
    const known = ids.filter((id) => this.#byId.has(id));
    for (const link of found.values()) {
      if (this.#byId.has(link.id)) this.#byId.set(link.id, link);
      else if (link.id > (this.rows[0]?.id ?? 0)) this.#freshIds.add(link.id);
    }
    if (known.length === 0) return;
    for (const id of known) if (!found.has(id)) this.#byId.delete(id);
    this.rows = this.rows.flatMap(({ id }) => this.#byId.get(id) ?? []);
  }
}

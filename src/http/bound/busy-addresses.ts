/**
 * Addresses from which the devices of many links came on a day, for `gatepost doctor`: customers of
 * a tunnel have the address of its exit. Counted in memory alone, and lost with the process.
 *
 * A link counts once an admitted device of it called, and of links that were made on one day a few
 * count: so many as one person makes up at once prove nothing. An address is named only if it is
 * one of this machine; of others, which may be a carrier's, the largest number alone is shown.
 */

import { DAY_MS, utcDay } from '../../core/calendar.ts';
import { countedAs, isLoopback, type TrustedProxies } from '../request/address.ts';
import type { SharedSettings } from './parties.ts';

/** An address is busy from so many links in a day, of which so many of one first day count. */
const LINKS_MIN = 101;
const OF_ONE_DAY_MAX = 10;
/** Links that are looked at for their first days, and remembered of an address. */
const SAMPLE_MAX = 200;
const LINKS_MAX = 1_000;
/** Addresses of others that are remembered, and their links in all: some 10 MB. */
const ADDRESSES_MAX = 10_000;
const LINKS_IN_ALL_MAX = 100_000;

/** Calls that are noted in a second: to read an address costs up to 2 us, as a read from memory. */
const NOTES_PER_SECOND_MAX = 1_000;

/** An address of this machine, a network of the setting, or (with an empty name) another. */
export interface BusyAddress {
  whose: 'own' | 'listed' | 'other';
  name: string;
  /** Its links in a UTC day, up to {@link LINKS_MAX}. */
  linkCount: number;
}

interface BusyDeps {
  settings: SharedSettings & { readonly trustedProxies: TrustedProxies };
  /** The addresses of this machine. */
  own: ReadonlySet<string>;
  nowMs(): number;
  /** Returns when a link was made, UTC ms; null: it is gone. */
  madeAtMs(installId: number): Promise<number | null>;
}

type Links = Set<number>;

/** The counts of a UTC day. */
class Day {
  readonly own = new Map<string, Links>();
  readonly listed = new Map<string, Links>();
  readonly #others = new Map<string, Links>();
  #linkCount = 0;

  constructor(readonly number: number) {}

  /** Notes a link at an address of others. The address that got no link for longest goes first. */
  addOther(client: string, installId: number): void {
    const links = this.#others.get(client) ?? new Set();
    if (links.size >= LINKS_MAX || links.has(installId)) return;
    links.add(installId);
    this.#linkCount += 1;
    this.#others.delete(client);
    this.#others.set(client, links);
    while (this.#others.size > ADDRESSES_MAX || this.#linkCount > LINKS_IN_ALL_MAX) {
      const [[oldest, its] = [client, links]] = this.#others;
      this.#others.delete(oldest);
      this.#linkCount -= its.size;
    }
  }

  /** The address of others with most links. */
  largest(): Links {
    let most: Links = new Set();
    for (const links of this.#others.values()) if (links.size > most.size) most = links;
    return most;
  }

  /** The numbers of what is remembered. */
  get size(): { addresses: number; links: number } {
    return { addresses: this.#others.size, links: this.#linkCount };
  }
}

export class BusyAddresses {
  #today: Day;
  /** The day before; a day that is older is forgotten. */
  #before: Day | null = null;
  #second = 0;
  #noteCount = 0;
  /** Sets of links that were found to be of many first days. */
  readonly #wide = new WeakSet<Links>();

  constructor(private readonly deps: BusyDeps) {
    this.#today = new Day(utcDay(deps.nowMs()));
  }

  /** The numbers of what is remembered of other addresses today. */
  get size(): { addresses: number; links: number } {
    return this.#today.size;
  }

  /**
   * Notes that an admitted device of a link called; reads its address, unless this second had as
   * many calls as are noted.
   */
  note(addressOf: () => string, installId: number): void {
    const second = Math.floor(this.deps.nowMs() / 1000);
    if (second !== this.#second) [this.#second, this.#noteCount] = [second, 0];
    this.#noteCount += 1;
    if (this.#noteCount <= NOTES_PER_SECOND_MAX) this.#note(addressOf(), installId);
  }

  #note(address: string, installId: number): void {
    const { own, settings } = this.deps;
    // Then only a proxy is known, or a program of this machine.
    if (address === '' || isLoopback(address) || settings.trustedProxies.includes(address)) return;
    const day = this.#dayNow();
    const client = countedAs(address);
    const network = settings.sharedAddresses.networkOf(client);
    if (network !== null) addTo(day.listed, network, installId);
    else if (own.has(address)) addTo(day.own, address, installId);
    else day.addOther(client, installId);
  }

  /** Returns the busy addresses of today and of the day before, each once. */
  async list(): Promise<BusyAddress[]> {
    const found = new Map<string, BusyAddress>();
    const today = this.#dayNow();
    for (const day of this.#before === null ? [today] : [today, this.#before]) {
      const kinds = { own: day.own, listed: day.listed, other: new Map([['', day.largest()]]) };
      for (const [whose, addresses] of Object.entries(kinds)) {
        for (const [name, links] of addresses) {
          if (!(await this.#isBusy(links))) continue;
          const key = `${whose} ${name}`;
          const linkCount = Math.max(links.size, found.get(key)?.linkCount ?? 0);
          found.set(key, { whose: whose as BusyAddress['whose'], name, linkCount });
        }
      }
    }
    return [...found.values()];
  }

  #dayNow(): Day {
    const number = utcDay(this.deps.nowMs());
    if (number !== this.#today.number) {
      this.#before = this.#today.number === number - 1 ? this.#today : null;
      this.#today = new Day(number);
    }
    return this.#today;
  }

  /** Returns whether links are many, and of many first days. */
  async #isBusy(links: Links): Promise<boolean> {
    if (links.size < LINKS_MIN) return false;
    if (this.#wide.has(links)) return true;
    const ids = [...links].sort((a, b) => a - b);
    const step = Math.max(1, ids.length / SAMPLE_MAX);
    const ofDay = new Map<number, number>();
    for (let at = 0; at < ids.length; at += step) {
      const madeAtMs = await this.deps.madeAtMs(ids[Math.floor(at)] ?? 0);
      if (madeAtMs === null) continue;
      const day = Math.floor(madeAtMs / DAY_MS);
      ofDay.set(day, Math.min(OF_ONE_DAY_MAX, (ofDay.get(day) ?? 0) + 1));
    }
    const isWide = [...ofDay.values()].reduce((sum, count) => sum + count, 0) >= LINKS_MIN;
    if (isWide) this.#wide.add(links);
    return isWide;
  }
}

function addTo(addresses: Map<string, Links>, name: string, installId: number): void {
  const links = addresses.get(name) ?? new Set();
  if (links.size < LINKS_MAX) addresses.set(name, links.add(installId));
}

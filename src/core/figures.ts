/**
 * Figures by UTC day and provider, and how they are gathered in memory: counting must cost a
 * request nothing that anybody could measure, and an ordinary commit no row.
 */

import { DAY_MS, utcDay } from './calendar.ts';
import type { Core } from './core.ts';
import {
  FIGURES,
  type Figure,
  type Figures,
  type KnownLink,
  type RefusalReason,
} from './port/figure.ts';

/** UTC days for which figures are kept, today included: two years. */
export const FIGURE_DAYS = 731;

/** Meaning of each, as a phrase behind "the number of". */
export const FIGURE_MEANINGS: Readonly<Record<Figure, string>> = {
  admitted: 'HWIDs that took a slot on a link',
  seen: 'different devices that called that day',
  refused_hwid: 'calls refused because they held no HWID',
  refused_domain: 'calls refused because their domain is not actively bound',
  refused_disabled: 'calls refused because the link is disabled',
  refused_full: 'calls refused because the link is full',
  freed: 'slots that became free: deleted, inactive, replaced or forgotten',
  links: 'links made',
  sends: 'notifications and commands accepted',
  recipients: 'recipients of those whose delivery began',
  delivered: 'recipients to whose inbox a message came',
  received: 'messages that a device acknowledged, in whichever state',
  opened: 'messages that a device said were opened',
  executed: 'commands that a device said were executed',
  failed: 'messages that could not be delivered, or of which the device said that they failed',
  expired: 'messages that nobody fetched in time, or before they were blocked',
};

/** The figure of a refusal at the door. */
export const FIGURE_OF_REFUSAL: Readonly<Record<RefusalReason, Figure>> = {
  hwid_required: 'refused_hwid',
  link_domain_not_bound: 'refused_domain',
  link_disabled: 'refused_disabled',
  link_limit_reached: 'refused_full',
};

/** The figures of a UTC day; `day` is `YYYY-MM-DD`. */
export interface DayFigures extends Figures {
  day: string;
}

/** The first and the last of `count` UTC days that end with today, as days since 1970. */
export function lastDays(count: number, nowMs: number): { fromDay: number; toDay: number } {
  const toDay = utcDay(nowMs);
  return { fromDay: toDay - count + 1, toDay };
}

/** Figures of nothing. */
export function noFigures(): Figures {
  return Object.fromEntries(FIGURES.map((figure) => [figure, 0])) as Figures;
}

/**
 * The figures of each UTC day from `fromDay` to `toDay`, both included, oldest first: of one
 * provider, or (null) of all together. Those on disk, which may be ten seconds old.
 */
export async function listFigures(
  core: Core,
  providerId: number | null,
  fromDay: number,
  toDay: number,
): Promise<DayFigures[]> {
  const found = await core.store.listFigures(providerId, fromDay, toDay);
  const byDay = new Map(found.map(({ day, ...figures }) => [day, figures]));
  return Array.from({ length: toDay - fromDay + 1 }, (_, n) => {
    const day = new Date((fromDay + n) * DAY_MS).toISOString().slice(0, 10);
    return { day, ...(byDay.get(fromDay + n) ?? noFigures()) };
  });
}

/** Sums of figures. */
export function sumOf(rows: readonly Figures[]): Figures {
  const sum = noFigures();
  for (const row of rows) for (const figure of FIGURES) sum[figure] += row[figure];
  return sum;
}

/** Figures of a provider and a day that are not saved yet. */
interface GatheredDay extends Figures {
  providerId: number;
  day: number;
}

/** Refusals of a link on a UTC day that are not saved yet. */
export interface GatheredRefusals extends KnownLink {
  day: number;
  count: number;
  refusedAtMs: number;
  reason: RefusalReason;
}

/** Rows that are to be added to those that are saved. */
export interface FigureRows {
  days: GatheredDay[];
  refusals: GatheredRefusals[];
}

/** Links whose refusals are gathered at most; a refusal of one more counts for its day alone. */
export const GATHERED_LINKS_MAX = 10_000;

/** More UTC days than there are since 1970. */
const DAYS_MAX = 1_000_000;

/**
 * Figures in memory. Callers decide how often it is added to, not how large it grows: it has a
 * record for each provider and day, and for {@link GATHERED_LINKS_MAX} links, all of them known.
 */
export class GatheredFigures {
  readonly #days = new Map<string, GatheredDay>();
  /** The record that was added to last, which the next is nearly always for. */
  #last: GatheredDay | null = null;
  /** By link and day, in one number. */
  readonly #refusals = new Map<number, GatheredRefusals>();
  /** Refusals of a link on a day that were taken out, as far as they are known. */
  readonly #takenCounts = new Map<number, number>();

  /** Number of rows that it would take to save all. */
  get rowCount(): number {
    return this.#days.size + this.#refusals.size;
  }

  add(providerId: number, figure: Figure, atMs: number, by: number): void {
    const day = utcDay(atMs);
    this.#dayOf(providerId, day)[figure] += by;
  }

  /** Returns true if the refusals of the link on that day reach a number that is an event. */
  addRefusal({ installId, providerId }: KnownLink, reason: RefusalReason, atMs: number): boolean {
    this.add(providerId, FIGURE_OF_REFUSAL[reason], atMs, 1);
    const day = utcDay(atMs);
    const added = { installId, providerId, day, count: 1, refusedAtMs: atMs, reason };
    this.#addToLink(added);
    const key = keyOf(added);
    const count = (this.#takenCounts.get(key) ?? 0) + (this.#refusals.get(key)?.count ?? 0);
    return numbersReached(count - 1, count).length > 0;
  }

  /** Notes how many refusals of a link on a day are saved, those of all processes. */
  noteSaved(link: Pick<GatheredRefusals, 'installId' | 'day'>, count: number): void {
    if (this.#takenCounts.size >= GATHERED_LINKS_MAX) this.#takenCounts.clear();
    this.#takenCounts.set(keyOf(link), count);
  }

  /** Takes up to `countMax` rows out. */
  take(countMax: number): FigureRows {
    this.#last = null;
    const days = takeFrom(this.#days, countMax);
    const refusals = takeFrom(this.#refusals, countMax - days.length);
    for (const row of refusals) this.#countTaken(row, row.count);
    return { days, refusals };
  }

  /** Adds rows that were taken out and could not be saved. */
  putBack({ days, refusals }: FigureRows): void {
    for (const row of days) {
      const own = this.#dayOf(row.providerId, row.day);
      for (const figure of FIGURES) own[figure] += row[figure];
    }
    for (const row of refusals) {
      this.#countTaken(row, -row.count);
      this.#addToLink(row);
    }
  }

  #countTaken(link: GatheredRefusals, count: number): void {
    this.noteSaved(link, (this.#takenCounts.get(keyOf(link)) ?? 0) + count);
  }

  #dayOf(providerId: number, day: number): GatheredDay {
    const last = this.#last;
    if (last !== null && last.providerId === providerId && last.day === day) return last;
    const key = `${providerId} ${day}`;
    const found = this.#days.get(key) ?? { providerId, day, ...noFigures() };
    this.#days.set(key, found);
    this.#last = found;
    return found;
  }

  #addToLink(added: GatheredRefusals): void {
    const key = keyOf(added);
    const known = this.#refusals.get(key);
    if (known === undefined) {
      if (this.#refusals.size < GATHERED_LINKS_MAX) this.#refusals.set(key, added);
      return;
    }
    known.count += added.count;
    if (added.refusedAtMs < known.refusedAtMs) return;
    known.refusedAtMs = added.refusedAtMs;
    known.reason = added.reason;
  }
}

/** A link and a day as one number. */
function keyOf({ installId, day }: Pick<GatheredRefusals, 'installId' | 'day'>): number {
  return installId * DAYS_MAX + day;
}

/**
 * Numbers of refusals that are events, of those that a count reaches when it grows so: 1, 10, 100
 * and so on.
 */
export function numbersReached(before: number, after: number): number[] {
  const reached: number[] = [];
  for (let number = 1; number <= after; number *= 10) if (number > before) reached.push(number);
  return reached;
}

/** Takes the first `countMax` values out of a map. */
function takeFrom<K, V>(map: Map<K, V>, countMax: number): V[] {
  const taken: V[] = [];
  for (const [key, value] of map) {
    if (taken.length >= countMax) break;
    taken.push(value);
    map.delete(key);
  }
  return taken;
}

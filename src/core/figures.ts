/**
 * Figures by UTC day and provider. They are collected in memory, so counting costs a request no
 * measurable time, and most commits no row.
 */

import { DAY_MS, utcDay } from './calendar.ts';
import type { Core } from './core.ts';
import {
  FIGURES,
  type Figure,
  type Figures,
  type KnownLink,
  type RefusalReason,
  type RefusedDevice,
} from './port/figure.ts';
import { type GatheredDevice, GatheredDevices } from './refused-devices.ts';

/** UTC days for which figures are kept, today included: two years. */
export const FIGURE_DAYS = 731;

/** Meanings as phrases after "the number of". */
export const FIGURE_MEANINGS: Readonly<Record<Figure, string>> = {
  admitted: 'HWIDs that took a slot on a link',
  admitted_over: 'of those, HWIDs over the limit of a link that only counts',
  seen: 'different devices that called that day',
  refused_hwid: 'calls refused because they held no HWID',
  refused_domain: 'calls refused because their domain is not actively bound',
  refused_disabled: 'calls refused because the link is disabled',
  refused_full: 'calls refused because the link is full, or admits only named HWIDs',
  freed: 'slots that became free: deleted, inactive, replaced or forgotten',
  links: 'links made',
  sends: 'notifications and commands accepted',
  recipients: 'recipients of those whose delivery began',
  delivered: 'recipients to whose inbox a message came',
  received: 'messages that a device acknowledged, in whichever state',
  opened: 'messages that a device said were opened',
  executed: 'commands that a device said were executed',
  failed: 'messages that could not be delivered, or of which the device said that they failed',
  expired: 'messages that were not fetched before they expired or were blocked',
  carried: 'messages that rode on a subscription which a recipient fetched',
};

/** The figure that counts a refusal. */
export const FIGURE_OF_REFUSAL: Readonly<Record<RefusalReason, Figure>> = {
  hwid_required: 'refused_hwid',
  link_domain_not_bound: 'refused_domain',
  link_disabled: 'refused_disabled',
  not_named: 'refused_full',
  link_limit_reached: 'refused_full',
  copied_hwid: 'refused_full',
  barred: 'refused_full',
};

/** The figures of a UTC day; `day` is `YYYY-MM-DD`. */
export interface DayFigures extends Figures {
  day: string;
}

/** Returns the first and the last of `count` UTC days up to today, as days since 1970. */
export function lastDays(count: number, nowMs: number): { fromDay: number; toDay: number } {
  const toDay = utcDay(nowMs);
  return { fromDay: toDay - count + 1, toDay };
}

/** Returns figures that are all 0. */
export function noFigures(): Figures {
  return Object.fromEntries(FIGURES.map((figure) => [figure, 0])) as Figures;
}

/**
 * Lists the figures of a provider (null: the sums of all) for each UTC day from `fromDay` to
 * `toDay`, oldest first. Saved figures may be ten seconds old.
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

/** Sums figures up. */
export function sumOf(rows: readonly Figures[]): Figures {
  const sum = noFigures();
  for (const row of rows) for (const figure of FIGURES) sum[figure] += row[figure];
  return sum;
}

/** Unsaved figures of a provider and a day. */
interface GatheredDay extends Figures {
  providerId: number;
  day: number;
}

/** Unsaved refusals of a link on a UTC day, with time and reason of the last one. */
export interface GatheredRefusals extends KnownLink {
  day: number;
  count: number;
  refusedAtMs: number;
  reason: RefusalReason;
  /** The device of the last refusal; null: unknown. */
  device: RefusedDevice | null;
}

/** Figures to add to the saved ones. */
export interface FigureRows {
  days: GatheredDay[];
  refusals: GatheredRefusals[];
  devices: GatheredDevice[];
}

/** The most links with collected refusals; a refusal of another link counts only for its day. */
export const GATHERED_LINKS_MAX = 10_000;

/** The time between two new phones of a link that cause a save at once, ms. */
const NEW_PHONE_MS = 60_000;

/** More UTC days than there are since 1970. */
const DAYS_MAX = 1_000_000;

/**
 * Unsaved figures. Its size is bounded by providers and days, and by {@link GATHERED_LINKS_MAX}
 * known links, however often callers cause a count.
 */
export class GatheredFigures {
  /** By provider and day. */
  readonly #days = new Map<number, GatheredDay>();
  /** By `keyOf`. */
  readonly #refusals = new Map<number, GatheredRefusals>();
  readonly #devices = new GatheredDevices();
  /** The known numbers of refusals of links on days that were taken out. */
  readonly #takenCounts = new Map<number, number>();

  /** Phones that were new, by link and HWID, and when the last one of a link was. */
  readonly #phones = new Set<string>();
  readonly #newPhoneMs = new Map<number, number>();

  /** Number of rows to save. */
  get rowCount(): number {
    return this.#days.size + this.#refusals.size + this.#devices.size;
  }

  add(providerId: number, figure: Figure, atMs: number, by: number): void {
    const day = utcDay(atMs);
    this.#dayOf(providerId, day)[figure] += by;
  }

  /** Adds a refusal. Returns true if its number on that day, or its phone, may be an event. */
  addRefusal(
    { installId, providerId }: KnownLink,
    reason: RefusalReason,
    atMs: number,
    device: RefusedDevice | null = null,
  ): boolean {
    if (device !== null) this.#devices.add({ installId, providerId }, device, reason, atMs);
    const isNewPhone = device !== null && this.#isNewPhone(installId, device.hwid, atMs);
    this.add(providerId, FIGURE_OF_REFUSAL[reason], atMs, 1);
    const day = utcDay(atMs);
    const added = { installId, providerId, day, count: 1, refusedAtMs: atMs, reason, device };
    this.#addToLink(added);
    const key = keyOf(added);
    const count = (this.#takenCounts.get(key) ?? 0) + (this.#refusals.get(key)?.count ?? 0);
    return isNewPhone || numbersReached(count - 1, count).length > 0;
  }

  /** Returns true for a phone that the link did not refuse before, once a minute for a link. */
  #isNewPhone(installId: number, hwid: string, atMs: number): boolean {
    const key = `${installId} ${hwid}`;
    const lastMs = this.#newPhoneMs.get(installId);
    const isSoon = lastMs !== undefined && Math.abs(atMs - lastMs) < NEW_PHONE_MS;
    if (isSoon || this.#phones.has(key)) return false;
    if (this.#phones.size >= GATHERED_LINKS_MAX) this.#phones.clear();
    if (this.#newPhoneMs.size >= GATHERED_LINKS_MAX) this.#newPhoneMs.clear();
    this.#phones.add(key);
    this.#newPhoneMs.set(installId, atMs);
    return true;
  }

  /** Sets the number of saved refusals of a link on a day, of all processes. */
  noteSaved(link: Pick<GatheredRefusals, 'installId' | 'day'>, count: number): void {
    if (this.#takenCounts.size >= GATHERED_LINKS_MAX) this.#takenCounts.clear();
    this.#takenCounts.set(keyOf(link), count);
  }

  /** Takes at most `countMax` rows out. */
  take(countMax: number): FigureRows {
    const days = takeFrom(this.#days, countMax);
    const refusals = takeFrom(this.#refusals, countMax - days.length);
    for (const row of refusals) this.#countTaken(row, row.count);
    const devices = this.#devices.take(countMax - days.length - refusals.length);
    return { days, refusals, devices };
  }

  /** Adds rows again that could not be saved. */
  putBack({ days, refusals, devices }: FigureRows): void {
    this.#devices.putBack(devices);
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
    const key = providerId * DAYS_MAX + day;
    const known = this.#days.get(key);
    if (known !== undefined) return known;
    const added = { providerId, day, ...noFigures() };
    this.#days.set(key, added);
    return added;
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
    known.device = added.device ?? known.device;
  }
}

/** A link and a day as one number. */
function keyOf({ installId, day }: Pick<GatheredRefusals, 'installId' | 'day'>): number {
  return installId * DAYS_MAX + day;
}

/** Returns the powers of ten between two counts: each is an event. */
export function numbersReached(before: number, after: number): number[] {
  const reached: number[] = [];
  for (let number = 1; number <= after; number *= 10) if (number > before) reached.push(number);
  return reached;
}

/** Takes at most `countMax` of the first values out of a map. */
function takeFrom<K, V>(map: Map<K, V>, countMax: number): V[] {
  const taken: V[] = [];
  for (const [key, value] of map) {
    if (taken.length >= countMax) break;
    taken.push(value);
    map.delete(key);
  }
  return taken;
}

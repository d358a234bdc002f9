/**
 * Reads `subscription-userinfo`, the header in which panels tell apps the figures of a
 * subscription: `upload=1; download=2; total=3; expire=1766000000`.
 */

import { DAY_MS } from './calendar.ts';

/** What a panel says of a subscription. */
export interface Figures {
  /** When it ends; null: never, or not known. */
  endsAtMs: number | null;
  /** The traffic that it has; null: unlimited, or not known. */
  totalBytes: number | null;
  /** The traffic that was used, up and down; null: not known. */
  usedBytes: number | null;
}

/** The characters of the header that are read; panels send some 100. */
const LENGTH_MAX = 1_000;

/** Earlier ends are mistakes of panels: subscriptions of this kind are younger. */
const EARLIEST_MS = Date.UTC(2020, 0, 1);
const FURTHEST_MS = 10 * 366 * DAY_MS;

/** From this number on, an end is in milliseconds; as seconds it would be in the year 5138. */
const MS_FROM = 100_000_000_000;

const NUMBER = /^\d+(?:\.\d*)?(?:e\+?\d{1,2})?$/i;
const DATE = /^\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?)?$/i;

/**
 * Returns the figures in the value of the header; null: it has none. Takes each spelling that
 * panels and converters send: any order and case, blanks, commas for semicolons, missing parts,
 * fractions, an end in seconds, in milliseconds or as a date. A number that can't be, as a negative
 * one, is absent.
 */
export function figuresIn(header: string, nowMs: number): Figures | null {
  const parts = new Map<string, string>();
  for (const part of header.slice(0, LENGTH_MAX).split(/[;,&]/)) {
    const [name, value] = part.split('=', 2);
    if (name === undefined || value === undefined) continue;
    parts.set(name.trim().toLowerCase(), value.trim().replace(/^"(.*)"$/, '$1'));
  }
  const bytes = (name: string) => bytesIn(parts.get(name));
  const [up, down, total] = [bytes('upload'), bytes('download'), bytes('total')];
  const endsAtMs = endIn(parts.get('expire') ?? '', nowMs);
  const usedBytes = up === null && down === null ? null : (up ?? 0) + (down ?? 0);
  const isSaid = ['upload', 'download', 'total', 'expire'].some((name) => parts.has(name));
  return isSaid ? { endsAtMs, totalBytes: total === 0 ? null : total, usedBytes } : null;
}

/** Returns a number of bytes; null: absent, or no number that JavaScript counts exactly. */
function bytesIn(text = ''): number | null {
  if (!NUMBER.test(text)) return null;
  const bytes = Math.floor(Number(text));
  return bytes * 2 <= Number.MAX_SAFE_INTEGER ? bytes : null;
}

/** Returns the end that a part says; null: never, or no time at which a subscription may end. */
function endIn(text: string, nowMs: number): number | null {
  const endsAtMs = DATE.test(text) ? dateIn(text) : NUMBER.test(text) ? timeIn(Number(text)) : null;
  const isTime = endsAtMs !== null && endsAtMs >= EARLIEST_MS && endsAtMs <= nowMs + FURTHEST_MS;
  return isTime ? endsAtMs : null;
}

const timeIn = (number: number) => Math.floor(number >= MS_FROM ? number : number * 1_000);

/** A date without a zone is in UTC, as the clocks of panels are. */
function dateIn(text: string): number | null {
  const iso = text.replace(' ', 'T');
  const ms = Date.parse(
    /T.*(?:Z|[+-]\d\d:?\d\d)$/i.test(iso) || iso.length === 10 ? iso : `${iso}Z`,
  );
  return Number.isNaN(ms) ? null : ms;
}

/** The tenths of the traffic that were used; 10 and more: all of it. Null: there is no total. */
const tenthsOf = ({ totalBytes, usedBytes }: Figures) =>
  totalBytes === null || usedBytes === null ? null : Math.floor((usedBytes / totalBytes) * 10);

/** Returns true if figures that are stored are out of date: an end, a total, or a tenth moved. */
export function figuresMoved(before: Figures, now: Figures): boolean {
  return (
    before.endsAtMs !== now.endsAtMs ||
    before.totalBytes !== now.totalBytes ||
    tenthsOf(before) !== tenthsOf(now)
  );
}

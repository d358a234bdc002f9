/**
 * Reads `subscription-userinfo`, the header in which panels tell apps the figures of a
 * subscription: `upload=1; download=2; total=3; expire=1766000000`.
 */

import { DAY_MS, HOUR_MS, MINUTE_MS, sameUtcDay } from './calendar.ts';
import type { Figures, FiguresSource, KeptFigures } from './port/subscription-figures.ts';

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
const endIn = (text: string, nowMs: number): number | null =>
  plausibleEnd(
    DATE.test(text) ? dateIn(text) : NUMBER.test(text) ? timeIn(Number(text)) : null,
    nowMs,
  );

/** Returns an end; null: none, or no time at which a subscription may end. */
export const plausibleEnd = (endsAtMs: number | null, nowMs: number): number | null =>
  endsAtMs !== null && endsAtMs >= EARLIEST_MS && endsAtMs <= nowMs + FURTHEST_MS ? endsAtMs : null;

/** Returns the figures in an answer of a panel's API. */
export const plausible = (
  { endsAtMs, totalBytes, usedBytes }: Figures,
  nowMs: number,
): Figures => ({
  endsAtMs: plausibleEnd(endsAtMs, nowMs),
  totalBytes: exactly(totalBytes),
  usedBytes: exactly(usedBytes),
});

/** A sum may be a number that JavaScript does not count exactly. */
const exactly = (bytes: number | null) => (Number.isSafeInteger(bytes) ? bytes : null);

const timeIn = (number: number) => Math.floor(number >= MS_FROM ? number : number * 1_000);

/** A date without a zone is in UTC, as the clocks of panels are. */
function dateIn(text: string): number | null {
  const iso = text.replace(' ', 'T');
  const ms = Date.parse(
    /T.*(?:Z|[+-]\d\d:?\d\d)$/i.test(iso) || iso.length === 10 ? iso : `${iso}Z`,
  );
  return Number.isNaN(ms) ? null : ms;
}

/** The figures of a link are kept for so long after they were last read. */
export const FIGURES_KEPT_MS = 30 * DAY_MS;

/** Two reads that are so far apart agree on what they say alike. */
const AGREES_MS = HOUR_MS;
/** The least time between two writes of one link: panels may say another end at each fetch. */
const WRITE_GAP_MS = 10 * MINUTE_MS;
/** An end that moves by less, and a total by less than this share, is the same one. */
const SAME_END_MS = HOUR_MS;
const SAME_SHARE = 0.01;
/** An end that moves by this, or a total by this share, begins a further period. */
const RENEWED_MS = DAY_MS;
const RENEWED_SHARE = 0.1;

/** The end and the total of a subscription: what its user pays for. */
type Period = Pick<Figures, 'endsAtMs' | 'totalBytes'>;

/** Returns whether two values of a period are the same, but for what panels round. */
const isAlike = (one: number | null, other: number | null, apart: number) =>
  one === other || (one !== null && other !== null && Math.abs(one - other) < apart);

const isSamePeriod = (one: Period, other: Period) =>
  isAlike(one.endsAtMs, other.endsAtMs, SAME_END_MS) &&
  isAlike(one.totalBytes, other.totalBytes, (one.totalBytes ?? 0) * SAME_SHARE);

/** Returns whether a period is longer or larger; null stands for one without an end. */
export const isRenewal = (before: Period, now: Period) =>
  (before.endsAtMs !== null && (now.endsAtMs ?? Infinity) >= before.endsAtMs + RENEWED_MS) ||
  (before.totalBytes !== null &&
    (now.totalBytes ?? Infinity) >= before.totalBytes * (1 + RENEWED_SHARE));

/** The share of the traffic from which each hundredth counts: reminders are for 95 per cent too. */
const NEARLY_ALL = 0.9;

/**
 * The tenths of the traffic that were used, and the hundredths of the last one; more than all of it
 * counts as all. Null: there is no total.
 */
function stepOf({ totalBytes, usedBytes }: Figures): number | null {
  if (totalBytes === null || usedBytes === null) return null;
  const share = Math.min(usedBytes / totalBytes, 1);
  return share < NEARLY_ALL ? Math.floor(share * 10) : Math.floor(share * 100);
}

/** Returns how much of the traffic was used, per cent; null: not known, or there is no total. */
export const usedPercent = ({ totalBytes, usedBytes }: Figures): number | null =>
  totalBytes === null || usedBytes === null ? null : (usedBytes / totalBytes) * 100;

/** The time after which figures may be wrong: the user may have paid since. */
const FRESH_MS = 2 * DAY_MS;

export const isFresh = ({ readAtMs }: Pick<KeptFigures, 'readAtMs'>, nowMs: number): boolean =>
  nowMs - readAtMs <= FRESH_MS;

/** Figures of a link after a read. */
interface AfterRead {
  figures: KeptFigures;
  /** True: the user paid, as far as two reads agree. */
  isRenewed: boolean;
}

/** A share of the used traffic below which it began again. */
const AGAIN_SHARE = 0.5;

/** Returns whether the traffic began again at nothing, as panels have it each month. */
export const hasBegunAgain = ({ usedBytes: before }: Figures, { usedBytes: now }: Figures) =>
  before !== null && now !== null && now < before * AGAIN_SHARE;

/**
 * Returns whether a read comes so soon after the kept figures that it changes nothing. What a
 * payment moves is kept at once: the user pays on seeing a reminder, and fetches again in a minute.
 * Until reads agree on it, the next waits again.
 */
function isTooSoon(kept: KeptFigures, read: Figures, nowMs: number): boolean {
  // Those of a clock that was ahead are not lately read.
  if (Math.abs(nowMs - kept.readAtMs) >= WRITE_GAP_MS) return false;
  if (hasBegunAgain(kept, read)) return false;
  return !isRenewal(kept, read) || !isSamePeriod(periodOf(kept), kept);
}

/** Returns the period on which reads agreed. */
const periodOf = ({ periodEndsAtMs, periodTotalBytes }: KeptFigures): Period => ({
  endsAtMs: periodEndsAtMs,
  totalBytes: periodTotalBytes,
});

/**
 * Returns what a read changes; null: nothing worth a write. Writes an end, a total or a step of the
 * traffic that moved, and the UTC day of the read. A period moves when two reads that are an
 * hour apart agree, so that a panel that alternates renews no subscription.
 */
export function afterRead(
  kept: KeptFigures | null,
  read: Figures,
  source: FiguresSource,
  nowMs: number,
): AfterRead | null {
  const now = { ...read, readAtMs: nowMs, source };
  const { endsAtMs, totalBytes } = read;
  const period = { periodEndsAtMs: endsAtMs, periodTotalBytes: totalBytes };
  if (kept === null) return { figures: { ...now, sinceMs: nowMs, ...period }, isRenewed: false };
  if (isTooSoon(kept, read, nowMs)) return null;
  const before = periodOf(kept);
  const isSteady = isSamePeriod(kept, read);
  const isFurther = !isSamePeriod(before, read);
  const agrees = isFurther && isSteady && nowMs - kept.sinceMs >= AGREES_MS;
  const moves = !isSteady || stepOf(kept) !== stepOf(read);
  if (!agrees && !moves && sameUtcDay(kept.readAtMs, nowMs)) return null;
  const figures = {
    ...now,
    sinceMs: isSteady ? kept.sinceMs : nowMs,
    periodEndsAtMs: agrees ? endsAtMs : kept.periodEndsAtMs,
    periodTotalBytes: agrees ? totalBytes : kept.periodTotalBytes,
  };
  return { figures, isRenewed: agrees && isRenewal(before, read) };
}

/**
 * Messages to what a search finds: a segment. Its devices are found when delivery begins, so its
 * times are counted from then, and a scheduled message goes to those that match at its time.
 */

import { ANY_DEVICE } from '../device-search.ts';
import { figuresFilterOf, figuresNotKept, readFiguresWish } from '../figures-filter.ts';
import { isAbsent } from '../json-input.ts';
import { isRefused, type Misfit, malformed } from '../outcome.ts';
import type { DeviceSearch, Segment } from '../port/device-search.ts';
import type { Provider } from '../port/provider.ts';

type Body = Readonly<Record<string, unknown>>;

/**
 * Reads the filter of subscriptions of a notification; null: it has none. Refuses one beside other
 * targets, and one where no figures are kept.
 */
export function readSegment(provider: Provider, body: Body): Segment | Misfit | null {
  const wish = readFiguresWish(body);
  if (wish === null || isRefused(wish)) return wish;
  if (!isAbsent(body['hwid']) || !isAbsent(body['os'])) {
    return malformed('give either hwid, os or a filter of subscriptions');
  }
  return figuresNotKept(provider) ?? { ...ANY_DEVICE, figures: figuresFilterOf(wish, 0) };
}

const withoutNulls = (fields: object) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value != null));

/** Returns a segment as it is stored. The same conditions are the same text. */
export function segmentText({ figures, ...search }: Segment): string {
  const figured = withoutNulls(figures ?? {});
  const isFigured = Object.keys(figured).length > 0;
  return JSON.stringify({ ...withoutNulls(search), ...(isFigured && { figures: figured }) });
}

/** Returns a time that is counted from another; null: none. */
const later = (ms: number | null | undefined, byMs: number) => (ms == null ? null : ms + byMs);

/** Returns the search of a segment whose delivery begins at a time. */
export function searchAt({ figures = null, ...segment }: Segment, atMs: number): DeviceSearch {
  return {
    ...segment,
    seenSinceMs: later(segment.seenSinceMs, atMs),
    unseenSinceMs: later(segment.unseenSinceMs, atMs),
    figures: figures && {
      ...figures,
      endsFromMs: later(figures.endsFromMs, atMs),
      endsBeforeMs: later(figures.endsBeforeMs, atMs),
      unreadSinceMs: later(figures.unreadSinceMs, atMs),
    },
  };
}

/** Returns the search of a stored segment, as {@link searchAt}. */
export const segmentAt = (stored: string, atMs: number): DeviceSearch =>
  searchAt({ ...ANY_DEVICE, ...(JSON.parse(stored) as Partial<Segment>) }, atMs);

/**
 * Chooses links by the figures of their subscriptions, in words that lists and messages share: "it
 * ends within three days", "it has ended", "it used 90 per cent of its traffic".
 */

import { DAY_MS } from './calendar.ts';
import type { Core } from './core.ts';
import { type Fields, readGiven, rowsOf } from './field.ts';
import { FLAG, whole } from './formats.ts';
import { isAbsent } from './json-input.ts';
import { isRefused, type Misfit, malformed } from './outcome.ts';
import { after, type Maybe } from './port/maybe.ts';
import type { Provider } from './port/provider.ts';
import type { FiguresFilter, ShownFigures } from './port/subscription-figures.ts';

/** Which subscriptions; several conditions must all hold. */
export interface FiguresWish {
  /** It ends within so many days from now. */
  endsInDays?: number;
  /** 1: it has ended. */
  ended?: 0 | 1;
  /** It used at least so many per cent of its traffic. */
  trafficOver?: number;
  /** The link is older than so many days, and its figures were not read for so long. */
  unreadDays?: number;
}

/** Subscriptions are shorter, and figures are kept for 30 days only. */
export const FIGURES_DAYS = whole(1, 365);
export const TRAFFIC_PERCENT = whole(1, 100);

const FIGURES_WISH: Fields<FiguresWish> = {
  endsInDays: { format: FIGURES_DAYS },
  ended: { format: FLAG },
  trafficOver: { format: TRAFFIC_PERCENT },
  unreadDays: { format: FIGURES_DAYS },
};

/** The refusal of a filter that would find no link for this reason alone. */
const NOT_KEPT = malformed(
  'no figures of subscriptions are kept for this provider: set subscription_figures to 1',
);

/** Refuses a provider for which no figures are kept. */
export const figuresNotKept = ({
  subscriptionFigures,
}: Pick<Provider, 'subscriptionFigures'>): Misfit | null =>
  subscriptionFigures === 1 ? null : NOT_KEPT;

/** Reads the conditions among parameters or fields by their outside names; null: there are none. */
export function readFiguresWish(
  given: Readonly<Record<string, unknown>>,
): FiguresWish | Misfit | null {
  const rows = rowsOf<FiguresWish>(FIGURES_WISH);
  const named = rows.filter(({ name }) => !isAbsent(given[name]));
  const values = Object.fromEntries(named.map(({ field, name }) => [field, given[name]]));
  const nameOf = (field: string) => rows.find((row) => row.field === field)?.name ?? field;
  const wish = readGiven<FiguresWish>(FIGURES_WISH, values, nameOf);
  if (isRefused(wish)) return wish;
  const { ended = 0, ...others } = wish;
  if (ended === 1 && others.endsInDays !== undefined) {
    return malformed('ended and ends_in_days exclude each other');
  }
  const isAny = ended === 1 || Object.keys(others).length > 0;
  return isAny ? { ...others, ...(ended === 1 && { ended }) } : null;
}

/** Adds to links their figures; null: none are kept. */
export const withFigures = <L extends { readonly id: number }>(
  { store }: Pick<Core, 'store'>,
  links: readonly L[],
): Maybe<(L & { figures: ShownFigures | null })[]> =>
  after(store.listSubscriptionFigures(links.map(({ id }) => id)), (found) => {
    const byId = new Map(found.map(({ installId, ...figures }) => [installId, figures]));
    return links.map((link) => ({ ...link, figures: byId.get(link.id) ?? null }));
  });

/** Returns the filter of the store for conditions at a time. */
export function figuresFilterOf(wish: FiguresWish, nowMs: number): FiguresFilter {
  const { ended, endsInDays, trafficOver, unreadDays } = wish;
  return {
    ...(ended === 1 && { endsBeforeMs: nowMs }),
    ...(endsInDays !== undefined && {
      endsFromMs: nowMs,
      endsBeforeMs: nowMs + endsInDays * DAY_MS,
    }),
    ...(trafficOver !== undefined && { usedPercent: trafficOver }),
    ...(unreadDays !== undefined && { unreadSinceMs: nowMs - unreadDays * DAY_MS }),
  };
}

/** Links with figures of every kind, and the filters that choose among them. */

import { INSTALL_ACTIVE } from '../../../src/core/port/link.ts';
import type { Store } from '../../../src/core/port/store.ts';
import type { Figures, FiguresFilter } from '../../../src/core/port/subscription-figures.ts';
import { ACT } from '../../support/actor.ts';
import { addDoor, addLink, addProvider, FACTS, HASH, NOW_MS } from './fixture.ts';

const DAY_MS = 86_400_000;

/** Ends from ten days ago to ten days ahead, with each tenth of the traffic; some are not known. */
const figuresOf = (n: number): Figures => ({
  endsAtMs: n % 7 === 0 ? null : NOW_MS + ((n % 21) - 10) * DAY_MS,
  totalBytes: n % 5 === 0 ? null : 1_000,
  usedBytes: n % 11 === 0 ? null : (n % 13) * 100,
});

export interface Figured {
  id: number;
  code: string;
  createdAtMs: number;
  /** Null: none are kept. */
  figures: (Figures & { readAtMs: number }) | null;
}

/** The most links of these tests. */
const COUNT = 60;

/**
 * Adds links whose figures differ, each with a device, to a provider that keeps figures since forty
 * days; and one to a provider that keeps none.
 */
export async function addFigured(store: Store): Promise<{ providerId: number; links: Figured[] }> {
  const { providerId } = await addDoor(store);
  const since = { ...ACT, atMs: NOW_MS - 40 * DAY_MS };
  await store.updateProvider('Provide1', { subscriptionFigures: 1 }, since);
  const links: Figured[] = [];
  for (let n = 0; n < COUNT; n++) {
    const code = `Figured${String(n).padStart(5, '0')}`;
    const createdAtMs = NOW_MS - (n % 50) * DAY_MS;
    const id = await addLink(store, providerId, { installCode: code, createdAtMs });
    const key = { installCode: code, domainHash: HASH, hwid: `of-${code}` };
    await store.takeSlot(key, FACTS, NOW_MS);
    const readAtMs = NOW_MS - (n % 29) * DAY_MS;
    const figures = n % 6 === 0 ? null : figuresOf(n);
    if (figures !== null) await store.keepSubscriptionFigures(id, figures, 'proxy', readAtMs);
    links.push({ id, code, createdAtMs, figures: figures && { ...figures, readAtMs } });
  }
  const { id: other } = await addProvider(store, 'Provide2');
  await addLink(store, other, { installCode: 'NotKept00001', createdAtMs: 0 });
  return { providerId, links };
}

/** Returns whether a link matches, by other means than the store's. */
function matches({ createdAtMs, figures }: Figured, filter: FiguresFilter): boolean {
  const { endsFromMs, endsBeforeMs, usedPercent, unreadSinceMs } = filter;
  const { endsAtMs = null, totalBytes = null, usedBytes = null, readAtMs = 0 } = figures ?? {};
  const isUsed = totalBytes !== null && usedBytes !== null;
  return (
    (endsFromMs == null || (endsAtMs !== null && endsAtMs >= endsFromMs)) &&
    (endsBeforeMs == null || (endsAtMs !== null && endsAtMs < endsBeforeMs)) &&
    (usedPercent == null || (isUsed && (usedBytes / totalBytes) * 100 >= usedPercent)) &&
    (unreadSinceMs == null || (createdAtMs < unreadSinceMs && readAtMs < unreadSinceMs))
  );
}

/** Filters, each with how many of the links it must choose at least. */
export const FIGURE_FILTERS: readonly FiguresFilter[] = [
  { endsFromMs: NOW_MS, endsBeforeMs: NOW_MS + 3 * DAY_MS },
  { endsBeforeMs: NOW_MS },
  { usedPercent: 90 },
  { usedPercent: 100, endsFromMs: NOW_MS },
  { unreadSinceMs: NOW_MS - 20 * DAY_MS },
  { unreadSinceMs: NOW_MS - 30 * DAY_MS },
  { unreadSinceMs: NOW_MS - 10 * DAY_MS, endsBeforeMs: NOW_MS },
];

export const countedBy = (links: readonly Figured[], filter: FiguresFilter): Figured[] =>
  links.filter((link) => matches(link, filter));

export const ACTIVE_OF_ALL = { providerCode: null, isFull: false, status: INSTALL_ACTIVE };

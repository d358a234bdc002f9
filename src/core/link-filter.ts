/** The filter by which the console chooses links, and jobs change them. */

import { isRecord } from './json-input.ts';
import type { LinkFilter as StoreFilter } from './port/link-view.ts';
import type { FiguresFilter } from './port/subscription-figures.ts';

export interface LinkFilter
  extends FiguresFilter,
    Pick<StoreFilter, 'refusedSinceMs' | 'unusedSinceMs' | 'limit'> {
  search: string | null;
  /** 5 disabled, 10 active; null: both. */
  status: 5 | 10 | null;
  /** True: only links without a free slot. */
  isFull: boolean;
  /** True: only links with a HWID that several phones certainly send; absent: all. */
  isCopied?: boolean;
}

const FIELDS = [
  ...(['search', 'status', 'isFull', 'refusedSinceMs', 'unusedSinceMs', 'limit'] as const),
  ...(['endsFromMs', 'endsBeforeMs', 'usedPercent', 'unreadSinceMs'] as const),
];

/** Reads the filter that was stored as JSON with a job. Throws for anything else. */
export function readLinkFilter(saved: unknown): LinkFilter {
  if (!isRecord(saved)) throw new Error('a job has no filter');
  const { search = null, status = null, isFull = false, isCopied = false, ...more } = saved;
  const isKnown = Object.keys(more).every((name) => FIELDS.some((field) => field === name));
  const isText = search === null || typeof search === 'string';
  const isStatus = status === null || status === 5 || status === 10;
  const isNumber = (one: unknown) => one === null || typeof one === 'number';
  // Ignoring an unknown field could choose more links than the person saw.
  const areFlags = [isFull, isCopied].every((one) => typeof one === 'boolean');
  if (!isKnown || !isText || !isStatus || !areFlags) {
    throw new Error('the filter of a job is not understood');
  }
  if (!Object.values(more).every(isNumber)) throw new Error('a filter has a field of another type');
  return { ...more, search, status, isFull: isFull === true, isCopied: isCopied === true };
}

/** Returns the filter of the store, limited to links of this provider. */
export function filterAt(provider: { code: string }, filter: LinkFilter): StoreFilter {
  return { ...filter, providerCode: provider.code };
}

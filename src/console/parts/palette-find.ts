/** Searches of the palette: links, providers, and a message by its number. */

import type { ComponentType } from 'preact';
import { call } from '../call.ts';
import { PAGES } from '../pages/index.ts';
import { at, go, isOfAppliance, may, texts } from '../state.ts';
import { LinksIcon, MessagesIcon, ProvidersIcon } from './icons.tsx';

export interface Entry {
  id: string;
  group: string;
  name: string;
  /** A secondary text beside it. */
  more?: string;
  icon: ComponentType;
  run: () => void;
}

export const SEARCH_LENGTH_MIN = 2;
/** The most links that are shown, and the most slices that are read for them. */
const LINK_COUNT = 6;
const SLICE_COUNT = 5;

/** Finds providers for an operator. */
async function findProviders(search: string, signal: AbortSignal): Promise<Entry[]> {
  if (!isOfAppliance.value || search.length < SEARCH_LENGTH_MIN) return [];
  const of = { search: search.slice(0, 64), afterId: null };
  const { rows } = await call('providers.list', of, signal);
  return rows.slice(0, LINK_COUNT).map(({ code, name }) => ({
    id: `at-${code}`,
    group: texts.providers.title,
    name: name || code,
    more: code,
    icon: ProvidersIcon,
    run: () => go('/console', { at: code }),
  }));
}

/** Returns an entry for the message with this number. */
export function messageEntry(search: string): Entry[] {
  const page = PAGES.find(({ path: to }) => to === '/console/messages');
  if (at.value === null) return [];
  if (!/^\d{1,15}$/.test(search) || page?.needs == null || !may(page.needs)) return [];
  return [
    {
      id: 'message',
      group: texts.palette.records,
      name: texts.palette.message(search),
      icon: MessagesIcon,
      run: () => go(page.path, { message: search }),
    },
  ];
}

/** Finds links, slice by slice. */
async function findLinks(search: string, signal: AbortSignal): Promise<Entry[]> {
  const code = at.value;
  if (search.length < SEARCH_LENGTH_MIN || code === null || !may('links.list')) return [];
  const found: Entry[] = [];
  const filter = { search: search.slice(0, 64), status: null, isFull: false };
  let beyondId: number | null = null;
  for (let slice = 0; slice < SLICE_COUNT && found.length < LINK_COUNT; slice++) {
    const countMax = LINK_COUNT - found.length;
    const of: Parameters<typeof call<'links.list'>>[1] = {
      at: code,
      filter,
      isOldest: false,
      beyondId,
      countMax,
    };
    const { nextId, rows } = await call('links.list', of, signal);
    for (const link of rows) {
      found.push({
        id: `link-${link.id}`,
        group: texts.palette.records,
        name: link.code,
        icon: LinksIcon,
        ...(link.note !== null && { more: link.note }),
        run: () => go('/console/links', { link: String(link.id) }),
      });
    }
    beyondId = nextId;
    if (nextId === null) break;
  }
  return found;
}

/** Finds records. Returns none if the search fails: pages and actions stay. */
export async function findRecords(search: string, signal: AbortSignal): Promise<Entry[]> {
  const finds = [findLinks, findProviders].map((find) => find(search, signal).catch(() => []));
  return (await Promise.all(finds)).flat();
}

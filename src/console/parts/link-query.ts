/** The filter of the list of links, as the address and the field have it: `is:full anna`. */

import type { Given } from '../../http/console/table.ts';

export type LinkFilter = Given<'links.list'>['filter'];

/** The words that are no part of a search, with their values: days of `unused` and `refused`. */
export interface Words {
  is?: 'full' | 'active' | 'disabled';
  limit?: number;
  unused?: number;
  /** 0: today. */
  refused?: number;
}

const SEARCH_LENGTH_MAX = 64;
const DAY_MS = 86_400_000;
const WORD =
  /^(?:is:(full|active|disabled)|limit:(\d{1,3})|unused:(\d+)d|refused:(?:(today)|(\d+)d))$/;

/** At most ten years. */
const daysOf = (digits: string) => Math.min(3_650, Number(digits));

interface Query {
  words: Words;
  search: string | null;
}

/** Reads a text: its last word of a kind counts; other words are searched for. */
export function readQuery(text: string): Query {
  const words: Words = {};
  const rest: string[] = [];
  for (const word of text.split(/\s+/)) {
    const [, is, limit, unused, today, refused] = WORD.exec(word.toLowerCase()) ?? [];
    if (is) words.is = is as 'full';
    else if (limit && Number(limit) >= 1 && Number(limit) <= 100) words.limit = Number(limit);
    else if (unused) words.unused = daysOf(unused);
    else if (today) words.refused = 0;
    else if (refused) words.refused = daysOf(refused);
    else if (word !== '') rest.push(word);
  }
  // By characters: half of one is no text.
  return { words, search: [...rest.join(' ')].slice(0, SEARCH_LENGTH_MAX).join('').trim() || null };
}

/** Writes a text that {@link readQuery} reads. */
export function writeQuery({ words, search }: Query): string {
  const { is, limit, refused, unused } = words;
  return [
    ...(is === undefined ? [] : [`is:${is}`]),
    ...(limit === undefined ? [] : [`limit:${limit}`]),
    ...(unused === undefined ? [] : [`unused:${unused}d`]),
    ...(refused === undefined ? [] : [refused === 0 ? 'refused:today' : `refused:${refused}d`]),
    ...(search === null ? [] : [search]),
  ].join(' ');
}

/** Returns the text with a word changed; undefined takes it away. */
export function withWord<N extends keyof Words>(
  text: string,
  name: N,
  value: Words[N] | undefined,
): string {
  const { search, words } = readQuery(text);
  return writeQuery({ words: { ...words, [name]: value }, search });
}

/** Returns the filter that a text means at a time, UTC ms; today begins with the person's day. */
export function filterOf(text: string, nowMs: number): LinkFilter {
  const { search, words } = readQuery(text);
  const { is, limit, refused, unused } = words;
  const midnightMs = new Date(nowMs).setHours(0, 0, 0, 0);
  return {
    search,
    isFull: is === 'full',
    status: is === 'active' ? 10 : is === 'disabled' ? 5 : null,
    ...(limit !== undefined && { limit }),
    ...(unused !== undefined && { unusedSinceMs: nowMs - unused * DAY_MS }),
    ...(refused !== undefined && { refusedSinceMs: midnightMs - refused * DAY_MS }),
  };
}

/** Returns whether a filter lets all links through. */
export const isEvery = (filter: LinkFilter) =>
  Object.values(filter).every((one) => one === null || one === false);

export const COLUMNS = ['code', 'note', 'devices', 'status', 'made'] as const;
export type Column = (typeof COLUMNS)[number];

/** The order of a list: by a column, `-` before it for the largest or latest first. */
export interface Order {
  by: Column;
  isDown: boolean;
}

/** Reads an order from the address; the newest link is first by default. */
export function readOrder(text: string | null): Order {
  const by = COLUMNS.find((column) => column === text?.replace('-', ''));
  return by === undefined ? { by: 'made', isDown: true } : { by, isDown: text?.[0] === '-' };
}

export const writeOrder = ({ by, isDown }: Order) =>
  by === 'made' && isDown ? null : `${isDown ? '-' : ''}${by}`;

/** The filter of the list of links as text, in the address and in the field: `is:full anna`. */

import type { Given } from '../../call/table.ts';

export type LinkFilter = Given<'links.list'>['filter'];

/** The filter words with their values; `unused` and `refused` are in days. */
export interface Words {
  is?: 'full' | 'copied' | 'active' | 'disabled';
  limit?: number;
  unused?: number;
  /** 0 means today. */
  refused?: number;
}

const SEARCH_LENGTH_MAX = 64;
const DAY_MS = 86_400_000;
const WORD =
  /^(?:is:(full|copied|active|disabled)|limit:(\d{1,3})|unused:(\d+)d|refused:(?:(today)|(\d+)d))$/;

/** Reads a number of days, at most ten years. */
const daysOf = (digits: string) => Math.min(3_650, Number(digits));

interface Query {
  words: Words;
  search: string | null;
}

/** Parses a text: the last filter word of a kind counts, other words are the search. */
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
  // Cuts between characters: half of a surrogate pair is invalid.
  return { words, search: [...rest.join(' ')].slice(0, SEARCH_LENGTH_MAX).join('').trim() || null };
}

/** Writes a text that {@link readQuery} reads. */
function writeQuery({ words, search }: Query): string {
  const { is, limit, refused, unused } = words;
  return [
    ...(is === undefined ? [] : [`is:${is}`]),
    ...(limit === undefined ? [] : [`limit:${limit}`]),
    ...(unused === undefined ? [] : [`unused:${unused}d`]),
    ...(refused === undefined ? [] : [refused === 0 ? 'refused:today' : `refused:${refused}d`]),
    ...(search === null ? [] : [search]),
  ].join(' ');
}

/** Returns the text with a changed filter word; undefined removes it. */
export function withWord<N extends keyof Words>(
  text: string,
  name: N,
  value: Words[N] | undefined,
): string {
  const { search, words } = readQuery(text);
  return writeQuery({ words: { ...words, [name]: value }, search });
}

/** Returns the filter of a text at a time, UTC ms; today begins at the person's midnight. */
export function filterOf(text: string, nowMs: number): LinkFilter {
  const { search, words } = readQuery(text);
  const { is, limit, refused, unused } = words;
  const midnightMs = new Date(nowMs).setHours(0, 0, 0, 0);
  return {
    search,
    isFull: is === 'full',
    ...(is === 'copied' && { isCopied: true }),
    status: is === 'active' ? 10 : is === 'disabled' ? 5 : null,
    ...(limit !== undefined && { limit }),
    ...(unused !== undefined && { unusedSinceMs: nowMs - unused * DAY_MS }),
    ...(refused !== undefined && { refusedSinceMs: midnightMs - refused * DAY_MS }),
  };
}

/** Returns whether a filter accepts all links. */
export const isEvery = (filter: LinkFilter) =>
  Object.values(filter).every((one) => one === null || one === false);

export const COLUMNS = ['code', 'note', 'devices', 'status', 'made'] as const;
export type Column = (typeof COLUMNS)[number];

/** The order of a list: a column, with `-` before it for descending. */
export interface Order {
  by: Column;
  isDown: boolean;
}

/** Reads an order from the address; the default is newest first. */
export function readOrder(text: string | null): Order {
  const by = COLUMNS.find((column) => column === text?.replace('-', ''));
  return by === undefined ? { by: 'made', isDown: true } : { by, isDown: text?.[0] === '-' };
}

export const writeOrder = ({ by, isDown }: Order) =>
  by === 'made' && isDown ? null : `${isDown ? '-' : ''}${by}`;

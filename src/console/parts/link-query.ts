/** The filter of the list of links as text, in the address and in the field: `is:full anna`. */

import type { Given } from '../../call/table.ts';

export type LinkFilter = Given<'links.list'>['filter'];

/** The filter words with their values; `unused`, `refused`, `ends` and `unread` are in days. */
export interface Words {
  is?: 'full' | 'copied' | 'active' | 'disabled';
  limit?: number;
  unused?: number;
  /** 0 means today. */
  refused?: number;
  /** The subscription ends within so many days; 0: it has ended. */
  ends?: number;
  /** It used at least so many per cent of its traffic. */
  traffic?: number;
  /** Its figures were not read for so long. */
  unread?: number;
}

const SEARCH_LENGTH_MAX = 64;
const DAY_MS = 86_400_000;
const WORD =
  /^(?:is:(full|copied|active|disabled)|limit:(\d{1,3})|unused:(\d+)d|refused:(?:(today)|(\d+)d))$/;
const FIGURES_WORD = /^(?:ends:(?:(past)|(\d{1,3})d)|traffic:(\d{1,3})|unread:(\d{1,3})d)$/;

/** Reads a number of days, at most ten years. */
const daysOf = (digits: string) => Math.min(3_650, Number(digits));

/** Reads a word about figures; null: it is none. */
function figuresIn(word: string): Words | null {
  const [, past, ends, traffic, unread] = FIGURES_WORD.exec(word) ?? [];
  if (past) return { ends: 0 };
  const isDays = (digits: string | undefined) => Number(digits) >= 1 && Number(digits) <= 365;
  if (isDays(ends)) return { ends: Number(ends) };
  if (isDays(unread)) return { unread: Number(unread) };
  const percent = Number(traffic);
  return percent >= 1 && percent <= 100 ? { traffic: percent } : null;
}

interface Query {
  words: Words;
  search: string | null;
}

/** Parses a text: the last filter word of a kind counts, other words are the search. */
export function readQuery(text: string): Query {
  let words: Words = {};
  const rest: string[] = [];
  for (const word of text.split(/\s+/)) {
    const figures = figuresIn(word.toLowerCase());
    if (figures !== null) {
      words = { ...words, ...figures };
      continue;
    }
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
  const { ends, is, limit, refused, traffic, unread, unused } = words;
  return [
    ...(is === undefined ? [] : [`is:${is}`]),
    ...(limit === undefined ? [] : [`limit:${limit}`]),
    ...(unused === undefined ? [] : [`unused:${unused}d`]),
    ...(refused === undefined ? [] : [refused === 0 ? 'refused:today' : `refused:${refused}d`]),
    ...(ends === undefined ? [] : [ends === 0 ? 'ends:past' : `ends:${ends}d`]),
    ...(traffic === undefined ? [] : [`traffic:${traffic}`]),
    ...(unread === undefined ? [] : [`unread:${unread}d`]),
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

/** Returns the part of a filter that is about figures. */
export function figuresOf(
  { ends, traffic, unread }: Pick<Words, 'ends' | 'traffic' | 'unread'>,
  nowMs: number,
) {
  const at = Math.round(nowMs);
  return {
    ...(ends === 0 && { endsBeforeMs: at }),
    ...(ends && { endsFromMs: at, endsBeforeMs: at + ends * DAY_MS }),
    ...(traffic !== undefined && { usedPercent: traffic }),
    ...(unread !== undefined && { unreadSinceMs: at - unread * DAY_MS }),
  };
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
    ...figuresOf(words, nowMs),
  };
}

/** Returns whether a filter accepts all links. */
export const isEvery = (filter: LinkFilter) =>
  Object.values(filter).every((one) => one === null || one === false);

export const COLUMNS = ['code', 'note', 'devices', 'ends', 'status', 'made'] as const;
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

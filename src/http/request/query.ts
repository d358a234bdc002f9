/**
 * The query string, read strictly: a parameter that was given twice has the value {@link REPEATED}.
 *
 * Decoding follows the rules of browsers for `application/x-www-form-urlencoded`: a `%` that a
 * client did not encode is a per cent sign. Bytes that are not UTF-8 become U+FFFD, which no
 * parameter accepts.
 */

import { counted } from '../../core/counted.ts';

/** The value of a parameter that was given more than once. */
export const REPEATED = Symbol('repeated');

/** Names with their values, each name once. They are few, so a linear search is fastest. */
export type Query = [name: string, value: string | typeof REPEATED][];

/** The most parameters that are read. No call has a quarter of them. */
export const PARAM_COUNT_MAX = 64;

/** Returns the path of a target, without its query. */
export const pathOf = (target: string): string => target.split('?', 1)[0] ?? '';

/** Parses the query of a URL. With `foldCase`, names are lower-cased first. */
export function parseQuery(url: string, foldCase: boolean): Query {
  const query: Query = [];
  const start = url.indexOf('?') + 1;
  if (start === 0) return query;
  const hash = url.indexOf('#', start);
  const end = hash < 0 ? url.length : hash;
  // Most queries hold nothing to decode: one check of the whole saves two for each part.
  const decodedPart = /[%+]/.test(url) ? decode : asItIs;
  let equals = -1;
  for (let at = start, count = 0; at < end && count < PARAM_COUNT_MAX; count++) {
    const next = before(end, url.indexOf('&', at));
    // Searched only when passed: a long query may have none, and each search would read it all.
    if (equals < at) equals = before(end, url.indexOf('=', at));
    if (next > at) {
      const nameEnd = Math.min(equals, next);
      const decoded = decodedPart(url.slice(at, nameEnd));
      const name = foldCase ? decoded.toLowerCase() : decoded;
      const known = find(query, name);
      if (known) known[1] = REPEATED;
      else query.push([name, decodedPart(url.slice(nameEnd + 1, next))]);
    }
    at = next + 1;
  }
  return query;
}

/** Returns the value of a parameter; undefined: it was not given. */
export function valueIn(query: Query, name: string): string | typeof REPEATED | undefined {
  return find(query, name)?.[1];
}

/** Parameters whose names are repeated to the caller, and their form. */
const ECHO_COUNT_MAX = 5;
const ECHO_NAME = /^[a-z_]{1,32}$/;

/** Returns a sentence about the parameters of a query that are not known; undefined: all are. */
export function aboutUnknown(query: Query, known: ReadonlySet<string>): string | undefined {
  const unknown = query.flatMap(([name]) => (known.has(name) ? [] : [name]));
  if (unknown.length === 0) return undefined;
  const names = unknown.filter((name) => ECHO_NAME.test(name)).slice(0, ECHO_COUNT_MAX);
  const count = counted(unknown.length, 'unknown parameter was', 'unknown parameters were');
  return `${count} ignored${names.length === 0 ? '' : `: ${names.join(', ')}`}`;
}

function find(query: Query, name: string): Query[number] | undefined {
  for (const pair of query) if (pair[0] === name) return pair;
  return undefined;
}

/** Returns the index `at` of a separator, or `end` if there is none before. */
function before(end: number, at: number): number {
  return at < 0 || at > end ? end : at;
}

const asItIs = (raw: string) => raw;

function decode(raw: string): string {
  if (!raw.includes('%') && !raw.includes('+')) return raw;
  try {
    return decodeURIComponent(raw.replaceAll('+', ' '));
  } catch {
    return new URLSearchParams(`v=${raw}`).get('v') ?? '';
  }
}

/**
 * The query string, read strictly: a parameter given twice is not silently one of the two.
 *
 * Decoding follows the rules for `application/x-www-form-urlencoded` as browsers have them, so a
 * stray `%` in a note that a client did not encode is a per cent sign. Bytes that are not UTF-8
 * become U+FFFD, which no parameter accepts.
 */

/** Stands for the value of a parameter that was given more than once. */
export const REPEATED = Symbol('repeated');

export type Query = Map<string, string | typeof REPEATED>;

/** No call takes a quarter of these. What comes behind them is not read. */
export const PARAM_COUNT_MAX = 64;

/** Parses the query of a URL. With `foldCase`, names are lower-cased first. */
export function parseQuery(url: string, foldCase: boolean): Query {
  const query: Query = new Map();
  const start = url.indexOf('?');
  if (start < 0) return query;
  const hash = url.indexOf('#', start);
  const text = url.slice(start + 1, hash < 0 ? undefined : hash);
  for (const pair of text.split('&', PARAM_COUNT_MAX)) {
    if (pair === '') continue;
    const equals = pair.indexOf('=');
    const rawName = equals < 0 ? pair : pair.slice(0, equals);
    const decoded = decode(rawName);
    const name = foldCase ? decoded.toLowerCase() : decoded;
    const value = equals < 0 ? '' : decode(pair.slice(equals + 1));
    query.set(name, query.has(name) ? REPEATED : value);
  }
  return query;
}

function decode(raw: string): string {
  if (!raw.includes('%') && !raw.includes('+')) return raw;
  try {
    return decodeURIComponent(raw.replaceAll('+', ' '));
  } catch {
    return new URLSearchParams(`v=${raw}`).get('v') ?? '';
  }
}

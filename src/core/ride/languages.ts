/** Reads the preferred languages of a request. */

import { remembering } from '../memo.ts';
import { tidyTag } from '../message/locale.ts';

/** The most ranges of `Accept-Language` that are read. */
const RANGES_MAX = 16;
/** The most characters of `X-Device-Locale`; a longer one is no language tag. */
const TAG_LENGTH_MAX = 35;

/**
 * Returns the language tags of a request, the preferred first, in lower case with hyphens:
 * `Accept-Language` by weight (RFC 9110, 12.5.4), then `X-Device-Locale`, which apps send with a
 * tag, a language (`RU`) or, for Chinese, a country (`CN`).
 */
export function languagesOf(headers: { get(name: string): string | null }): readonly string[] {
  const device = headers.get('x-device-locale') ?? '';
  return languagesIn(`${device}\n${headers.get('accept-language') ?? ''}`);
}

/** Remembers: parsing again would cost 1 us for each fetch on which a message rides. */
const languagesIn = remembering(1_024, (both): readonly string[] => {
  const at = both.indexOf('\n');
  const tags = [...accepted(both.slice(at + 1)), both.slice(0, at).trim()];
  const fits = (tag: string) => tag !== '' && tag.length <= TAG_LENGTH_MAX;
  return [...new Set(tags.filter(fits).map(tidyTag))];
});

/** Returns the tags of `Accept-Language` by weight. */
function accepted(header: string): string[] {
  const ranges = header.split(',', RANGES_MAX).map((range) => {
    const [tag = '', ...params] = range.split(';').map((part) => part.trim());
    const weight = params.find((param) => /^q=/i.test(param))?.slice(2);
    return { tag, weight: weight === undefined ? 1 : Number(weight) || 0 };
  });
  const wanted = ranges.filter(({ tag, weight }) => tag !== '' && tag !== '*' && weight > 0);
  return wanted.sort((a, b) => b.weight - a.weight).map(({ tag }) => tag);
}

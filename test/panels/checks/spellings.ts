/** Spellings of the address of a subscription that a server may take for the same. */

import type { Customer } from '../panel.ts';

const encoded = (text: string) =>
  [...Buffer.from(text)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');
const swapped = (text: string) =>
  [...text]
    .map((sign) => (sign === sign.toUpperCase() ? sign.toLowerCase() : sign.toUpperCase()))
    .join('');
/** Letters and digits as wide signs, which Unicode folds to narrow ones. */
const wide = (text: string) =>
  encoded(
    text.replace(/[0-9A-Za-z]/g, (sign) => String.fromCodePoint(sign.charCodeAt(0) + 0xfee0)),
  );

/** Returns the spellings by their names; the key must need no percent-encoding. */
export function spellings({ key, path }: Pick<Customer, 'key' | 'path'>): Record<string, string> {
  const [before = '', behind = ''] = path.split(key);
  const at = (spelling: string) => `${before}${spelling}${behind}`;
  const first = key.slice(0, 1);
  return {
    plain: path,
    'in capitals': at(key.toUpperCase()),
    'with each case swapped': at(swapped(key)),
    'with the path in capitals': `${before.toUpperCase()}${key}${behind.toUpperCase()}`,
    'percent-encoded': at(encoded(key)),
    'percent-encoded in capitals': at(encoded(key).toUpperCase()),
    'percent-encoded twice': at(encoded(key).replaceAll('%', '%25')),
    'with its first sign percent-encoded': at(`${encoded(first)}${key.slice(1)}`),
    'with a percent-encoded slash before it': `${before.replace(/\/$/, '%2f')}${key}${behind}`,
    'in wide signs': at(wide(key)),
    'with a slash behind it': `${path}/`,
    'with two slashes behind it': `${path}//`,
    'with two slashes before it': `${before}/${key}${behind}`,
    'with two slashes at the start': `/${path}`,
    'with a dot segment': `${before}./${key}${behind}`,
    'with a percent-encoded dot segment': `${before}%2e/${key}${behind}`,
    'with a segment and back': `${before}x/../${key}${behind}`,
    'with a dot behind it': at(`${key}.`),
    'with a parameter': at(`${key};x=1`),
    'with a query': `${path}?x=1`,
    'with a query of formats': `${path}?format=json&target=clash&flag=meta`,
    'with a fragment': `${path}#x`,
    'with a space': at(`${key}%20`),
    'with a space before it': at(`%20${key}`),
    'with a line break': at(`${key}%0a`),
    'with a zero byte': at(`${key}%00`),
    'with a plus': at(`${key}+`),
    'with an equals sign': at(`${key}=`),
    'with a backslash': `${before.replace(/\/$/, '\\')}${key}${behind}`,
    'as a whole URL': `http://sub.example.org${path}`,
  };
}

/** The links of reminders: they lead to hosts of the provider's pages alone. */

import { htmlParts } from './message/fill.ts';
import type { Buttons } from './port/ride.ts';

/** Hosts on which everybody may have a page: there the first part of the path counts too. */
const SHARED_HOST = /^(?:t|telegram)\.(?:me|dog)$/;

const ATTRIBUTE = / (?:href|src)="([^"]*)"/g;
/** Addresses in a text, which apps turn into links: with a scheme, or as `example.com/pay`. */
const IN_TEXT =
  /[a-z][a-z0-9+.-]{1,20}:\/\/[^\s<>"']+|(?:[\p{L}\p{N}-]{1,63}\.)+(?:[a-z]{2,24}|xn--[a-z0-9-]{2,59})(?![\p{L}\p{N}])(?:[:/][^\s<>"']*)?/giu;

const plain = (text: string) =>
  text
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&amp;', '&');

/** Returns the addresses in filtered HTML: of links, of images, and in its text. */
export function addressesIn(html: string): string[] {
  const { tags, texts } = htmlParts(html);
  const linked = [...tags.join('').matchAll(ATTRIBUTE)].map(([, address = '']) => address);
  const written = texts.flatMap((text) => text.match(IN_TEXT) ?? []);
  return [...linked, ...written].map(plain);
}

/** Returns where an address leads: its host, on a shared one with the part of it; null: no page. */
function placeOf(address: string): string | null {
  const url = URL.parse(/^[a-z][a-z0-9+.-]{1,20}:/i.test(address) ? address : `https://${address}`);
  if (url === null || !/^https?:$/.test(url.protocol)) return null;
  if (!SHARED_HOST.test(url.hostname)) return url.hostname;
  return `${url.hostname}/${url.pathname.split('/', 2)[1]?.toLowerCase()}`;
}

/** Returns the host of an address for people; null: there is none. */
export const hostOf = (address: string | null): string | null =>
  address === null ? null : (placeOf(address) ?? address.slice(0, 64));

/** Returns the first address of filtered HTML that is not on one of the pages; null: none. */
export function foreignAddress(html: string, { supportUrl, webPageUrl }: Buttons): string | null {
  const pages = [supportUrl, webPageUrl].flatMap((page) => page ?? []);
  const places = pages.flatMap((page) => placeOf(page) ?? []);
  const isOurs = (address: string) =>
    pages.includes(address) || places.some((place) => place === placeOf(address));
  return addressesIn(html).find((address) => !isOurs(address)) ?? null;
}

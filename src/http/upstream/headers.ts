/** Headers that the proxy passes on: all but those of one connection (RFC 9110, section 7.6.1). */

import { hasBotSecret } from '../../core/bot.ts';

/** Headers of one connection. */
const HOP_BY_HOP = new Set([
  ...['connection', 'keep-alive', 'proxy-authenticate', 'proxy-authorization', 'proxy-connection'],
  ...['te', 'trailer', 'transfer-encoding', 'upgrade'],
]);

/** Headers of a request that the proxy writes itself; it passes on no body. */
const OUR_OWN = new Set(['host', 'content-length', 'expect', 'http2-settings']);

/**
 * Headers that could make a panel see another request or another client than the judged one. They
 * are removed even behind a trusted proxy: many proxies pass on headers that they do not know.
 */
const CLAIM = new RegExp(
  [
    // CGI servers (PHP, WSGI) read `_` as `-`, so `_` could spell any of the others.
    '_',
    '^(?:x-)?forwarded',
    '^x-(?:original|rewrite)-',
    '^x-request-ur[il]$',
    '^x-http-(?:host|method|url)',
    '^x-(?:host|method-override)$',
    '(?:client|connecting|real)-?ip(?:v6)?$',
  ].join('|'),
);

/** Headers that override `Cache-Control` for single shared caches. */
const OF_SHARED_CACHES = [
  ...['cdn-cache-control', 'cloudflare-cdn-cache-control', 'surrogate-control', 'x-accel-expires'],
];

/** The origin of a request: addresses and scheme. */
export interface Provenance {
  /** The peer's address. */
  peer: string;
  /** The client's address, behind the trusted proxies. */
  client: string;
  /** True if the peer is a proxy whose `X-Forwarded-*` are trusted. */
  isTrusted: boolean;
  scheme: 'http' | 'https';
}

/**
 * Headers by which a panel may answer without headers of its own (304), with a part, or not at all.
 * `If-Range` and `Range` go together.
 */
const CONDITIONAL = /^(?:if-(?:none-match|modified-since|range|match|unmodified-since)|range)$/;

/**
 * Headers that a request for a subscription may have: of the device, the format, the language and
 * conditions. By another one, such as `Cookie`, `Authorization` or `Hiddify-API-Key`, the panel
 * could take another user.
 */
const OF_SUBSCRIPTION = new RegExp(
  [
    '^(?:x-hwid.*|x-device-.*|x-ver-os|x-app-version|user-agent|accept|accept-.*',
    'if-.*|range|cache-control|pragma|date)$',
  ].join('|'),
);

/**
 * Returns the headers for the upstream: those of the client, without conditions if the response
 * must be whole, only those of a subscription if it is one, and the origin of the request.
 */
export function requestHeaders(
  { headers }: Request,
  hosts: { sent: string; asked: string },
  { peer, client, isTrusted, scheme }: Provenance,
  { isWhole, isSubscription }: { isWhole: boolean; isSubscription: boolean },
): Record<string, string> {
  const passed: Record<string, string> = { host: hosts.sent };
  const named = namedHops(headers);
  headers.forEach((value, name) => {
    if (HOP_BY_HOP.has(name) || named.has(name) || OUR_OWN.has(name)) return;
    if (isSubscription && !OF_SUBSCRIPTION.test(name)) return;
    if (hasBotSecret(value)) return;
    if (!CLAIM.test(name) && !(isWhole && CONDITIONAL.test(name))) passed[name] = value;
  });
  const before = isTrusted ? headers.get('x-forwarded-for') : null;
  const from = (name: string) => (isTrusted ? headers.get(name) : null);
  passed['x-forwarded-for'] = before ? `${before}, ${peer}` : peer;
  passed['x-forwarded-host'] = from('x-forwarded-host') ?? hosts.asked;
  passed['x-forwarded-proto'] = from('x-forwarded-proto') ?? scheme;
  passed['x-real-ip'] = client;
  return passed;
}

/**
 * Returns the headers for the client, from names and values in turn; values keep their bytes. Null:
 * one has characters that no header may have.
 */
export function responseHeaders(raw: readonly string[]): Headers | null {
  const headers = new Headers();
  try {
    for (let at = 0; at + 1 < raw.length; at += 2) {
      headers.append(raw[at] as string, raw[at + 1] as string);
    }
  } catch {
    return null;
  }
  for (const name of [...namedHops(headers), ...HOP_BY_HOP]) headers.delete(name);
  return headers;
}

/**
 * Marks a response as private to one device, so that no shared cache serves it to another client.
 * Keeps a `Cache-Control` of the panel with `private` or `no-store`.
 */
export function keepFromSharedCaches(headers: Headers): void {
  for (const name of OF_SHARED_CACHES) headers.delete(name);
  varyBy(headers, ['x-hwid']);
  const directives = itemsOf(headers, 'cache-control');
  if (directives.some((directive) => /^(?:private|no-store)$/i.test(directive))) return;
  const kept = directives.filter((directive) => !/^(?:public$|s-maxage\b)/i.test(directive));
  headers.set('cache-control', [...kept, 'private'].join(', '));
}

/** Headers of a request on which the text of a message depends. */
const OF_PERSON = ['x-hwid', 'accept-language', 'x-device-locale', 'user-agent'];

/** Keeps caches from showing a message to another person, or after it ends. */
export function keepFresh(headers: Headers): void {
  varyBy(headers, OF_PERSON);
  const isKept = !itemsOf(headers, 'cache-control').some((one) => /^no-store$/i.test(one));
  headers.set('cache-control', `private, no-cache${isKept ? '' : ', no-store'}`);
}

/** Returns whether a response is a page of HTML. */
export const isPage = (headers: Headers): boolean =>
  /^\s*text\/html\b/i.test(headers.get('content-type') ?? '');

/** Adds names to `Vary`. */
export function varyBy(headers: Headers, names: readonly string[]): void {
  const varying = itemsOf(headers, 'vary');
  const named = new Set(varying.map((name) => name.toLowerCase()));
  const missing = named.has('*') ? [] : names.filter((name) => !named.has(name));
  if (missing.length > 0) headers.set('vary', [...varying, ...missing].join(', '));
}

/** Headers about the encoded bytes of a response. */
const OF_ENCODED = [
  ...['content-encoding', 'content-length', 'accept-ranges'],
  ...['content-md5', 'digest', 'content-digest', 'repr-digest'],
];

/** Makes the headers of an encoded response those of the decoded one. */
export function describeDecoded(headers: Headers): void {
  for (const name of OF_ENCODED) headers.delete(name);
  const tag = headers.get('etag') ?? '';
  // Other bytes than those of the panel have no strong tag of it.
  if (tag.startsWith('"')) headers.set('etag', `W/${tag}`);
}

/** Returns the names of headers that `Connection` lists. */
function namedHops(headers: Headers): ReadonlySet<string> {
  const names = itemsOf(headers, 'connection').map((name) => name.toLowerCase());
  return names.length === 0 ? NONE : new Set(names.filter((name) => HEADER_NAME.test(name)));
}

/** Returns the items of a header that is a list. */
function itemsOf(headers: Headers, name: string): string[] {
  const items = (headers.get(name) ?? '').split(',').map((item) => item.trim());
  return items.filter((item) => item !== '');
}

const NONE: ReadonlySet<string> = new Set();
const HEADER_NAME = /^[\w!#$%&'*+.^`|~-]+$/;

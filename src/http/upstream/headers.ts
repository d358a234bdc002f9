/** Headers on their way through: all but those of one connection (RFC 9110, section 7.6.1). */

/** Headers of one connection, of no request behind it. */
const HOP_BY_HOP = new Set([
  ...['connection', 'keep-alive', 'proxy-authenticate', 'proxy-authorization', 'proxy-connection'],
  ...['te', 'trailer', 'transfer-encoding', 'upgrade'],
]);

/** Headers of a request that are ours to write: a body is not passed on, the host is judged. */
const OUR_OWN = new Set(['host', 'content-length', 'expect', 'http2-settings']);

/**
 * Names of headers that a client could lie by: a panel would take the request for another one than
 * that which was judged, or its client for another. None passes, even behind a trusted proxy: many
 * of those hand on what they do not know.
 */
const CLAIM = new RegExp(
  [
    // Servers of the CGI kind (PHP, WSGI) take `_` for `-`: it stands for any of the others.
    '_',
    '^(?:x-)?forwarded',
    '^x-(?:original|rewrite)-',
    '^x-request-ur[il]$',
    '^x-http-(?:host|method|url)',
    '^x-(?:host|method-override)$',
    '(?:client|connecting|real)-?ip(?:v6)?$',
  ].join('|'),
);

/** Headers by which single caches of those that many share are told what `Cache-Control` is not. */
const OF_SHARED_CACHES = [
  ...['cdn-cache-control', 'cloudflare-cdn-cache-control', 'surrogate-control', 'x-accel-expires'],
];

/** The way on which a request came. */
export interface Provenance {
  /** The peer's address. */
  peer: string;
  /** The client's address, behind the proxies that are trusted. */
  client: string;
  /** True if the peer is a proxy whose `X-Forwarded-*` are believed. */
  isTrusted: boolean;
  scheme: 'http' | 'https';
}

/** The headers for the upstream: the client's, none of them invented, and where it comes from. */
export function requestHeaders(
  { headers }: Request,
  hosts: { told: string; asked: string },
  { peer, client, isTrusted, scheme }: Provenance,
): Record<string, string> {
  const passed: Record<string, string> = { host: hosts.told };
  const named = namedHops(headers);
  headers.forEach((value, name) => {
    if (HOP_BY_HOP.has(name) || named.has(name) || OUR_OWN.has(name)) return;
    if (!CLAIM.test(name)) passed[name] = value;
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
 * The headers for the client, of names and values in turn; values keep their bytes. Null if one has
 * signs that no header may have.
 */
export function answerHeaders(raw: readonly string[]): Headers | null {
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
 * Marks an answer as that of one device, so that no shared cache gives it to another client. An
 * answer that the panel marks `private` or `no-store` keeps its `Cache-Control`.
 */
export function keepFromSharedCaches(headers: Headers): void {
  for (const name of OF_SHARED_CACHES) headers.delete(name);
  const varying = itemsOf(headers, 'vary');
  const isVarying = varying.some((name) => name === '*' || name.toLowerCase() === 'x-hwid');
  if (!isVarying) headers.set('vary', [...varying, 'x-hwid'].join(', '));
  const directives = itemsOf(headers, 'cache-control');
  if (directives.some((directive) => /^(?:private|no-store)$/i.test(directive))) return;
  const kept = directives.filter((directive) => !/^(?:public$|s-maxage\b)/i.test(directive));
  headers.set('cache-control', [...kept, 'private'].join(', '));
}

/** Headers that `Connection` names as the connection's own. */
function namedHops(headers: Headers): ReadonlySet<string> {
  const names = itemsOf(headers, 'connection').map((name) => name.toLowerCase());
  return names.length === 0 ? NONE : new Set(names.filter((name) => HEADER_NAME.test(name)));
}

/** The items of a header that is a list. */
function itemsOf(headers: Headers, name: string): string[] {
  const items = (headers.get(name) ?? '').split(',').map((item) => item.trim());
  return items.filter((item) => item !== '');
}

const NONE: ReadonlySet<string> = new Set();
const HEADER_NAME = /^[\w!#$%&'*+.^`|~-]+$/;

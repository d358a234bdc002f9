/**
 * Reads the request in a proxy's question. Each proxy uses other headers, and a header that a proxy
 * does not set may come from the client. So all present headers must agree: otherwise one link
 * could be judged and another served.
 */

import { type Path, readRequestPath } from '../../core/key-path.ts';
import { isRefused, type Misfit, malformed } from '../../core/outcome.ts';
import type { Hosts, KnownHost } from '../request/hosts.ts';
import { parseQuery, pathOf, type Query, valueIn } from '../request/query.ts';

export interface OriginalRequest {
  method: string;
  host: KnownHost;
  path: Path;
  /** The parameters, with their names in lower case. */
  query: Query;
  /** The provider of the link; null: any. */
  providerCode: string | null;
}

/** The longest URI, characters. */
const URI_LENGTH_MAX = 8192;

/**
 * Reads the request in a proxy's question. Returns a misfit if it is missing, if headers disagree,
 * or if two servers could read it differently.
 */
export function readOriginal(
  { method, headers, url }: Request,
  hosts: Hosts,
): OriginalRequest | Misfit {
  const own = ownQuery(url);
  const original = originalUrl(headers.get('x-original-url'));
  if (isRefused(original)) return original;
  const uri = agreed(
    headers.get('x-original-uri'),
    headers.get('x-forwarded-uri'),
    original.uri,
    own.uri,
  );
  if (uri === null) return UNNAMED;
  if (isRefused(uri)) return uri;
  const isPlain = uri.length <= URI_LENGTH_MAX && !uri.includes('#');
  const path = isPlain ? readRequestPath(pathOf(uri)) : null;
  if (path === null) return ODD;
  const query = parseQuery(uri, true);
  // Some proxies forward the query of the client beside their own.
  if (own.providerCode !== null && valueIn(query, 'provider_code') !== undefined) return DISAGREED;

  const forwardedHost = headers.get('x-forwarded-host');
  const name = forwardedHost ?? original.host ?? headers.get('host');
  const host = name === null ? null : hosts.find(name);
  if (host === null) return HOSTLESS;
  if (forwardedHost !== null && original.host !== null) {
    if (hosts.find(original.host)?.name !== host.name) return DISAGREED;
  }
  const ofClient = agreed(headers.get('x-forwarded-method'), headers.get('x-original-method'));
  if (isRefused(ofClient)) return ofClient;
  return { method: ofClient ?? method, host, path, query, providerCode: own.providerCode };
}

const UNNAMED = malformed(
  'the request is named neither by X-Original-URI, X-Original-URL, X-Forwarded-Uri nor by ?uri=',
);
const DISAGREED = malformed('what tells the request does not agree');
const ODD = malformed('the URI of the request is one that servers read differently');
const HOSTLESS = malformed('the host of the request is no host name');

/** Returns the value on which all present ones agree; null: none is present. */
function agreed(...values: (string | null)[]): string | null | Misfit {
  let one: string | null = null;
  for (const value of values) {
    if (value === null) continue;
    if (one !== null && one !== value) return DISAGREED;
    one = value;
  }
  return one;
}

/** The parts of `X-Original-URL`. */
function originalUrl(url: string | null): { host: string | null; uri: string | null } | Misfit {
  if (url === null) return { host: null, uri: null };
  const [, host, uri] = /^https?:\/\/([^/?#]+)(\/.*)$/i.exec(url) ?? [];
  return host === undefined || uri === undefined ? ODD : { host, uri };
}

/**
 * Reads the query of the gate's URL, which the proxy wrote: `uri=` and all after it come from the
 * client, for proxies that can only prefix an address. It is no path: the server resolves dots, and
 * `/gate/../api` would reach another endpoint.
 */
function ownQuery(url: string): { uri: string | null; providerCode: string | null } {
  const start = url.indexOf('?');
  if (start < 0) return NO_QUERY;
  const query = url.slice(start);
  const uriAt = query.search(/[?&]uri=/);
  const own = uriAt < 0 ? query : query.slice(0, uriAt);
  const providerCode = valueIn(parseQuery(own, false), 'provider_code');
  return {
    uri: uriAt < 0 ? null : query.slice(uriAt + '?uri='.length),
    providerCode: typeof providerCode === 'string' ? providerCode : null,
  };
}

const NO_QUERY = { uri: null, providerCode: null };

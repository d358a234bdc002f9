/** The origins from which the console may be opened: this machine, or HTTPS. */

import type { Site } from '../../core/account/passkeys.ts';
import { isLoopback } from '../request/address.ts';
import { authorityOf } from '../request/hosts.ts';

/** The connection of a request. */
export interface Connection {
  /** The peer's address. */
  peer: string;
  /** True if the peer is a proxy whose `X-Forwarded-*` are trusted. */
  isTrusted: boolean;
  /** The scheme of the listener. */
  scheme: 'http' | 'https';
}

/** Headers that a proxy adds. With one of them the peer's address is not the client's. */
const FORWARDING = ['forwarded', 'via', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip'];

export const INSECURE =
  'The console is not opened over plain HTTP, which anyone between could read. Set tls.certificate ' +
  'and tls.key, or acme.domains; or open it through a proxy with HTTPS whose network is in ' +
  'server.trusted_proxies and that sends X-Forwarded-Proto; or on the machine itself, also through ' +
  'ssh -L 8080:127.0.0.1:8080 MACHINE, as http://localhost:8080/console.\n';

/** Returns the site of a request; null: the connection is not secure. */
export function siteOf({ headers }: Request, { peer, isTrusted, scheme }: Connection): Site | null {
  const authority = authorityOf(headers, isTrusted);
  const host = authority.replace(/:\d+$/, '').replace(/^\[(.*)\]$/, '$1');
  if (host === '') return null;
  const isHttps = isTrusted ? headers.get('x-forwarded-proto') === 'https' : scheme === 'https';
  if (isHttps || scheme === 'https') return { host, origin: `https://${authority}` };
  const isBare = FORWARDING.every((name) => !headers.has(name));
  const isHere = isLoopback(peer) && (host === 'localhost' || isLoopback(host)) && isBare;
  return isHere ? { host, origin: `http://${authority}` } : null;
}

/** Returns true for a call that a page of this site made. */
export function isOwnPage(request: Request, site: Site): boolean {
  return request.headers.has('origin') && isOfOwnPage(request, site);
}

/** Returns true unless the browser says that another site made the GET. */
export function isOfOwnPage({ headers }: Request, { origin }: Site): boolean {
  const [from, page] = [headers.get('sec-fetch-site'), headers.get('origin')];
  return (page === null || page === origin) && (from === null || from === 'same-origin');
}

const COOKIE = '__Host-gatepost';
const MARK_COOKIE = '__Host-gatepost-known';
const COOKIE_RULES = 'Path=/; Secure; HttpOnly; SameSite=Strict';

/** Returns the token of the session; null: the request has none. */
export function tokenIn({ headers }: Request): string | null {
  return cookieIn(headers, COOKIE);
}

/** Returns a cookie of a request; null: there is none, or more than one. */
export function cookieIn(headers: Headers, name: string): string | null {
  const all = (headers.get('cookie') ?? '').split(';').map((pair) => pair.trim().split('='));
  const found = all.filter(([known]) => known === name);
  return found.length === 1 ? (found[0]?.[1] ?? null) : null;
}

/** Makes the cookie of a session; null ends it. */
export function sessionCookie(token: string | null, maxAgeS: number): string {
  return `${COOKIE}=${token ?? ''}; Max-Age=${token === null ? 0 : maxAgeS}; ${COOKIE_RULES}`;
}

/** Returns the mark of the browser; null: it has none. */
export const markIn = ({ headers }: Request): string | null => cookieIn(headers, MARK_COOKIE);

/** Makes the cookie of a mark. */
export const markCookie = (mark: string, maxAgeS: number): string =>
  `${MARK_COOKIE}=${mark}; Max-Age=${maxAgeS}; ${COOKIE_RULES}`;

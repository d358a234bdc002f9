/** Reads the target of a request, and finds requests that servers read differently. */

import { hostName } from '../../core/host-name.ts';
import type { Upstream } from './settings.ts';

/**
 * Returns whether servers could read the request differently: two hosts, or a WebSocket. Any other
 * upgrade is an offer, which a server may ignore (RFC 9110, 7.8); it never reaches a panel.
 */
export function isOdd(headers: Headers, upstream: Upstream): boolean {
  const host = headers.get('host') ?? '';
  const isOther = host !== upstream.host && hostName(host) !== upstream.host;
  return isOther || /\bwebsocket\b/i.test(headers.get('upgrade') ?? '');
}

/** Returns path and query of a request's URL, without a fragment. */
export function targetOf(url: string): string {
  const target = url.slice(url.indexOf('/', url.indexOf('://') + 3));
  return target.split('#', 1)[0] ?? '';
}

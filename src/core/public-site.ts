/** The address at which people reach this server from outside. */

import { addressOf, isCallable } from './outbox/address.ts';
import type { PageSites } from './port/my.ts';

/**
 * Returns the address of this server, such as `https://gatepost.example.org`; null: none is set, or
 * it leads to this machine or to a private network.
 */
export function publicSite({ myUrl }: Pick<PageSites, 'myUrl'>): string | null {
  if (myUrl === '') return null;
  const { hostname } = new URL(myUrl);
  const address = addressOf(hostname);
  if (address !== null) return isCallable(address, []) ? myUrl : null;
  return hostname.includes('.') ? myUrl : null;
}

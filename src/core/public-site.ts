/** The check of an address that stands in a message: whether people reach it from anywhere. */

import { addressOf, isCallable } from './outbox/address.ts';

/** Returns false for a URL that leads to this machine, a private network, or a bare name. */
export function isPublicSite(url: string): boolean {
  const { hostname } = new URL(url);
  const address = addressOf(hostname);
  return address === null ? hostname.includes('.') : isCallable(address, []);
}

/** The id of a request in the log. */

import type { TrustedProxies } from './address.ts';

/**
 * The ids that proxies make of their own accord: hexadecimal digits and hyphens, as in a UUID.
 * Anything wider would let a key through that a client put there and a proxy handed on.
 */
const FOREIGN_ID = /^[0-9a-f][0-9a-f-]{7,63}$/i;

export class RequestIds {
  /** Tells the requests of this process from those of others and of its earlier lives. */
  readonly #prefix = crypto.randomUUID().slice(0, 8);
  #count = 0;

  constructor(private readonly settings: { readonly trustedProxies: TrustedProxies }) {}

  next(): string {
    this.#count += 1;
    return `${this.#prefix}-${this.#count}`;
  }

  /** A new id, or the one that a trusted proxy gave the request. */
  of(peer: string, request: Request): string {
    if (!this.settings.trustedProxies.includes(peer)) return this.next();
    const foreign = request.headers.get('x-request-id');
    return foreign !== null && FOREIGN_ID.test(foreign) ? foreign : this.next();
  }
}

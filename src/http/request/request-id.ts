/** The id of a request in the log. */

import type { TrustedProxies } from './address.ts';

/**
 * The ids that proxies generate: hexadecimal digits and hyphens, as in a UUID. A wider form would
 * admit a key that a client sent as an id and a proxy passed on.
 */
const FOREIGN_ID = /^[0-9a-f][0-9a-f-]{7,63}$/i;

export class RequestIds {
  /** Distinguishes the ids of this process from those of others and of earlier runs. */
  readonly #prefix = crypto.randomUUID().slice(0, 8);
  #count = 0;

  constructor(private readonly settings: { readonly trustedProxies: TrustedProxies }) {}

  /** Returns the id that a trusted proxy gave the request, else a new one. */
  of(peer: string, request: Request): string {
    const isTrusted = this.settings.trustedProxies.includes(peer);
    const foreign = isTrusted ? (request.headers.get('x-request-id') ?? '') : '';
    if (FOREIGN_ID.test(foreign)) return foreign;
    this.#count += 1;
    return `${this.#prefix}-${this.#count}`;
  }
}

/** Host names of requests, each read and hashed once. */

import { hostHash, hostName } from '../../core/host-name.ts';

/** A host name in the form of `hostName`, and its hash as bindings store it. */
export interface KnownHost {
  readonly name: string;
  readonly hash: string;
}

/** Bounds of the cache, as clients choose the names: its entries and the length of each. */
const COUNT_MAX = 1000;
const LENGTH_MAX = 300;

export class Hosts {
  readonly #known = new Map<string, KnownHost | null>();

  /** Returns the host in a header, with or without a port; null: it is no host name. */
  find(header: string): KnownHost | null {
    const known = this.#known.get(header);
    if (known !== undefined) return known;
    if (header.length > LENGTH_MAX) return null;
    const name = hostName(header);
    const host = name === null ? null : { name, hash: hostHash(name) };
    if (this.#known.size >= COUNT_MAX) this.#known.clear();
    this.#known.set(header, host);
    return host;
  }
}

/** Returns the host and port that the client asked for; a trusted proxy reports them. */
export function authorityOf(headers: Headers, isTrusted: boolean): string {
  const forwarded = isTrusted ? headers.get('x-forwarded-host') : null;
  return (forwarded ?? headers.get('host') ?? '').trim().toLowerCase();
}

/** Host names of requests, each read and hashed once. */

import { hostHash, hostName } from '../../core/host-name.ts';

/** A host as a binding knows it. */
export interface KnownHost {
  readonly name: string;
  readonly hash: string;
}

/** Hosts that are remembered, and the length of the longest: clients make them up. */
const COUNT_MAX = 1000;
const LENGTH_MAX = 300;

export class Hosts {
  readonly #known = new Map<string, KnownHost | null>();

  /** The host that a header names, with or without a port; null: it is none. */
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

/** Links of one customer that have become one: their part of the port. */

import type { Act } from './audit.ts';

/** A link whose key is another spelling of a key. */
export interface JoiningLink {
  providerId: number;
  installId: number;
  /** SHA-256 of the key as the panel compares it, hexadecimal. */
  keyHash: string;
}

export interface LinkJoinStore {
  /**
   * Gives a link the key as the panel compares it. If another link has that key, the two become
   * the one that was made first: it keeps its terms and gets the key and the devices of both, above
   * its limit until they leave, up to 100 that were seen last. The other one is removed; its code
   * keeps a tombstone, its key does not. Changes nothing if the link is gone, or if a removed or
   * revoked link had the key.
   */
  joinLinks(joining: JoiningLink, act: Act): Promise<void>;
}

/**
 * The operator's look at limited links: those of all providers, by the code that is on them all.
 * {@link InstallStore} in ./install.ts is what providers do with their own.
 */

import type { Install } from './install.ts';

/** A link with the provider that it is of. */
export interface OwnedLink extends Install {
  providerId: number;
  providerCode: string;
}

/** Bounds of the links that `link list` shows, newest first. */
export interface LinkFilter {
  providerCode: string | null;
  /** Only links on which no slot is free. */
  isFull: boolean;
  /** Only links with this status; null: with any. */
  status: number | null;
}

export interface LinkStore {
  findLink(installCode: string): Promise<OwnedLink | null>;
  listLinks(filter: LinkFilter & { countMax: number }): Promise<OwnedLink[]>;
  countLinks(filter: LinkFilter): Promise<number>;
}

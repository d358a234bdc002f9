/** The ties of links to users of panels: their part of the port. */

import type { Act } from './audit.ts';
import type { Maybe } from './maybe.ts';
import type { PanelFacts } from './moving.ts';

/** A link with its user in a panel. */
export interface TiedLink {
  id: number;
  status: number;
  installLimit: number;
  deviceCount: number;
  /** `panel:user`; null: the link came from no panel, and no answer proved its key. */
  panelUser: string | null;
  /** The terms of the last import; null: no import has seen the link. */
  facts: PanelFacts | null;
  subscriptionKeyHash: string | null;
  /** 1: the proxy made it for its key. */
  ofGate: number;
}

/** A tied link with its provider. */
export interface OwnedTie extends TiedLink {
  providerId: number;
  providerCode: string;
}

/** A tied link with what a change of it needs. */
export interface FoundLink extends TiedLink {
  installCode: string;
  note: string | null;
}

export interface PanelTieStore {
  /** Lists the provider's links with the subscription keys of these hashes, in any order. */
  listTiedLinks(providerId: number, subscriptionKeyHashes: readonly string[]): Maybe<FoundLink[]>;
  /** Finds the provider's link with the subscription key of this hash; null: it has none. */
  findTiedLink(providerId: number, subscriptionKeyHash: string): Maybe<TiedLink | null>;
  /** Finds the tie of a link; null: no such link. */
  findTieOf(installId: number): Maybe<OwnedTie | null>;
  /**
   * Notes that the panel proved the key of the provider's link for `panelUser`, by `provedTie`. A
   * user whose link came by an import stays with that one. Returns whether the note changed.
   */
  notePanelUser(
    providerId: number,
    subscriptionKeyHash: string,
    panelUser: string,
  ): Promise<boolean>;
  /**
   * Enables a link that an import disabled, as if the import had found its user active. Returns
   * false, and changes nothing, if its state is not the import's any more.
   */
  enableImported(providerId: number, id: number, act: Act): Promise<boolean>;
}

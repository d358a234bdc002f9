/** The page of users: its records and its part of the port. */

import type { Act } from './audit.ts';
import type { Maybe } from './maybe.ts';
import type { LinkName } from './slot.ts';

/** What a provider sets for the page of its users. */
export interface OwnPage {
  /** 1: the page is on. */
  my: 0 | 1;
  /** The name at its head; null: none. */
  myName: string | null;
  /** Its colour, as `#1a2b3c`; null: that of the program. */
  myColor: string | null;
}

/** The operator's settings of pages. */
export interface PageSites {
  /** Empty: no provider has the page. */
  readonly myPath: string;
  /** The URL of the server for users; empty: none. */
  readonly myUrl: string;
}

/** A link as a page names it; `domainHash`: that of a subscription's host, null: of no host. */
export type MyName = LinkName & { domainHash: string | null };

/** A link whose page is open: active, of a provider that is active and has pages. */
export interface MyLink extends Pick<OwnPage, 'myName' | 'myColor'> {
  installId: number;
  installCode: string;
  installLimit: number;
  deviceCount: number;
  providerId: number;
  providerCode: string;
  /** SHA-256 of the provider's key. */
  keyHash: Uint8Array;
  supportUrl: string | null;
  /** Time at which the user last freed a slot; null: never. */
  freedAtMs: number | null;
  /** The effective least time between two such times. */
  coolDownHours: number;
}

/** The slot that a user frees. */
export interface OwnSlot {
  installId: number;
  providerId: number;
  hwid: string;
  registeredAtMs: number;
}

export type FreeRefusal = 'slot_gone' | 'cooling_down';

export interface MyStore {
  /**
   * Finds the link whose page has the name. Null: there is none, it is disabled, its provider is
   * not active or has no pages, or a key without a provider names links of several.
   */
  findMy(name: MyName, nowMs: number): Maybe<MyLink | null>;
  /**
   * Frees a slot for the user of its link, and begins the cool-down. Returns `cooling_down` before
   * the end of the former one, `slot_gone` if the slot has ended or its link takes no changes.
   */
  freeOwnSlot(slot: OwnSlot, act: Act): Promise<'ok' | FreeRefusal>;
}

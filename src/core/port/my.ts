/** The page of users: its records and its part of the port. */

import type { Act } from './audit.ts';
import type { Maybe } from './maybe.ts';
import type { Buttons } from './ride.ts';
import type { LinkName } from './slot.ts';
import type { WantedCut } from './wanted-cut.ts';

/** The settings of a provider for the page of its users. */
export interface OwnMy {
  /** 1: the page is on; 0: off. */
  my: 0 | 1;
  /** The name at its head; null: none. */
  myName: string | null;
  /** The colour, such as `#1a2b3c`; null: the default. */
  myColor: string | null;
  /** 1: users see the traffic of their subscription beside its end. */
  myTraffic: 0 | 1;
}

/** The right of users beside freeing a slot. The keys of bots do not set it. */
export interface OwnMyCut {
  /** 1: they may cut off the device that they free. */
  myCutOff: 0 | 1;
}

/** The operator's settings of pages. */
export interface MySites {
  /** The path; empty: no provider has the page. */
  readonly myPath: string;
  /** The URL of the server for users; empty: none. */
  readonly myUrl: string;
}

/**
 * The name of a link on a page; `domainHash`: the hash of the host of a subscription; null: none.
 */
export type MyName = (LinkName | MyReference) & { domainHash: string | null };

/** A link by its id, with the proof that its user may open the page; absent: Gatepost asks. */
interface MyReference {
  installId: number;
  signed?: string;
  providerCode: string | null;
}

/**
 * A link with an open page: it is active, and its provider is active and has pages. Addresses that
 * a key changed are the former ones for a day: core/unconfirmed.ts.
 */
export interface MyLink extends Pick<OwnMy, 'myName' | 'myColor' | 'myTraffic'>, Buttons {
  installId: number;
  installCode: string;
  installLimit: number;
  deviceCount: number;
  providerId: number;
  providerCode: string;
  /** SHA-256 of the provider's key. */
  keyHash: Uint8Array;
  /** The zone of dates, as `+03:00`; null: that of the contract. */
  timeZone: string | null;
  /** 1: figures of its subscription are kept. */
  subscriptionFigures: 0 | 1;
  /** Time at which the user last freed a slot; null: never. */
  freedAtMs: number | null;
  /** The effective cool-down, hours. */
  coolDownHours: number;
  /** 1: its user may cut off the device that they free. */
  myCutOff: 0 | 1;
}

/** The slot that a user frees. */
interface OwnSlot {
  installId: number;
  providerId: number;
  hwid: string;
  registeredAtMs: number;
}

export type FreeRefusal = 'slot_gone' | 'cooling_down';

export interface MyStore {
  /**
   * Finds the link with this name and an open page. Returns null if there is none, it is disabled,
   * its provider is inactive or has no pages, or several providers have links with the key.
   */
  findMy(name: MyName, nowMs: number): Maybe<MyLink | null>;
  /**
   * Frees a slot for the user of its link, and starts the cool-down. With `cut` it cuts the link
   * off, too, as `askCut` does. Returns `cooling_down` before the end of an earlier one, or
   * within a day of an earlier cut-off; `slot_gone` if the slot has ended or its link takes no
   * changes.
   */
  freeOwnSlot(slot: OwnSlot, act: Act, cut?: WantedCut | null): Promise<'ok' | FreeRefusal>;
}

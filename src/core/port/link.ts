/**
 * Limited links by filters, and for the operator: those of all providers, by their codes. Providers
 * work with `InstallStore` of ./install.ts.
 */

import type { DeviceFacts } from './device.ts';
import type { RefusalReason } from './figure.ts';
import type { Install } from './install.ts';
import type { Buttons } from './ride.ts';
import type { EndReason, OwnPolicy } from './slot.ts';

/** A link with its provider. */
export interface OwnedLink extends Install, OwnPolicy, Buttons {
  providerId: number;
  providerCode: string;
  /** True if a subscription key names the link too. */
  hasSubscriptionKey: boolean;
  /** Time at which a newcomer last replaced a slot; null: none did. */
  replacedAtMs: number | null;
}

/** Filter of links; null or absent: any. */
export interface LinkFilter {
  providerCode: string | null;
  /** True: only links without a free slot. */
  isFull: boolean;
  /** True: only links with more devices than their limit. */
  isOver?: boolean;
  status: number | null;
  /**
   * Part of the note, the code or the model of a device on the link, in any case of A to Z; or the
   * beginning of a HWID on it.
   */
  search?: string | null;
  /** Part of the note. */
  inNote?: string | null;
  /** Only links that refused a device at or after this time, UTC ms. */
  refusedSinceMs?: number | null;
  /** Only links older than this time, UTC ms, on which no device was seen at or after it. */
  unusedSinceMs?: number | null;
  /** Only links with this limit. */
  limit?: number | null;
}

/** A device on a link, as its provider knows it. */
export interface LinkDevice extends DeviceFacts {
  hwid: string;
  registeredAtMs: number;
  /** As of a slot: see `Slot`. */
  lastSeenAtMs: number;
}

/** What is next in a list of links. */
export interface LinkSlice {
  links: OwnedLink[];
  /** The id beyond which the rest is; null: there is none. */
  nextId: number | null;
}

/** The end of a slot. */
export interface SlotEnd {
  /** Null: the device was forgotten since. */
  hwid: string | null;
  registeredAtMs: number;
  lastSeenAtMs: number;
  endedAtMs: number;
  why: EndReason;
  /** Name of the actor as in the audit log; `device`: a newcomer replaced it. */
  actor: string;
  /** The newcomer that took the slot; null: there was none, or it was forgotten since. */
  forHwid: string | null;
}

/** The history of a link. */
export interface LinkStory {
  /** Latest first. */
  ends: SlotEnd[];
  /** Devices that the link refused; null: none. */
  refusals: { count: number; lastAtMs: number; reason: RefusalReason } | null;
}

export interface LinkStore {
  /** Finds a link by its code. Returns null if no link has it. */
  findLink(installCode: string): Promise<OwnedLink | null>;
  /** Finds a link by its id. Returns null if no link has it. */
  findLinkById(id: number): Promise<OwnedLink | null>;
  /** Finds the links of all providers with the subscription key of this hash. */
  findLinksByKey(subscriptionKeyHash: string): Promise<OwnedLink[]>;
  /**
   * Lists the links that match, newest first, with ids from `fromId` to below `beforeId`. With
   * any filter but the provider it waits for a `turn` after each piece of some ms.
   */
  listLinks(
    filter: LinkFilter & { fromId?: number; beforeId?: number | null; countMax: number },
    turn?: () => Promise<void>,
  ): Promise<OwnedLink[]>;
  /**
   * Lists links that match among the next ones beyond an id (null: from the begin), newest first
   * or (`isOldest`) oldest first. Looks at some thousand links and at most `countMax` that match,
   * with a `turn` after each piece of some ms.
   */
  listLinkSlice(
    filter: LinkFilter & { beyondId: number | null; isOldest: boolean; countMax: number },
    turn?: () => Promise<void>,
  ): Promise<LinkSlice>;
  /** Lists the provider's links with these ids, newest first. */
  listLinksById(providerId: number, ids: readonly number[]): Promise<OwnedLink[]>;
  /** Counts the links that match, with a turn after each piece of some ms. */
  countLinks(filter: LinkFilter): Promise<number>;
  /** Lists the devices on a link of the provider, the latest first. */
  listLinkDevices(providerId: number, installId: number, countMax: number): Promise<LinkDevice[]>;
  /** Reads the history of a link. */
  readLinkStory(installId: number): Promise<LinkStory>;
}

/**
 * Links by filters, and for the operator: links of all providers, by their codes. Providers use
 * `LinkStore` of ./install.ts.
 */

import type { DeviceFacts } from './device.ts';
import type { RefusalReason } from './figure.ts';
import type { Link, LinkTerms } from './link.ts';
import type { EndReason } from './slot.ts';
import type { FiguresFilter } from './subscription-figures.ts';

/** A link with its provider. */
export interface OwnedLink extends Link, LinkTerms {
  providerId: number;
  providerCode: string;
  /** True if a subscription key names the link too. */
  hasSubscriptionKey: boolean;
  /** True if several phones certainly send one HWID of it. */
  isCopied: boolean;
  /** Time at which a newcomer last replaced a slot; null: none did. */
  replacedAtMs: number | null;
  /** The lower limit that it gets as its devices leave; null: none. */
  limitWanted: number | null;
}

/** Filter of links; null or absent: any. */
export interface LinkFilter extends FiguresFilter {
  providerCode: string | null;
  /** True: only links without a free slot. */
  isFull: boolean;
  /** True: only links with more devices than their limit. */
  isOver?: boolean;
  /** True: only links with a HWID that several phones certainly send. */
  isCopied?: boolean;
  status: number | null;
  /** True: only links that an import disabled, whose state is still the import's. */
  isDisabledByImport?: boolean;
  /**
   * A part of the note, of the code, or of the model of a device on the link, in any case and
   * spelling (`src/core/fold.ts`); or the beginning of the HWID of one.
   */
  search?: string | null;
  /** True: the search looks at no code, which is a secret to its caller. */
  hidesCodes?: boolean;
  /** A part of the note. */
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
  /** The last use of the slot: see `Slot`. */
  lastSeenAtMs: number;
}

/** A slice of a list of links. */
interface LinkSlice {
  links: OwnedLink[];
  /** The id beyond which the list continues; null: the end. */
  nextId: number | null;
}

/** The end of a slot. */
export interface SlotEnd {
  /** The HWID; null: the device was removed since. */
  hwid: string | null;
  registeredAtMs: number;
  lastSeenAtMs: number;
  endedAtMs: number;
  why: EndReason;
  /** The name of the actor in the audit log; `device`: a new device replaced it. */
  actor: string;
  /** The new device that took the slot; null: none, or it was removed since. */
  forHwid: string | null;
}

/** The history of a link. */
export interface LinkStory {
  /** Latest first. */
  ends: SlotEnd[];
  /** Devices that the link refused; null: none. */
  refusals: { count: number; lastAtMs: number; reason: RefusalReason } | null;
}

export interface LinkViewStore {
  /** Finds a link by its code. Returns null if no link has it. */
  findLink(installCode: string): Promise<OwnedLink | null>;
  /** Finds a link by its id. Returns null if no link has it. */
  findLinkById(id: number): Promise<OwnedLink | null>;
  /** Finds the links of all providers with the subscription key of this hash. */
  findLinksByKey(subscriptionKeyHash: string): Promise<OwnedLink[]>;
  /**
   * Lists the links that match, newest first, with ids from `fromId` to below `beforeId`. With a
   * filter besides the provider it waits for a `turn` every few ms.
   */
  listLinks(
    filter: LinkFilter & { fromId?: number; beforeId?: number | null; countMax: number },
    turn?: () => Promise<void>,
  ): Promise<OwnedLink[]>;
  /**
   * Lists matching links beyond an id (null: from the start), newest first or (`isOldest`) oldest
   * first. Reads some thousand links and returns at most `countMax`. Waits for a `turn` every few
   * ms.
   */
  listLinkSlice(
    filter: LinkFilter & { beyondId: number | null; isOldest: boolean; countMax: number },
    turn?: () => Promise<void>,
  ): Promise<LinkSlice>;
  /** Lists the provider's links with these ids, newest first. */
  listLinksById(providerId: number, ids: readonly number[]): Promise<OwnedLink[]>;
  /** Counts the links that match, with a turn every few ms. */
  countLinks(filter: LinkFilter): Promise<number>;
  /** Lists the devices on a link of the provider, the latest first. */
  listLinkDevices(providerId: number, installId: number, countMax: number): Promise<LinkDevice[]>;
  /** Reads the history of a link. */
  readLinkStory(installId: number): Promise<LinkStory>;
}

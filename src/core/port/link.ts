/**
 * The operator's look at limited links: those of all providers, by the code that is on them all.
 * `InstallStore` in ./install.ts is what providers do with their own.
 */

import type { RefusalReason } from './figure.ts';
import type { Install } from './install.ts';
import type { EndReason, OwnPolicy } from './slot.ts';

/** A link with the provider that it is of. */
export interface OwnedLink extends Install, OwnPolicy {
  providerId: number;
  providerCode: string;
  /** True if a subscription key names it too. */
  hasSubscriptionKey: boolean;
  /** Time at which a newcomer last replaced a slot; null: none did. */
  replacedAtMs: number | null;
}

/** Bounds of the links that `link list` shows, newest first. */
export interface LinkFilter {
  providerCode: string | null;
  /** True for the links alone on which no slot is free. */
  isFull: boolean;
  /** Status of the links; null: any. */
  status: number | null;
}

/** A slot that was. */
export interface SlotEnd {
  /** Null: the device was forgotten since. */
  hwid: string | null;
  registeredAtMs: number;
  lastSeenAtMs: number;
  endedAtMs: number;
  why: EndReason;
  /** Name of who ended it, as the audit log has it; `device`: the newcomer. */
  actor: string;
  /** The newcomer that needed it; null: none did, or it was forgotten since. */
  forHwid: string | null;
}

/** Past of a link, beside the slots that are there. */
export interface LinkStory {
  /** The latest first. */
  ends: SlotEnd[];
  /** Devices that it refused; null: none. */
  refusals: { count: number; lastAtMs: number; reason: RefusalReason } | null;
}

export interface LinkStore {
  findLink(installCode: string): Promise<OwnedLink | null>;
  /** Finds the links of all providers that have the subscription key of this hash. */
  findLinksByKey(subscriptionKeyHash: string): Promise<OwnedLink[]>;
  listLinks(filter: LinkFilter & { countMax: number }): Promise<OwnedLink[]>;
  countLinks(filter: LinkFilter): Promise<number>;
  storyOf(installId: number): Promise<LinkStory>;
}

/** Slots: how long they live, how they end, and the part of the port that looks at a door. */

import type { DeviceAtProvider, DeviceFacts } from './device.ts';
import type { Maybe } from './maybe.ts';

export const WHEN_FULL = ['refuse', 'replace-oldest'] as const;

/** Rule for the slots of a full link to which a new HWID comes: see core/slot.ts. */
export interface Policy {
  /** Days after which a slot that was not seen is free for a newcomer; 0: never. */
  inactiveDays: number;
  /** Answer to a newcomer: a refusal, or the slot that was not seen for longest. */
  whenFull: (typeof WHEN_FULL)[number];
  /** Hours from one such replacement to the next. */
  coolDownHours: number;
}

/** The part of a policy that a link, or a provider, has of its own; null: it has none. */
export type OwnPolicy = { [Field in keyof Policy]: Policy[Field] | null };

/** Reason for which a slot ended: a table of the schema knows the same words. */
export type EndReason = 'deleted' | 'inactive' | 'replaced' | 'forgotten';

/** A HWID on a link. */
export interface Slot {
  hwid: string;
  deviceName: string;
  registeredAtMs: number;
  /** Time at which the device last called with the link, or its provider without naming one. */
  lastSeenAtMs: number;
}

/** The slot of a link that was not seen for longest; of several, the one registered first. */
export type OldestSlot = Pick<Slot, 'hwid' | 'registeredAtMs' | 'lastSeenAtMs'>;

/** A full link, for a HWID that is not on it. */
export interface FullLink {
  policy: Policy;
  /** Time at which a newcomer last replaced a slot; null: none did. */
  replacedAtMs: number | null;
  oldest: OldestSlot;
}

export interface AdmittedLink {
  installId: number;
  providerId: number;
  providerCode: string;
  status: number;
  installLimit: number;
  deviceCount: number;
}

/** A link with a device at its door. */
export interface Door {
  link: AdmittedLink;
  /** True if the domain is actively bound to the link's provider. */
  isBound: boolean;
  /** The device, last seen as its slot was; null: it holds no slot on the link. */
  device: DeviceAtProvider | null;
  /** Null: there is room, the device holds a slot, or the policy frees none. */
  full: FullLink | null;
}

/** No link is meant: `key_ambiguous` for a key that is several providers'. */
export type NoLink = 'link_not_found' | 'key_ambiguous';

export type AdmitRefusal =
  | NoLink
  | 'hwid_required'
  | 'link_domain_not_bound'
  | 'link_disabled'
  | 'link_limit_reached';

/** The name of a link at its door. With a `providerCode` it is none of another provider's. */
export type LinkName =
  | { installCode: string; providerCode?: string | null }
  /**
   * SHA-256 of its subscription key in hexadecimal; no `providerCode`: of the one provider that has
   * the key and an active binding of the domain.
   */
  | { subscriptionKeyHash: string; providerCode: string | null };

/** A device at the door of a link. All of it is well formed. */
export type SlotKey = LinkName & { domainHash: string; hwid: string };

/** A refusal at the door of a link that is there. */
export interface TurnedAway {
  says: Exclude<AdmitRefusal, 'hwid_required' | NoLink>;
  link: AdmittedLink;
}

export interface SlotStore {
  /**
   * Finds the link at whose door a device is. `key_ambiguous` if no provider is named, and several
   * whose binding of the domain is active have the key.
   */
  findSlot(key: SlotKey): Maybe<Door | NoLink>;
  /**
   * Takes a slot for a new HWID, or refreshes the facts of one that holds a slot, as `judge` of
   * core/slot.ts says; the slot that is freed for it gets its end in the story of the link.
   */
  takeSlot(
    key: SlotKey,
    facts: DeviceFacts,
    nowMs: number,
  ): Promise<AdmittedLink | TurnedAway | NoLink>;
  /**
   * Deletes some ends of slots from the story of their links, oldest first, if they were before.
   * False: none was left.
   */
  forgetSlotEnds(endedBeforeMs: number): Promise<boolean>;
}

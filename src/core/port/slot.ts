/** Slots: their policy, their ends and their part of the port. */

import type { DeviceAtProvider, DeviceFacts } from './device.ts';
import type { Maybe } from './maybe.ts';
import type { PhoneDoor } from './phone.ts';
import type { DoorRides } from './ride.ts';

export const WHEN_FULL = ['refuse', 'replace-oldest'] as const;
export const WITHOUT_HWID = ['refuse', 'pass', 'count'] as const;
export const SAME_PHONE = ['off', 'ask', 'replace'] as const;
export const COPIED_HWID = ['off', 'tell', 'count', 'refuse'] as const;
export const WHEN_NEW = ['admit', 'refuse'] as const;

/** Rule for a new HWID on a full link: see core/slot.ts. */
export interface Policy {
  /** Days without use after which a new device may take a slot; 0: never. */
  inactiveDays: number;
  /** The answer to other new devices: a refusal, or the slot that was unseen for longest. */
  whenFull: (typeof WHEN_FULL)[number];
  /** The least time between two such replacements, hours. */
  coolDownHours: number;
  /** 0: a full link counts new devices instead of refusing them. */
  enforce: 0 | 1;
  /**
   * The answer of the gate to apps without a HWID: a refusal, a pass without a slot, or one slot
   * of the link for all of them together.
   */
  withoutHwid: (typeof WITHOUT_HWID)[number];
  /**
   * The rule for a new device that is probably a phone with a silent slot, see core/same-phone.ts:
   * `replace` gives it that slot; `ask` names the slot to the provider with the refusal.
   */
  samePhone: (typeof SAME_PHONE)[number];
  /** Hours without use after which the slot of such a phone counts as silent. */
  samePhoneHours: number;
  /**
   * The rule for several phones that send one HWID, see core/phones.ts: nothing, an event, a slot
   * for each further phone, or a refusal of all but the first.
   */
  copiedHwid: (typeof COPIED_HWID)[number];
  /**
   * The rule for each HWID that is not on the link: `admit` gives it a free slot; `refuse` admits
   * only HWIDs that the provider named, see core/named-hwid.ts. A link that does not enforce its
   * limit admits all.
   */
  whenNew: (typeof WHEN_NEW)[number];
}

/** Parts of a policy that a link or a provider overrides; null: not overridden. */
export type OwnPolicy = { [Field in keyof Policy]: Policy[Field] | null };

/** Reason for which a slot ended; a table of the schema has the same words. */
export type EndReason = 'deleted' | 'inactive' | 'replaced' | 'forgotten';

/** A taken slot of a link. */
export interface Slot {
  hwid: string;
  deviceName: string;
  registeredAtMs: number;
  /** Time of the device's last call with the link, or to its provider without a link. */
  lastSeenAtMs: number;
  /** True: the provider named it, and it has not come yet; its times are when it was named. */
  isNamed?: boolean;
}

/** The slot of a link that was not seen for longest; among equals the one registered first. */
export type OldestSlot = Pick<Slot, 'hwid' | 'registeredAtMs' | 'lastSeenAtMs'>;

/** A full link and its slots, for a new HWID. */
export interface FullLink {
  policy: Policy;
  /** The time at which a new device last replaced a slot; null: none did. */
  replacedAtMs: number | null;
  /** The lower limit that the link gets as its devices leave; null: none. */
  limitWanted: number | null;
  oldest: OldestSlot;
  /** The slot that the new device probably had before; null: none, or the policy is `off`. */
  former: OldestSlot | null;
}

export interface AdmittedLink {
  installId: number;
  providerId: number;
  providerCode: string;
  status: number;
  installLimit: number;
  deviceCount: number;
  /** True: some devices may have to fetch again soon. */
  awaitsFetch?: boolean;
  /** The facts about rides; absent: nothing may ride, or the door was not read. */
  rides?: DoorRides;
}

/** A link and the device that asks for a slot on it. */
export interface Door {
  link: AdmittedLink;
  /** True if an active binding joins the domain and the link's provider. */
  isBound: boolean;
  /** The device, last seen when its slot was; null: it has no slot on the link. */
  device: DeviceAtProvider | null;
  /** The end of the bar of the HWID; absent: there is no bar. */
  barredUntilMs?: number;
  /** The slot that only the hash of its HWID holds, until `takeSlot` gives it to the device. */
  byHash?: Pick<Slot, 'registeredAtMs'>;
  /** True: the provider named the HWID, which has not come yet; `takeSlot` makes it a device. */
  isNamed?: true;
  /** True: the link admits only HWIDs that are on it, and this one is not. */
  isClosed?: true;
  /** The full link; null: a slot is free, the device has one, or the policy frees none. */
  full: FullLink | null;
  /** True if the device has no slot on the link, which is full and does not enforce its limit. */
  counts: boolean;
  /** True if phones of the HWID are known here: the door depends on the facts. */
  hasPhones?: true;
  /** True if phones of some HWID of the link are: this one may be derived. */
  mayBeDerived?: true;
  /** True if some HWIDs are barred here. */
  hasBars?: true;
  /** True if the device has no slot here, and the provider knows it. */
  isKnown?: true;
  /** The phone that asks; absent: the key has no sight, or the HWID has one phone. */
  phone?: PhoneAtDoor;
  /** True if the HWID was made for a further phone of another HWID: no caller sends it. */
  isDerived?: true;
}

/** The phone that asks. The other fields of the door are those of the HWID that it has here. */
export interface PhoneAtDoor {
  /** The HWID of the device that asks: the one that it sends, or that of a further phone. */
  hwid: string;
  /** True: it is a copy, which the link refuses. */
  isRefused: boolean;
  /** True: a write would save something about the phones of the HWID. */
  isNews: boolean;
  /** True: `seePhone` would, after a refusal. */
  isNewsOfKnown: boolean;
}

/** The name fits no link (`link_not_found`) or links of several providers (`key_ambiguous`). */
export type NoLink = 'link_not_found' | 'key_ambiguous';

export type AdmitRefusal =
  | NoLink
  | 'hwid_required'
  | 'link_domain_not_bound'
  | 'link_disabled'
  | 'barred'
  | 'not_named'
  | 'link_limit_reached'
  /** Another phone has the slot of the HWID. */
  | 'copied_hwid';

/** The name of a link; a `providerCode` excludes the links of other providers. */
export type LinkName =
  | { installCode: string; providerCode?: string | null }
  /**
   * SHA-256 of its subscription key, hexadecimal. `providerCode` null: the one provider with the
   * key and an active binding of the domain.
   */
  | { subscriptionKeyHash: string; providerCode: string | null };

/** A device that asks for a slot; all fields are well formed. */
export type SlotKey = LinkName & {
  domainHash: string;
  hwid: string;
  /** False: links without a setting of their own, or of their provider, do not enforce limits. */
  enforces?: boolean;
  /** The facts that the device reports, for `samePhone`; absent: none. */
  reported?: DeviceFacts;
  /** The sight of the phone that asks; absent: phones of the HWID are not distinguished. */
  sight?: PhoneSight;
  /** True: the link was made for this device, which `whenNew` does not refuse. */
  isFirst?: boolean;
};

export type SightedKey = SlotKey & { sight: PhoneSight };

/** A call that shows which phone of a HWID asks. */
export interface PhoneSight {
  door: PhoneDoor;
  /** The facts of the call; empty ones are not known. */
  facts: DeviceFacts;
  /** True: the HWID stands for the link's apps that send none. */
  isShared: boolean;
  /** True: only known phones are saved. */
  isUnproved: boolean;
  nowMs: number;
}

/** A refusal by a known link. */
export interface LinkRefusal {
  says: Exclude<AdmitRefusal, NoLink>;
  link: AdmittedLink;
}

export interface SlotStore {
  /**
   * Finds a link for a device that asks for a slot. Returns `link_not_found` if the name fits none;
   * `key_ambiguous` if it names no provider, and several with an active binding of the domain have
   * the key.
   */
  findSlot(key: SlotKey): Maybe<Door | NoLink>;
  /** Finds the door for the phone that asks, by the door of its HWID. */
  findPhone(door: Door, key: SightedKey): Maybe<Door | NoLink>;
  /** Finds the effective policy of a link; null: no such link. */
  findPolicy(installId: number): Maybe<Policy | null>;
  /**
   * Takes a slot for a new HWID, or refreshes the facts of one that has a slot, by the rule `judge`
   * of core/slot.ts. Records the end of a replaced slot in the history of the link. A slot of the
   * hash of the HWID becomes the device's and keeps its age; that of a named HWID begins now.
   *
   * From the commit that makes a link or its provider enforce the limit no device is admitted over
   * it; devices with a slot keep it.
   */
  takeSlot(
    key: SlotKey,
    facts: DeviceFacts,
    nowMs: number,
  ): Promise<AdmittedLink | LinkRefusal | NoLink>;
  /**
   * Saves what a call that its link refused says of known phones: that one was seen, once a UTC
   * day, or is certain. Returns false if it says nothing new. The key has a sight.
   */
  seePhone(key: SlotKey, nowMs: number): Promise<boolean>;
  /**
   * Deletes some ends of slots before a time from the histories of links, oldest first. Returns
   * false if there were none.
   */
  forgetSlotEnds(endedBeforeMs: number): Promise<boolean>;
}

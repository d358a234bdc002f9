/** Limited links: their records, and the part of the port that remembers them. */

import type { Act } from './audit.ts';
import type { DeviceFacts } from './device.ts';
import type { Maybe } from './maybe.ts';
import type { Page } from './page.ts';
import type { AdmittedLink, OwnPolicy, Slot, SlotKey, TurnedAway } from './slot.ts';

export const INSTALL_DISABLED = 5;
export const INSTALL_ACTIVE = 10;

export interface Install {
  id: number;
  installCode: string;
  installLimit: number;
  /** HWIDs on the link: always the true number of rows, never above `installLimit`. */
  deviceCount: number;
  /** {@link INSTALL_DISABLED} or {@link INSTALL_ACTIVE}. */
  status: number;
  note: string | null;
  createdAtMs: number;
}

/** Terms of a link, beside the fields that its provider is shown. */
export interface InstallTerms extends OwnPolicy {
  /** SHA-256 of the key by which a panel knows the subscription, in hexadecimal; null: none. */
  subscriptionKeyHash: string | null;
}

/** A change by update-install; an absent field stays as it is. */
export interface InstallChange extends Partial<InstallTerms> {
  installLimit?: number;
  note?: string | null;
  status?: number;
}

/** Names a link by its code, its id, or both (which then must agree); never by neither. */
export interface InstallSelector {
  installCode: string | null;
  installId: number | null;
}

/** A link that is to be. */
export interface NewInstall extends InstallTerms {
  providerId: number;
  installCode: string;
  installLimit: number;
  note: string | null;
  createdAtMs: number;
  /** The provider may not have more links than this, the new one included. */
  installCountMax: number;
}

/** Refusals of a new link; a taken code is told before a taken key, and both before the cap. */
export type AddRefusal =
  | 'install_code_exists'
  | 'subscription_key_exists'
  | 'install_code_limit_reached';

type KeyExists = 'subscription_key_exists';

/** A link that a device was let in on. */
export interface EnteredLink extends AdmittedLink {
  /** True if the link was made for the device. */
  isNew?: true;
}

export interface InstallStore {
  addInstall(draft: NewInstall, act: Act): Promise<{ id: number } | AddRefusal>;
  /** `subscription_key_exists`: another link of the provider has the key. */
  updateInstall(
    providerId: number,
    id: number,
    change: InstallChange,
    act: Act,
  ): Promise<
    | { says: 'ok'; installCode: string }
    | 'install_not_found'
    | 'install_limit_below_count'
    | 'subscription_key_exists'
  >;
  listInstalls(providerId: number, page: Page): Maybe<Install[]>;
  /** The provider's link with the subscription key of this hash. */
  findInstallByKey(providerId: number, subscriptionKeyHash: string): Maybe<Install | null>;
  listSlots(
    providerId: number,
    install: InstallSelector,
    hwid: string | null,
    countMax: number,
  ): Maybe<Slot[] | 'install_code_error'>;
  /** The slot gets its end in the story of the link. */
  freeSlot(
    providerId: number,
    install: InstallSelector,
    hwid: string,
    act: Act,
  ): Promise<{ deviceCount: number } | 'install_code_error'>;
  /**
   * Adds the link of a subscription key together with the slot of the device that came first. If
   * a link has the key by now, the device takes a slot there as `takeSlot` says. A refusal leaves
   * nothing: neither link nor slot.
   */
  addInstallWithSlot(
    draft: NewInstall,
    key: SlotKey,
    facts: DeviceFacts,
    act: Act,
  ): Promise<EnteredLink | TurnedAway | 'link_domain_not_bound' | Exclude<AddRefusal, KeyExists>>;
}

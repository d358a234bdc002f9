/** Limited links: their records and their part of the port. */

import type { Act } from './audit.ts';
import type { DeviceFacts } from './device.ts';
import type { KeyedCall, KeyRefusal, Made } from './idempotency.ts';
import type { Maybe } from './maybe.ts';
import type { Page } from './page.ts';
import type { Buttons } from './ride.ts';
import type { AdmittedLink, LinkRefusal, OwnPolicy, Slot, SlotKey } from './slot.ts';

export const INSTALL_DISABLED = 5;
export const INSTALL_ACTIVE = 10;

export interface Link {
  id: number;
  installCode: string;
  installLimit: number;
  /** Slots that are taken: the number of their rows, <= `installLimit` unless links only count. */
  deviceCount: number;
  /** {@link INSTALL_DISABLED} or {@link INSTALL_ACTIVE}. */
  status: number;
  note: string | null;
  createdAtMs: number;
}

/** Terms of a link that lists do not show, without its key. */
export interface LinkTerms extends OwnPolicy, Buttons {
  /**
   * A text about the user that placeholders of messages show on the user's devices; null: none. No
   * import from a panel sets it.
   */
  greeting: string | null;
}

export interface LinkTermsAndKey extends LinkTerms {
  /** SHA-256 of the panel's subscription key, hexadecimal; null: the link has none. */
  subscriptionKeyHash: string | null;
}

/** The fields of a link that can be set. */
export interface OwnLink
  extends Omit<Link, 'id' | 'installCode' | 'deviceCount' | 'createdAtMs'>,
    LinkTermsAndKey {}

/**
 * A change of a link; absent fields stay unchanged. `asTheyLeave`: a limit below the devices of the
 * link is no refusal. The limit becomes their number, each device that leaves lowers it, and no new
 * one is admitted until it is reached.
 */
export type LinkChange = Partial<OwnLink> & { asTheyLeave?: boolean };

/** Names a link by its code, its id, or both, which must name the same link then. */
export interface LinkSelector {
  installCode: string | null;
  installId: number | null;
}

export interface NewLink extends Omit<OwnLink, 'status'> {
  providerId: number;
  installCode: string;
  createdAtMs: number;
  /** Most links of the provider, the new one included. */
  installCountMax: number;
  /** True: the proxy makes it, for a key. */
  isOfGate?: boolean;
}

/** Refusals of a new link, in this order. */
export type AddRefusal =
  | 'install_code_exists'
  /** A link of the provider with the code was removed or revoked. */
  | 'install_code_ended'
  | 'subscription_key_exists'
  | 'subscription_key_ended'
  | 'install_code_limit_reached';

/** Refusals of a new link for a key at the door. A link that has the key already is not one. */
type NewKeyRefusal =
  | LinkRefusal
  | 'link_not_found'
  | 'link_domain_not_bound'
  | 'install_code_exists'
  | 'install_code_limit_reached';

/** A link on which a device has a slot. */
interface EnteredLink extends AdmittedLink {
  /** True if the link was added for the device. */
  isNew?: true;
}

/** A link that admits a device. */
export interface AdmittedDevice extends EnteredLink {
  /** The facts of the device, which decide what rides; absent: nothing rides. */
  facts?: DeviceFacts;
  /** The HWID of its slot; present if the facts are, or if the link waits for fetches. */
  hwid?: string;
}

export interface LinkStore {
  /**
   * Adds a link. Returns the first {@link AddRefusal} that applies. With a key of the call it is
   * added once.
   */
  addLink(
    draft: NewLink,
    act: Act,
    keyed?: KeyedCall | null,
  ): Promise<Made | AddRefusal | KeyRefusal>;
  /**
   * Changes a link of the provider. Returns `install_not_found` if it has no link with the id,
   * `install_limit_below_count` if more slots are taken than a new limit allows, and
   * `subscription_key_exists` if another of its links has the key.
   */
  updateLink(
    providerId: number,
    id: number,
    change: LinkChange,
    act: Act,
  ): Promise<
    | { says: 'ok'; installCode: string }
    | 'install_not_found'
    | 'install_limit_below_count'
    | 'subscription_key_exists'
  >;
  /** Lists the provider's links, newest first. */
  listLinksOf(providerId: number, page: Page): Maybe<Link[]>;
  /** Finds the provider's link with the subscription key of this hash; null: it has none. */
  findLinkByKey(providerId: number, subscriptionKeyHash: string): Maybe<Link | null>;
  /**
   * Lists the slots of a link that are taken, or the slot of one HWID. Returns `install_code_error`
   * if the provider has no such link.
   */
  listSlots(
    providerId: number,
    install: LinkSelector,
    hwid: string | null,
    countMax: number,
  ): Maybe<Slot[] | 'install_code_error'>;
  /**
   * Frees the slot of a HWID, if it has one, and records its end in the history of the link.
   * Returns `install_code_error` if the provider has no such link.
   */
  freeSlot(
    providerId: number,
    install: LinkSelector,
    hwid: string,
    act: Act,
  ): Promise<{ deviceCount: number } | 'install_code_error'>;
  /**
   * Adds a link for a subscription key together with the slot of its first device. If a link has
   * the key already, the device takes a slot there by the rules of `takeSlot`. A refusal adds
   * neither link nor slot. Returns `link_not_found` if a link with the key was removed or revoked.
   */
  addLinkWithSlot(
    draft: NewLink,
    key: SlotKey,
    facts: DeviceFacts,
    act: Act,
  ): Promise<EnteredLink | NewKeyRefusal>;
}

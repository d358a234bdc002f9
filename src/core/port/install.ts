/** Limited links and their slots: their records, and the part of the port that remembers them. */

import type { Act } from './audit.ts';
import type { DeviceAtProvider, DeviceFacts } from './device.ts';
import type { Maybe } from './maybe.ts';
import type { Page } from './page.ts';

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

/** A HWID on a link. */
export interface Slot {
  hwid: string;
  deviceName: string;
  registeredAtMs: number;
}

/** A change by update-install; an absent field stays as it is. */
export interface InstallChange {
  installLimit?: number;
  note?: string | null;
  status?: number;
}

export interface AdmittedLink {
  providerCode: string;
  status: number;
  installLimit: number;
  deviceCount: number;
}

export type AdmitRefusal =
  | 'hwid_required'
  | 'link_not_found'
  | 'link_domain_not_bound'
  | 'link_disabled'
  | 'link_limit_reached';

/** Names a link by its code, its id, or both (which then must agree); never by neither. */
export interface InstallSelector {
  installCode: string | null;
  installId: number | null;
}

export interface NewInstall {
  providerId: number;
  installCode: string;
  installLimit: number;
  note: string | null;
  createdAtMs: number;
  /** The provider may not have more links than this, the new one included. */
  installCountMax: number;
}

/** A device at the door of a link. All three are well formed. */
export interface SlotKey {
  installCode: string;
  domainHash: string;
  hwid: string;
}

export interface InstallStore {
  /** A taken code is told before a reached cap. */
  addInstall(
    draft: NewInstall,
    act: Act,
  ): Promise<{ id: number } | 'install_code_exists' | 'install_code_limit_reached'>;
  updateInstall(
    providerId: number,
    id: number,
    change: InstallChange,
    act: Act,
  ): Promise<
    { says: 'ok'; installCode: string } | 'install_not_found' | 'install_limit_below_count'
  >;
  listInstalls(providerId: number, page: Page): Maybe<Install[]>;
  listSlots(
    providerId: number,
    install: InstallSelector,
    hwid: string | null,
    countMax: number,
  ): Maybe<Slot[] | 'install_code_error'>;
  freeSlot(
    providerId: number,
    install: InstallSelector,
    hwid: string,
    act: Act,
  ): Promise<{ deviceCount: number } | 'install_code_error'>;
  /**
   * Finds the link at whose door a device is, and the device if it holds a slot there.
   * `link_domain_not_bound`: the domain is not actively bound to the link's provider.
   */
  findSlot(
    key: SlotKey,
  ): Maybe<
    | { link: AdmittedLink; device: DeviceAtProvider | null }
    | Extract<AdmitRefusal, 'link_not_found' | 'link_domain_not_bound'>
  >;
  /** Takes a slot for a new HWID, or refreshes the facts of one that holds a slot. */
  takeSlot(
    key: SlotKey,
    facts: DeviceFacts,
    nowMs: number,
  ): Promise<AdmittedLink | Exclude<AdmitRefusal, 'hwid_required'>>;
}

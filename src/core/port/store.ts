/**
 * What the core needs remembered. A port: the meaning of each method is what
 * `test/store/contract.ts` asks of it, and a second store is finished when it passes.
 *
 * Every method is one complete atomic step: it happens whole or not at all, also between processes,
 * and when its promise settles it is on disk. The rules are the core's and arrive as arguments; the
 * store guards them in the step itself. A step that cannot be saved throws `WriteFailed`.
 *
 * A step that is handed an {@link Act} leaves an entry in the audit log if it changes something,
 * and none if it does not.
 */

import type { Act } from '../audit/entry.ts';
import type { Device, DeviceAtProvider, DeviceFacts } from '../device.ts';
import type { Domain } from '../domain.ts';
import type { AdmitRefusal, AdmittedLink, Install, InstallChange, Slot } from '../install.ts';
import type { Plan, Provider, ProviderChange } from '../provider.ts';
import type { AuditStore } from './audit.ts';
import type { CountStore } from './count.ts';
import type { MessageStore } from './distribution.ts';
import type { KeepingStore } from './keeping.ts';
import type { ImportStore } from './moving.ts';

/** A part of a list, newest first. */
export interface Page {
  /** Only the record with this id. */
  id: number | null;
  /** Only records with a lower id. */
  beforeId: number | null;
  countMax: number;
}

/** Names a link by its code, its id, or both (which then must agree); never by neither. */
export interface InstallSelector {
  installCode: string | null;
  installId: number | null;
}

export interface NewProvider {
  code: string;
  keyHash: Uint8Array;
  name: string;
  plan: Plan;
  activeUntilMs: number | null;
  installCountMax: number | null;
  createdAtMs: number;
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

export interface NewDomain {
  providerId: number;
  domainHash: string;
  domainName: string;
  createdAtMs: number;
  /** The provider may not have more bindings than this, the new one included. */
  domainCountMax: number;
}

/** A device at the door of a link. All three are well formed. */
export interface SlotKey {
  installCode: string;
  domainHash: string;
  hwid: string;
}

/** A device that calls its provider, with the binding it comes from if it says one. */
export interface CheckInKey {
  providerCode: string;
  domainHash: string | null;
  hwid: string;
}

/** Which devices `device list` shows, newest first. */
export interface DeviceFilter {
  providerCode: string | null;
  installCode: string | null;
  os: string | null;
  countMax: number;
}

/** A device with everything it belongs to, for the operator. */
export interface DeviceDetail {
  /** With the facts that it told last to a provider, else those that it told nobody. */
  device: Device;
  installs: { installCode: string; providerCode: string; registeredAtMs: number }[];
  domains: { domainName: string; providerCode: string; status: number; linkedAtMs: number }[];
  seenBy: (DeviceAtProvider & { providerCode: string })[];
}

/** How much room the data takes, bytes. */
export interface StorageFacts {
  bytes: number;
  /** Of these: room for new rows that is there already. */
  freeBytes: number;
  /** The log of changes that are not in the database itself yet. */
  logBytes: number;
  /** What the disk has left. */
  diskFreeBytes: number;
}

/** What waits for a worker. */
export interface QueueFacts {
  /** Distributions that can be delivered now, or are. */
  dueCount: number;
  scheduledCount: number;
  /** Since when the first of the due ones should be delivered; null: none is due. */
  oldestDueAtMs: number | null;
  /** Recipients of what is in delivery that did not get it yet. */
  recipientCount: number;
}

export interface Store extends MessageStore, AuditStore, ImportStore, CountStore, KeepingStore {
  addProvider(draft: NewProvider, act: Act): Promise<'ok' | 'provider_code_exists'>;
  findProvider(code: string): Promise<Provider | null>;
  listProviders(): Promise<Provider[]>;
  updateProvider(
    code: string,
    change: ProviderChange,
    act: Act,
  ): Promise<'ok' | 'provider_not_found'>;
  /** The key until now stays good until `previousUntilMs`. */
  rotateKey(
    code: string,
    keyHash: Uint8Array,
    previousUntilMs: number,
    act: Act,
  ): Promise<'ok' | 'provider_not_found'>;
  /**
   * Removes a provider with everything that is its own; devices stay known. Not one step but many
   * small ones: the first takes its credentials away, and doing it again finishes one that was
   * interrupted.
   */
  removeProvider(code: string, act: Act): Promise<'ok' | 'provider_not_found'>;

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
  listInstalls(providerId: number, page: Page): Promise<Install[]>;
  listSlots(
    providerId: number,
    install: InstallSelector,
    hwid: string | null,
    countMax: number,
  ): Promise<Slot[] | 'install_code_error'>;
  freeSlot(
    providerId: number,
    install: InstallSelector,
    hwid: string,
    act: Act,
  ): Promise<{ deviceCount: number } | 'install_code_error'>;

  /**
   * The link that a device knocks at, and the device if it holds a slot there.
   * `link_domain_not_bound`: the domain is not actively bound to the link's provider.
   */
  findSlot(
    key: SlotKey,
  ): Promise<
    | { link: AdmittedLink; device: DeviceAtProvider | null }
    | Extract<AdmitRefusal, 'link_not_found' | 'link_domain_not_bound'>
  >;
  /** Takes a slot for a new HWID, or refreshes the facts of one that holds a slot. */
  takeSlot(
    key: SlotKey,
    facts: DeviceFacts,
    nowMs: number,
  ): Promise<AdmittedLink | Exclude<AdmitRefusal, 'hwid_required'>>;

  /**
   * `added` with the new id, or `exists` with the id of the binding that has the hash, which is
   * told before a reached cap.
   */
  addDomain(
    draft: NewDomain,
    act: Act,
  ): Promise<{ outcome: 'added' | 'exists'; id: number } | 'domain_limit_reached'>;
  /** Makes a binding active and renames it if a name is given. */
  activateDomain(
    providerId: number,
    id: number,
    domainName: string | null,
    act: Act,
  ): Promise<'activated' | 'was_active'>;
  disableDomain(providerId: number, id: number, act: Act): Promise<'ok' | 'domain_not_found'>;
  listDomains(providerId: number, page: Page): Promise<Domain[]>;

  /**
   * When this provider last saw the device (null: never), and whether recording the call would link
   * the device through a binding that it is not linked through yet.
   */
  findCheckIn(
    key: CheckInKey,
  ): Promise<{ lastSeenAtMs: number | null; isNewLink: boolean } | 'provider_not_found'>;
  recordCheckIn(
    key: CheckInKey,
    facts: DeviceFacts,
    nowMs: number,
  ): Promise<'ok' | 'provider_not_found'>;

  listDevices(filter: DeviceFilter): Promise<Device[]>;
  findDevice(hwid: string): Promise<DeviceDetail | null>;
  /** Removes a device from everywhere; its slots are free again. */
  forgetDevice(hwid: string, act: Act): Promise<'ok' | 'device_not_found'>;

  /**
   * Saves something, as any other write would. `schema_changed`: a newer version of the program has
   * changed the data meanwhile. Throws `WriteFailed` when nothing can be saved.
   */
  checkWritable(): Promise<'ok' | 'schema_changed'>;
  storageFacts(): Promise<StorageFacts>;
  queueFacts(nowMs: number): Promise<QueueFacts>;

  /** Finishes the writes under way, then closes. */
  close(): Promise<void>;
}

/** Devices: their records, and the part of the port that remembers them. */

import type { Act } from './audit.ts';
import type { Maybe } from './maybe.ts';

/** A device's words about itself; an empty text: it did not say. */
export interface DeviceFacts {
  os: string;
  osVersion: string;
  deviceName: string;
  appVersion: string;
  userAgent: string;
}

export interface Device extends DeviceFacts {
  id: number;
  hwid: string;
  firstSeenAtMs: number;
  lastSeenAtMs: number;
}

/** A device as a provider knows it: with what it told there, and nowhere else. */
export interface DeviceAtProvider extends DeviceFacts {
  lastSeenAtMs: number;
  /** Registered for the provider's messages: nobody without proof changes its operating system. */
  isRegistered: boolean;
}

/** A device that calls its provider, with the binding it comes from if it says one. */
export interface CheckInKey {
  providerCode: string;
  domainHash: string | null;
  hwid: string;
}

/** Bounds of the devices that `device list` shows, newest first. */
export interface DeviceFilter {
  providerCode: string | null;
  installCode: string | null;
  os: string | null;
  countMax: number;
}

/** A device with everything it belongs to, for the operator. */
export interface DeviceDetail {
  /** The device, with the facts of its latest report to a provider, else of that to nobody. */
  device: Device;
  installs: {
    installCode: string;
    providerCode: string;
    registeredAtMs: number;
    lastSeenAtMs: number;
  }[];
  domains: { domainName: string; providerCode: string; status: number; linkedAtMs: number }[];
  seenBy: (DeviceAtProvider & { providerCode: string })[];
  /** Its registrations, each with its way of being pushed to, if it has one. */
  tokens: DeviceToken[];
}

/** A registration for messages, without its secrets. */
export interface DeviceToken {
  locale: string | null;
  /** Null: it has no address. */
  gateway: string | null;
  /** When a gateway said that its address is dead, and why; null: none did, or there is another. */
  dropped: { atMs: number; why: string } | null;
}

export interface DeviceStore {
  /**
   * Finds since when this provider has seen the device, and each slot that it has there (null:
   * never), whether it is linked there, and whether recording the call would attach it through a
   * binding that it is not tied to yet.
   */
  findCheckIn(
    key: CheckInKey,
  ): Maybe<
    { seenAtMs: number | null; isLinked: boolean; isNewLink: boolean } | 'provider_not_found'
  >;
  /** Records a call that names no link: all slots of the device at the provider were seen. */
  recordCheckIn(
    key: CheckInKey,
    facts: DeviceFacts,
    nowMs: number,
  ): Promise<'ok' | 'provider_not_found'>;
  listDevices(filter: DeviceFilter): Promise<Device[]>;
  findDevice(hwid: string): Promise<DeviceDetail | null>;
  /**
   * Removes a device from everywhere; its slots are free again. Not one step but many small ones:
   * its tokens die with the first, and doing it again finishes one that was interrupted.
   */
  forgetDevice(hwid: string, act: Act): Promise<'ok' | 'device_not_found'>;
}

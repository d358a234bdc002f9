/** Devices: their records and their part of the port. */

import type { Act } from './audit.ts';
import type { Maybe } from './maybe.ts';

/** The facts that a device reports about itself; empty: not reported. */
export interface DeviceFacts {
  os: string;
  osVersion: string;
  deviceName: string;
  appVersion: string;
  userAgent: string;
}

/** The facts of devices that are kept; `less`: no models and no phones of a HWID. */
export type PrivacyKeep = 'usual' | 'less';

export interface Device extends DeviceFacts {
  id: number;
  hwid: string;
  firstSeenAtMs: number;
  lastSeenAtMs: number;
}

/** A device as one provider knows it: with the facts that it reported to this provider. */
export interface DeviceAtProvider extends DeviceFacts {
  lastSeenAtMs: number;
  /** True: registered for the provider's messages, so an unproven report cannot change `os`. */
  isRegistered: boolean;
}

/** The daily call of a device to its provider; `domainHash` null: it names no binding. */
export interface CheckInKey {
  providerCode: string;
  domainHash: string | null;
  hwid: string;
}

/** Filter of `device list`; null: any. */
export interface DeviceFilter {
  providerCode: string | null;
  installCode: string | null;
  os: string | null;
  countMax: number;
}

/** A device with all records about it, for the operator. */
export interface DeviceDetail {
  /** The facts are of its latest report to a provider, else of its latest report to none. */
  device: Device;
  installs: {
    installCode: string;
    providerCode: string;
    registeredAtMs: number;
    lastSeenAtMs: number;
  }[];
  domains: { domainName: string; providerCode: string; status: number; linkedAtMs: number }[];
  seenBy: (DeviceAtProvider & { providerCode: string })[];
  /** Its registrations for messages. */
  tokens: DeviceToken[];
}

/** A registration for messages without its secrets. */
export interface DeviceToken {
  locale: string | null;
  /** The gateway; null: no push address. */
  gateway: string | null;
  /**
   * When and why its push address was dropped; null: it was not, or a new one was registered since.
   */
  dropped: { atMs: number; why: string } | null;
}

export interface DeviceStore {
  /**
   * Finds the standing of a device with a provider. `seenAtMs`: the provider has seen the device
   * and each of its slots there since (null: never). `isNewLink`: recording the call would attach
   * the device through a binding.
   */
  findCheckIn(
    key: CheckInKey,
  ): Maybe<
    { seenAtMs: number | null; isLinked: boolean; isNewLink: boolean } | 'provider_not_found'
  >;
  /** Records a call without a link, which refreshes all slots of the device at the provider. */
  recordCheckIn(
    key: CheckInKey,
    facts: DeviceFacts,
    nowMs: number,
  ): Promise<'ok' | 'provider_not_found'>;
  /** Lists the devices that match, newest first. */
  listDevices(filter: DeviceFilter): Promise<Device[]>;
  /** Lists at most `countMax` devices with an id below `beforeId`, the highest id first. */
  pageDevices(beforeId: number, countMax: number): Promise<Device[]>;
  /** Finds a device by its HWID. Returns null if no device has it. */
  findDevice(hwid: string): Promise<DeviceDetail | null>;
  /** Counts the links that have recorded a refusal of a HWID. */
  countRefusals(hwid: string): Promise<number>;
  /**
   * Deletes a device and frees its slots at all providers, in many small steps. The first step
   * revokes its tokens; a repeated call completes an interrupted removal. Also erases refusals of
   * the HWID, even if no device has it. Returns `device_not_found` if there was neither.
   */
  forgetDevice(hwid: string, act: Act): Promise<'ok' | 'device_not_found'>;
}

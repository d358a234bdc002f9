/** What rides on the answers to fetches of subscriptions: records and their part of the port. */

import type { Maybe } from './maybe.ts';

/** How much may ride: nothing, notifications alone, commands too. In this order. */
export const RIDE_LEVELS = ['off', 'notifications', 'on'] as const;
export type RideLevel = (typeof RIDE_LEVELS)[number];

/** The operator's terms of what begins to ride. */
export interface RideRules {
  level: RideLevel;
  /** The longest time that a message rides. */
  hours: number;
}

/** Addresses that apps show as buttons beside a subscription; null: none. */
export interface Buttons {
  supportUrl: string | null;
  webPageUrl: string | null;
}

/** The own terms of a provider: see {@link RideTerms}. */
export interface OwnRideTerms extends Buttons {
  ride: Exclude<RideLevel, 'on'> | null;
  rideDesktop: 0 | 1;
  /** Null: buttons stand where the panel sends none. */
  buttons: 'always' | null;
}

/** What a door knows of what may ride on the answer. */
export interface DoorRides extends Buttons {
  /** Changes with what rides to all devices of the provider: see `findRides`. */
  version: number;
  /** Time until which anything of that rides, or is cleared. */
  untilMs: number;
  /** The device; null: it has no slot on the link. */
  deviceId: number | null;
  /** Time until which a message rides that names the device. */
  namedUntilMs: number;
  /** Time at which the device took its slot here, if this is its home link; null: it is not. */
  homeSinceMs: number | null;
}

/** A message, or one setting of a command, that rides. */
export interface Ride {
  distributionId: number;
  /** PUSH or COMMAND of distribution.ts. */
  notificationType: number;
  /** Null: it names devices. */
  os: string | null;
  /** `message`, `domain`, `url`, `update`, or `set:` and the key of a setting. */
  part: string;
  /** JSON of the whole message. */
  payload: string;
  createdAtMs: number;
  fromMs: number;
  untilMs: number;
}

/** The terms of a provider for what rides. */
export interface RideTerms extends Buttons {
  /** The most that rides; null: as the operator's file has it. */
  ride: Exclude<RideLevel, 'on'> | null;
  /** True: general notifications ride to other systems than iOS and Android too. */
  ridesOnDesktop: boolean;
  /** True: its buttons replace those of the panel. */
  buttonsAlways: boolean;
  /** True: its users have pages. */
  hasPages: boolean;
}

/** What rides to all devices of a provider. */
export interface ProviderRides extends RideTerms {
  version: number;
  rides: readonly Ride[];
}

/** A message that went out with the answer to a device's fetch. */
export interface CarriedStamp {
  distributionId: number;
  /** Null: it had no slot on the link before. */
  deviceId: number | null;
  hwid: string;
  atMs: number;
  /** App and form, as `happ: announce`; 64 characters at most. */
  carried: string;
}

export interface RideStore {
  /** Finds what rides, or is to ride, to all devices of a provider, and the provider's terms. */
  findRides(providerId: number): Maybe<ProviderRides>;
  /**
   * Finds what rides to a device that messages name. Those that the device got on another way end
   * at that time.
   */
  findNamedRides(deviceId: number, providerId: number): Maybe<readonly Ride[]>;
  /** Notes what answers carried. Never waits, never throws; `saveFigures` saves it. */
  noteCarried(stamps: readonly CarriedStamp[]): void;
  /** Deletes some rides that ended before a time. Returns false if there were none. */
  forgetRides(endedBeforeMs: number): Promise<boolean>;
}

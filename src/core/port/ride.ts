/**
 * Messages that ride on the answers to fetches of subscriptions: records and their part of the
 * port.
 */

import type { Maybe } from './maybe.ts';

/** The levels of rides, lowest first: nothing, notifications only, commands too. */
export const RIDE_LEVELS = ['off', 'notifications', 'on'] as const;
export type RideLevel = (typeof RIDE_LEVELS)[number];

/** The operator's rules for new rides. */
export interface RideRules {
  level: RideLevel;
  /** The longest time that a message rides, hours. */
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
  /** `always`; null: buttons are added only where the panel sends none. */
  buttons: 'always' | null;
  /** 1: an app that asks finds the server of messages by its subscription: docs/discovery.md. */
  discovery: 0 | 1;
}

/** The facts about rides that are read with the door. */
export interface DoorRides extends Buttons {
  /** Changes when the rides to all devices of the provider change: see `findRides`. */
  version: number;
  /** The time until which any of those rides, or is cleared. */
  untilMs: number;
  /** The device; null: it has no slot on the link. */
  deviceId: number | null;
  /** The time until which a message rides that names the device. */
  namedUntilMs: number;
  /** The time at which the device took its slot here, if this is its home link; null: it is not. */
  homeSinceMs: number | null;
}

/** A riding part: a message, or one setting of a command. */
export interface Ride {
  distributionId: number;
  /** PUSH or COMMAND of distribution.ts. */
  notificationType: number;
  /** The operating systems; null: it names devices. */
  os: string | null;
  /** `message`, `domain`, `url`, `update`, or `set:` and the key of a setting. */
  part: string;
  /** JSON of the whole message. */
  payload: string;
  createdAtMs: number;
  fromMs: number;
  untilMs: number;
}

/** The terms of a provider about rides. */
export interface RideTerms extends Buttons {
  /** The highest level; null: the operator's setting. */
  ride: Exclude<RideLevel, 'on'> | null;
  /** True: general notifications also ride to other systems than iOS and Android. */
  ridesOnDesktop: boolean;
  /** True: the provider's buttons replace those of the panel. */
  buttonsAlways: boolean;
  /** True: the provider's users have pages. */
  hasMy: boolean;
  /** True: apps that ask find the server of messages by their subscription. */
  hasDiscovery: boolean;
  /** True: figures of its users' subscriptions are kept. */
  hasFigures: boolean;
}

/** The rides to all devices of a provider, with its terms. */
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
  /** Finds the present and future rides to all devices of a provider, and the provider's terms. */
  findRides(providerId: number): Maybe<ProviderRides>;
  /**
   * Finds the rides to a named device. A message that the device got on another way ends at that
   * time.
   */
  findNamedRides(deviceId: number, providerId: number): Maybe<readonly Ride[]>;
  /** Records the messages in answers. Never waits, never throws; `saveFigures` saves them. */
  noteCarried(stamps: readonly CarriedStamp[]): void;
  /** Deletes some rides that ended before a time. Returns false if there were none. */
  forgetRides(endedBeforeMs: number): Promise<boolean>;
}

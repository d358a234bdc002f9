/** The ways of messages to devices: records of the port. */

import type { PushGateway } from './registration.ts';

/** The facts that decide the way of a message to a device. */
export interface ReachFacts {
  /** True: an app registered the device, so it can get messages of the provider. */
  isReachable: boolean;
  /** True: the app opened a stream before. */
  hasStream: boolean;
  /** The gateway of the app's push address; null: none. */
  gateway: PushGateway | null;
  /** The `User-Agent` of its last call; empty: unknown. */
  userAgent: string;
  /** True: it is on a link of the provider. */
  hasSlot: boolean;
  /** True: it is on its home link. */
  isAtHome: boolean;
}

/** Devices with equal facts. */
export interface ReachGroup extends ReachFacts {
  count: number;
}

/** The number of devices by the way of a message to them; each device counts once. */
export interface ReachWays {
  /** The app asks for the messages of its inbox. */
  inbox: number;
  /** The app gets them by a stream: at once while it is open. */
  stream: number;
  /** A gateway wakes the app. */
  push: number;
  /** The message rides on the subscription, and the app shows it. */
  fetch: number;
  /** The message rides on the subscription. Whether the app shows it is not known. */
  unknown: number;
  none: number;
}

/** The apps that show a message which rides. */
export interface Carriers {
  /** Known apps, by name. */
  readonly apps: ReadonlySet<string>;
  /** The way to all other apps. */
  readonly others: 'fetch' | 'unknown' | 'none';
}

/** The ways, in the order in which they are shown. */
export const WAYS = [
  'inbox',
  'stream',
  'push',
  'fetch',
  'unknown',
  'none',
] as const satisfies readonly (keyof ReachWays)[];

/** How messages come to devices: records of the port. */

import type { PushGateway } from './registration.ts';

/** What decides how a message comes to a device. */
export interface ReachFacts {
  /** True: an app registered the device, so that it can get messages of the provider. */
  isReachable: boolean;
  /** The gateway of the app's address; null: it has none. */
  gateway: PushGateway | null;
  /** Of its last call; empty: not known. */
  userAgent: string;
  /** True: it is on a link of the provider. */
  hasSlot: boolean;
  /** True: it is on its home link. */
  isAtHome: boolean;
}

/** Devices that are alike in that. */
export interface ReachGroup extends ReachFacts {
  count: number;
}

/** Devices by how a message comes to them; each counts once. */
export interface ReachWays {
  /** Their apps ask for it, or hold a stream open. */
  now: number;
  /** A gateway wakes their apps. */
  push: number;
  /** It rides on their subscription. */
  fetch: number;
  none: number;
}

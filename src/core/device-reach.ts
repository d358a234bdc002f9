/** The ways of a message to devices: by inbox, stream, push, with their next fetch, or none. */

import { COMMAND, type DistributionType, PUSH } from './port/distribution.ts';
import type { ReachGroup, ReachWays } from './port/message-reach.ts';
import type { PushGateway } from './port/registration.ts';
import type { RideLevel } from './port/ride.ts';
import { APPS, appOf, carriesPart } from './ride/app.ts';
import { partsTo, type RidingPayload } from './ride/parts.ts';
import { previewsOf } from './ride/preview.ts';
import type { RidingTerms } from './ride/ways.ts';

/** The apps to which a message rides, by name; null stands for unknown apps. */
type Carriers = ReadonlySet<string | null>;

export const NO_WAYS: ReachWays = { inbox: 0, stream: 0, push: 0, fetch: 0, none: 0 };

/** The facts that decide the way, besides the devices. */
export interface ReachRules {
  /** The configured gateways. */
  gateways: readonly PushGateway[];
  carriers: Carriers;
  /** True: the message rides on home links only. */
  isForHomes: boolean;
}

/** Returns the devices that get a message when they ask, or by their stream. */
export const nowOf = ({ inbox, stream }: ReachWays): number => inbox + stream;

/** Adds devices to counts. */
export function addWays(
  ways: ReachWays,
  groups: readonly ReachGroup[],
  rules: ReachRules,
): ReachWays {
  const sum = { ...ways };
  for (const group of groups) sum[wayTo(group, rules)] += group.count;
  return sum;
}

function wayTo(group: ReachGroup, { gateways, carriers, isForHomes }: ReachRules) {
  const { gateway, hasStream, isReachable, userAgent } = group;
  if (isReachable && gateway !== null && gateways.includes(gateway)) return 'push';
  if (isReachable) return hasStream ? 'stream' : 'inbox';
  const mayRide = isForHomes ? group.isAtHome : group.hasSlot;
  return mayRide && carriers.has(appOf(userAgent)?.name ?? null) ? 'fetch' : 'none';
}

/** Returns whether messages of a type ride at a level. */
export const ridesAt = (type: DistributionType, level: RideLevel) =>
  level === 'on' || (type === PUSH && level === 'notifications');

/** Returns the apps to which a new message would ride. */
export function carriersOf(
  type: DistributionType,
  payload: RidingPayload,
  isToAll: boolean,
  terms: RidingTerms,
): Carriers {
  const isRiding = ridesAt(type, terms.level) && partsTo(isToAll, type, payload).length > 0;
  if (!isRiding) return new Set();
  const shown = previewsOf(type, payload, terms).filter((one) => one.shown.length > 0);
  return new Set(shown.map(({ app }) => app));
}

/** Returns the apps that may carry parts of a riding message, with or without a Provider ID. */
export function carriersOfParts(parts: readonly string[]): Carriers {
  const apps = [...APPS, null].filter((app) => parts.some((part) => carriesPart(app, part, true)));
  return new Set(apps.map((app) => app?.name ?? null));
}

/** Returns whether a message rides on home links only. */
export const isForHomes = (type: DistributionType, isToAll: boolean) =>
  type === COMMAND || !isToAll;

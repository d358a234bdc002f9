/**
 * The ways of a message to devices: by inbox, stream, push, with their next fetch, or none. An app
 * of which no source says what it shows is none of the readers: it counts apart.
 */

import { knownAppOf } from './app/find.ts';
import type { App } from './app/record.ts';
import { APPS } from './app/table.ts';
import { COMMAND, type DistributionType, PUSH } from './port/distribution.ts';
import type { Carriers, ReachGroup, ReachWays } from './port/message-reach.ts';
import type { PushGateway } from './port/registration.ts';
import type { RideLevel } from './port/ride.ts';
import { carriesPart } from './ride/carries.ts';
import { partsOf, partsTo, type RidingPayload } from './ride/parts.ts';
import { previewsOf } from './ride/preview.ts';
import type { RidingTerms } from './ride/ways.ts';

export const NO_WAYS: ReachWays = { inbox: 0, stream: 0, push: 0, fetch: 0, unknown: 0, none: 0 };
/** No app: nothing rides. */
export const NO_CARRIERS: Carriers = { apps: new Set(), others: 'none' };

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
  if (!mayRide) return 'none';
  const app = knownAppOf(userAgent);
  if (app === null) return carriers.others;
  return carriers.apps.has(app.name) ? 'fetch' : 'none';
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
  if (!isRiding) return NO_CARRIERS;
  const shown = previewsOf(type, payload, terms).filter((one) => one.shown.length > 0);
  const isToOthers = shown.some(({ app }) => app === null);
  return {
    apps: new Set(shown.flatMap(({ app }) => app ?? [])),
    others: isToOthers ? wayToOthers(partsOf(type, payload)) : 'none',
  };
}

/** Returns the apps that may carry parts of a riding message, with or without a Provider ID. */
export function carriersOfParts(parts: readonly string[]): Carriers {
  const carries = (app: App | null) => parts.some((part) => carriesPart(app, part, true));
  return {
    apps: new Set(APPS.filter((app) => app.isKnown && carries(app)).map(({ name }) => name)),
    others: carries(null) ? wayToOthers(parts) : 'none',
  };
}

/** A fetch does what `update` asks for in every app; what else an unknown app does is not known. */
const wayToOthers = (parts: readonly string[]) => (parts.includes('update') ? 'fetch' : 'unknown');

/** Returns whether a message rides on home links only. */
export const isForHomes = (type: DistributionType, isToAll: boolean) =>
  type === COMMAND || !isToAll;

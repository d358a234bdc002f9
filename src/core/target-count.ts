/** The devices of a send: which devices may get it, and how many of them can receive messages. */

import type { Core } from './core.ts';
import {
  addWays,
  carriersOf,
  isForHomes,
  NO_CARRIERS,
  NO_WAYS,
  type ReachRules,
} from './device-reach.ts';
import type { CommandPayload } from './message/command.ts';
import type { NamedTargets } from './message/target.ts';
import { Refused } from './outcome.ts';
import type { DeviceSearch } from './port/device-search.ts';
import {
  COMMAND,
  type DistributionDetail,
  type DistributionType,
  type TargetCursor,
  type TargetDevice,
  type TargetStep,
} from './port/distribution.ts';
import { type ReachWays, WAYS } from './port/message-reach.ts';
import type { Provider } from './port/provider.ts';
import type { LedgerReach } from './port/receipt.ts';
import type { RidingPayload } from './ride/parts.ts';
import { ridingOf } from './ride/ways.ts';
import { nextTurn } from './turn.ts';

/**
 * The number of devices after which counting stops: about 15 ms, in steps between which other calls
 * run.
 */
export const TARGET_COUNT_MAX = 10_000;
/** The number of steps after which it stops too, if most devices are not attached. */
const STEP_COUNT_MAX = 12;
/** The number of steps of a segment, whose count is that of its search: 128,000 devices. */
const SEGMENT_STEP_COUNT_MAX = 128;

/** The number of devices of a send, and of registered ones. */
export interface TargetCount {
  recipients: number;
  /** Devices with a registered app; the others never asked for messages. */
  reachable: number;
  /** All recipients by the way of the message to them. */
  ways: ReachWays;
  /** The hours within which apps fetch, and so get the messages of `ways.fetch`. */
  withinHours: number;
  /** True: the hours are a guess. */
  isGuess: boolean;
  /** True: counting stopped at a bound, so all numbers are minimums. */
  isAtLeast: boolean;
}

/** The message whose devices are counted. */
interface CountedMessage {
  type: DistributionType;
  payload: RidingPayload;
  /** True: it replaces another without a push. */
  isQuiet: boolean;
}

/** The devices that are searched: all with an operating system, or those of a segment now. */
type Searched = { os: readonly string[] } | { search: DeviceSearch };
/** The devices of a send: those that its HWIDs name, or what is searched. */
type Found = { devices: readonly TargetDevice[] } | Searched;

/** The refusals of a search for devices. */
export type TargetRefusal<F extends (...given: never) => unknown> =
  Awaited<ReturnType<F>> extends infer T ? (T extends Refused<infer K> ? K : never) : never;

/**
 * Finds the devices of a notification. Refuses `device_not_found` if a HWID is not attached to the
 * provider, `no_devices_found` if no device has the operating system.
 */
export async function findForNotification(
  core: Core,
  provider: Provider,
  targets: NamedTargets,
): Promise<Found | Refused<'device_not_found' | 'no_devices_found'>> {
  if ('os' in targets) {
    const first = await countSome(core, provider, targets, NO_RULES, 1);
    return first.recipients > 0 ? targets : new Refused('no_devices_found');
  }
  const devices = await core.store.findTargets(provider.id, targets.hwids);
  const linked = devices.filter((device): device is TargetDevice => device?.isLinked === true);
  return linked.length < devices.length ? new Refused('device_not_found') : { devices: linked };
}

/**
 * Finds the devices of a command. Refuses `device_not_found` for an unknown HWID, and
 * `unbound_not_allowed` for an action other than `import-data` to a device that is not attached.
 */
export async function findForCommand(
  core: Core,
  provider: Provider,
  targets: NamedTargets,
  action: CommandPayload['action_type'],
): Promise<
  | (Found & { unboundCount: number; reachesUnbound: boolean })
  | Refused<'device_not_found' | 'unbound_not_allowed'>
> {
  // The first subscription of a new customer is imported this way.
  const reachesUnbound = action === 'import-data';
  if ('os' in targets) return { ...targets, unboundCount: 0, reachesUnbound };
  const found = await core.store.findTargets(provider.id, targets.hwids);
  const devices = found.filter(
    (device): device is TargetDevice => device !== null && device.isBrowser !== true,
  );
  if (devices.length < found.length) return new Refused('device_not_found');
  const unboundCount = devices.filter(({ isLinked }) => !isLinked).length;
  if (unboundCount > 0 && !reachesUnbound) return new Refused('unbound_not_allowed');
  return { devices, unboundCount, reachesUnbound };
}

/** Returns whether a search finds a device. */
export async function findsAny(
  core: Core,
  provider: Provider,
  search: DeviceSearch,
  isCommand: boolean,
): Promise<boolean> {
  return (await countSome(core, provider, { search }, NO_RULES, 1, isCommand)).recipients > 0;
}

const NO_RULES: ReachRules = { gateways: [], carriers: NO_CARRIERS, isForHomes: false };

/** Counts the devices of a send, up to a bound. */
export async function countTargets(
  core: Core,
  provider: Provider,
  found: Found,
  { type, payload, isQuiet }: CountedMessage,
): Promise<TargetCount> {
  const isToAll = 'os' in found;
  const isCommand = type === COMMAND;
  const terms = ridingOf(core.limits, provider);
  const { withinHours, isGuess } = terms;
  const rules = {
    gateways: isQuiet ? [] : core.gateways(),
    carriers: carriersOf(type, payload, isToAll, terms),
    isForHomes: isForHomes(type, isToAll),
  };
  if (!('devices' in found)) {
    const countMax = isToAll ? TARGET_COUNT_MAX : Infinity;
    const counted = await countSome(core, provider, found, rules, countMax, isCommand);
    return { ...counted, withinHours, isGuess };
  }
  const { devices } = found;
  const groups = devices.map((device) => ({ ...device, count: 1 }));
  return {
    recipients: devices.length,
    reachable: devices.filter(({ isReachable }) => isReachable).length,
    ways: addWays(NO_WAYS, groups, rules),
    withinHours,
    isGuess,
    isAtLeast: false,
  };
}

/**
 * Counts as {@link countTargets} for an accepted send; null: a fault, which must not undo the send.
 */
export async function countFor(
  core: Core,
  provider: Provider,
  found: Found,
  message: CountedMessage,
) {
  return countTargets(core, provider, found, message).catch(() => null);
}

/** Counts in steps, so that a provider with many devices does not delay others. */
async function countSome(
  { store }: Core,
  provider: Provider,
  found: Searched,
  rules: ReachRules,
  countMax: number,
  isCommand = false,
): Promise<Omit<TargetCount, 'withinHours' | 'isGuess'>> {
  const counted = { recipients: 0, reachable: 0, ways: NO_WAYS, isAtLeast: false };
  const stepCountMax = 'os' in found ? STEP_COUNT_MAX : SEGMENT_STEP_COUNT_MAX;
  let at: TargetCursor | null = null;
  for (let steps = 1; ; steps++, await nextTurn()) {
    const step: TargetStep =
      'os' in found
        ? await store.scanTargets(provider.id, found.os, at, isCommand)
        : await store.scanSegment(provider.id, found.search, at, isCommand);
    counted.recipients += step.count;
    counted.reachable += step.reachableCount;
    counted.ways = addWays(counted.ways, step.groups, rules);
    if (step.next === null) return counted;
    // The search for a first device has no bound: it must not miss one.
    const isOver = countMax > 1 && steps >= stepCountMax;
    if (counted.recipients >= countMax || isOver) return { ...counted, isAtLeast: true };
    at = step.next;
  }
}

/**
 * Counts the recipients of a message that is being delivered or was, `rowsMax` at most, by the ways
 * of {@link countTargets}. Returns null before delivery begins and without a ledger.
 */
export async function countRecipients(
  core: Core,
  provider: Pick<Provider, 'code' | 'ride'>,
  message: DistributionDetail,
  rowsMax: number,
): Promise<(TargetCount & Pick<LedgerReach, 'carried'>) | null> {
  const { beganAtMs, id, isPruned, notificationType: type, targetOs } = message;
  if (beganAtMs === null || isPruned) return null;
  const terms = ridingOf(core.limits, provider);
  const payload: RidingPayload = JSON.parse(message.payload);
  const carriers = carriersOf(type, payload, targetOs !== null, terms);
  const counted = await core.store.countReach(id, rowsMax, carriers);
  const { carried, isAtLeast, reachable, received: _, ...ways } = counted;
  const recipients = WAYS.reduce((sum, way) => sum + ways[way], 0);
  const { isGuess, withinHours } = terms;
  return { recipients, reachable, ways, withinHours, isGuess, isAtLeast, carried };
}

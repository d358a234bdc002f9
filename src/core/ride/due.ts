/**
 * Decides what rides on an answer that admits a device. Times are `fromMs` and `untilMs` of a ride.
 *
 * | Ride | Level | Rides to |
 * |---|---|---|
 * | notification to all devices of a system | `notifications` | each device of that system |
 * | | | other systems than iOS and Android: if the provider says so, the newest of all |
 * | notification to named devices | `notifications` | the device on its home link |
 * | command | `on` | the device on its home link; to all: those of the system |
 *
 * On its home link a device gets only what is newer than its slot there. A HWID is no secret: a
 * caller that guesses one has no such slot, and a general notification is the same for all.
 */

import { COMMAND } from '../port/distribution.ts';
import { RIDE_LEVELS, type Ride, type RideLevel, type RideTerms } from '../port/ride.ts';

/** The device of an answer. */
interface RideDevice {
  /** As in the facts of devices. */
  os: string;
  /** The time at which it took its slot on its home link; null: the answer is for another link. */
  homeSinceMs: number | null;
}

export interface DueRide<R extends Ride = Ride> {
  ride: R;
  phase: 'rides' | 'clears';
}

/** Returns the lower of two levels. */
export function lowerLevel(one: RideLevel, other: RideLevel | null): RideLevel {
  if (other === null) return one;
  return RIDE_LEVELS.indexOf(other) < RIDE_LEVELS.indexOf(one) ? other : one;
}

/** Returns what rides to a device, the newest first. */
export function dueRides<R extends Ride>(
  rides: readonly R[],
  device: RideDevice,
  { level, ridesOnDesktop }: { level: RideLevel } & Pick<RideTerms, 'ridesOnDesktop'>,
  nowMs: number,
): DueRide<R>[] {
  if (level === 'off') return [];
  const due: DueRide<R>[] = [];
  for (const ride of rides) {
    const phase = phaseAt(ride, nowMs);
    if (phase !== null && isFor(ride, device, level, ridesOnDesktop)) due.push({ ride, phase });
  }
  return due.length < 2 ? due : due.sort(newerFirst);
}

const HOUR_MS = 3_600_000;
/**
 * The time between the acceptance of a command and its ride, ms: the operator can block the command
 * of a stolen key before it moves users.
 */
const COMMAND_WAIT_MS = 10 * 60_000;

/**
 * Returns from when until when a message rides whose delivery begins now; null: it expires before.
 */
export function rideTimes(
  message: { notificationType: number; createdAtMs: number; expiresAtMs: number },
  hours: number,
  nowMs: number,
): Pick<Ride, 'fromMs' | 'untilMs'> | null {
  const { createdAtMs, expiresAtMs, notificationType } = message;
  const isCommand = notificationType === COMMAND;
  const fromMs = isCommand ? Math.max(nowMs, createdAtMs + COMMAND_WAIT_MS) : nowMs;
  const untilMs = Math.min(expiresAtMs, fromMs + hours * HOUR_MS);
  return untilMs > fromMs ? { fromMs, untilMs } : null;
}

/** Returns the end of a ride's effect: a notification is cleared for some time after it rode. */
export const effectEndMs = ({
  part,
  fromMs,
  untilMs,
}: Pick<Ride, 'part' | 'fromMs' | 'untilMs'>) =>
  part === 'message' ? 2 * untilMs - fromMs : untilMs;

/**
 * Returns the effect of a ride at a time; null: none. A notification is cleared for as long as it
 * rode: Happ keeps its box until an empty one arrives, and other apps must learn of the end by an
 * answer that is not 304.
 */
function phaseAt(ride: Ride, nowMs: number): DueRide['phase'] | null {
  if (nowMs < ride.fromMs) return null;
  if (nowMs < ride.untilMs) return 'rides';
  return nowMs < effectEndMs(ride) ? 'clears' : null;
}

function isFor(
  { createdAtMs, notificationType, os }: Ride,
  { homeSinceMs, os: deviceOs }: RideDevice,
  level: RideLevel,
  ridesOnDesktop: boolean,
): boolean {
  const isCommand = notificationType === COMMAND;
  if (isCommand && level !== 'on') return false;
  if (isCommand || os === null) {
    const isAtHome = homeSinceMs !== null && homeSinceMs < createdAtMs;
    return isAtHome && (os === null || os === deviceOs);
  }
  return os === deviceOs || (ridesOnDesktop && deviceOs !== 'ios' && deviceOs !== 'android');
}

const newerFirst = ({ ride: one }: DueRide, { ride: other }: DueRide) =>
  other.fromMs - one.fromMs || other.distributionId - one.distributionId;

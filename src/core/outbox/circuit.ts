/**
 * The circuit breaker of a destination. After a series of failures it pauses for as long as the
 * destination has been failing, then one dispatch probes it. A new push service starts as failing.
 */

import type { DestinationHealth } from '../port/outbox.ts';
import type { Random } from './retry.ts';

/** Failures in a row, and time without a good attempt, after which the circuit opens. */
const FAILURES_MIN = 10;
const FAILING_MIN_MS = 3_000;

/** Bounds of the pause of an open circuit, ms. */
const PAUSE_MIN_MS = 5_000;
const PAUSE_MAX_MS = 5 * 60_000;

/** Failures with which a destination starts that has accepted no dispatch so far. */
export const UNPROVEN_COUNT = 1;

export const HEALTHY: DestinationHealth = {
  failureCount: 0,
  failingSinceMs: null,
  retryAtMs: 0,
  stoppedAtMs: null,
  problem: null,
};

/** Returns the health after an attempt that the other side answered properly. */
export function afterGood(health: DestinationHealth): DestinationHealth {
  // A stopped destination stays stopped until its trial or a reload of the settings.
  if (health.stoppedAtMs !== null || isWell(health)) return health;
  return HEALTHY;
}

function isWell({ failureCount, retryAtMs, problem }: DestinationHealth): boolean {
  return failureCount === 0 && retryAtMs === 0 && problem === null;
}

/** Returns the health after a failed attempt. `pauseMs`: the pause that the other side asks for. */
export function afterFailure(
  health: DestinationHealth,
  failure: { nowMs: number; problem: string; pauseMs: number },
  random: Random,
): DestinationHealth {
  const { nowMs, problem, pauseMs } = failure;
  const failureCount = health.failureCount + 1;
  // The clock may have been set back since.
  const failingSinceMs = Math.min(health.failingSinceMs ?? nowMs, nowMs);
  const failingMs = nowMs - failingSinceMs;
  const isOpen = failureCount >= FAILURES_MIN && failingMs >= FAILING_MIN_MS;
  const openMs = isOpen ? Math.min(Math.max(failingMs, PAUSE_MIN_MS), PAUSE_MAX_MS) : 0;
  const waitMs = Math.max(Math.round(openMs * (0.75 + random() / 2)), pauseMs);
  const retryAtMs = waitMs > 0 ? nowMs + waitMs : health.retryAtMs;
  return { ...health, failureCount, failingSinceMs, retryAtMs, problem };
}

/** Returns the health after an event was rejected; `failureCount` counts the same rejections. */
export function afterRejection(
  health: DestinationHealth,
  { nowMs, problem }: { nowMs: number; problem: string },
): DestinationHealth {
  const failureCount = (health.problem === problem ? health.failureCount : 0) + 1;
  const failingSinceMs = Math.min(health.failingSinceMs ?? nowMs, nowMs);
  return { ...health, failureCount, failingSinceMs, retryAtMs: 0, problem };
}

/**
 * Returns the health after a receiver asked for a pause, which is no failure. `isLong`: the lease
 * of the destination ends before the pause.
 */
export function afterPause(
  health: DestinationHealth,
  pause: { nowMs: number; problem: string; pauseMs: number; isLong: boolean },
): DestinationHealth {
  const { nowMs, problem, pauseMs, isLong } = pause;
  const failingSinceMs = Math.min(health.failingSinceMs ?? nowMs, nowMs);
  const retryAtMs = isLong ? nowMs + pauseMs : health.retryAtMs;
  return { ...health, failingSinceMs, retryAtMs, problem };
}

/** Pause after a trial without an answer about our credentials, ms. */
const TRIAL_PAUSE_MS = 5 * 60_000;

/**
 * Returns the health of a stopped destination after its trial. `judged`: the health without the
 * stop; `isAnswered`: the answer shows whether our credentials are accepted.
 */
export function afterTrial(
  stopped: DestinationHealth,
  judged: DestinationHealth,
  isAnswered: boolean,
  nowMs: number,
): DestinationHealth {
  if (isAnswered) return judged;
  const { stoppedAtMs } = stopped;
  return { ...judged, stoppedAtMs, retryAtMs: nowMs + TRIAL_PAUSE_MS };
}

/** Returns the health after our credentials were rejected: the destination is stopped. */
export function afterStop(
  health: DestinationHealth,
  nowMs: number,
  problem: string,
): DestinationHealth {
  return { ...health, stoppedAtMs: nowMs, problem };
}

/**
 * The circuit of a destination: when nothing gets through for a while, nothing is tried for as long
 * as it has been failing, and then one dispatch as a probe. A destination from which nothing is
 * known yet counts as one that fails: see {@link UNPROVEN_COUNT}.
 */

import type { DestinationHealth } from '../port/outbox.ts';
import type { Random } from './retry.ts';

/** Failures in a row, and the time without a good attempt, after which the circuit opens. */
const FAILURES_MIN = 10;
const FAILING_MIN_MS = 3_000;

/** Bounds of the pause of an open circuit, ms. */
const PAUSE_MIN_MS = 5_000;
const PAUSE_MAX_MS = 5 * 60_000;

/** Failures that a destination begins with that took nothing yet: it is tried with care. */
export const UNPROVEN_COUNT = 1;

export const HEALTHY: DestinationHealth = {
  failureCount: 0,
  failingSinceMs: null,
  retryAtMs: 0,
  stoppedAtMs: null,
  problem: null,
};

/** Health after an attempt that the other side answered as it should, whatever it said of it. */
export function afterGood(health: DestinationHealth): DestinationHealth {
  // What is stopped stays so until somebody mends it.
  if (health.stoppedAtMs !== null || isWell(health)) return health;
  return HEALTHY;
}

function isWell({ failureCount, retryAtMs, problem }: DestinationHealth): boolean {
  return failureCount === 0 && retryAtMs === 0 && problem === null;
}

/**
 * Health after an attempt that failed. `pauseMs`: as the other side asked of us for all that it is
 * told; 0: it did not.
 */
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

/**
 * Health after a receiver asked for a pause: it is no failure. `isLong`: nobody keeps the
 * destination until the pause is over.
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

/** Pause after a trial that said nothing of our credentials, ms. */
const TRIAL_PAUSE_MS = 5 * 60_000;

/**
 * Health of a stopped destination after one attempt; `judged`: as if it was not stopped.
 * `isAnswered`: by the other side, to us as one whom it knows or does not.
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

/** Health after our credentials were refused: nothing is tried until somebody mends them. */
export function afterStop(
  health: DestinationHealth,
  nowMs: number,
  problem: string,
): DestinationHealth {
  return { ...health, stoppedAtMs: nowMs, problem };
}

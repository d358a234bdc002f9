/** The rule of what becomes of a dispatch, and of its destination, after an attempt. */

import { DAY_MS, HOUR_MS } from '../calendar.ts';
import type {
  DestinationHealth,
  DestinationKind,
  Dispatch,
  EventDispatch,
  PushDispatch,
  Settlement,
} from '../port/outbox.ts';
import type { Verdict } from './carrier.ts';
import { afterFailure, afterGood, afterPause, afterStop, afterTrial } from './circuit.ts';
import {
  ASKED_WAITS_MAX_MS,
  ATTEMPTS_MAX,
  askedWaitEndMs,
  heededMs,
  type Random,
  waitMs,
} from './retry.ts';

/** Failures in a row from which on a destination fails as a whole. */
const FAILING_COUNT_MIN = 5;
/** Age at which a push is given up for which the gateway never was well, ms. */
const PUSH_AGE_MAX_MS = DAY_MS;
/** Age before which no event is given up, ms: the ten attempts are planned over some 76 hours. */
const EVENT_AGE_MIN_MS = 60 * HOUR_MS;
/** Longest pause of a receiver for which its run keeps it, ms. */
export const KEPT_PAUSE_MAX_MS = 10_000;

/** The consequences of an attempt. */
export interface Judgement {
  /** Null: no attempt is counted, and the dispatch keeps its place in the queue. */
  settlement: Settlement | null;
  health: DestinationHealth;
  /** Why the webhook is disabled; null: it is not. */
  disables: string | null;
}

interface Attempt<D extends Dispatch = Dispatch> {
  dispatch: D;
  kind: DestinationKind;
  verdict: Verdict;
  /** Time at which the answer was there, UTC ms. */
  nowMs: number;
  /** Time after which nobody needs it, UTC ms; null: there is none. */
  expiresAtMs: number | null;
}

/** Judges an attempt by its verdict; `health` is that of the destination before it. */
export function judgeAttempt(
  attempt: Attempt,
  health: DestinationHealth,
  random: Random,
): Judgement {
  const { dispatch } = attempt;
  return dispatch.kind === 'push'
    ? judgePush({ ...attempt, dispatch }, health, random)
    : judgeEvent({ ...attempt, dispatch }, health, random);
}

/** Judges the first attempt at a destination that was stopped: it asks if it still has to be. */
export function judgeTrial(
  attempt: Attempt,
  stopped: DestinationHealth,
  random: Random,
): Judgement {
  const judgement = judgeAttempt(attempt, { ...stopped, stoppedAtMs: null }, random);
  const { verdict, nowMs } = attempt;
  const isAnswered = !['retry', 'wait', 'busy'].includes(verdict.verdict);
  return { ...judgement, health: afterTrial(stopped, judgement.health, isAnswered, nowMs) };
}

function judgePush(
  { dispatch, kind, verdict, nowMs, expiresAtMs }: Attempt<PushDispatch>,
  health: DestinationHealth,
  random: Random,
): Judgement {
  const { id, token } = dispatch;
  const good = { health: afterGood(health), disables: null };
  switch (verdict.verdict) {
    case 'accepted':
      return { ...good, settlement: { id, outcome: 'accepted' } };
    case 'failed':
      return { ...good, settlement: { id, outcome: 'failed', problem: verdict.problem } };
    case 'dead': {
      const { problem, asOfMs = null } = verdict;
      if (token?.push == null) return { ...good, settlement: { id, outcome: 'failed', problem } };
      const { id: tokenId, push, pushAtMs } = token;
      if (asOfMs !== null && pushAtMs !== null && pushAtMs > asOfMs) {
        const again = `${problem}; the app has registered it again since`;
        const later = { verdict: 'retry', afterMs: null, problem: again, isOfOne: true } as const;
        return judgePush({ dispatch, kind, verdict: later, nowMs, expiresAtMs }, health, random);
      }
      return { ...good, settlement: { id, outcome: 'dead', problem, tokenId, push, asOfMs } };
    }
    case 'credentials': {
      const { problem } = verdict;
      // Whose key a subscription is for was the device's choice: it stops nobody else's.
      if (kind === 'webpush') return { ...good, settlement: { id, outcome: 'failed', problem } };
      return { settlement: null, health: afterStop(health, nowMs, problem), disables: null };
    }
    case 'wait': {
      const { problem, afterMs, isOfOne } = verdict;
      const failure = { nowMs, problem, pauseMs: 0 };
      const after = isOfOne ? afterGood(health) : afterFailure(health, failure, random);
      const settlement = askedPush({ dispatch, nowMs, expiresAtMs }, afterMs, problem);
      return { settlement, health: after, disables: null };
    }
    case 'busy': {
      const isOver = expiresAtMs !== null && nowMs >= expiresAtMs;
      const settlement = isOver ? tooLate(id, verdict.problem) : null;
      return { settlement, health, disables: null };
    }
    case 'retry': {
      const { problem, afterMs } = verdict;
      const failure = { nowMs, problem, pauseMs: 0 };
      // Whoever has such addresses registered, by the hundred, must not close the gateway to all.
      const healthAfter = verdict.isOfOne
        ? afterGood(health)
        : afterFailure(health, failure, random);
      const after = { health: healthAfter, disables: null };
      const nextAtMs = nowMs + waitMs('push', dispatch.attemptCount + 1, afterMs, random);
      const gaveUp = whyNoMorePush({ dispatch, kind, verdict, nowMs, expiresAtMs }, health);
      if (gaveUp !== null) {
        return {
          ...after,
          settlement: { id, outcome: 'failed', problem: `${gaveUp}: ${problem}` },
        };
      }
      if (expiresAtMs !== null && nextAtMs >= expiresAtMs) {
        return { ...after, settlement: tooLate(id, problem) };
      }
      return { ...after, settlement: { id, outcome: 'retry', nextAtMs, problem } };
    }
  }
}

function tooLate(id: number, problem: string): Settlement {
  const late = `the message ends before another attempt: ${problem}`;
  return { id, outcome: 'failed', problem: late };
}

/** Has a push wait as its gateway asked, or fail after it waited for too long. */
function askedPush(
  {
    dispatch: { id, queuedAtMs },
    nowMs,
    expiresAtMs,
  }: Pick<Attempt<PushDispatch>, 'dispatch' | 'nowMs' | 'expiresAtMs'>,
  askedMs: number,
  problem: string,
): Settlement {
  if (nowMs - queuedAtMs >= ASKED_WAITS_MAX_MS) {
    return { id, outcome: 'failed', problem: `${WAITED_ENOUGH}: ${problem}` };
  }
  const nextAtMs = askedWaitEndMs(queuedAtMs, askedMs, nowMs);
  if (expiresAtMs !== null && nextAtMs >= expiresAtMs) return tooLate(id, problem);
  return { id, outcome: 'wait', nextAtMs, problem };
}

const WAITED_ENOUGH = 'it was asked to wait for three days, the last time';

/** Why a push that failed once more is given up; null: it is tried again. */
function whyNoMorePush(
  { dispatch, kind, verdict, nowMs }: Attempt<PushDispatch>,
  { failureCount }: DestinationHealth,
): string | null {
  // Also of one that is old, as its gateway was stopped for days.
  if (dispatch.attemptCount + 1 < ATTEMPTS_MAX) return null;
  const gaveUp = `${ATTEMPTS_MAX} attempts failed, the last`;
  // Anybody may name a push service that never answers, and all wait for the end of a message.
  if (kind === 'webpush') return gaveUp;
  if (nowMs - dispatch.queuedAtMs >= PUSH_AGE_MAX_MS) {
    return 'no attempt of a day went well, the last';
  }
  // Such an answer may be about our set-up, which somebody mends within a day.
  if (verdict.verdict === 'retry' && verdict.isOfOne) return null;
  // While nothing at all gets through it is no fault of this one.
  return failureCount >= FAILING_COUNT_MIN ? null : gaveUp;
}

function judgeEvent(
  { dispatch, verdict, nowMs }: Attempt<EventDispatch>,
  health: DestinationHealth,
  random: Random,
): Judgement {
  const { id } = dispatch;
  const good = afterGood(health);
  switch (verdict.verdict) {
    case 'accepted':
      return { settlement: { id, outcome: 'accepted' }, health: good, disables: null };
    case 'failed': {
      const { problem } = verdict;
      return { settlement: { id, outcome: 'failed', problem }, health: good, disables: null };
    }
    case 'dead':
    // A webhook's credentials are its owner's to mend, who sees why it is disabled.
    case 'credentials': {
      const { problem } = verdict;
      return { settlement: { id, outcome: 'failed', problem }, health: good, disables: problem };
    }
    case 'wait': {
      const { problem } = verdict;
      const leftMs = dispatch.queuedAtMs + ASKED_WAITS_MAX_MS - nowMs;
      if (leftMs > 0) {
        const pauseMs = Math.min(verdict.afterMs, leftMs);
        const pause = { nowMs, problem, pauseMs, isLong: pauseMs > KEPT_PAUSE_MAX_MS };
        return { settlement: null, health: afterPause(health, pause), disables: null };
      }
      const gaveUp = `${WAITED_ENOUGH}: ${problem}`;
      const settlement = { id, outcome: 'failed', problem: gaveUp } as const;
      const { failingSinceMs } = health;
      // Of a receiver that takes others, only this one waited for too long.
      const hasTakenNone = failingSinceMs !== null && nowMs - failingSinceMs >= EVENT_AGE_MIN_MS;
      return { settlement, health, disables: hasTakenNone ? gaveUp : null };
    }
    case 'busy':
      return { settlement: null, health, disables: null };
    case 'retry': {
      const { problem, afterMs } = verdict;
      // One receiver is behind a webhook: who asks for a pause asks for all of its events.
      const pauseMs = heededMs('event', afterMs);
      const after = afterFailure(health, { nowMs, problem, pauseMs }, random);
      const hasHadAll = dispatch.attemptCount + 1 >= ATTEMPTS_MAX;
      // Of a receiver that is up and down all the time, attempts come sooner than planned.
      if (hasHadAll && nowMs - dispatch.queuedAtMs >= EVENT_AGE_MIN_MS) {
        const gaveUp = `${ATTEMPTS_MAX} attempts over three days failed, the last: ${problem}`;
        const settlement = { id, outcome: 'failed', problem: gaveUp } as const;
        return { settlement, health: after, disables: gaveUp };
      }
      const nextAtMs = nowMs + waitMs('event', dispatch.attemptCount + 1, afterMs, random);
      const settlement = { id, outcome: 'retry', nextAtMs, problem } as const;
      return { settlement, health: after, disables: null };
    }
  }
}

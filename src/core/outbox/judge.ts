/** The consequences of an attempt for its dispatch, its destination and its webhook. */

import { DAY_MS, HOUR_MS } from '../calendar.ts';
import { CALLERS_EVENTS } from '../port/event.ts';
import type {
  DestinationHealth,
  DestinationKind,
  Dispatch,
  EventDispatch,
  PushDispatch,
  Settlement,
} from '../port/outbox.ts';
import type { AttemptVerdict } from './carrier.ts';
import {
  afterFailure,
  afterGood,
  afterPause,
  afterRejection,
  afterStop,
  afterTrial,
} from './circuit.ts';
import {
  ASKED_WAITS_MAX_MS,
  ATTEMPTS_MAX,
  askedWaitEndMs,
  heededMs,
  type Random,
  waitMs,
} from './retry.ts';

/** Failures in a row from which a destination counts as failing as a whole. */
const FAILING_COUNT_MIN = 5;
/** Age at which a push fails although its gateway has been failing as a whole, ms. */
const PUSH_AGE_MAX_MS = DAY_MS;
/** Least age at which an event fails, ms: its ten attempts are planned over some 76 hours. */
const EVENT_AGE_MIN_MS = 60 * HOUR_MS;
/** The same rejections in a row after which a webhook is disabled. */
const REJECTIONS_MAX = 10;
/** Longest pause of a receiver during which its run keeps the lease, ms. */
export const KEPT_PAUSE_MAX_MS = 10_000;

export interface Judgement {
  /** Null: the attempt does not count, and the dispatch keeps its place in the queue. */
  settlement: Settlement | null;
  /** Health of the destination after the attempt. */
  health: DestinationHealth;
  /** Reason to disable the webhook; null: it stays enabled. */
  disables: string | null;
}

interface Attempt<D extends Dispatch = Dispatch> {
  dispatch: D;
  kind: DestinationKind;
  verdict: AttemptVerdict;
  /** Time of the answer, UTC ms. */
  nowMs: number;
  /** The time after which the message is useless, UTC ms; null: never. */
  expiresAtMs: number | null;
}

/** Judges an attempt by its verdict; `health` is that of the destination before it. */
export function decideAttempt(
  attempt: Attempt,
  health: DestinationHealth,
  random: Random,
): Judgement {
  const { dispatch } = attempt;
  return dispatch.kind === 'push'
    ? decidePush({ ...attempt, dispatch }, health, random)
    : decideEvent({ ...attempt, dispatch }, health, random);
}

/** Judges the trial of a stopped destination, which starts it again if it is answered. */
export function decideTrial(
  attempt: Attempt,
  stopped: DestinationHealth,
  random: Random,
): Judgement {
  const judgement = decideAttempt(attempt, { ...stopped, stoppedAtMs: null }, random);
  const { verdict, nowMs } = attempt;
  const isAnswered = !['retry', 'wait', 'busy'].includes(verdict.verdict);
  return { ...judgement, health: afterTrial(stopped, judgement.health, isAnswered, nowMs) };
}

function decidePush(
  attempt: Attempt<PushDispatch>,
  health: DestinationHealth,
  random: Random,
): Judgement {
  const { dispatch, kind, verdict, nowMs } = attempt;
  const { id, token } = dispatch;
  const judged = (settlement: Settlement | null, after = afterGood(health)): Judgement => ({
    settlement,
    health: after,
    disables: null,
  });
  switch (verdict.verdict) {
    case 'accepted':
      return judged({ id, outcome: 'accepted' });
    case 'failed':
      return judged(failed(id, verdict.problem));
    case 'dead': {
      const { problem, asOfMs = null } = verdict;
      if (token?.push == null) return judged(failed(id, problem));
      const { id: tokenId, push, pushAtMs } = token;
      if (asOfMs !== null && pushAtMs !== null && pushAtMs > asOfMs) {
        const again = `${problem}; the app has registered it again since`;
        const later = { verdict: 'retry', afterMs: null, problem: again, isOfOne: true } as const;
        return decidePush({ ...attempt, verdict: later }, health, random);
      }
      return judged({ id, outcome: 'dead', problem, tokenId, push, asOfMs });
    }
    case 'credentials':
      // A device chooses the key of its own subscription, so a rejection must not stop the push
      // service.
      if (kind === 'webpush') return judged(failed(id, verdict.problem));
      return judged(null, afterStop(health, nowMs, verdict.problem));
    case 'busy': {
      const isOver = attempt.expiresAtMs !== null && nowMs >= attempt.expiresAtMs;
      return judged(isOver ? expired(id, verdict.problem) : null, health);
    }
    case 'wait':
    case 'retry': {
      // A device can register many addresses with such answers: those must not open the circuit.
      const after = verdict.isOfOne
        ? afterGood(health)
        : afterFailure(health, { nowMs, problem: verdict.problem, pauseMs: 0 }, random);
      if (verdict.verdict === 'wait') return judged(afterWait(attempt, verdict), after);
      return judged(afterRetry(attempt, verdict, health, random), after);
    }
  }
}

/** Fails a push whose next attempt would come after the message has expired. */
const expired = (id: number, problem: string) =>
  failed(id, `the message ends before another attempt: ${problem}`);

const failed = (id: number, problem: string): Settlement => ({ id, outcome: 'failed', problem });

/** Postpones a push as its gateway asked, or fails it after three days of that. */
function afterWait(
  { dispatch: { id, queuedAtMs }, nowMs, expiresAtMs }: Attempt<PushDispatch>,
  { afterMs, problem }: AttemptVerdict & { verdict: 'wait' },
): Settlement {
  if (nowMs - queuedAtMs >= ASKED_WAITS_MAX_MS) return failed(id, `${WAITED_ENOUGH}: ${problem}`);
  const nextAtMs = askedWaitEndMs(queuedAtMs, afterMs, nowMs);
  if (expiresAtMs !== null && nextAtMs >= expiresAtMs) return expired(id, problem);
  return { id, outcome: 'wait', nextAtMs, problem };
}

const WAITED_ENOUGH = 'it was asked to wait for three days, the last time';

/** Postpones a push after a failed attempt, or fails it. */
function afterRetry(
  attempt: Attempt<PushDispatch>,
  { afterMs, problem }: AttemptVerdict & { verdict: 'retry' },
  health: DestinationHealth,
  random: Random,
): Settlement {
  const { dispatch, nowMs, expiresAtMs } = attempt;
  const { id, attemptCount } = dispatch;
  const nextAtMs = nowMs + waitMs('push', attemptCount + 1, afterMs, random);
  const gaveUp = whyNoMorePush(attempt, health);
  if (gaveUp !== null) return failed(id, `${gaveUp}: ${problem}`);
  if (expiresAtMs !== null && nextAtMs >= expiresAtMs) return expired(id, problem);
  return { id, outcome: 'retry', nextAtMs, problem };
}

/** Returns why a push gets no further attempt; null: it gets one. */
function whyNoMorePush(
  { dispatch, kind, verdict, nowMs }: Attempt<PushDispatch>,
  { failureCount }: DestinationHealth,
): string | null {
  // An old push too gets all attempts: its gateway may have been stopped for days.
  if (dispatch.attemptCount + 1 < ATTEMPTS_MAX) return null;
  const gaveUp = `${ATTEMPTS_MAX} attempts failed, the last`;
  // A device may name a push service that never answers.
  if (kind === 'webpush') return gaveUp;
  if (nowMs - dispatch.queuedAtMs >= PUSH_AGE_MAX_MS) {
    return 'no attempt of a day went well, the last';
  }
  // The cause may be our set-up, which the operator can correct within a day.
  if (verdict.verdict === 'retry' && verdict.isOfOne) return null;
  // While the gateway fails as a whole, the push is not the cause.
  return failureCount >= FAILING_COUNT_MIN ? null : gaveUp;
}

function decideEvent(
  { dispatch, verdict, nowMs }: Attempt<EventDispatch>,
  health: DestinationHealth,
  random: Random,
): Judgement {
  const { id, queuedAtMs, attemptCount, event } = dispatch;
  // A stranger chooses the values of such an event, so its failure must not disable the webhook.
  const mayDisable = !CALLERS_EVENTS.includes(event.kind);
  const judged = (
    settlement: Settlement | null,
    after = afterGood(health),
    disables: string | null = null,
  ): Judgement => ({ settlement, health: after, disables });
  switch (verdict.verdict) {
    case 'accepted':
      return judged({ id, outcome: 'accepted' });
    case 'failed': {
      const { problem } = verdict;
      if (!mayDisable) return judged(failed(id, problem), health);
      const after = afterRejection(health, { nowMs, problem });
      const isEnd = after.failureCount >= REJECTIONS_MAX;
      const why = `it rejected ${REJECTIONS_MAX} events in a row, the last: ${problem}`;
      return judged(failed(id, problem), after, isEnd ? why : null);
    }
    case 'dead':
    // The owner corrects the credentials; the webhook shows why it is disabled.
    case 'credentials':
      return judged(failed(id, verdict.problem), afterGood(health), verdict.problem);
    case 'wait': {
      const { problem } = verdict;
      const leftMs = queuedAtMs + ASKED_WAITS_MAX_MS - nowMs;
      if (leftMs > 0) {
        const pauseMs = Math.min(verdict.afterMs, leftMs);
        const pause = { nowMs, problem, pauseMs, isLong: pauseMs > KEPT_PAUSE_MAX_MS };
        return judged(null, afterPause(health, pause));
      }
      const gaveUp = `${WAITED_ENOUGH}: ${problem}`;
      const { failingSinceMs } = health;
      // A receiver that accepts other events stays enabled.
      const hasTakenNone = failingSinceMs !== null && nowMs - failingSinceMs >= EVENT_AGE_MIN_MS;
      return judged(failed(id, gaveUp), health, mayDisable && hasTakenNone ? gaveUp : null);
    }
    case 'busy':
      return judged(null, health);
    case 'retry': {
      const { problem, afterMs } = verdict;
      // The destination is one receiver: its `Retry-After` applies to all of its events.
      const pauseMs = heededMs('event', afterMs);
      const after = afterFailure(health, { nowMs, problem, pauseMs }, random);
      // A receiver that alternates between up and down uses up attempts sooner than planned.
      if (attemptCount + 1 >= ATTEMPTS_MAX && nowMs - queuedAtMs >= EVENT_AGE_MIN_MS) {
        const gaveUp = `${ATTEMPTS_MAX} attempts over three days failed, the last: ${problem}`;
        return judged(failed(id, gaveUp), after, mayDisable ? gaveUp : null);
      }
      const nextAtMs = nowMs + waitMs('event', attemptCount + 1, afterMs, random);
      return judged({ id, outcome: 'retry', nextAtMs, problem }, after);
    }
  }
}

/** The rule of what becomes of a dispatch, and of its destination, after an attempt. */

import type {
  DestinationHealth,
  DestinationKind,
  Dispatch,
  EventDispatch,
  PushDispatch,
  Settlement,
} from '../port/outbox.ts';
import type { Verdict } from './carrier.ts';
import { afterFailure, afterGood, afterStop } from './circuit.ts';
import { ATTEMPTS_MAX, heededMs, type Random, waitMs } from './retry.ts';

/** The consequences of an attempt. */
export interface Judgement {
  /** Null: it does not count as an attempt, and the dispatch waits as it did. */
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
      const { problem } = verdict;
      if (token?.push == null) return { ...good, settlement: { id, outcome: 'failed', problem } };
      const { id: tokenId, push } = token;
      return { ...good, settlement: { id, outcome: 'dead', problem, tokenId, push } };
    }
    case 'credentials': {
      const { problem } = verdict;
      // Whose key a subscription is for was the device's choice: it stops nobody else's.
      if (kind === 'webpush') return { ...good, settlement: { id, outcome: 'failed', problem } };
      return { settlement: null, health: afterStop(health, nowMs, problem), disables: null };
    }
    case 'retry': {
      const { problem, afterMs } = verdict;
      const failure = { nowMs, problem, pauseMs: 0 };
      const after = { health: afterFailure(health, failure, random), disables: null };
      const delayMs = waitMs('push', dispatch.attemptCount + 1, afterMs, random);
      if (delayMs === null) {
        const gaveUp = `${ATTEMPTS_MAX} attempts failed, the last: ${problem}`;
        return { ...after, settlement: { id, outcome: 'failed', problem: gaveUp } };
      }
      const nextAtMs = nowMs + delayMs;
      if (expiresAtMs !== null && nextAtMs >= expiresAtMs) {
        const late = `the message ends before another attempt: ${problem}`;
        return { ...after, settlement: { id, outcome: 'failed', problem: late } };
      }
      return { ...after, settlement: { id, outcome: 'retry', nextAtMs, problem } };
    }
  }
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
    case 'retry': {
      const { problem, afterMs } = verdict;
      const delayMs = waitMs('event', dispatch.attemptCount + 1, afterMs, random);
      // One receiver is behind a webhook: who asks for a pause asks for all of its events.
      const pauseMs = heededMs('event', afterMs);
      const after = afterFailure(health, { nowMs, problem, pauseMs }, random);
      if (delayMs !== null) {
        const nextAtMs = nowMs + delayMs;
        const settlement = { id, outcome: 'retry', nextAtMs, problem } as const;
        return { settlement, health: after, disables: null };
      }
      const gaveUp = `${ATTEMPTS_MAX} attempts over three days failed, the last: ${problem}`;
      const settlement = { id, outcome: 'failed', problem: gaveUp } as const;
      return { settlement, health: after, disables: gaveUp };
    }
  }
}

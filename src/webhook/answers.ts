/**
 * Answers of receivers of webhooks: Standard Webhooks, "Delivery success and failure". 2xx alone
 * succeeds, 410 ends, all else is tried again.
 */

import type { Verdict } from '../core/outbox/carrier.ts';
import { type OutgoingAnswer, OutgoingFailure } from '../outgoing/call.ts';

interface AnswerRow {
  /** Statuses, both included. */
  from: number;
  to: number;
  /** `wait`: tried again as others, if it does not say when. */
  verdict: 'accepted' | 'retry' | 'wait' | 'dead';
  /** The meaning of the answer, and the mend if there is one. */
  about: string;
}

/** One row for each kind of answer; the first that fits counts. */
export const WEBHOOK_ANSWERS: readonly AnswerRow[] = [
  { from: 200, to: 299, verdict: 'accepted', about: 'the event has arrived' },
  {
    from: 300,
    to: 399,
    verdict: 'retry',
    about: 'a redirect, which is not followed: set the URL to which it leads',
  },
  { from: 401, to: 401, verdict: 'retry', about: 'it asks for a login beside the signature' },
  { from: 403, to: 403, verdict: 'retry', about: 'it refuses the call' },
  { from: 404, to: 404, verdict: 'retry', about: 'there is nothing at this URL' },
  { from: 405, to: 405, verdict: 'retry', about: 'it takes no POST at this URL' },
  { from: 410, to: 410, verdict: 'dead', about: 'it wants no more events' },
  { from: 413, to: 413, verdict: 'retry', about: 'the event is too large for it' },
  { from: 415, to: 415, verdict: 'retry', about: 'it takes no JSON' },
  { from: 429, to: 429, verdict: 'wait', about: 'it wants fewer calls' },
  { from: 400, to: 499, verdict: 'retry', about: 'it does not understand the call' },
  {
    from: 502,
    to: 504,
    verdict: 'retry',
    about: 'it is overloaded, or does not run behind its proxy',
  },
  { from: 500, to: 599, verdict: 'retry', about: 'it has a fault of its own' },
];

/** The verdict on an answer of a receiver, or on the lack of one. */
export function judgeAnswer(answer: OutgoingAnswer | OutgoingFailure): Verdict {
  if (answer instanceof OutgoingFailure) return unanswered(answer);
  const { status, retryAfterMs } = answer;
  const row = WEBHOOK_ANSWERS.find(({ from, to }) => status >= from && status <= to);
  const problem = `the receiver answered ${status}: ${row?.about ?? 'that is no answer of HTTP'}`;
  if (row?.verdict === 'accepted') return { verdict: 'accepted' };
  if (row?.verdict === 'dead') return { verdict: 'dead', problem };
  return row?.verdict === 'wait' ? tooMuch(retryAfterMs, problem) : retry(retryAfterMs, problem);
}

const retry = (afterMs: number | null, problem: string): Verdict => ({
  ...{ verdict: 'retry', afterMs, problem },
});

/** The verdict on an answer of 429: no attempt, if it says when to come again. */
export function tooMuch(afterMs: number | null, problem: string): Verdict {
  return afterMs === null ? retry(null, problem) : { verdict: 'wait', afterMs, problem };
}

/** A call without an answer is tried again, whatever kept it. */
export function unanswered({ kind, problem }: OutgoingFailure): Verdict {
  if (kind === 'busy') return { verdict: 'busy', problem };
  return { verdict: 'retry', afterMs: null, problem };
}

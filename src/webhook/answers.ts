/**
 * Answers of receivers of webhooks: Standard Webhooks, "Delivery success and failure". Only 2xx is
 * a success; 410 disables the webhook; every other answer leads to a retry.
 */

import type { AttemptVerdict } from '../core/outbox/carrier.ts';
import { type OutgoingAnswer, OutgoingFailure } from '../outgoing/call.ts';

interface AnswerRow {
  /** Statuses, both included. */
  from: number;
  to: number;
  /** `wait` without a `Retry-After` is `retry`. */
  verdict: 'accepted' | 'retry' | 'wait' | 'dead';
  /** The meaning of the answer, and the remedy if there is one. */
  about: string;
}

const row = (
  from: number,
  to: number,
  verdict: AnswerRow['verdict'],
  about: string,
): AnswerRow => ({ from, to, verdict, about });

const REDIRECT = 'a redirect, which is not followed: set the URL that it points to';

/** The first row that fits applies. */
export const WEBHOOK_ANSWERS: readonly AnswerRow[] = [
  row(200, 299, 'accepted', 'the event has arrived'),
  row(300, 399, 'retry', REDIRECT),
  row(401, 401, 'retry', 'it asks for a login besides the signature'),
  row(403, 403, 'retry', 'it refuses the call'),
  row(404, 404, 'retry', 'there is nothing at this URL'),
  row(405, 405, 'retry', 'it does not accept POST at this URL'),
  row(410, 410, 'dead', 'it wants no further events'),
  row(413, 413, 'retry', 'the event is too large for it'),
  row(415, 415, 'retry', 'it does not accept JSON'),
  row(429, 429, 'wait', 'it wants fewer calls'),
  row(400, 499, 'retry', 'it does not understand the call'),
  row(502, 504, 'retry', 'it is overloaded, or does not run behind its proxy'),
  row(500, 599, 'retry', 'it has an internal fault'),
];

/** Returns the verdict on a call of a receiver. */
export function classifyAnswer(answer: OutgoingAnswer | OutgoingFailure): AttemptVerdict {
  if (answer instanceof OutgoingFailure) return verdictOfFailure(answer);
  const { status, retryAfterMs } = answer;
  const found = WEBHOOK_ANSWERS.find(({ from, to }) => status >= from && status <= to);
  const problem = `the receiver answered ${status}: ${found?.about ?? 'this is no HTTP answer'}`;
  if (found?.verdict === 'accepted') return { verdict: 'accepted' };
  if (found?.verdict === 'dead') return { verdict: 'dead', problem };
  if (found?.verdict === 'wait') return verdictOfExcess(retryAfterMs, problem);
  return { verdict: 'retry', afterMs: retryAfterMs, problem };
}

/**
 * Returns the verdict on an answer of 429: it does not count as an attempt if it has the time of
 * the next one.
 */
export function verdictOfExcess(afterMs: number | null, problem: string): AttemptVerdict {
  if (afterMs === null) return { verdict: 'retry', afterMs, problem };
  return { verdict: 'wait', afterMs, problem };
}

/** Returns the verdict on a call without an answer. */
export function verdictOfFailure({ kind, problem }: OutgoingFailure): AttemptVerdict {
  if (kind === 'busy') return { verdict: 'busy', problem };
  return { verdict: 'retry', afterMs: null, problem };
}

/**
 * Answers of the Telegram Bot API ("Making requests"): `ok`, or an `error_code`, a `description` in
 * English, and for some errors `parameters`.
 */

import { isRecord, readJsonObject } from '../../core/json-input.ts';
import type { AttemptVerdict } from '../../core/outbox/carrier.ts';
import { isRefused } from '../../core/outcome.ts';
import { type OutgoingAnswer, OutgoingFailure } from '../../outgoing/call.ts';
import { verdictOfExcess, verdictOfFailure } from '../answers.ts';
import { problemOf, rowOf } from './errors.ts';

/** Bounds of an answer, which repeats the message; a truncated answer would be invalid JSON. */
export const ANSWER_BOUNDS = { bytesMax: 65_536, valuesMax: 1000 } as const;

interface TelegramError {
  code: number;
  description: string;
  retryAfterMs: number | null;
  /** The new id of the chat. */
  movedTo: number | null;
}

/** `isOfButton`: the message may be accepted without its button. */
export type TelegramVerdict = AttemptVerdict & { isOfButton?: true };

/** Returns the verdict on a call of `sendMessage`. */
export function classifyTelegram(answer: OutgoingAnswer | OutgoingFailure): TelegramVerdict {
  if (answer instanceof OutgoingFailure) return verdictOfFailure(answer);
  const body = readBody(answer);
  if (body === 'ok') return { verdict: 'accepted' };
  if (body === null) {
    const problem = `the endpoint of Telegram answered ${answer.status}, but not like the Bot API`;
    return { verdict: 'retry', afterMs: answer.retryAfterMs, problem };
  }
  const { code, description, movedTo, retryAfterMs } = body;
  const row = rowOf(code, description);
  const problem = problemOf(code, description, row);
  if (movedTo !== null) {
    return { verdict: 'dead', problem: `${problem}: ${movedTo}`, movedTo: `${movedTo}` };
  }
  const verdict = row?.verdict ?? 'retry';
  if (verdict === 'wait') return verdictOfExcess(retryAfterMs, problem);
  if (verdict === 'retry') return { verdict, afterMs: retryAfterMs, problem };
  if (verdict === 'bare') return { verdict: 'failed', problem, isOfButton: true };
  return { verdict: verdict === 'follow' ? 'dead' : verdict, problem };
}

/** Reads an answer; null: it is none of the Bot API. */
function readBody({ status, text, retryAfterMs }: OutgoingAnswer): 'ok' | TelegramError | null {
  const body = readJsonObject(text, ANSWER_BOUNDS, 'the answer');
  if (isRefused(body)) return null;
  if (body['ok'] === true) return status >= 200 && status <= 299 ? 'ok' : null;
  const code = body['error_code'];
  if (typeof code !== 'number') return null;
  const parameters = isRecord(body['parameters']) ? body['parameters'] : {};
  const seconds = wholeOf(parameters['retry_after']);
  return {
    code,
    description: String(body['description'] ?? ''),
    retryAfterMs: seconds === null || seconds < 0 ? retryAfterMs : seconds * 1000,
    movedTo: wholeOf(parameters['migrate_to_chat_id']),
  };
}

function wholeOf(value: unknown): number | null {
  return Number.isSafeInteger(value) ? (value as number) : null;
}

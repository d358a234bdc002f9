/**
 * Answers of the Telegram Bot API ("Making requests"): `ok`, or an `error_code`, a `description` in
 * English, and for some errors `parameters`.
 */

import { isRecord, readJsonObject } from '../../core/json-input.ts';
import type { Verdict } from '../../core/outbox/carrier.ts';
import { isRefused } from '../../core/outcome.ts';
import { type OutgoingAnswer, OutgoingFailure } from '../../outgoing/call.ts';
import { verdictOfExcess, verdictOfFailure } from '../answers.ts';

interface ErrorRow {
  code: number;
  /** Part of the description, for codes of several errors; null: any. */
  description: RegExp | null;
  verdict: Exclude<Verdict['verdict'], 'accepted' | 'busy'>;
  /** The meaning of the error, and the remedy if there is one. */
  about: string;
}

const row = (
  code: number,
  description: RegExp | null,
  verdict: ErrorRow['verdict'],
  about: string,
): ErrorRow => ({ code, description, verdict, about });

const NO_SUCH_CHAT = /chat not found|user not found|peer_id_invalid|chat_id is empty|deactivated/i;
const NO_RIGHTS = /not enough rights|chat_write_forbidden|need administrator rights/i;
const MOVED = 'the group became a supergroup, which has another id';

/** The first row that fits applies. */
export const TELEGRAM_ERRORS: readonly ErrorRow[] = [
  row(401, null, 'credentials', 'the token of the bot is wrong, or was revoked'),
  // The token is in the path, so a malformed one leads to no endpoint.
  row(404, null, 'credentials', 'the token of the bot is wrong'),
  row(403, /blocked by the user/i, 'dead', 'the user has blocked the bot'),
  row(403, /initiate conversation/i, 'dead', 'the user has to write to the bot first'),
  row(403, /kicked|not a member/i, 'dead', 'the bot is no member of the chat'),
  row(403, null, 'dead', 'the bot may not write to the chat'),
  row(400, /upgraded to a supergroup/i, 'dead', MOVED),
  row(400, NO_SUCH_CHAT, 'dead', 'there is no such chat, or the bot never was in it'),
  row(400, NO_RIGHTS, 'dead', 'the bot may not write to the chat'),
  row(400, null, 'failed', 'Telegram rejects this text'),
  row(429, null, 'wait', 'Telegram wants fewer messages'),
];

/** Bounds of an answer, which repeats the message; a truncated answer would be invalid JSON. */
export const ANSWER_BOUNDS = { bytesMax: 65_536, valuesMax: 1000 } as const;

interface TelegramError {
  code: number;
  description: string;
  retryAfterMs: number | null;
  /** The new id of the chat. */
  movedTo: number | null;
}

/** Returns the verdict on a call of `sendMessage`. */
export function judgeTelegram(answer: OutgoingAnswer | OutgoingFailure): Verdict {
  if (answer instanceof OutgoingFailure) return verdictOfFailure(answer);
  const body = readBody(answer);
  if (body === 'ok') return { verdict: 'accepted' };
  if (body === null) {
    const problem = `the endpoint of Telegram answered ${answer.status}, but not like the Bot API`;
    return { verdict: 'retry', afterMs: answer.retryAfterMs, problem };
  }
  const found = TELEGRAM_ERRORS.find(
    ({ code, description }) =>
      code === body.code && (description === null || description.test(body.description)),
  );
  const moved = body.movedTo === null ? '' : `: ${body.movedTo}`;
  const about =
    found?.about ?? (body.code >= 500 ? 'it has an internal fault' : 'it did not say why');
  const problem = `Telegram answered ${body.code}: ${about}${moved}`;
  const verdict = found?.verdict ?? 'retry';
  if (body.movedTo !== null) return { verdict: 'dead', problem, movedTo: `${body.movedTo}` };
  if (verdict === 'wait') return verdictOfExcess(body.retryAfterMs, problem);
  return verdict === 'retry'
    ? { verdict, afterMs: body.retryAfterMs, problem }
    : { verdict, problem };
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

/**
 * Answers of the Telegram Bot API ("Making requests"): `ok`, else an `error_code`, a `description`
 * for people, and sometimes `parameters`.
 */

import { isRecord, readJsonObject } from '../../core/json-input.ts';
import type { Verdict } from '../../core/outbox/carrier.ts';
import { isRefused } from '../../core/outcome.ts';
import { type OutgoingAnswer, OutgoingFailure } from '../../outgoing/call.ts';
import { tooMuch, unanswered } from '../answers.ts';

interface ErrorRow {
  code: number;
  /** Part of the description, for codes that stand for many things. */
  description?: RegExp;
  verdict: Exclude<Verdict['verdict'], 'accepted' | 'busy'>;
  /** The meaning of the error, and the mend if there is one. */
  about: string;
}

/** One row for each kind of error; the first that fits counts. */
export const TELEGRAM_ERRORS: readonly ErrorRow[] = [
  { code: 401, verdict: 'credentials', about: 'the token of the bot is wrong, or was revoked' },
  // The path holds the token: what is no token leads nowhere.
  { code: 404, verdict: 'credentials', about: 'the token of the bot is wrong' },
  {
    code: 403,
    description: /blocked by the user/i,
    verdict: 'dead',
    about: 'the user has blocked the bot',
  },
  {
    code: 403,
    description: /initiate conversation/i,
    verdict: 'dead',
    about: 'the user has to write to the bot first',
  },
  {
    code: 403,
    description: /kicked|not a member/i,
    verdict: 'dead',
    about: 'the bot is no member of the chat',
  },
  { code: 403, verdict: 'dead', about: 'the bot may not write to the chat' },
  {
    code: 400,
    description: /upgraded to a supergroup/i,
    verdict: 'dead',
    about: 'the group became a supergroup, which has another id',
  },
  {
    code: 400,
    description: /chat not found|user not found|peer_id_invalid|chat_id is empty|deactivated/i,
    verdict: 'dead',
    about: 'there is no such chat, or the bot never was in it',
  },
  {
    code: 400,
    description: /not enough rights|chat_write_forbidden|need administrator rights/i,
    verdict: 'dead',
    about: 'the bot may not write to the chat',
  },
  { code: 400, verdict: 'failed', about: 'Telegram does not take this text' },
  { code: 429, verdict: 'wait', about: 'Telegram wants fewer messages' },
];

/** An answer repeats the message, of which its beginning would not do: it is read as JSON. */
export const ANSWER_BOUNDS = { bytesMax: 65_536, valuesMax: 1000 } as const;

interface TelegramError {
  code: number;
  description: string;
  retryAfterMs: number | null;
  /** The id of the chat from now on. */
  movedTo: number | null;
}

/** The verdict on an answer to `sendMessage`, or on the lack of one. */
export function judgeTelegram(answer: OutgoingAnswer | OutgoingFailure): Verdict {
  if (answer instanceof OutgoingFailure) return unanswered(answer);
  const body = readBody(answer);
  if (body === 'ok') return { verdict: 'accepted' };
  if (body === null) {
    const problem = `the endpoint of Telegram answered ${answer.status}, and not as the Bot API does`;
    return { verdict: 'retry', afterMs: answer.retryAfterMs, problem };
  }
  const row = TELEGRAM_ERRORS.find(
    ({ code, description }) =>
      code === body.code && (description === undefined || description.test(body.description)),
  );
  const moved = body.movedTo === null ? '' : `: ${body.movedTo}`;
  const about =
    row?.about ?? (body.code >= 500 ? 'it has a fault of its own' : 'it did not say why');
  const problem = `Telegram answered ${body.code}: ${about}${moved}`;
  const verdict = row?.verdict ?? 'retry';
  if (body.movedTo !== null) return { verdict: 'dead', problem, movedTo: `${body.movedTo}` };
  if (verdict === 'wait') return tooMuch(body.retryAfterMs, problem);
  return verdict === 'retry'
    ? { verdict, afterMs: body.retryAfterMs, problem }
    : { verdict, problem };
}

/** Null: whoever answered is not Telegram. */
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

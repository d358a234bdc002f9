/** Tables of answers: each row by an answer of its kind. */

import { describe, expect, test } from 'bun:test';
import { type OutgoingAnswer, OutgoingFailure } from '../../src/outgoing/call.ts';
import { classifyAnswer, WEBHOOK_ANSWERS } from '../../src/webhook/answers.ts';
import { classifyTelegram } from '../../src/webhook/telegram/answers.ts';
import { TELEGRAM_ERRORS } from '../../src/webhook/telegram/errors.ts';

const answer = (status: number, text = '', retryAfterMs: number | null = null): OutgoingAnswer => ({
  status,
  header: () => null,
  text,
  isWhole: true,
  retryAfterMs,
});

describe('a receiver of webhooks', () => {
  const VERDICTS: Readonly<Record<number, string>> = {
    200: 'accepted',
    299: 'accepted',
    410: 'dead',
  };
  const all = Array.from({ length: 500 }, (_, n) => 100 + n);

  test('of all statuses, 2xx alone succeeds and 410 alone ends', () => {
    for (const status of all) {
      const isGood = status >= 200 && status <= 299;
      const verdict = isGood ? 'accepted' : (VERDICTS[status] ?? 'retry');
      expect([status, classifyAnswer(answer(status)).verdict as string]).toEqual([status, verdict]);
    }
  });

  test('every row of the table is reached, and says more than the status', () => {
    const problems = all
      .map((status) => classifyAnswer(answer(status)))
      .flatMap((verdict) => ('problem' in verdict ? [verdict.problem.replace(/\d{3}/, '')] : []));
    const told = WEBHOOK_ANSWERS.filter(({ verdict }) => verdict !== 'accepted').map(
      ({ about }) => `the receiver answered : ${about}`,
    );
    expect(told.filter((problem) => !problems.includes(problem))).toEqual([]);
  });

  test('may say when it wants to be asked again', () => {
    expect(classifyAnswer(answer(503, '', 7_000))).toMatchObject({
      verdict: 'retry',
      afterMs: 7_000,
    });
    expect(classifyAnswer(answer(429, '', 7_000))).toMatchObject({
      verdict: 'wait',
      afterMs: 7_000,
    });
    expect(classifyAnswer(answer(429))).toMatchObject({ verdict: 'retry', afterMs: null });
  });

  test('that gives no answer is asked again', () => {
    const failure = new OutgoingFailure('timeout', 'bot.example.com did not answer in time');
    expect(classifyAnswer(failure)).toEqual({
      verdict: 'retry',
      afterMs: null,
      problem: 'bot.example.com did not answer in time',
    });
  });
});

describe('Telegram', () => {
  const refused = (code: number, description: string, parameters?: object) =>
    answer(code, JSON.stringify({ ok: false, error_code: code, description, parameters }));

  const DESCRIPTIONS: [number, string, string][] = [
    [400, 'Bad Request: chat not found', 'dead'],
    [400, 'Bad Request: user not found', 'dead'],
    [400, 'Bad Request: PEER_ID_INVALID', 'dead'],
    [400, 'Bad Request: group is deactivated', 'dead'],
    [400, 'Bad Request: group chat was upgraded to a supergroup chat', 'dead'],
    [400, 'Bad Request: not enough rights to send text messages to the chat', 'dead'],
    [400, 'Bad Request: need administrator rights in the channel chat', 'dead'],
    [400, 'Bad Request: CHAT_WRITE_FORBIDDEN', 'dead'],
    [400, "Bad Request: can't parse entities", 'failed'],
    [401, 'Unauthorized', 'credentials'],
    [403, 'Forbidden: bot was blocked by the user', 'dead'],
    [403, 'Forbidden: bot was kicked from the supergroup chat', 'dead'],
    [403, 'Forbidden: bot is not a member of the channel chat', 'dead'],
    [403, "Forbidden: bot can't initiate conversation with a user", 'dead'],
    [403, 'Forbidden: user is deactivated', 'dead'],
    [403, 'Forbidden: the group chat was deleted', 'dead'],
    [403, 'Forbidden: something new', 'dead'],
    [400, 'Bad Request: TOPIC_CLOSED', 'dead'],
    [400, 'Bad Request: TOPIC_DELETED', 'dead'],
    [400, 'Bad Request: message thread not found', 'dead'],
    [400, 'Bad Request: CHAT_RESTRICTED', 'dead'],
    [400, 'Bad Request: CHAT_SEND_PLAIN_FORBIDDEN', 'dead'],
    [400, 'Bad Request: have no write access to the chat', 'dead'],
    [400, 'Bad Request: CHANNEL_PRIVATE', 'dead'],
    [400, 'Bad Request: ALLOW_PAYMENT_REQUIRED_5', 'dead'],
    [400, 'Bad Request: FROZEN_METHOD_INVALID', 'dead'],
    [400, "Bad Request: inline keyboard button URL 'x' is invalid: Wrong HTTP URL", 'failed'],
    [400, 'Bad Request: BUTTON_URL_INVALID', 'failed'],
    [400, 'Bad Request: message was not sent', 'retry'],
    [400, 'Bad Request: PEER_FLOOD', 'retry'],
    [400, 'Bad Request: message is too long', 'failed'],
    [400, 'Bad Request: SOMETHING_NEW', 'failed'],
    [413, 'Request Entity Too Large', 'failed'],
    [421, 'Misdirected Request: unallowed token specified', 'credentials'],
    [404, 'Not Found', 'credentials'],
    [409, 'Conflict', 'retry'],
    [429, 'Too Many Requests: retry after 5', 'retry'],
    [500, 'Internal Server Error', 'retry'],
  ];
  test.each(DESCRIPTIONS)('%d %s: %s', (code, description, verdict) => {
    expect(classifyTelegram(refused(code, description)).verdict as string).toBe(verdict);
  });

  test('every row of the table is reached', () => {
    const problems = DESCRIPTIONS.map(([code, description]) =>
      JSON.stringify(classifyTelegram(refused(code, description))),
    ).join('\n');
    const missing = TELEGRAM_ERRORS.filter(({ about }) => !problems.includes(about));
    expect(missing).toEqual([]);
  });

  test('every text of a row leads to it, and each that ends something has a remedy', () => {
    for (const { code, texts, about, remedy, verdict } of TELEGRAM_ERRORS) {
      for (const text of texts) {
        const { problem } = classifyTelegram(refused(code, `Bad Request: ${text}`)) as {
          problem: string;
        };
        expect([text, problem.includes(about)]).toEqual([text, true]);
        const isTold = verdict === 'retry' || verdict === 'wait' || problem.includes(remedy);
        expect([text, isTold]).toEqual([text, true]);
      }
    }
  });

  test('an error that the table does not know is named, if Telegram has a name for it', () => {
    expect(classifyTelegram(refused(400, 'Bad Request: SOMETHING_NEW'))).toEqual({
      verdict: 'failed',
      problem:
        'Telegram answered 400: Telegram rejects this message (SOMETHING_NEW): look at the chat and the bot',
    });
  });

  test('says when to come back in its answer, or in the header', () => {
    const told = refused(429, 'Too Many Requests', { retry_after: 35 });
    expect(classifyTelegram(told)).toMatchObject({ afterMs: 35_000 });
    const headed = { ...refused(429, 'Too Many Requests'), retryAfterMs: 4_000 };
    expect(classifyTelegram(headed)).toMatchObject({ afterMs: 4_000 });
    const odd = refused(429, 'Too Many Requests', { retry_after: -1 });
    expect(classifyTelegram(odd)).toMatchObject({ afterMs: null });
  });

  test('names the id that a group has from now on', () => {
    const moved = refused(400, 'Bad Request: group chat was upgraded to a supergroup chat', {
      migrate_to_chat_id: -1009876543210,
    });
    expect(classifyTelegram(moved)).toEqual({
      verdict: 'dead',
      movedTo: '-1009876543210',
      problem:
        'Telegram answered 400: the group became a supergroup, which has another id: set the new id as the chat: -1009876543210',
    });
  });

  test('nothing that it says of itself comes into a problem', () => {
    const problem = JSON.stringify(classifyTelegram(refused(400, 'Bad Request: s3cret of a bot')));
    expect(problem).not.toContain('s3cret');
  });

  test('what is no answer of the Bot API is tried again', () => {
    for (const text of ['', '<html>', '[]', '{}', '{"ok":false}', '{"ok":"true"}']) {
      expect([text, classifyTelegram(answer(200, text)).verdict]).toEqual([text, 'retry']);
    }
    expect(classifyTelegram(answer(200, '{"ok":true}'))).toEqual({ verdict: 'accepted' });
    expect(classifyTelegram(answer(500, '{"ok":true}')).verdict).toBe('retry');
  });
});

/**
 * Errors of `sendMessage`: a code and a description in English. The Bot API words some errors
 * itself, and hands others on as names in capitals (`TOPIC_CLOSED`).
 */

import type { AttemptVerdict } from '../../core/outbox/carrier.ts';

interface ErrorRow {
  code: number;
  /** Texts of the description; the first is the example of the documents. Empty: any. */
  texts: readonly string[];
  /** `follow`: the answer has the new id of the chat. `bare`: sent again without its button. */
  verdict: Exclude<AttemptVerdict['verdict'], 'accepted' | 'busy'> | 'follow' | 'bare';
  /** The meaning of the error. */
  about: string;
  /** The remedy. */
  remedy: string;
}

const row = (
  code: number,
  texts: readonly string[],
  verdict: ErrorRow['verdict'],
  about: string,
  remedy: string,
): ErrorRow => ({ code, texts, verdict, about, remedy });

const ANOTHER_TOKEN = 'set the token of a bot that works';
const ANOTHER_CHAT = 'set another chat';
const RIGHTS = 'give the bot the right to send messages, in a channel as an administrator';
const NONE = 'none is needed';
const REPORT = 'report this text as a fault of Gatepost';

/** The first row whose code and one of whose texts fit applies. */
export const TELEGRAM_ERRORS: readonly ErrorRow[] = [
  row(401, [], 'credentials', 'the token of the bot is wrong, or was revoked', ANOTHER_TOKEN),
  // The token is in the path, so a malformed one leads to no endpoint.
  row(404, [], 'credentials', 'the token of the bot is wrong', ANOTHER_TOKEN),
  row(
    421,
    [],
    'credentials',
    'this Bot API server does not serve the bot',
    'correct webhook.telegram_endpoint, or the token',
  ),
  row(
    ...([403, ['bot was blocked by the user'], 'dead'] as const),
    ...(['the user has blocked the bot', 'unblock the bot, or set another chat'] as const),
  ),
  row(
    ...([403, ["bot can't initiate conversation with a user"], 'dead'] as const),
    ...(['the user has to write to the bot first', 'write to the bot'] as const),
  ),
  row(
    403,
    ['user is deactivated', 'the group chat was deleted'],
    'dead',
    'the account or the group was deleted',
    ANOTHER_CHAT,
  ),
  row(
    403,
    ['bot was kicked from the group chat', 'was kicked from', 'is not a member of'],
    'dead',
    'the bot is no member of the chat',
    'add the bot to the chat again',
  ),
  row(403, [], 'dead', 'the bot may not write to the chat', RIGHTS),
  row(
    400,
    ['group chat was upgraded to a supergroup chat'],
    'follow',
    'the group became a supergroup, which has another id',
    'set the new id as the chat',
  ),
  row(
    400,
    [
      ...['chat not found', 'user not found', 'PEER_ID_INVALID', 'CHAT_ID_INVALID'],
      ...['CHANNEL_INVALID', 'chat_id is empty', 'chat identifier', 'USER_DELETED'],
      ...['is deactivated', 'USER_IS_BOT', 'USER_BOT_INVALID'],
    ],
    'dead',
    'there is no such chat, or the bot never was in it',
    'add the bot to the chat, or set another chat',
  ),
  row(
    400,
    ['TOPIC_CLOSED', "can't access the topic"],
    'dead',
    'the topic is closed',
    'open it again, or let the bot manage topics',
  ),
  row(
    400,
    ['message thread not found', 'TOPIC_DELETED', 'TOPIC_ID_INVALID'],
    'dead',
    'the group has no such topic',
    'set another topic behind the chat, or none',
  ),
  row(
    400,
    [
      ...['not enough rights to send text messages to the chat', 'have no rights to send'],
      ...['not enough rights', 'CHAT_WRITE_FORBIDDEN', 'need administrator rights'],
      ...['CHAT_SEND_PLAIN_FORBIDDEN', 'CHAT_ADMIN_REQUIRED', 'CHAT_RESTRICTED'],
      ...['USER_BANNED_IN_CHANNEL', 'USER_RESTRICTED', 'CHAT_GUEST_SEND_FORBIDDEN'],
    ],
    'dead',
    'the bot may not write to the chat',
    RIGHTS,
  ),
  row(
    400,
    [
      ...['have no write access to the chat', 'CHANNEL_PRIVATE', 'CHANNEL_PUBLIC_GROUP_NA'],
      ...["can't access the chat", 'have no access to the chat', 'YOU_BLOCKED_USER'],
    ],
    'dead',
    'the bot has no access to the chat',
    'add the bot to the chat again',
  ),
  row(
    400,
    [
      ...['ALLOW_PAYMENT_REQUIRED', 'BALANCE_TOO_LOW', 'PRIVACY_PREMIUM_REQUIRED'],
      ...['PREMIUM_ACCOUNT_REQUIRED', 'PAYMENT_UNSUPPORTED'],
    ],
    'dead',
    'the chat takes paid messages alone',
    'make the bot an administrator, or set another chat',
  ),
  row(
    400,
    ['FROZEN_METHOD_INVALID', 'USER_DEACTIVATED_BAN'],
    'dead',
    'Telegram has frozen the bot',
    'ask @BotFather why, or set the token of another bot',
  ),
  row(
    400,
    ['inline keyboard button', 'BUTTON_URL_INVALID', 'BUTTON_', 'REPLY_MARKUP', 'reply markup'],
    'bare',
    'Telegram rejects the address of the console in the button',
    'set my.url to a public address',
  ),
  row(
    400,
    [
      ...['message was not sent', 'message send failed', 'group send failed', 'PEER_FLOOD'],
      ...['SLOWMODE_WAIT', 'FLOOD_WAIT', 'RANDOM_ID_DUPLICATE', 'MSG_WAIT_FAILED'],
    ],
    'retry',
    'Telegram could not send the message now',
    NONE,
  ),
  row(
    400,
    [
      ...["can't parse entities", 'ENTITY_', 'ENTITIES_', 'message is too long'],
      ...['MESSAGE_TOO_LONG', 'text is too long', 'message text is empty', 'MESSAGE_EMPTY'],
      'must be encoded in UTF-8',
    ],
    'failed',
    'Telegram rejects this text',
    REPORT,
  ),
  row(413, [], 'failed', 'the text is too large for Telegram', REPORT),
  row(400, [], 'failed', 'Telegram rejects this message', 'look at the chat and the bot'),
  row(429, [], 'wait', 'Telegram wants fewer messages', NONE),
];

/** An error of Telegram without a sentence. */
const NAME = /^(?:Bad Request: )?([A-Z][A-Z0-9_]{3,63})$/;

/** Returns the row of an error; null: there is none, and the message is sent again. */
export function rowOf(code: number, description: string): ErrorRow | null {
  const given = description.toLowerCase();
  const fits = (text: string) => given.includes(text.toLowerCase());
  const found = TELEGRAM_ERRORS.find(
    (one) => one.code === code && (one.texts.length === 0 || one.texts.some(fits)),
  );
  return found ?? null;
}

/** Returns the sentence about an error. Of its description it has a name in capitals alone. */
export function problemOf(code: number, description: string, row: ErrorRow | null): string {
  const begin = `Telegram answered ${code}: `;
  if (row === null)
    return begin + (code >= 500 ? 'it has an internal fault' : 'it did not say why');
  const name = row.texts.length === 0 ? (NAME.exec(description)?.[1] ?? null) : null;
  const about = name === null ? row.about : `${row.about} (${name})`;
  return begin + (row.remedy === NONE ? about : `${about}: ${row.remedy}`);
}

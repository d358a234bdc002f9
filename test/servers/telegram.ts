/** A strict Bot API of Telegram, as far as `sendMessage` goes. */

import {
  type Answer,
  type Exchange,
  isRecord,
  json,
  type Outcome,
  type Service,
  undelivered,
  Violation,
} from './exchange.ts';

export interface TelegramConfig {
  botToken: string;
  chat: string;
}

/** Refusals by a name of ours, in the words of the Bot API. */
const REFUSALS: Record<string, [status: number, description: string]> = {
  'chat-not-found': [400, 'Bad Request: chat not found'],
  'topic-closed': [400, 'Bad Request: TOPIC_CLOSED'],
  'topic-missing': [400, 'Bad Request: message thread not found'],
  'bad-button': [
    400,
    "Bad Request: inline keyboard button URL 'https://x/' is invalid: Wrong HTTP URL",
  ],
  'cannot-parse': [400, "Bad Request: can't parse entities: Unsupported start tag"],
  unauthorized: [401, 'Unauthorized'],
  blocked: [403, 'Forbidden: bot was blocked by the user'],
  kicked: [403, 'Forbidden: bot was kicked from the group chat'],
  'not-found': [404, 'Not Found'],
  'too-many': [429, 'Too Many Requests: retry after 1'],
  internal: [500, 'Internal Server Error'],
  'bad-gateway': [502, 'Bad Gateway'],
};
const BY_STATUS: Record<string, string> = {
  400: 'chat-not-found',
  401: 'unauthorized',
  403: 'blocked',
  404: 'not-found',
  429: 'too-many',
  500: 'internal',
  502: 'bad-gateway',
};
/** A group that became the supergroup of the configuration. */
export const FORMER_CHAT = '-4001';
const PATH = /^\/bot([^/]+)\/(\w+)$/;
const FIELDS = new Set(
  'chat_id message_thread_id text parse_mode entities link_preview_options disable_notification protect_content reply_parameters reply_markup disable_web_page_preview'.split(
    ' ',
  ),
);
/** Tags that the Bot API knows in HTML, closed in the right order. */
const TAGS = 'b|strong|i|em|u|ins|s|strike|del|code|pre|blockquote|tg-spoiler|a';
const TAG = new RegExp(`<(/?)(${TAGS})((?: href="[^"<>]*")?(?: expandable)?)>`, 'y');
const ENTITY = /&(?:lt|gt|amp|quot|#\d{1,7}|#x[0-9a-fA-F]{1,6});/y;
const TEXT_LENGTH_MAX = 4096;

export class TelegramService implements Service {
  #sent = 0;

  constructor(private readonly config: TelegramConfig) {}

  refusal(name: string): Answer {
    const found = REFUSALS[BY_STATUS[name] ?? name];
    if (found === undefined) throw new Error(`Telegram never answers ${name}`);
    const [status, description] = found;
    const more = status === 429 ? { parameters: { retry_after: 1 } } : {};
    return json(status, { ok: false, error_code: status, description, ...more });
  }

  handle({ method, path, headers, body }: Exchange): Outcome {
    const wrong = (status: number, why: string) =>
      new Violation(
        json(status, { ok: false, error_code: status, description: `Bad Request: ${why}` }),
        why,
      );
    const [, token, verb] = PATH.exec(path) ?? [];
    if (token === undefined || verb !== 'sendMessage') throw wrong(404, 'an unknown path');
    if (method !== 'POST') throw wrong(405, method);
    if (token !== this.config.botToken) return undelivered(this.refusal('unauthorized'));
    if (!headers['content-type']?.startsWith('application/json')) {
      throw wrong(400, `content-type ${headers['content-type']}`);
    }
    const request: unknown = JSON.parse(body.toString('utf8'));
    if (!isRecord(request)) throw wrong(400, 'no JSON object');
    const unknown = Object.keys(request).find((name) => !FIELDS.has(name));
    if (unknown !== undefined) throw wrong(400, `an unknown field ${unknown}`);
    const { chat_id: chat, text, parse_mode: mode } = request;
    if (typeof text !== 'string' || text.trim() === '') throw wrong(400, 'message text is empty');
    const plain = mode === 'HTML' ? plainText(text) : { text };
    if ('problem' in plain) throw wrong(400, `can't parse entities: ${plain.problem}`);
    if (plain.text.length > TEXT_LENGTH_MAX) throw wrong(400, 'message is too long');
    if (String(chat) === FORMER_CHAT) {
      const description = 'Bad Request: group chat was upgraded to a supergroup chat';
      const parameters = { migrate_to_chat_id: Number(this.config.chat) };
      return undelivered(json(400, { ok: false, error_code: 400, description, parameters }));
    }
    if (String(chat) !== this.config.chat) return undelivered(this.refusal('chat-not-found'));
    this.#sent += 1;
    const result = { message_id: this.#sent, chat: { id: chat }, text: plain.text };
    return {
      answer: json(200, { ok: true, result }),
      to: String(chat),
      // A message to a chat has no id of the sender's: its text tells copies.
      id: plain.text,
      content: request,
      delivers: true,
    };
  }
}

/** The text of the Bot API's HTML, or what is wrong with it. */
function plainText(html: string): { text: string } | { problem: string } {
  const open: string[] = [];
  let text = '';
  for (let at = 0; at < html.length; ) {
    const next = html[at];
    if (next !== '<' && next !== '&') {
      text += next;
      at += 1;
      continue;
    }
    const rule = next === '<' ? TAG : ENTITY;
    rule.lastIndex = at;
    const found = rule.exec(html);
    if (found === null) return { problem: `at ${at}: ${html.slice(at, at + 20)}` };
    at = rule.lastIndex;
    if (next === '&') text += ' ';
    else if (found[1] === '') open.push(found[2] ?? '');
    else if (open.pop() !== found[2]) return { problem: `unmatched </${found[2]}>` };
  }
  return open.length === 0 ? { text } : { problem: `<${open[0]}> is not closed` };
}

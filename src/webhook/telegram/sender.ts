/** Sends events to Telegram chats by `sendMessage` of the Bot API. */

import type { AttemptVerdict, EventSender } from '../../core/outbox/carrier.ts';
import type { StoredEvent } from '../../core/port/event.ts';
import type { MySites } from '../../core/port/my.ts';
import type { Webhook } from '../../core/port/webhook.ts';
import { isPublicSite } from '../../core/public-site.ts';
import type { Outgoing } from '../../outgoing/outgoing.ts';
import { DELIVERY_TIMEOUT_MS } from '../standard.ts';
import { ANSWER_BOUNDS, classifyTelegram, type TelegramVerdict } from './answers.ts';
import { showLinkText, telegramText } from './text.ts';

/** Most concurrent calls to Telegram, of all bots together. */
const ORIGIN_CONCURRENCY = 16;

export interface TelegramSettings extends MySites {
  readonly telegramEndpoint: string;
}

export class TelegramSender implements EventSender {
  /** A chat accepts one message a second; one call at a time keeps the order. */
  readonly concurrency = 1;
  readonly spacingMs = 1_000;

  constructor(
    private readonly outgoing: Pick<Outgoing, 'send'>,
    private readonly settings: TelegramSettings,
    /** Returns the URL of this server for people; null: no setting names one. */
    private readonly publicUrl: () => string | null,
  ) {}

  async deliver(
    webhook: Webhook,
    event: StoredEvent,
    _nowMs: number,
    signal: AbortSignal,
  ): Promise<AttemptVerdict> {
    const { target } = webhook;
    if (target.kind !== 'telegram') return { verdict: 'failed', problem: 'not a Telegram chat' };
    const { locale, shows } = target;
    const message = {
      ...chatFields(target.chat),
      text: telegramText(event, locale, { page: pageOf(this.settings), shows }),
      parse_mode: 'HTML',
      link_preview_options: { is_disabled: true },
    };
    const url = linkInConsole(this.publicUrl(), webhook, event);
    if (url === null) return this.#send(webhook, message, signal);
    const button = { text: showLinkText(locale), url };
    const reply_markup = { inline_keyboard: [[button]] };
    const { isOfButton, ...verdict } = await this.#send(
      webhook,
      { ...message, reply_markup },
      signal,
    );
    return isOfButton ? this.#send(webhook, message, signal) : verdict;
  }

  async #send(
    { id, secret }: Webhook,
    message: object,
    signal: AbortSignal,
  ): Promise<TelegramVerdict> {
    const answer = await this.outgoing.send(
      {
        method: 'POST',
        destination: 'telegram',
        // The path contains the token; error messages contain only the host of a URL.
        url: `${this.settings.telegramEndpoint}/bot${secret}/sendMessage`,
        trust: 'operator',
        turn: `webhook ${id}`,
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(message),
        timeoutMs: DELIVERY_TIMEOUT_MS,
        answerBytesMax: ANSWER_BOUNDS.bytesMax,
        originConcurrency: ORIGIN_CONCURRENCY,
      },
      signal,
    );
    return classifyTelegram(answer);
  }
}

/** The topic General, which `sendMessage` takes without its number alone. */
const GENERAL = '1';

/** Returns the fields of `sendMessage` for a chat, and for its topic if it names one. */
function chatFields(chat: string) {
  const [id = '', topic = GENERAL] = chat.split('/');
  return { chat_id: id, ...(topic !== GENERAL && { message_thread_id: Number(topic) }) };
}

const pageOf = ({ myPath, myUrl }: MySites): string | null =>
  myPath === '' || myUrl === '' ? null : `${myUrl}${myPath}`;

/** Returns the address of an event's link in the console; null: it has none that Telegram takes. */
function linkInConsole(
  site: string | null,
  { providerCode }: Webhook,
  { data: { install_id: id } }: StoredEvent,
): string | null {
  if (site === null || !isPublicSite(site)) return null;
  if (typeof id !== 'number' || providerCode === undefined) return null;
  return `${site}/console/links?at=${providerCode}&link=${id}`;
}

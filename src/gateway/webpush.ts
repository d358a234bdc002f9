/** Web Push (RFC 8030) to the push service of a subscription; UnifiedPush uses it too. */

import { readKeys } from '../core/message/push-address.ts';
import type { AttemptVerdict, Gateway } from '../core/outbox/carrier.ts';
import type { PushContent } from '../core/port/outbox.ts';
import type { PushAddress } from '../core/port/registration.ts';
import { encrypt, PLAINTEXT_BYTES_MAX } from './aes128gcm.ts';
import { AnswerJudge } from './answer.ts';
import { fitted } from './fit.ts';
import { GATEWAY_CALL, type GatewayParts, NO_ADDRESS, ttlSeconds } from './parts.ts';
import type { VapidKey } from './vapid.ts';
import { WEBPUSH_ANSWERS } from './webpush-answers.ts';

const CONCURRENCY = 4;
/** The most push services with remembered answers. */
const ORIGINS_MAX = 1_000;

const TABLE = { service: 'the push service', rows: WEBPUSH_ANSWERS, codeOf: () => null };

export class WebPush implements Gateway {
  readonly concurrency = CONCURRENCY;
  /** By origin, in the order of use: acceptance by one service proves nothing about another. */
  readonly #answers = new Map<string, AnswerJudge>();

  constructor(
    readonly key: VapidKey,
    private readonly subject: string,
    private readonly parts: GatewayParts,
  ) {}

  async send(
    address: PushAddress,
    content: PushContent,
    signal: AbortSignal,
  ): Promise<AttemptVerdict> {
    const { token } = address;
    if (typeof token === 'string') return NO_ADDRESS;
    const keys = readKeys(token.keys.p256dh, token.keys.auth);
    const url = URL.parse(token.endpoint);
    if (keys === null || url === null) return NO_ADDRESS;
    const nowMs = this.parts.clock.nowMs();
    const answer = await this.parts.outgoing.send(
      {
        ...GATEWAY_CALL,
        destination: 'webpush',
        url: token.endpoint,
        trust: 'untrusted',
        headers: {
          authorization: await this.key.authorization(url.origin, this.subject, nowMs),
          'content-encoding': 'aes128gcm',
          'content-type': 'application/octet-stream',
          ttl: String(ttlSeconds(content, nowMs)),
          urgency: content.isUrgent ? 'high' : 'normal',
          topic: String(content.id),
        },
        body: encrypt(
          fitted(content, PLAINTEXT_BYTES_MAX, (what) => compose(what, address.page)),
          keys,
        ),
        originConcurrency: CONCURRENCY,
      },
      signal,
    );
    return this.#answersOf(url.origin).classify(answer, null);
  }

  #answersOf(origin: string): AnswerJudge {
    const found = this.#answers.get(origin) ?? new AnswerJudge(TABLE);
    this.#answers.delete(origin);
    this.#answers.set(origin, found);
    const [oldest] = this.#answers.keys();
    if (this.#answers.size > ORIGINS_MAX && oldest !== undefined) this.#answers.delete(oldest);
    return found;
  }
}

/**
 * Returns the fields that the app decrypts. A browser of a link gets the form of Declarative Web
 * Push, which its service worker reads too, so the texts are in it only once.
 */
function compose(content: PushContent, page: string | undefined): Record<string, unknown> {
  if (page !== undefined) return declared(content, page);
  const { id, kind, title, body, image, link, isUrgent, inboxMessage } = content;
  const shown = Object.entries({ title, body, link, image }).filter(([, value]) => value !== null);
  return {
    id,
    kind,
    ...Object.fromEntries(shown),
    ...(kind === 'notification' && { urgent: isUrgent }),
    ...(inboxMessage !== null && { message: JSON.parse(inboxMessage) as unknown }),
  };
}

/** The value by which a browser knows a declarative message. */
const DECLARATIVE = 8030;

function declared({ id, kind, title, body, isUrgent }: PushContent, page: string) {
  const shown = title ?? body ?? '\u2026';
  return {
    web_push: DECLARATIVE,
    // The service worker runs and acknowledges the message.
    mutable: true,
    notification: {
      title: shown,
      ...(title !== null && body !== null && { body }),
      navigate: page,
      tag: String(id),
      silent: !isUrgent,
    },
    id,
    kind,
  };
}

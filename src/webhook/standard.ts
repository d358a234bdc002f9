/** Sends events to webhooks by the Standard Webhooks specification. */

import { VERSION } from '../base/version.ts';
import type { AttemptVerdict, EventSender } from '../core/outbox/carrier.ts';
import type { StoredEvent } from '../core/port/event.ts';
import type { Webhook } from '../core/port/webhook.ts';
import type { Outgoing } from '../outgoing/outgoing.ts';
import { classifyAnswer } from './answers.ts';
import { bodyOf, messageId, signedHeaders } from './signature.ts';

/** Standard Webhooks recommends 15 to 30 s ("Request timeouts"). */
export const DELIVERY_TIMEOUT_MS = 15_000;
/** Most calls to one origin at a time. */
const ORIGIN_CONCURRENCY = 4;

/** The status suffices; but a body that is read to its end frees the connection. */
const ANSWER_BYTES_MAX = 16_384;

export class StandardSender implements EventSender {
  readonly concurrency = ORIGIN_CONCURRENCY;
  readonly spacingMs = 0;

  constructor(private readonly outgoing: Pick<Outgoing, 'send'>) {}

  async deliver(
    webhook: Webhook,
    event: StoredEvent,
    nowMs: number,
    signal: AbortSignal,
  ): Promise<AttemptVerdict> {
    const { providerId, target } = webhook;
    if (target.kind !== 'webhook') return { verdict: 'failed', problem: 'it is no URL' };
    const body = bodyOf(event);
    const answer = await this.outgoing.send(
      {
        method: 'POST',
        destination: 'webhook',
        url: target.url,
        ...(providerId === null
          ? { trust: 'operator', turn: `webhook ${webhook.id}` }
          : { trust: 'untrusted', party: `provider ${providerId}` }),
        headers: {
          'content-type': 'application/json',
          'user-agent': `Gatepost/${VERSION}`,
          ...signedHeaders(webhook, messageId(event), body, nowMs),
        },
        body,
        timeoutMs: DELIVERY_TIMEOUT_MS,
        answerBytesMax: ANSWER_BYTES_MAX,
        originConcurrency: ORIGIN_CONCURRENCY,
      },
      signal,
    );
    return classifyAnswer(answer);
  }
}

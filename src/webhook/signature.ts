/** Signatures of webhooks: Standard Webhooks, "Signature scheme" and "Webhook headers". */

import { createHmac, sign } from 'node:crypto';
import { type StoredEvent, TEST_EVENT } from '../core/port/event.ts';
import type { Webhook } from '../core/port/webhook.ts';
import { signingKey } from '../core/webhook-key.ts';

/** The body of an event: the same bytes in each attempt and each replay. */
export function bodyOf({ kind, atMs, data }: StoredEvent): string {
  return JSON.stringify({ type: kind, timestamp: new Date(atMs).toISOString(), data });
}

/**
 * The name of an event at its receiver, who drops by it what comes twice; it has no full stop. It
 * holds the time as well: after a restore another event gets a number that was sent already.
 */
export function messageId({ id, kind, atMs }: StoredEvent): string {
  return kind === TEST_EVENT ? `evt_test_${atMs}` : `evt_${id}_${atMs.toString(36)}`;
}

/**
 * The headers of one attempt at `nowMs`. The secret of before the last rotation signs too while its
 * time lasts, so that the receiver may change to the new one whenever it suits.
 */
export function signedHeaders(
  { secret, previous }: Pick<Webhook, 'secret' | 'previous'>,
  id: string,
  body: string,
  nowMs: number,
): Record<string, string> {
  const timestamp = String(Math.floor(nowMs / 1000));
  const secrets =
    previous !== null && nowMs < previous.untilMs ? [secret, previous.secret] : [secret];
  const content = `${id}.${timestamp}.${body}`;
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': secrets.map((one) => signatureOf(one, content)).join(' '),
  };
}

function signatureOf(secret: string, content: string): string {
  const { scheme, key } = signingKey(secret);
  const bytes =
    scheme === 'v1'
      ? createHmac('sha256', key).update(content).digest()
      : sign(null, Buffer.from(content), key);
  return `${scheme},${bytes.toString('base64')}`;
}

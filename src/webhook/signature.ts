/** Signatures of webhooks: Standard Webhooks, "Signature scheme" and "Webhook headers". */

import { createHmac, sign } from 'node:crypto';
import { type StoredEvent, TEST_EVENT } from '../core/port/event.ts';
import type { Webhook } from '../core/port/webhook.ts';
import { signingKey } from '../core/webhook-key.ts';

/** Returns the body of an event: the same bytes in each attempt and each replay. */
export function bodyOf({ kind, atMs, data }: StoredEvent): string {
  return JSON.stringify({ type: kind, timestamp: new Date(atMs).toISOString(), data });
}

/**
 * Returns the id by which a receiver recognises duplicates of an event; it has no full stop. The
 * time in it distinguishes events with the same number after the restore of a backup.
 */
export function messageId({ id, kind, atMs }: StoredEvent): string {
  return kind === TEST_EVENT ? `evt_test_${atMs}` : `evt_${id}_${atMs.toString(36)}`;
}

/**
 * Returns the headers of one attempt at `nowMs`. The secret from before the last rotation signs too
 * until its time is over, so that the receiver can switch at any moment.
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

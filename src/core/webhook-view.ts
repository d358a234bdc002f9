/** Webhooks in the form of lists: without secrets, also those in URLs. */

import { inSnakeCase } from './field.ts';
import type { Webhook, WebhookTarget } from './port/webhook.ts';
import { hashKey, keyFingerprint } from './secret.ts';
import { verifyingKey } from './webhook-key.ts';

/** Makes the view of a webhook; fields of the other kind of target are null. */
export function webhookView(webhook: Webhook, nowMs: number) {
  const { id, target, events, secret, previous, createdAtMs, disabled } = webhook;
  const isUrl = target.kind === 'webhook';
  return {
    id,
    kind: target.kind,
    /** The origin, as the path may be a secret; `urlFingerprint` distinguishes paths. */
    url: isUrl ? shownUrl(target.url) : null,
    urlFingerprint: isUrl ? fingerprint(target.url) : null,
    signature: isUrl ? target.scheme : null,
    /** The public key of Ed25519. */
    publicKey: isUrl && target.scheme === 'v1a' ? verifyingKey(secret) : null,
    chat: isUrl ? null : target.chat,
    /** The number of the bot, which begins its token. */
    bot: isUrl ? null : secret.replace(/:.*/s, ''),
    locale: isUrl ? null : target.locale,
    /** Facts that the texts of a chat show besides. */
    shows: isUrl ? [] : (target.shows ?? []),
    /** Kinds of events; empty: all. */
    events,
    secretFingerprint: fingerprint(secret),
    /** The time until which the old secret also signs; null: it does not. */
    previousUntilMs: previous !== null && nowMs < previous.untilMs ? previous.untilMs : null,
    createdAtMs,
    disabled,
  };
}

/** Makes the record of a webhook in lists of the API and the command line. */
export function webhookRecord(webhook: Webhook, nowMs: number, timeOf: (ms: number) => string) {
  const view = webhookView(webhook, nowMs);
  const { shows, previousUntilMs, createdAtMs, disabled, events, secretFingerprint, ...rest } =
    view;
  const time = (ms: number | null) => (ms === null ? null : timeOf(ms));
  return {
    ...inSnakeCase(rest),
    with: [...shows],
    events: [...events],
    secret_fingerprint: secretFingerprint,
    old_secret_until: time(previousUntilMs),
    created_at: timeOf(createdAtMs),
    disabled_at: time(disabled?.atMs ?? null),
    disabled_why: disabled?.why ?? null,
  };
}

/** A new secret, returned to its owner once: that of HMAC-SHA256, or the public key of Ed25519. */
interface FreshSecret {
  secret: string | null;
  publicKey: string | null;
}

/** Returns the part of a new secret by which receivers verify; none for the token of a bot. */
export function freshSecret(target: WebhookTarget, secret: string): FreshSecret {
  if (target.kind !== 'webhook') return { secret: null, publicKey: null };
  return target.scheme === 'v1a'
    ? { secret: null, publicKey: verifyingKey(secret) }
    : { secret, publicKey: null };
}

/** Returns the origin of a URL, with a mark if it has a path or a query. */
export function shownUrl(url: string): string {
  const { origin, pathname, search } = new URL(url);
  return pathname === '/' && search === '' ? `${origin}/` : `${origin}/…`;
}

function fingerprint(text: string): string {
  return keyFingerprint(hashKey(text));
}

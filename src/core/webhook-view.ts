/** Webhooks as they are shown: without any secret, also not one within an address. */

import type { EventKind } from './port/event.ts';
import type { Webhook, WebhookTarget } from './port/webhook.ts';
import { hashKey, keyFingerprint } from './secret.ts';
import { verifyingKey } from './webhook-key.ts';

/** Fields of the other kind of target are null. */
export interface WebhookView {
  id: number;
  kind: 'webhook' | 'telegram';
  /** Its origin, as the path may be a secret; with `urlFingerprint` it tells one from another. */
  url: string | null;
  urlFingerprint: string | null;
  signature: string | null;
  /** The public half of an Ed25519 key. */
  publicKey: string | null;
  chat: string | null;
  /** The number of the bot, which begins its token. */
  bot: string | null;
  locale: string | null;
  /** Empty: all. */
  events: readonly EventKind[];
  secretFingerprint: string;
  /** The end of the time in which the old secret signs too; null: there is none. */
  previousUntilMs: number | null;
  createdAtMs: number;
  disabled: Webhook['disabled'];
}

export function webhookView(webhook: Webhook, nowMs: number): WebhookView {
  const { id, target, events, secret, previous, createdAtMs, disabled } = webhook;
  const isUrl = target.kind === 'webhook';
  return {
    id,
    kind: target.kind,
    url: isUrl ? shownUrl(target.url) : null,
    urlFingerprint: isUrl ? fingerprint(target.url) : null,
    signature: isUrl ? target.scheme : null,
    publicKey: isUrl && target.scheme === 'v1a' ? verifyingKey(secret) : null,
    chat: isUrl ? null : target.chat,
    bot: isUrl ? null : secret.replace(/:.*/s, ''),
    locale: isUrl ? null : target.locale,
    events,
    secretFingerprint: fingerprint(secret),
    previousUntilMs: previous !== null && nowMs < previous.untilMs ? previous.untilMs : null,
    createdAtMs,
    disabled,
  };
}

/** A fresh secret as its owner hears of it, this once; what is not to be shown is null. */
export interface FreshSecret {
  /** For HMAC-SHA256. */
  secret: string | null;
  /** For Ed25519, whose other half stays here. */
  publicKey: string | null;
}

/** The part of a fresh secret by which its receiver verifies; none of the token of a bot. */
export function freshSecret(target: WebhookTarget, secret: string): FreshSecret {
  if (target.kind !== 'webhook') return { secret: null, publicKey: null };
  return target.scheme === 'v1a'
    ? { secret: null, publicKey: verifyingKey(secret) }
    : { secret, publicKey: null };
}

/** The origin of a URL, with a mark if there is more behind it. */
export function shownUrl(url: string): string {
  const { origin, pathname, search } = new URL(url);
  return pathname === '/' && search === '' ? `${origin}/` : `${origin}/…`;
}

function fingerprint(text: string): string {
  return keyFingerprint(hashKey(text));
}

/** Webhooks as rows. */

import type { EventKind } from '../core/port/event.ts';
import type {
  ChatFact,
  WEBHOOK_LOCALES,
  Webhook,
  WebhookChange,
  WebhookTarget,
} from '../core/port/webhook.ts';
import { columns } from './statement-text.ts';

interface WebhookRow {
  id: number;
  providerId: number | null;
  kind: 'webhook' | 'telegram';
  address: string;
  events: string;
  scheme: 'v1' | 'v1a' | '';
  secret: string;
  previousSecret: string | null;
  previousUntilMs: number | null;
  locale: string;
  shows: string | null;
  createdAtMs: number;
  disabledAtMs: number | null;
  disabledWhy: string | null;
  /** The provider's code, in some reads. */
  providerCode?: string | null;
}

export const WEBHOOK_COLUMNS = columns(
  'webhook',
  `id, providerId, kind, address, events, scheme, secret,
  previousSecret, previousUntilMs, locale, shows, createdAtMs, disabledAtMs, disabledWhy`,
);

/** Returns a webhook after a change. */
export function changedWebhook(before: Webhook, change: WebhookChange): Webhook {
  const { rotation, ...fields } = change;
  if (!rotation) return { ...before, ...fields };
  const { secret, previousUntilMs: untilMs } = rotation;
  const previous = untilMs === null ? null : { secret: before.secret, untilMs };
  return { ...before, ...fields, secret, previous };
}

/** Returns true if a failed delivery may succeed after the change. */
export function isAnother(before: Webhook, after: Webhook): boolean {
  const [was, is] = [rowOf(before), rowOf(after)];
  const isElsewhere = was.kind !== is.kind || was.address !== is.address;
  const isSignedAnew = was.scheme !== is.scheme || was.secret !== is.secret;
  return before.disabled !== null || isElsewhere || isSignedAnew;
}

/** Reads the kinds of events that a webhook wants; empty: all. */
export const kindsIn = (events: string) =>
  events === '' ? [] : (events.split(',') as EventKind[]);

export function webhookIn(row: WebhookRow): Webhook {
  const { id, providerId, secret, createdAtMs, disabledAtMs: atMs, disabledWhy: why } = row;
  const { previousSecret: secretBefore, previousUntilMs: untilMs } = row;
  return {
    id,
    providerId,
    secret,
    createdAtMs,
    target: targetIn(row),
    events: kindsIn(row.events),
    previous: untilMs === null || secretBefore === null ? null : { secret: secretBefore, untilMs },
    disabled: atMs === null || why === null ? null : { atMs, why },
    ...(row.providerCode != null && { providerCode: row.providerCode }),
  };
}

/** Fields of the other kind are empty in a row. */
function targetIn({ kind, address, scheme, locale, shows }: WebhookRow): WebhookTarget {
  if (kind === 'telegram') {
    return {
      kind,
      chat: address,
      locale: locale as (typeof WEBHOOK_LOCALES)[number],
      ...(shows !== null && { shows: shows.split(',') as ChatFact[] }),
    };
  }
  return { kind, url: address, scheme: scheme === '' ? 'v1' : scheme };
}

export function rowOf(webhook: Webhook): WebhookRow {
  const { id, providerId, target, events, secret, previous, createdAtMs, disabled } = webhook;
  const isTelegram = target.kind === 'telegram';
  return {
    id,
    providerId,
    secret,
    createdAtMs,
    kind: target.kind,
    events: events.join(','),
    address: isTelegram ? target.chat : target.url,
    scheme: isTelegram ? '' : target.scheme,
    locale: isTelegram ? target.locale : '',
    shows: (isTelegram && target.shows?.join(',')) || null,
    previousSecret: previous?.secret ?? null,
    previousUntilMs: previous?.untilMs ?? null,
    disabledAtMs: disabled?.atMs ?? null,
    disabledWhy: disabled?.why ?? null,
  };
}

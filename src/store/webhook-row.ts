/** Webhooks as rows. */

import { each, fieldsOf, only } from '../core/field.ts';
import type { EventKind } from '../core/port/event.ts';
import type {
  ChatFact,
  WEBHOOK_LOCALES,
  Webhook,
  WebhookChange,
  WebhookTarget,
} from '../core/port/webhook.ts';
import { OWN_NAMES } from '../core/webhook-fields.ts';
import type { Row } from './row.ts';
import { columns } from './statement-text.ts';

interface WebhookRow extends Row<'webhook'> {
  /** The provider's code, in some reads. */
  providerCode?: string | null;
}

/** The columns, and what writes each: the database, the INSERT alone, or also the UPDATE. */
const COLUMNS = {
  id: 'database',
  providerId: 'insert',
  createdAtMs: 'insert',
  kind: 'update',
  address: 'update',
  ...each(OWN_NAMES, () => 'update' as const),
  scheme: 'update',
  secret: 'update',
  previousSecret: 'update',
  previousUntilMs: 'update',
  locale: 'update',
  shows: 'update',
  disabledAtMs: 'update',
  disabledWhy: 'update',
} as const satisfies Record<keyof Row<'webhook'>, 'database' | 'insert' | 'update'>;

type Written<By> = {
  [F in keyof typeof COLUMNS]: (typeof COLUMNS)[F] extends By ? F : never;
}[keyof typeof COLUMNS];

export const WEBHOOK_FIELDS = fieldsOf(COLUMNS);
export const INSERTED_FIELDS = WEBHOOK_FIELDS.filter(
  (field): field is Written<'insert' | 'update'> => COLUMNS[field] !== 'database',
);
export const UPDATED_FIELDS = WEBHOOK_FIELDS.filter(
  (field): field is Written<'update'> => COLUMNS[field] === 'update',
);

export const WEBHOOK_COLUMNS = columns('webhook', WEBHOOK_FIELDS);

/** Returns a webhook after a change. */
export function changedWebhook(before: Webhook, { rotation, ...fields }: WebhookChange): Webhook {
  if (!rotation) return { ...before, ...fields };
  const { secret, previousUntilMs: untilMs } = rotation;
  const previous = untilMs === null ? null : { secret: before.secret, untilMs };
  return { ...before, ...fields, secret, previous };
}

/** Returns true if a failed delivery may succeed after the change. */
export const isAnother = (before: Webhook, after: Webhook): boolean =>
  before.disabled !== null || isMoved(before, after);

/** Returns true if the change gives the webhook another receiver or secret. */
export function isMoved(before: Webhook, after: Webhook): boolean {
  const [was, is] = [rowOf(before), rowOf(after)];
  const isElsewhere = was.kind !== is.kind || was.address !== is.address;
  return isElsewhere || was.scheme !== is.scheme || was.secret !== is.secret;
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
    ...only(row, OWN_NAMES),
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
  const { id, providerId, target, secret, previous, createdAtMs, disabled } = webhook;
  const isTelegram = target.kind === 'telegram';
  return {
    id,
    providerId,
    secret,
    createdAtMs,
    kind: target.kind,
    ...only(webhook, OWN_NAMES),
    events: webhook.events.join(','),
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

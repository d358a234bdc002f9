/** Records in the answers of the calls about webhooks. */

import { type TSchema, Type } from '@sinclair/typebox';
import { FOLDED_EVENT, PROVIDER_EVENTS, TEST_EVENT } from '../../core/port/event.ts';
import {
  CHAT_FACTS,
  DELIVERY_STATES,
  SIGNATURE_SCHEMES,
  WEBHOOK_LOCALES,
} from '../../core/port/webhook.ts';
import type { webhookRecord } from '../../core/webhook-view.ts';
import { choice, RecordId, text, WireTime } from './params.ts';

/** Returns the schema of a field that may be null. */
export const nullable = <S extends TSchema>(schema: S, description?: string) =>
  Type.Union([schema, Type.Null()], { examples: [null], ...(description && { description }) });

/** A webhook in webhook-list. */
export const WebhookRow = Type.Object(
  {
    id: RecordId,
    kind: choice<string>(['webhook', 'telegram']),
    url: nullable(
      Type.String(),
      'The origin of the URL, and `…` if more follows: a path may be a secret.',
    ),
    url_fingerprint: nullable(Type.String(), 'Eight digits of the SHA-256 of the whole URL.'),
    signature: nullable(choice<string>(SIGNATURE_SCHEMES)),
    public_key: nullable(Type.String(), 'For `v1a`: the key that verifies.'),
    chat: nullable(Type.String(), 'The Telegram chat.'),
    bot: nullable(Type.String(), 'The number at the start of its token.'),
    locale: nullable(choice<string>(WEBHOOK_LOCALES)),
    with: Type.Array(choice<string>(CHAT_FACTS), {
      maxItems: CHAT_FACTS.length,
      description: 'What the texts of a chat show besides; empty: nothing.',
    }),
    events: Type.Array(choice<string>(PROVIDER_EVENTS), {
      maxItems: PROVIDER_EVENTS.length,
      description: 'The kinds that are sent to it; empty: all.',
    }),
    secret_fingerprint: text('Eight digits of the SHA-256 of the secret, or token.', '0a1b2c3d'),
    old_secret_until: nullable(WireTime, 'Until then the old secret also signs.'),
    created_at: WireTime,
    disabled_at: nullable(WireTime, 'Null: it is enabled.'),
    disabled_why: nullable(Type.String()),
  } satisfies Record<keyof ReturnType<typeof webhookRecord>, TSchema>,
  {
    title: 'Webhook',
    examples: [
      {
        id: 1,
        kind: 'webhook',
        url: 'https://bot.example.com/…',
        url_fingerprint: '9f86d081',
        signature: 'v1',
        public_key: null,
        chat: null,
        bot: null,
        locale: null,
        with: [],
        events: ['link.full'],
        secret_fingerprint: '0a1b2c3d',
        old_secret_until: null,
        created_at: '2026-11-20 15:00:00',
        disabled_at: null,
        disabled_why: null,
      },
    ],
  },
);

/** A delivery in webhook-deliveries. */
export const DeliveryRow = Type.Object(
  {
    id: {
      ...RecordId,
      description:
        'The number of the event: the header `webhook-id` begins with `evt_`, this, and `_`.',
    },
    type: choice<string>([...PROVIDER_EVENTS, FOLDED_EVENT, TEST_EVENT]),
    happened_at: WireTime,
    state: choice<string>(DELIVERY_STATES),
    attempts: Type.Integer({ minimum: 0, examples: [1] }),
    state_at: {
      ...WireTime,
      description: 'Waiting: when it is tried next. Else: when it was delivered or abandoned.',
    },
    problem: nullable(Type.String(), 'Why the last attempt failed.'),
  },
  {
    title: 'Delivery',
    examples: [
      {
        id: 7,
        type: 'link.full',
        happened_at: '2026-11-20 15:00:00',
        state: 'waiting',
        attempts: 2,
        state_at: '2026-11-20 15:05:05',
        problem: 'the receiver answered 500: it has an internal fault',
      },
    ],
  },
);

/** Webhooks: an extension of the contract. */

import { Type } from '@sinclair/typebox';
import { webhookCalls } from '../../call/webhook-calls.ts';
import { onlyGiven } from '../../core/field.ts';
import { isRefused, type Refused } from '../../core/outcome.ts';
import { PROVIDER_EVENTS } from '../../core/port/event.ts';
import { CHAT_FACTS, SIGNATURE_SCHEMES, WEBHOOK_LOCALES } from '../../core/port/webhook.ts';
import {
  readChatFacts,
  readEvents,
  type TargetFault,
  targetOf,
  type WebhookEdit,
} from '../../core/webhook.ts';
import { type freshSecret, webhookRecord } from '../../core/webhook-view.ts';
import { wireTime } from '../answer/wire-time.ts';
import { callEndpoint, optional, providerEndpoint } from '../endpoint.ts';
import { anyText, forms, oneOf, RecordId, webhookIdParam } from './params.ts';
import { invalid } from './reply.ts';
import { nullable, WebhookRow } from './webhook-bodies.ts';
import { deliveryEndpoints } from './webhook-deliveries.ts';

const URL_EXAMPLE = 'https://bot.example.com/gatepost';

const eventsParam = (about: string) =>
  optional(anyText(`all, or kinds between commas: ${PROVIDER_EVENTS.join(', ')}`), {
    misfit: 'invalid_parameters',
    about,
    example: 'link.full,device.admitted',
  });

const localeParam = (about: string) =>
  optional(oneOf(WEBHOOK_LOCALES), { misfit: 'invalid_parameters', about });

const withParam = optional(anyText(`none, or between commas: ${CHAT_FACTS.join(', ')}`), {
  misfit: 'invalid_parameters',
  about:
    'For a chat: what its texts show besides: the note of a link, and the phone (HWID, model, system).',
});

const tokenParam = (about: string) =>
  optional(anyText('the token of a Telegram bot'), { misfit: 'invalid_parameters', about });

/** The fields of a new secret, which is shown once. */
const secretFields = {
  secret: {
    ...nullable(
      Type.String(),
      'For `v1`: the secret, shown this once. Null for `v1a` and Telegram.',
    ),
    examples: ['whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oDazfUZRe9Cto='],
  },
  public_key: nullable(Type.String(), 'For `v1a`: the key that verifies, `whpk_…`.'),
};

const secretBody = ({ secret, publicKey }: ReturnType<typeof freshSecret>) => ({
  secret,
  public_key: publicKey,
});

/** Maps the core's `malformed` to `invalid_parameters`. */
function misfitAsParam<T>(outcome: T) {
  if (!isRefused(outcome) || (outcome as Refused<string>).says !== 'malformed') {
    return outcome as Exclude<T, Refused<'malformed'>>;
  }
  return invalid((outcome as Refused<string>).detail ?? '');
}

const TARGET_FAULTS: Readonly<Record<TargetFault, string>> = {
  url_or_chat: 'url or chat is required, one of them',
  token_missing: 'bot_token is required with chat',
  signature_of_chat: 'signature goes with url',
  token_of_url: 'bot_token goes with chat',
  locale_of_url: 'locale goes with chat',
  shows_of_url: 'with goes with chat',
};

const addEndpoint = callEndpoint(webhookCalls['webhooks.add'], {
  method: 'GET',
  repeat: 'again',
  summary: 'Add a webhook or a Telegram chat',
  description:
    'Adds a URL to which events are sent by the Standard Webhooks specification, or, with `chat` and `bot_token`, a Telegram chat to which they are written. The secret is shown this once.',
  params: {
    url: optional(anyText('an https address that is public'), {
      misfit: 'invalid_parameters',
      about: 'The receiver of events: this, or `chat` and `bot_token`.',
      example: URL_EXAMPLE,
    }),
    signature: optional(oneOf(SIGNATURE_SCHEMES), {
      misfit: 'invalid_parameters',
      about: 'For a URL: `v1` HMAC-SHA256 (when omitted), `v1a` Ed25519.',
    }),
    chat: optional(anyText('the number of a Telegram chat, or @ and its public name'), {
      misfit: 'invalid_parameters',
    }),
    bot_token: tokenParam('For a chat: the token of the bot that writes to it.'),
    locale: localeParam('For a chat: the language of its texts; `en` when omitted.'),
    with: withParam,
    events: eventsParam('The kinds to send; all when omitted.'),
  },
  fields: { ok: { id: RecordId, ...secretFields } },
  says: [
    'ok',
    'invalid_parameters',
    'webhook_limit_reached',
    'webhook_save_error',
    'unknown_error',
  ],
  given({ params, provider }) {
    const events = misfitAsParam(readEvents(params.events ?? 'all', provider.id));
    if (isRefused(events)) return events;
    const shows = params.with === null ? null : misfitAsParam(readChatFacts(params.with));
    if (isRefused(shows)) return shows;
    const token = params.bot_token;
    const target = targetOf({ ...params, token, shows });
    return typeof target === 'string' ? invalid(TARGET_FAULTS[target]) : { target, events, token };
  },
  reply: ({ id, ...fresh }) => ({ says: 'ok', body: { id, ...secretBody(fresh) } }),
});

const listEndpoint = providerEndpoint({
  method: 'GET',
  path: '/api/webhook-list',
  repeat: 'reads',
  needs: 'main',
  summary: 'List webhooks, newest first',
  description: "Lists the provider's webhooks and Telegram chats, without their secrets.",
  params: {},
  fields: { ok: { data: Type.Array(WebhookRow) } },
  says: ['ok', 'unknown_error'],
  async handle({ core, provider, nowMs, settings: { outputOffsetMinutes } }) {
    const webhooks = await core.store.listWebhooks(provider.id);
    const data = webhooks
      .map((webhook) => webhookRecord(webhook, nowMs, (ms) => wireTime(ms, outputOffsetMinutes)))
      .sort((one, other) => other.id - one.id);
    return { says: 'ok', body: { data } };
  },
});

const updateEndpoint = callEndpoint(webhookCalls['webhooks.edit'], {
  method: 'GET',
  repeat: 'same',
  summary: 'Change, disable or enable a webhook',
  description:
    'Changes the given parameters. Enabling a webhook, or another URL or chat, makes waiting deliveries due at once.',
  params: {
    id: webhookIdParam,
    url: optional(anyText('an https address that is public'), {
      misfit: 'invalid_parameters',
      about: 'Another URL, of a webhook that has one.',
    }),
    chat: optional(anyText('the number of a Telegram chat, or @ and its public name'), {
      misfit: 'invalid_parameters',
      about: 'Another chat, of the same bot.',
    }),
    locale: localeParam('Another language of the texts in a chat.'),
    with: withParam,
    events: eventsParam('The kinds to send from now on; waiting deliveries of others are dropped.'),
    enabled: optional(forms.flag, {
      misfit: 'invalid_parameters',
      about: 'With 0 no event is sent or kept for it, until it is 1 again.',
      example: 1,
    }),
  },
  says: ['ok', 'webhook_not_found', 'invalid_parameters', 'webhook_save_error', 'unknown_error'],
  given({ params, provider }) {
    const events =
      params.events === null ? null : misfitAsParam(readEvents(params.events, provider.id));
    if (isRefused(events)) return events;
    const shows = params.with === null ? null : misfitAsParam(readChatFacts(params.with));
    if (isRefused(shows)) return shows;
    const edit = onlyGiven<WebhookEdit>({
      url: params.url ?? undefined,
      chat: params.chat ?? undefined,
      locale: params.locale ?? undefined,
      shows: shows ?? undefined,
      events: events ?? undefined,
      isEnabled: params.enabled === null ? undefined : params.enabled === 1,
    });
    return { id: params.id, ...edit };
  },
  reply: () => 'ok',
});

/** Hours for which the old secret also signs, by default. */
const KEEP_OLD_DEFAULT = 24;

const rotateEndpoint = callEndpoint(webhookCalls['webhooks.rotate'], {
  method: 'GET',
  repeat: 'again',
  summary: 'Give a webhook a new secret',
  description:
    'Makes a new secret, or takes a new bot token for a Telegram chat. For a while both the new and the old secret of a URL sign, so that its receiver can change to the new one without losing an event.',
  params: {
    id: webhookIdParam,
    keep_old_hours: optional(forms.keepOldHours, {
      misfit: 'invalid_parameters',
      about: `Hours for which the old secret also signs; ${KEEP_OLD_DEFAULT} when omitted.`,
    }),
    bot_token: tokenParam('For a chat, and only there: the new token.'),
  },
  fields: { ok: secretFields },
  says: ['ok', 'webhook_not_found', 'invalid_parameters', 'webhook_save_error', 'unknown_error'],
  given: ({ params }) => ({
    id: params.id,
    token: params.bot_token,
    keepOldMs: (params.keep_old_hours ?? KEEP_OLD_DEFAULT) * 3_600_000,
  }),
  reply: (fresh) => ({ says: 'ok', body: secretBody(fresh) }),
});

const removeEndpoint = callEndpoint(webhookCalls['webhooks.remove'], {
  method: 'GET',
  repeat: 'noted',
  summary: 'Remove a webhook',
  description: 'Removes a webhook and its waiting deliveries.',
  params: { id: webhookIdParam },
  says: ['ok', 'webhook_not_found', 'webhook_save_error'],
  given: ({ params: { id } }) => ({ id }),
  reply: () => 'ok',
});

export const webhookEndpoints = [
  addEndpoint,
  listEndpoint,
  updateEndpoint,
  rotateEndpoint,
  ...deliveryEndpoints,
  removeEndpoint,
];

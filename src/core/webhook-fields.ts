/**
 * The fields of webhooks that owners set, one row each, in the order of the audit log: parameters,
 * options, inputs, columns and lists derive from here.
 */

import { type Fields, fieldsOf, type NoFormat, outsideName, readGiven, usualOf } from './field.ts';
import { FLAG, OPERATOR_KINDS, PROVIDER_KINDS, SHOWN_FACTS, WEBHOOK_LOCALE } from './formats.ts';
import type { ChatTarget, OwnWebhook, Webhook, WebhookTarget } from './port/webhook.ts';

/** The fields that webhooks of both kinds have. */
export const OWN_WEBHOOK = {
  events: {
    format: PROVIDER_KINDS,
    usual: [],
    audit: (kinds: OwnWebhook['events']) => kinds.join(',') || 'all',
  },
  figures: { format: FLAG, usual: 0, audit: (is: 0 | 1) => (is ? 'on' : null) },
} as const satisfies Fields<OwnWebhook>;

export const OWN_NAMES = fieldsOf(OWN_WEBHOOK);
export const USUAL_WEBHOOK = usualOf<OwnWebhook>(OWN_WEBHOOK);

/** The fields of a chat besides its address. */
export type OwnChat = Required<Omit<ChatTarget, 'kind' | 'chat'>>;

export const CHAT_FIELDS = {
  locale: { format: WEBHOOK_LOCALE, usual: 'en' },
  shows: {
    name: 'with',
    format: SHOWN_FACTS,
    usual: [],
    audit: (facts: FlatWebhook['shows']) => facts?.join(',') ?? '',
  },
} as const satisfies Fields<OwnChat>;

/** The settings of a webhook: its fields, and those of a chat. */
export type WebhookSettings = OwnWebhook & OwnChat;
export const WEBHOOK_SETTINGS = { ...CHAT_FIELDS, ...OWN_WEBHOOK };

/** The operator has kinds of events of its own. */
export const OPERATOR_SETTINGS = {
  ...WEBHOOK_SETTINGS,
  events: { ...OWN_WEBHOOK.events, format: OPERATOR_KINDS },
};

/** Reads given settings of a webhook of a provider, or (null) of the operator. */
export const readSettings = (
  ownerId: number | null,
  given: { readonly [F in keyof WebhookSettings]?: unknown },
) =>
  readGiven<WebhookSettings>(
    ownerId === null ? OPERATOR_SETTINGS : WEBHOOK_SETTINGS,
    given,
    (field) => outsideName(WEBHOOK_SETTINGS, field),
  );

type FieldsIn<Target> = Target extends unknown ? keyof Target : never;
type ValueOf<Target, F extends string> = Target extends { [Name in F]?: infer Value }
  ? Value
  : never;

/** A webhook with the fields of both kinds of targets; those of the other kind are null. */
export type FlatWebhook = OwnWebhook & {
  [F in Exclude<FieldsIn<WebhookTarget>, 'url' | 'chat'>]: ValueOf<WebhookTarget, F> | null;
} & { isEnabled: boolean; address: string };

export const WEBHOOK_FIELDS = {
  kind: {},
  scheme: {},
  ...WEBHOOK_SETTINGS,
  isEnabled: { name: 'enabled' },
  address: { audit: 'secret' },
} as const satisfies NoFormat<FlatWebhook>;

const NONE = { scheme: null, locale: null, shows: null };

/** Returns a webhook with its fields side by side. */
export function flatWebhook(webhook: Pick<Webhook, 'target' | 'disabled'> & OwnWebhook) {
  const { target, disabled, ...own } = webhook;
  const flat = { ...own, isEnabled: disabled === null };
  if (target.kind === 'webhook') {
    const { url: address, ...fields } = target;
    return { ...flat, ...NONE, ...fields, address } satisfies FlatWebhook;
  }
  const { chat: address, ...fields } = target;
  return { ...flat, ...NONE, ...fields, address } satisfies FlatWebhook;
}

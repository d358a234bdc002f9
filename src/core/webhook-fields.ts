/** The fields of webhooks that owners set, one row each, as the audit log has them in its order. */

import type { NoFormat } from './field.ts';
import type { OwnWebhook, Webhook, WebhookTarget } from './port/webhook.ts';

/** The fields that webhooks of both kinds have. */
export const OWN_WEBHOOK = {
  events: { audit: (kinds: OwnWebhook['events']) => kinds.join(',') || 'all' },
} as const satisfies NoFormat<OwnWebhook>;

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
  locale: {},
  shows: { name: 'with', audit: (facts: FlatWebhook['shows']) => facts?.join(',') ?? '' },
  ...OWN_WEBHOOK,
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

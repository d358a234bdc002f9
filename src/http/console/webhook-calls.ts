/** Calls of the console about the webhooks of a provider. */

import { type TSchema, Type } from '@sinclair/typebox';
import { isRefused, Refused } from '../../core/outcome.ts';
import { PROVIDER_EVENTS } from '../../core/port/event.ts';
import {
  CHAT_FACTS,
  SIGNATURE_SCHEMES,
  WEBHOOK_LOCALES,
  type Webhook,
} from '../../core/port/webhook.ts';
import {
  addWebhook,
  editWebhook,
  findWebhook,
  removeWebhook,
  rotateWebhook,
  tryWebhook,
  type WebhookEdit,
} from '../../core/webhook.ts';
import { freshSecret, webhookView } from '../../core/webhook-view.ts';
import { paidCall, type Staff, staffCall } from './call.ts';
import { anyOf, atProvider, id, nullable, text } from './inputs.ts';

/** The most waiting deliveries that are counted, and failed ones that are shown. */
const WAITING_SHOWN = 100;
const FAILED_SHOWN = 5;
/** The wait for a test, s: a receiver may take 15 s, after up to 15 s in the queue. */
const TEST_PATIENCE_SECONDS = 45;
const KEEP_OLD_MS = 24 * 3_600_000;

const events = Type.Array(anyOf(PROVIDER_EVENTS), {
  maxItems: PROVIDER_EVENTS.length,
});

const chatFacts = Type.Array(anyOf(CHAT_FACTS), { maxItems: CHAT_FACTS.length });

/** The changes that the console offers; another address is another webhook there. */
const EDIT = {
  events: Type.Optional(events),
  isEnabled: Type.Optional(Type.Boolean()),
  shows: Type.Optional(chatFacts),
} satisfies Record<Exclude<keyof WebhookEdit, 'url' | 'chat' | 'locale'>, TSchema>;

/** Finds the provider's webhook. */
const own = ({ core, provider }: Staff, webhookId: number) =>
  findWebhook(core, webhookId, provider.id);

/** Returns the number of waiting deliveries of a webhook, and its last failures. */
async function queueOf({ core: { store } }: Staff, webhook: Webhook) {
  const [waiting, failed] = await Promise.all([
    store.listDeliveries(webhook.id, 'waiting', null, WAITING_SHOWN),
    store.listDeliveries(webhook.id, 'failed', null, FAILED_SHOWN),
  ]);
  return {
    waitingCount: waiting.length,
    isMore: waiting.length === WAITING_SHOWN,
    problem: waiting.find(({ problem }) => problem !== null)?.problem ?? null,
    failed: failed.map(({ atMs, kind, problem }) => ({ atMs, kind, problem })),
  };
}

export const webhookCalls = {
  'webhooks.list': staffCall(atProvider({}), async (staff) => {
    const { core, nowMs, provider } = staff;
    const all = await core.store.listWebhooks(provider.id);
    const rows = await Promise.all(
      all.map(async (webhook) => ({
        ...webhookView(webhook, nowMs),
        ...(await queueOf(staff, webhook)),
      })),
    );
    return { webhooks: rows.sort((one, other) => other.id - one.id), kinds: PROVIDER_EVENTS };
  }),
  'webhooks.add': paidCall(
    atProvider({
      target: Type.Union([
        Type.Object({
          kind: Type.Literal('webhook'),
          url: text(2_000),
          scheme: anyOf(SIGNATURE_SCHEMES),
        }),
        Type.Object({
          kind: Type.Literal('telegram'),
          chat: text(64),
          locale: anyOf(WEBHOOK_LOCALES),
          shows: Type.Optional(chatFacts),
        }),
      ]),
      token: nullable(text(200)),
      events,
    }),
    async ({ core, nowMs, provider }, given) => {
      const { at: _, ...draft } = given;
      const added = await addWebhook(core, provider.id, draft, nowMs);
      if (isRefused(added)) return added;
      return { id: added.id, ...freshSecret(draft.target, added.secret) };
    },
  ),
  'webhooks.edit': paidCall(
    atProvider({ id, ...EDIT }),
    async (staff, { id: webhookId, at: _, ...edit }) => {
      const webhook = await own(staff, webhookId);
      if (isRefused(webhook)) return webhook;
      const edited = await editWebhook(staff.core, webhook, edit, staff.nowMs);
      return isRefused(edited) ? edited : ('ok' as const);
    },
  ),
  'webhooks.test': paidCall(atProvider({ id }), async (staff, given) => {
    const { core, eventSenders, grantPatience, nowMs, provider, signal, webhookTests } = staff;
    const webhook = await own(staff, given.id);
    if (isRefused(webhook)) return webhook;
    if (!webhookTests.admits(provider.code, nowMs)) return new Refused('too_many_requests');
    grantPatience(TEST_PATIENCE_SECONDS);
    const verdict = await tryWebhook(core, eventSenders, webhook, nowMs, signal);
    return { problem: verdict.verdict === 'accepted' ? null : verdict.problem };
  }),
  'webhooks.rotate': paidCall(
    atProvider({ id, token: nullable(text(200)) }),
    async (staff, { id: webhookId, token }) => {
      const webhook = await own(staff, webhookId);
      if (isRefused(webhook)) return webhook;
      const wanted = { token, keepOldMs: KEEP_OLD_MS };
      const rotated = await rotateWebhook(staff.core, webhook, wanted, staff.nowMs);
      return isRefused(rotated) ? rotated : freshSecret(webhook.target, rotated.secret);
    },
  ),
  'webhooks.remove': paidCall(atProvider({ id }), async (staff, given) =>
    removeWebhook(staff.core, { id: given.id, providerId: staff.provider.id }, staff.nowMs),
  ),
};

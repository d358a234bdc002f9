/** Calls of the console about the webhooks of a provider. */

import { type TSchema, Type } from '@sinclair/typebox';
import { OWN, OWN_LOOK } from '../core/account/roles.ts';
import { isRefused, Refused } from '../core/outcome.ts';
import { type EventKind, PROVIDER_EVENTS } from '../core/port/event.ts';
import {
  CHAT_FACTS,
  type ChatFact,
  SIGNATURE_SCHEMES,
  WEBHOOK_LOCALES,
  type Webhook,
} from '../core/port/webhook.ts';
import {
  addWebhook,
  editWebhook,
  findWebhook,
  removeWebhook,
  rotateWebhook,
  tryWebhook,
  type WebhookEdit,
} from '../core/webhook.ts';
import { freshSecret, webhookView } from '../core/webhook-view.ts';
import { type Caller, type DoerAt, type Inside, lookCall, sharedCall } from './call.ts';
import { anyOf, atProvider, id, nullable, text } from './inputs.ts';

/** The most waiting deliveries that are counted, and failed ones that are shown. */
const WAITING_SHOWN = 100;
const FAILED_SHOWN = 5;
/** The wait for a test, s: a receiver may take 15 s, after up to 15 s in the queue. */
const TEST_PATIENCE_SECONDS = 45;
const KEEP_OLD_MS = 24 * 3_600_000;

/** The command line has the operator's kinds too. */
const events = Type.Unsafe<readonly EventKind[]>(
  Type.Array(anyOf(PROVIDER_EVENTS), { maxItems: PROVIDER_EVENTS.length }),
);

const chatFacts = Type.Unsafe<readonly ChatFact[]>(
  Type.Array(anyOf(CHAT_FACTS), { maxItems: CHAT_FACTS.length }),
);

/** Finds the provider's webhook. */
const own = ({ core, provider }: DoerAt, webhookId: number) =>
  findWebhook(core, webhookId, provider.id);

/** Returns the number of waiting deliveries of a webhook, and its last failures. */
async function queueOf({ core: { store } }: DoerAt, webhook: Webhook) {
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

/** The changes that the console offers; another address is another webhook there. */
const EDIT = {
  events: Type.Optional(events),
  isEnabled: Type.Optional(Type.Boolean()),
  shows: Type.Optional(chatFacts),
} satisfies Record<Exclude<keyof WebhookEdit, 'url' | 'chat' | 'locale'>, TSchema>;

const editInput = atProvider({ id, ...EDIT });
const rotateInput = atProvider({ id, token: nullable(text(200)) });

export const webhookCalls = {
  'webhooks.list': lookCall(OWN_LOOK, atProvider({}), async (staff) => {
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
  'webhooks.add': sharedCall(
    OWN,
    ['webhook.add'],
    { api: { path: '/api/webhook-add', needs: 'main' }, commands: ['webhook add'] },
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
    async ({ core, nowMs, provider }: DoerAt, given) => {
      const added = await addWebhook(core, provider.id, given, nowMs);
      if (isRefused(added)) return added;
      return { id: added.id, ...freshSecret(given.target, added.secret) };
    },
  ),
  'webhooks.edit': sharedCall(
    OWN,
    ['webhook.update'],
    { api: { path: '/api/webhook-update', needs: 'main' }, commands: ['webhook set'] },
    editInput,
    async (doer: DoerAt, given: Inside<typeof editInput> & WebhookEdit) => {
      const { id: webhookId, ...edit } = given;
      const webhook = await own(doer, webhookId);
      if (isRefused(webhook)) return webhook;
      const edited = await editWebhook(doer.core, webhook, edit, doer.nowMs);
      return isRefused(edited) ? edited : ('ok' as const);
    },
  ),
  'webhooks.test': sharedCall(
    OWN,
    [],
    { api: { path: '/api/webhook-test', needs: 'main' }, often: 'webhookTests' },
    atProvider({ id }),
    async (doer: DoerAt & Pick<Caller, 'eventSenders' | 'signal'>, given) => {
      const webhook = await own(doer, given.id);
      if (isRefused(webhook)) return webhook;
      if (!doer.admits()) return new Refused('too_many_requests');
      doer.grantPatience(TEST_PATIENCE_SECONDS);
      const verdict = await tryWebhook(
        doer.core,
        doer.eventSenders,
        webhook,
        doer.nowMs,
        doer.signal,
      );
      return { problem: verdict.verdict === 'accepted' ? null : verdict.problem };
    },
  ),
  'webhooks.rotate': sharedCall(
    OWN,
    ['webhook.rotate'],
    { api: { path: '/api/webhook-rotate', needs: 'main' }, commands: ['webhook rotate'] },
    rotateInput,
    async (doer: DoerAt, given: Inside<typeof rotateInput> & { keepOldMs?: number }) => {
      const webhook = await own(doer, given.id);
      if (isRefused(webhook)) return webhook;
      const { token, keepOldMs = KEEP_OLD_MS } = given;
      const rotated = await rotateWebhook(doer.core, webhook, { token, keepOldMs }, doer.nowMs);
      return isRefused(rotated) ? rotated : freshSecret(webhook.target, rotated.secret);
    },
  ),
  'webhooks.remove': sharedCall(
    OWN,
    ['webhook.remove'],
    { api: { path: '/api/webhook-remove', needs: 'main' }, commands: ['webhook remove'] },
    atProvider({ id }),
    ({ core, nowMs, provider }: DoerAt, given) =>
      removeWebhook(core, { id: given.id, providerId: provider.id }, nowMs),
  ),
};

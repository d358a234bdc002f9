/** Calls of the console about the webhooks of a provider. */

import { Type } from '@sinclair/typebox';
import { OWN, OWN_LOOK } from '../core/account/roles.ts';
import { isRefused, Refused } from '../core/outcome.ts';
import { PROVIDER_EVENTS } from '../core/port/event.ts';
import { type OwnWebhook, SIGNATURE_SCHEMES, type Webhook } from '../core/port/webhook.ts';
import {
  addWebhook,
  editWebhook,
  findWebhook,
  removeWebhook,
  rotateWebhook,
  tryWebhook,
  type WebhookEdit,
} from '../core/webhook.ts';
import {
  CHAT_FIELDS,
  OWN_WEBHOOK,
  type OwnChat,
  WEBHOOK_SETTINGS,
  type WebhookSettings,
} from '../core/webhook-fields.ts';
import { freshSecret, webhookView } from '../core/webhook-view.ts';
import { type Caller, type DoerAt, type Inside, lookCall, sharedCall } from './call.ts';
import { anyOf, atProvider, id, inputsOf, nullable, text } from './inputs.ts';

/** The most waiting deliveries that are counted, and failed ones that are shown. */
const WAITING_SHOWN = 100;
const FAILED_SHOWN = 5;
/** The wait for a test, s: a receiver may take 15 s, after up to 15 s in the queue. */
const TEST_PATIENCE_SECONDS = 45;
const KEEP_OLD_MS = 24 * 3_600_000;

/** Finds the provider's webhook. */
const own = ({ core, provider }: DoerAt, webhookId: number) =>
  findWebhook(core, webhookId, provider.id);

/**
 * Returns the number of waiting deliveries of a webhook, its last failures, and what fails now: a
 * waiting event that was tried, or the event that ended last.
 */
async function queueOf({ core: { store } }: DoerAt, webhook: Webhook) {
  const [waiting, failed, delivered] = await Promise.all([
    store.listDeliveries(webhook.id, 'waiting', null, WAITING_SHOWN),
    store.listDeliveries(webhook.id, 'failed', null, FAILED_SHOWN),
    store.listDeliveries(webhook.id, 'delivered', null, 1),
  ]);
  const tried = waiting.find(({ problem }) => problem !== null);
  const [lost] = failed;
  const isLost = lost !== undefined && lost.stateAtMs > (delivered[0]?.stateAtMs ?? 0);
  return {
    waitingCount: waiting.length,
    isMore: waiting.length === WAITING_SHOWN,
    problem: tried?.problem ?? (isLost ? lost.problem : null),
    failed: failed.map(({ atMs, kind, problem }) => ({ atMs, kind, problem })),
  };
}

const addInput = atProvider({
  target: Type.Union([
    Type.Object({
      kind: Type.Literal('webhook'),
      url: text(2_000),
      scheme: anyOf(SIGNATURE_SCHEMES),
    }),
    Type.Object({
      kind: Type.Literal('telegram'),
      chat: text(64),
      ...inputsOf<OwnChat>(CHAT_FIELDS),
    }),
  ]),
  token: nullable(text(200)),
  ...inputsOf<OwnWebhook>(OWN_WEBHOOK),
});

/** The changes that the console offers; another address is another webhook there. */
const editInput = atProvider({
  id,
  isEnabled: Type.Optional(Type.Boolean()),
  ...inputsOf<WebhookSettings>(WEBHOOK_SETTINGS),
});
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
    addInput,
    async (
      { core, nowMs, provider }: DoerAt,
      given: Inside<typeof addInput> & Partial<OwnWebhook>,
    ) => {
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
    {
      api: { path: '/api/webhook-test', needs: 'main' },
      commands: ['webhook test'],
      often: 'webhookTests',
    },
    atProvider({ id }),
    async (doer: DoerAt & Pick<Caller, 'eventSenders' | 'signal'>, given) => {
      const webhook = await own(doer, given.id);
      if (isRefused(webhook)) return webhook;
      if (!doer.admits()) return new Refused('too_many_requests');
      doer.grantPatience(TEST_PATIENCE_SECONDS);
      const { core, eventSenders, nowMs, signal } = doer;
      const tried = await tryWebhook(core, eventSenders, webhook, nowMs, signal);
      const problem = tried.verdict === 'accepted' ? null : tried.problem;
      return { verdict: tried.verdict, problem };
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

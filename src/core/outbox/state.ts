/** The state of gateways, push services and webhooks, for operators. */

import type { Core } from '../core.ts';
import type { Destination } from '../port/outbox.ts';
import { PUSH_GATEWAYS, type PushGateway } from '../port/registration.ts';
import { webhookView } from '../webhook-view.ts';

/** The most destinations that are read, the longest queues first. */
const DESTINATIONS_MAX = 1_000;
/** The most push services and webhooks with a problem that are shown. */
const SERVICES_MAX = 20;
const WEBHOOKS_MAX = 50;

type DestinationState = 'ready' | 'stopped' | 'paused' | 'failing';

function destinationState(
  { failingSinceMs, retryAtMs, stoppedAtMs }: Destination,
  nowMs: number,
): DestinationState {
  if (stoppedAtMs !== null) return 'stopped';
  if (retryAtMs > nowMs) return 'paused';
  return failingSinceMs === null ? 'ready' : 'failing';
}

/** Reads each gateway with its queue and its problem; for Web Push also the failing services. */
export async function readGateways(
  { store }: Pick<Core, 'store'>,
  isSetUp: (gateway: PushGateway) => boolean,
  nowMs: number,
) {
  const [totals, all] = await Promise.all([
    store.readOutboxTotals(),
    store.listDestinations(PUSH_GATEWAYS, DESTINATIONS_MAX),
  ]);
  return PUSH_GATEWAYS.map((gateway) => {
    const own = all.filter(({ kind }) => kind === gateway);
    const failing = own.filter((one) => destinationState(one, nowMs) !== 'ready');
    const [only] = gateway === 'webpush' ? [] : own;
    const state = only === undefined ? null : destinationState(only, nowMs);
    const sums = totals.find(({ kind }) => kind === gateway);
    return {
      gateway,
      isSetUp: isSetUp(gateway),
      state,
      /** Web Push has the number of failing services, and of all. */
      failingCount: failing.length,
      serviceCount: sums?.destinationCount ?? 0,
      waitingCount: sums?.waitingCount ?? 0,
      oldestAtMs: sums?.oldestQueuedAtMs ?? null,
      stoppedAtMs: only?.stoppedAtMs ?? null,
      retryAtMs: only && only.retryAtMs > nowMs ? only.retryAtMs : null,
      // A paused gateway keeps its problem until the retry.
      problem: state === null || state === 'ready' ? null : (only?.problem ?? null),
      services:
        gateway === 'webpush'
          ? failing.slice(0, SERVICES_MAX).map((one) => ({
              origin: one.origin,
              state: destinationState(one, nowMs),
              waitingCount: one.waitingCount,
              problem: one.problem,
            }))
          : null,
    };
  });
}

/**
 * Lists webhooks of all owners that were disabled for failures, the operator's first, and those
 * whose last attempt failed; and counts the disabled ones.
 */
export async function listFailingWebhooks(core: Core, nowMs: number) {
  const { store } = core;
  const [all, disabled] = await Promise.all([
    store.listDestinations(['webhook', 'telegram'], DESTINATIONS_MAX),
    store.readDisabledWebhooks(WEBHOOKS_MAX),
  ]);
  const ended = disabled.some.map((webhook) => {
    const { chat, disabled: end, id, kind, url } = webhookView(webhook, nowMs);
    const { waitingCount = 0 } = all.find((one) => one.webhookId === id) ?? {};
    return {
      id,
      kind,
      address: url ?? chat,
      disabled: end,
      provider: webhook.providerCode ?? null,
      problem: end?.why ?? null,
      waitingCount,
      failingSinceMs: null,
      retryAtMs: null,
    };
  });
  const isListed = new Set<number | null>(ended.map(({ id }) => id));
  const failing = all.filter(
    ({ webhookId, problem }) => webhookId !== null && problem !== null && !isListed.has(webhookId),
  );
  const { operatorCount, providerCount } = disabled;
  const found = await Promise.all(
    failing.slice(0, WEBHOOKS_MAX).map(async (destination) => {
      const webhook = await store.findWebhook(destination.webhookId ?? 0);
      if (webhook === null || webhook.disabled !== null) return null;
      const { providerId } = webhook;
      const [owner] = providerId === null ? [] : await store.pageProviders(providerId - 1, 1);
      const { chat, id, kind, url } = webhookView(webhook, nowMs);
      const { failingSinceMs, problem, retryAtMs, waitingCount } = destination;
      return {
        id,
        kind,
        address: url ?? chat,
        disabled: null,
        /** The code; null: a webhook of the operator. */
        provider: owner?.id === providerId ? (owner?.code ?? null) : null,
        problem,
        waitingCount,
        failingSinceMs,
        retryAtMs: retryAtMs > nowMs ? retryAtMs : null,
      };
    }),
  );
  const webhooks = [...ended, ...found.filter((one) => one !== null)];
  return { webhooks, disabledCounts: { operator: operatorCount, provider: providerCount } };
}

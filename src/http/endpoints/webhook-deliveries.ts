/** Tests of webhooks, the list of their deliveries, and the replay of events. */

import { type Static, Type } from '@sinclair/typebox';
import { webhookCalls } from '../../call/webhook-calls.ts';
import { readWireTime } from '../../core/calendar.ts';
import { isRefused } from '../../core/outcome.ts';
import { DELIVERY_STATES, type Delivery } from '../../core/port/webhook.ts';
import { findWebhook, replayEvents } from '../../core/webhook.ts';
import { listById } from '../answer/list-text.ts';
import { wireTime } from '../answer/wire-time.ts';
import { callEndpoint, type Limits, optional, providerEndpoint } from '../endpoint.ts';
import { anyText, forms, oneOf, WireTime, webhookIdParam } from './params.ts';
import { invalid, LIST_COUNT_MAX } from './reply.ts';
import { DeliveryRow } from './webhook-bodies.ts';

/** A receiver may take 15 s, after up to 15 s in the queue. */
const TEST_PATIENCE_SECONDS = 45;

const testEndpoint = callEndpoint(webhookCalls['webhooks.test'], {
  method: 'GET',
  repeat: 'again',
  summary: 'Send a webhook a test event now',
  description:
    'Makes one real call at once, with an event of the type `webhook.test`, also to a disabled webhook, and answers after its receiver has. It is tried once and not kept. If it succeeds, waiting deliveries become due at once.',
  params: { id: webhookIdParam },
  fields: {
    webhook_test_failed: {
      problem: Type.String({
        description: 'Why it failed.',
        examples: ['the receiver answered 404: there is nothing at this URL'],
      }),
    },
  },
  patienceSeconds: TEST_PATIENCE_SECONDS,
  says: ['ok', 'webhook_not_found', 'webhook_test_failed', 'too_many_requests', 'unknown_error'],
  given: ({ params: { id } }) => ({ id }),
  reply: ({ problem }) =>
    problem === null ? 'ok' : { says: 'webhook_test_failed', body: { problem } },
});

const deliveriesEndpoint = providerEndpoint({
  method: 'GET',
  path: '/api/webhook-deliveries',
  repeat: 'reads',
  needs: 'main',
  summary: 'List deliveries to a webhook, newest first',
  description:
    'Lists waiting deliveries to a webhook, and ended ones as long as their event is kept, the highest `id` first.',
  params: {
    id: webhookIdParam,
    state: optional(oneOf(DELIVERY_STATES), {
      misfit: 'invalid_parameters',
      about: 'Only those in this state.',
    }),
    before_id: optional(forms.id, {
      misfit: 'invalid_parameters',
      about: 'Only those with a lower `id`: continues a list.',
    }),
  },
  fields: { ok: { data: Type.Array(DeliveryRow, { maxItems: LIST_COUNT_MAX }) } },
  says: ['ok', 'webhook_not_found', 'invalid_parameters', 'unknown_error'],
  async handle({ core, provider, params, settings: { outputOffsetMinutes } }) {
    const webhook = await findWebhook(core, params.id, provider.id);
    if (isRefused(webhook)) return webhook;
    const read = async (beforeId: number | null, countMax: number) => {
      const rows = await core.store.listDeliveries(webhook.id, params.state, beforeId, countMax);
      return rows.map((delivery) => rowOf(delivery, outputOffsetMinutes));
    };
    const of = { beforeId: params.before_id, countMax: LIST_COUNT_MAX, isOne: false };
    return { says: 'ok', list: listById(of, read) };
  },
});

function rowOf(delivery: Delivery, offsetMinutes: number): Static<typeof DeliveryRow> {
  return {
    id: delivery.eventId,
    type: delivery.kind,
    happened_at: wireTime(delivery.atMs, offsetMinutes),
    state: delivery.state,
    attempts: delivery.attemptCount,
    // A delivery that waits for its first attempt is due from time 0.
    state_at: wireTime(Math.max(delivery.stateAtMs, delivery.atMs), offsetMinutes),
    problem: delivery.problem,
  };
}

const SINCE_RULE = 'YYYY-MM-DD HH:MM:SS in the zone of the times in answers';

const replayEndpoint = providerEndpoint({
  method: 'GET',
  path: '/api/webhook-replay',
  repeat: 'again',
  needs: 'main',
  summary: 'Send kept events again',
  description:
    'Queues one kept event for a webhook again, or all events of its kinds since a time that do not wait already. They keep their `webhook-id`.',
  params: {
    id: webhookIdParam,
    event_id: optional(forms.id, {
      misfit: 'invalid_parameters',
      about: 'The `id` of a delivery: this, or `since`.',
    }),
    since: optional(anyText(SINCE_RULE), {
      misfit: 'invalid_parameters',
      about: 'The first time: this, or `event_id`.',
      example: WireTime.examples[0],
    }),
  },
  fields: {
    ok: {
      count: Type.Integer({
        minimum: 0,
        description: 'How many were queued.',
        examples: [3],
      }),
      is_full: Type.Boolean({
        description: 'True: some were left out, as the queue of the webhook is full.',
        examples: [false],
      }),
    },
  },
  says: ['ok', 'webhook_not_found', 'invalid_parameters', 'too_many_requests', 'unknown_error'],
  async handle({ core, provider, params, nowMs, limits, settings: { outputOffsetMinutes } }) {
    const webhook = await findWebhook(core, params.id, provider.id);
    if (isRefused(webhook)) return webhook;
    const { event_id: eventId, since } = params;
    const sinceMs = since === null ? null : readWireTime(since, outputOffsetMinutes);
    if (since !== null && sinceMs === null) return invalid(`since must be ${SINCE_RULE}`);
    if ((eventId === null) === (sinceMs === null)) {
      return invalid('event_id or since is required, one of them');
    }
    const replay = (which: Parameters<typeof replayEvents>[2]) =>
      replayEvents(core, webhook, which, nowMs);
    const replayed =
      eventId === null
        ? await alone(limits.webhookReplays, provider.code, nowMs, () =>
            replay({ sinceMs: sinceMs ?? 0 }),
          )
        : await replay({ eventId });
    if (replayed === null) return 'too_many_requests';
    return { says: 'ok', body: { count: replayed.count, is_full: replayed.isFull } };
  },
});

/** Runs a long replay. Null: another one of the provider runs, or its limit a minute is reached. */
async function alone<T>(
  { perMinute, running }: Limits['webhookReplays'],
  provider: string,
  nowMs: number,
  act: () => Promise<T>,
): Promise<T | null> {
  if (running.has(provider) || !perMinute.admits(provider, nowMs)) return null;
  running.add(provider);
  try {
    return await act();
  } finally {
    running.delete(provider);
  }
}

export const deliveryEndpoints = [testEndpoint, deliveriesEndpoint, replayEndpoint];

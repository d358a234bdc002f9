/** Webhooks: test, deliveries, replay. */

import type { AttemptVerdict, EventSenders } from '../../../src/core/outbox/carrier.ts';
import type { Settlement } from '../../../src/core/port/outbox.ts';
import {
  aLink,
  asked,
  FOREIGN,
  FOREIGN_ID,
  type Given,
  gateScenarios,
  OWN,
  type Scenario,
} from './scenario.ts';
import { aDisabledWebhook, aWebhook, INVALID, notOwn, OK } from './webhook.ts';

const TEST = '/api/webhook-test';
const DELIVERIES = '/api/webhook-deliveries';
const REPLAY = '/api/webhook-replay';

const saying = (verdict: AttemptVerdict): EventSenders => {
  const eventSender = { concurrency: 1, spacingMs: 0, deliver: async () => verdict };
  return { webhook: eventSender, telegram: eventSender };
};
const PROBLEM = 'the receiver answered 404: there is nothing at this URL';

type MakeSettlement = (id: number, nowMs: number) => Settlement;

const testScenarios: Scenario[] = [
  ...gateScenarios(TEST, { id: 1 }, [aWebhook()], 'findWebhook'),
  ...notOwn(TEST),
  {
    name: 'a receiver that takes it: nothing is kept of it',
    path: TEST,
    says: 'ok',
    given: [aWebhook()],
    request: { id: 1 },
    answer: OK,
  },
  {
    name: 'a webhook that is disabled is called too',
    path: TEST,
    says: 'ok',
    given: [aDisabledWebhook],
    request: { id: 1 },
    answer: OK,
  },
  {
    name: 'a receiver that does not',
    path: TEST,
    options: { eventSenders: saying({ verdict: 'retry', afterMs: null, problem: PROBLEM }) },
    says: 'webhook_test_failed',
    given: [aWebhook()],
    request: { id: 1 },
    answer: `{"rc":0,"msg":"Webhook test failed","problem":"${PROBLEM}"}`,
    detail: 'the event did not get through: problem says why',
  },
  {
    name: 'a seventh within a minute',
    isAlone: true,
    path: TEST,
    says: 'too_many_requests',
    given: [aWebhook(), ...Array<Given>(6).fill(asked(TEST, OWN, { id: 1 }))],
    request: { id: 1 },
    answer: '{"rc":0,"msg":"Too many requests"}',
    detail: 'try again in a minute',
  },
];

const aDelivery = (id: number, more: object = {}) =>
  JSON.stringify({
    id,
    type: 'link.created',
    happened_at: '2026-11-20 15:00:00',
    state: 'waiting',
    attempts: 0,
    state_at: '2026-11-20 15:00:00',
    problem: null,
    ...more,
  });
const listed = (...rows: string[]) => `{"rc":1,"msg":"Ok","data":[${rows.join(',')}]}`;

/** What became of the first attempt at the first event, at the second, and so on. */
const attempted =
  (...settlements: MakeSettlement[]): Given =>
  async ({ core, clock }) => {
    const nowMs = clock.nowMs();
    const lease = { owner: 'test', nowMs, leaseMs: 30_000 };
    const [destination] = await core.store.claimDestinations(lease, ['webhook'], 1, 1, []);
    if (destination === undefined) throw new Error('given: nothing waits');
    const { id: destinationId } = destination;
    const found = await core.store.listDispatches(destinationId, nowMs, settlements.length, null);
    await core.store.settleDispatches(
      { ...lease, destinationId },
      settlements.map((make, n) => make(found[n]?.id ?? 0, nowMs)),
      { failureCount: 1, failingSinceMs: nowMs, retryAtMs: 0, stoppedAtMs: null, problem: PROBLEM },
      null,
    );
    await core.store.releaseDestinations('test', null);
  };

const BUSY = 'the receiver answered 503';
const accepted: MakeSettlement = (id) => ({ id, outcome: 'accepted' });
const failed: MakeSettlement = (id) => ({ id, outcome: 'failed', problem: PROBLEM });
const retried: MakeSettlement = (id, nowMs) => ({
  id,
  outcome: 'retry',
  nextAtMs: nowMs + 61_000,
  problem: BUSY,
});

/** The first event was delivered, the second was given up. */
const ended = attempted(accepted, failed);

const THREE_LINKS = [1, 2, 3].map((n) => aLink(`LinkCode000${n}`));

const deliveryScenarios: Scenario[] = [
  ...gateScenarios(DELIVERIES, { id: 1 }, [aWebhook()], 'listDeliveries'),
  ...notOwn(DELIVERIES),
  {
    name: 'newest first: one waits, one was given up, one was delivered',
    path: DELIVERIES,
    says: 'ok',
    given: [aWebhook(), ...THREE_LINKS, ended],
    request: { id: 1 },
    answer: listed(
      aDelivery(3),
      aDelivery(2, { state: 'failed', attempts: 1, problem: PROBLEM }),
      aDelivery(1, { state: 'delivered', attempts: 1 }),
    ),
  },
  {
    name: 'those that are tried again: how often, when next, and why not before',
    path: DELIVERIES,
    says: 'ok',
    given: [aWebhook(), ...THREE_LINKS, attempted(retried, failed)],
    request: { id: 1, state: 'waiting' },
    answer: listed(
      aDelivery(3),
      aDelivery(1, { attempts: 1, state_at: '2026-11-20 15:01:01', problem: BUSY }),
    ),
  },
  {
    name: 'those that were given up',
    path: DELIVERIES,
    says: 'ok',
    given: [aWebhook(), ...THREE_LINKS, ended],
    request: { id: 1, state: 'failed' },
    answer: listed(aDelivery(2, { state: 'failed', attempts: 1, problem: PROBLEM })),
  },
  {
    name: 'further back',
    path: DELIVERIES,
    says: 'ok',
    given: [aWebhook(), ...THREE_LINKS],
    request: { id: 1, before_id: 3 },
    answer: listed(aDelivery(2), aDelivery(1)),
  },
  {
    name: 'a state that is none',
    path: DELIVERIES,
    says: 'invalid_parameters',
    given: [aWebhook()],
    request: { id: 1, state: 'lost' },
    answer: INVALID,
    detail: 'state must be one of waiting, delivered, failed',
  },
];

const SINCE = '2026-11-20 15:00:00';

const misfit = (name: string, request: Scenario['request'], detail: string): Scenario => ({
  name,
  path: REPLAY,
  says: 'invalid_parameters',
  given: [aWebhook()],
  request: { id: 1, ...request },
  answer: INVALID,
  detail,
});

const replayScenarios: Scenario[] = [
  ...gateScenarios(REPLAY, { id: 1, event_id: 1 }, [aWebhook()], 'replayEvents'),
  ...notOwn(REPLAY, { event_id: 1 }),
  {
    name: 'one that was given up',
    path: REPLAY,
    says: 'ok',
    given: [aWebhook(), ...THREE_LINKS, ended],
    request: { id: 1, event_id: 2 },
    answer: '{"rc":1,"msg":"Ok","count":1,"is_full":false}',
    changed: [
      'destination 1 waiting_count: 1 -> 2',
      'outbox 4 added',
      'webhook_delivery 1/2 removed',
    ],
  },
  {
    name: 'all since a time: those that wait already are not put in twice',
    path: REPLAY,
    says: 'ok',
    given: [aWebhook(), ...THREE_LINKS, ended],
    request: { id: 1, since: '2026-11-20 15:00:00' },
    answer: '{"rc":1,"msg":"Ok","count":2,"is_full":false}',
    changed: [
      'destination 1 waiting_count: 1 -> 3',
      'outbox 4 added',
      'outbox 5 added',
      'webhook_delivery 1/1 removed',
      'webhook_delivery 1/2 removed',
    ],
  },
  {
    name: "another provider's event is not told",
    path: REPLAY,
    says: 'ok',
    given: [aWebhook(), aWebhook({ providerId: FOREIGN_ID }), aLink('LinkCode0001', 2, FOREIGN)],
    request: { id: 1, event_id: 1 },
    answer: '{"rc":1,"msg":"Ok","count":0,"is_full":false}',
  },
  {
    name: 'a seventh within a minute',
    isAlone: true,
    path: REPLAY,
    says: 'too_many_requests',
    given: [aWebhook(), ...Array<Given>(6).fill(asked(REPLAY, OWN, { id: 1, since: SINCE }))],
    request: { id: 1, since: SINCE },
    answer: '{"rc":0,"msg":"Too many requests"}',
    detail: 'try again in a minute',
  },
  misfit('neither an event nor a time', {}, 'event_id or since is required, one of them'),
  misfit(
    'both an event and a time',
    { event_id: 1, since: '2026-11-20 15:00:00' },
    'event_id or since is required, one of them',
  ),
  misfit(
    'no time',
    { since: 'yesterday' },
    'since must be YYYY-MM-DD HH:MM:SS in the zone of the times in answers',
  ),
];

export const deliveryScenariosOfWebhooks = [
  ...testScenarios,
  ...deliveryScenarios,
  ...replayScenarios,
];

/** Calls of the console about gateways, failing webhooks, and the figures of all providers. */

import { Type } from '@sinclair/typebox';
import { OPERATE } from '../core/account/roles.ts';
import { lastDays, listFigures } from '../core/figures.ts';
import { testGateway } from '../core/outbox/gateway-test.ts';
import { listFailingWebhooks, readGateways } from '../core/outbox/state.ts';
import { isRefused, Refused } from '../core/outcome.ts';
import { PUSH_GATEWAYS } from '../core/port/registration.ts';
import { type Owner, sharedOperatorCall, watchCall } from './call.ts';
import { anyOf, inputOf, text } from './inputs.ts';

/** The wait for a test, s: a gateway may take 15 s, twice. */
const TEST_PATIENCE_SECONDS = 45;
const DAYS_MAX = 90;
/** The most providers with figures: those with most devices. */
const PROVIDERS_MAX = 100;

export const operatorDeliveryCalls = {
  'gateways.list': watchCall(inputOf({}), async ({ core, nowMs }) => {
    const isSetUp = (gateway: (typeof PUSH_GATEWAYS)[number]) => core.gateways().includes(gateway);
    const [gateways, failing] = await Promise.all([
      readGateways(core, isSetUp, nowMs),
      listFailingWebhooks(core, nowMs),
    ]);
    return { gateways, ...failing };
  }),
  'gateways.test': sharedOperatorCall(
    OPERATE,
    [],
    { often: 'webhookTests' },
    inputOf({ gateway: anyOf(PUSH_GATEWAYS), hwid: text(128) }),
    async (caller: Owner, given) => {
      const { appliance, core, nowMs, signal } = caller;
      if (!caller.admits()) return new Refused('too_many_requests');
      caller.grantPatience(TEST_PATIENCE_SECONDS);
      const send = appliance.pushSender(given.gateway, signal);
      const verdict = await testGateway(core, send, given, nowMs);
      if (isRefused(verdict)) return verdict;
      const problem = verdict.verdict === 'accepted' ? null : verdict.problem;
      return { verdict: verdict.verdict, problem };
    },
  ),
  'figures.read': watchCall(
    inputOf({ dayCount: Type.Integer({ minimum: 1, maximum: DAYS_MAX }) }),
    async ({ core, nowMs }, { dayCount }) => {
      const { fromDay, toDay } = lastDays(dayCount, nowMs);
      const [days, sums] = await Promise.all([
        listFigures(core, null, fromDay, toDay),
        core.store.sumFigures(fromDay, toDay),
      ]);
      const most = sums.sort((one, other) => other.seen - one.seen || other.sends - one.sends);
      return { days, providers: most.slice(0, PROVIDERS_MAX), providerCount: sums.length };
    },
  ),
};

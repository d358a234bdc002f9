/** The operator's calls about gateways, webhooks that fail, and figures. */

import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { AttemptVerdict } from '../../../src/core/outbox/carrier.ts';
import { DISABLED_BY_OWNER } from '../../../src/core/port/webhook.ts';
import { addWebhook } from '../../../src/core/webhook.ts';
import { registration, tokenHash } from '../../store/contract/message-fixture.ts';
import { ACT } from '../../support/actor.ts';
import { call, seedProvider, startTestApp, type TestApp } from '../../support/app.ts';
import { testAppliance } from '../../support/appliance.ts';
import type { ConsoleBrowser } from '../../support/console.ts';
import { operatorBrowser } from '../../support/operator.ts';
import { enter, seedShop } from '../../support/shop.ts';

const verdicts: AttemptVerdict[] = [];
const sent: string[] = [];

let app: TestApp;
let operator: ConsoleBrowser;
beforeAll(async () => {
  const pushSender = (gateway: string) =>
    gateway === 'fcm'
      ? async (address: { token: unknown }) => {
          sent.push(String(address.token));
          return verdicts.shift() ?? { verdict: 'accepted' as const };
        }
      : null;
  app = await startTestApp({ appliance: { ...testAppliance(), pushSender } });
  operator = await operatorBrowser(app);
  for (const [hwid, gateway] of [
    ['phone', 'fcm'],
    ['tablet', 'apns'],
  ] as const) {
    const push = { gateway, token: `${hwid}-token` };
    await app.core.store.registerDevice(registration(hwid, { push, tokenHash: tokenHash(hwid) }));
  }
});
afterAll(() => app.close());

test('gateways, and a webhook that fails, with its problem and without its secret path', async () => {
  const { code, authKey } = await seedProvider(app);
  const { store } = app.core;
  const nowMs = app.clock.nowMs();
  const provider = await store.findProvider(code);
  const target = { kind: 'webhook', url: 'https://bot.example.com/secret', scheme: 'v1' } as const;
  const draft = { target, token: null, events: [] };
  await addWebhook(app.core, provider?.id ?? 0, draft, nowMs);
  expect(await operator.get('gateways.list', {})).toMatchObject({
    gateways: [
      { gateway: 'fcm', isSetUp: false, waitingCount: 0, services: null },
      { gateway: 'apns', isSetUp: false },
      { gateway: 'webpush', isSetUp: false, services: [] },
    ],
    webhooks: [],
  });
  await operator.get('providers.rotate', { code, keepOldHours: 1 });
  // It has an event to send, and no problem.
  expect((await operator.get('gateways.list', {})).webhooks).toEqual([]);
  const lease = { owner: 'test', nowMs, leaseMs: 60_000 };
  const [destination] = await store.claimDestinations(lease, ['webhook'], 9, 9, []);
  const health = { failureCount: 9, failingSinceMs: nowMs, retryAtMs: nowMs + 60_000 };
  await store.settleDispatches(
    { ...lease, destinationId: destination?.id ?? 0 },
    [],
    { ...health, stoppedAtMs: null, problem: 'no answer in 10 s' },
    null,
  );
  await store.releaseDestinations('test', null);
  const { webhooks } = await operator.get('gateways.list', {});
  expect(webhooks).toMatchObject([
    {
      provider: code,
      address: 'https://bot.example.com/…',
      problem: 'no answer in 10 s',
      waitingCount: 1,
      disabled: null,
      retryAtMs: nowMs + 60_000,
    },
  ]);
  expect(JSON.stringify(webhooks)).not.toContain('secret');
  // One that its owner disabled does not fail.
  const disabled = { atMs: nowMs, why: DISABLED_BY_OWNER };
  await store.updateWebhook(webhooks[0]?.id ?? 0, provider?.id ?? 0, { disabled }, ACT);
  expect((await operator.get('gateways.list', {})).webhooks).toEqual([]);
  expect(authKey).toHaveLength(32);
});

test('a gateway is tested with one device; an answer that asks for another try gets one', async () => {
  const phone = { gateway: 'fcm', hwid: 'phone' } as const;
  expect(await operator.get('gateways.test', phone)).toEqual({
    verdict: 'accepted',
    problem: null,
  });
  verdicts.push({ verdict: 'retry', afterMs: 0, problem: 'the token is old' });
  verdicts.push({ verdict: 'credentials', problem: 'the key is not known' });
  expect(await operator.get('gateways.test', phone)).toEqual({
    verdict: 'credentials',
    problem: 'the key is not known',
  });
  expect(sent).toEqual(['phone-token', 'phone-token', 'phone-token']);
  const refusals = [
    await operator.refusal('gateways.test', { gateway: 'fcm', hwid: 'tablet' }),
    await operator.refusal('gateways.test', { gateway: 'fcm', hwid: 'nobody' }),
    await operator.refusal('gateways.test', { gateway: 'apns', hwid: 'tablet' }),
  ];
  expect(refusals).toEqual(['no_push_address', 'device_not_found', 'gateway_not_set_up']);
  await operator.call('gateways.test', phone);
  expect(await operator.refusal('gateways.test', phone)).toBe('too_many_requests');
});

test('figures of all providers by day, those with most devices first', async () => {
  const [one, other] = [await seedShop(app, 'b'.repeat(64)), await seedShop(app, 'c'.repeat(64))];
  const add = async (by: typeof one, code: string) =>
    call(app, '/api/add-install', by, { install_limit: 5, install_code: code });
  await add(one, 'LinkOfOne001');
  await add(other, 'LinkOfOther1');
  await enter(app, 'a', 'LinkOfOne001', 'b'.repeat(64));
  for (const hwid of ['b', 'c']) await enter(app, hwid, 'LinkOfOther1', 'c'.repeat(64));
  await app.core.store.saveFigures();
  const { days, providers, providerCount } = await operator.get('figures.read', { dayCount: 14 });
  expect(days).toHaveLength(14);
  expect(days.at(-1)).toMatchObject({ admitted: 3, links: 2 });
  expect(
    providers.slice(0, 2).map(({ admitted, providerCode }) => [providerCode, admitted]),
  ).toEqual([
    [other.code, 2],
    [one.code, 1],
  ]);
  expect(providerCount).toBeGreaterThanOrEqual(2);
  expect(await operator.refusal('figures.read', { dayCount: 91 })).toBe('malformed');
});

/** A webhook that works again is served at once, and events that it no longer wants go. */

import { afterEach, beforeEach, expect, test } from 'bun:test';
import type { AttemptVerdict } from '../../src/core/outbox/carrier.ts';
import type { Credentials } from '../../src/core/provider.ts';
import { call, seedProvider, startTestApp, type TestApp } from '../support/app.ts';

let app: TestApp;
let own: Credentials;
let verdict: AttemptVerdict;
beforeEach(async () => {
  const deliver = async () => verdict;
  const eventSenders = {
    webhook: { concurrency: 1, spacingMs: 0, deliver },
    telegram: { concurrency: 1, spacingMs: 0, deliver },
  };
  app = await startTestApp({ eventSenders });
  own = await seedProvider(app);
  await call(app, '/api/webhook-add', own, { url: 'https://bot.example.com/' });
  await call(app, '/api/add-install', own, { install_limit: 1 });
});
afterEach(() => app.close());

const KINDS = ['webhook', 'telegram'] as const;
const LATER_MS = 86_400_000;

/** Claims what is due at the webhook; null: nothing is. */
async function claim() {
  const lease = { owner: 'one', nowMs: app.clock.nowMs(), leaseMs: 30_000 };
  const [found] = await app.core.store.claimDestinations(lease, KINDS, 9, 9, []);
  return found === undefined ? null : { ...lease, destinationId: found.id };
}

async function isDue(): Promise<boolean> {
  const lease = await claim();
  await app.core.store.releaseDestinations('one', null);
  return lease !== null;
}

/** Fails the first attempt: the next one is a day later. */
async function putOff(): Promise<void> {
  const { store } = app.core;
  const lease = await claim();
  if (lease === null) throw new Error('nothing is due');
  const due = await store.listDispatches(lease.destinationId, lease.nowMs, 9, null);
  const nextAtMs = lease.nowMs + LATER_MS;
  const settlements = due.map(({ id }) => {
    return { id, outcome: 'retry', nextAtMs, problem: 'it is down' } as const;
  });
  const health = { failureCount: 1, failingSinceMs: lease.nowMs, retryAtMs: 0 };
  const rest = { stoppedAtMs: null, problem: 'it is down' };
  await store.settleDispatches(lease, settlements, { ...health, ...rest }, null);
  await store.releaseDestinations('one', null);
}

test('after a test that gets through what waits is tried at once, else at its time', async () => {
  await putOff();
  verdict = { verdict: 'failed', problem: 'the receiver answered 404' };
  await call(app, '/api/webhook-test', own, { id: 1 });
  expect(await isDue()).toBe(false);
  verdict = { verdict: 'accepted' };
  expect((await call(app, '/api/webhook-test', own, { id: 1 })).json.msg).toBe('Ok');
  expect(await isDue()).toBe(true);
});

test('enabled again, what waits is tried at once, and the worker is woken', async () => {
  await putOff();
  await call(app, '/api/webhook-update', own, { id: 1, enabled: 0 });
  let wakes = 0;
  app.core.signals.onOutbox(() => {
    wakes += 1;
  });
  await call(app, '/api/webhook-update', own, { id: 1, enabled: 1 });
  expect(wakes).toBe(1);
  expect(await isDue()).toBe(true);
});

test('other events drop what waits of kinds that are not wanted any more', async () => {
  const waiting = async () => {
    const answer = await call(app, '/api/webhook-deliveries', own, { id: 1 });
    return (answer.json as { data: { type: string }[] }).data.map(({ type }) => type);
  };
  const want = (events: string) => call(app, '/api/webhook-update', own, { id: 1, events });
  await want('link.created,link.full');
  expect(await waiting()).toEqual(['link.created']);
  await want('all');
  expect(await waiting()).toEqual(['link.created']);
  await want('link.full');
  expect(await waiting()).toEqual([]);
});

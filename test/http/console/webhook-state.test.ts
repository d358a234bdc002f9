/** What the console says of a webhook's health: the problem of what fails now. */

import { afterAll, beforeAll, expect, test } from 'bun:test';
import { call, seedProvider, startTestApp, type TestApp } from '../../support/app.ts';
import { ConsoleBrowser } from '../../support/console.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

const HEALTHY = { failureCount: 0, failingSinceMs: null, retryAtMs: 0, stoppedAtMs: null };

test('an event that was lost is a problem until another one arrives', async () => {
  const own = await seedProvider(app);
  const { code: at, authKey: key } = own;
  const browser = new ConsoleBrowser(app.url);
  await browser.get('session.key', { code: at, key });
  await call(app, '/api/webhook-add', own, { url: 'https://bot.example.com/' });
  const state = async () => {
    const [webhook] = (await browser.get('webhooks.list', { at })).webhooks;
    return [webhook?.problem, webhook?.waitingCount, webhook?.failed.length];
  };
  /** Makes an event and ends all that wait in this way. */
  const end = async (outcome: { outcome: 'accepted' } | { outcome: 'failed'; problem: string }) => {
    await call(app, '/api/add-install', own, { install_limit: 1 });
    app.clock.advance(1_000);
    const { store } = app.core;
    const lease = { owner: 'one', nowMs: app.clock.nowMs(), leaseMs: 30_000 };
    const [found] = await store.claimDestinations(lease, ['webhook'], 9, 9, []);
    const held = { ...lease, destinationId: found?.id ?? 0 };
    const due = await store.listDispatches(held.destinationId, lease.nowMs, 9, null);
    const ends = due.map(({ id }) => ({ id, ...outcome }));
    await store.settleDispatches(held, ends, { ...HEALTHY, problem: null }, null);
    await store.releaseDestinations('one', null);
  };
  expect(await state()).toEqual([null, 0, 0]);
  await end({ outcome: 'failed', problem: 'the receiver answered 400' });
  expect(await state()).toEqual(['the receiver answered 400', 0, 1]);
  // What waits and was not tried yet says nothing.
  await call(app, '/api/add-install', own, { install_limit: 1 });
  expect(await state()).toEqual(['the receiver answered 400', 1, 1]);
  await end({ outcome: 'accepted' });
  expect(await state()).toEqual([null, 0, 1]);
});

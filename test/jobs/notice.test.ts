/** Notices by the clock: each state once, to who listens, and no write for the rest. */

import { afterEach, beforeEach, expect, test } from 'bun:test';
import { noticeAppliance, noticeSubscriptions } from '../../src/jobs/notice.ts';
import { provider, providerDraft } from '../store/contract/fixture.ts';
import { addWebhook, waitingFor } from '../store/contract/webhook.ts';
import { ACT } from '../support/actor.ts';
import { DAY_MS, type Engine, openEngine } from '../support/delivery.ts';

const SETTINGS = { webhookEndingDays: [7, 3, 1] };

let engine: Engine;
beforeEach(async () => {
  engine = await openEngine();
});
afterEach(() => engine.close());

/** A provider whose subscription ends in so many days; with a webhook if it listens. */
async function subscriber(code: string, days: number, listens = true) {
  const { core, clock } = engine;
  const activeUntilMs = clock.nowMs() + days * DAY_MS;
  await core.store.addProvider(providerDraft(code, { activeUntilMs }), ACT);
  const { id } = await provider(core.store, code);
  return listens ? addWebhook(core.store, id) : 0;
}

const look = () => noticeSubscriptions(engine.core, SETTINGS, engine.clock.nowMs());

/** A number that grows with each write. */
const writes = () =>
  engine.db.query<{ v: number }, []>('PRAGMA data_version').get()?.v ?? Number.NaN;

test('a subscription causes an event on each of its days and at its end, by any process that checks', async () => {
  const { core, clock } = engine;
  const id = await subscriber('Provide1', 7.5);
  const heard: number[] = [];
  for (const hours of [0, 12, 1, 24, 72, 24, 24, 24, 24]) {
    clock.advance(hours * 3_600_000);
    await Promise.all([look(), look()]);
    await look();
    heard.push((await waitingFor(core.store, id)).length);
  }
  expect(heard).toEqual([0, 1, 1, 1, 2, 2, 3, 4, 4]);
  const ending = 'subscription.ending';
  expect(await waitingFor(core.store, id)).toEqual([ending, ending, ending, 'subscription.ended']);
});

test('a subscription that is extended causes events again', async () => {
  const { core, clock } = engine;
  const id = await subscriber('Provide1', 1);
  await look();
  const activeUntilMs = clock.nowMs() + 3 * DAY_MS;
  await core.store.updateProvider('Provide1', { activeUntilMs }, ACT);
  await look();
  expect(await waitingFor(core.store, id)).toHaveLength(2);
  await core.store.updateProvider('Provide1', { activeUntilMs: null }, ACT);
  clock.advance(10 * DAY_MS);
  await look();
  expect(await waitingFor(core.store, id)).toHaveLength(2);
});

test('a look that has nothing new to tell writes nothing', async () => {
  const { core, clock } = engine;
  await subscriber('Provide1', 3);
  await subscriber('Provide2', 3, false);
  await subscriber('Provide3', 30);
  await addWebhook(core.store, null, { events: ['backup.failed'] });
  await look();
  const before = writes();
  await look();
  await noticeAppliance(core, clock.nowMs() + DAY_MS, clock.nowMs());
  expect(writes()).toBe(before);
});

test('a certificate that ends causes one event for each of its days', async () => {
  const { core, clock } = engine;
  const id = await addWebhook(core.store, null, { events: ['certificate.ending'] });
  const expiresAtMs = clock.nowMs() + 4 * DAY_MS;
  for (const days of [0, 0, 1, 0, 2]) {
    clock.advance(days * DAY_MS);
    await noticeAppliance(core, expiresAtMs, clock.nowMs());
    await noticeAppliance(core, null, clock.nowMs());
  }
  expect(await waitingFor(core.store, id)).toHaveLength(3);
});

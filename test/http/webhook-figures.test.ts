/** Figures of subscriptions in events: for webhooks for which an account switched them on. */

import { afterAll, beforeAll, expect, test } from 'bun:test';
import { DAY_MS } from '../../src/core/calendar.ts';
import { linkEnded, linkEnding } from '../../src/core/event/subscription-happenings.ts';
import type { EventData, StoredEvent } from '../../src/core/port/event.ts';
import type { KeptFigures } from '../../src/core/port/subscription-figures.ts';
import type { Credentials } from '../../src/core/provider.ts';
import { PushContents } from '../../src/jobs/outbox/contents.ts';
import { Dispatcher } from '../../src/jobs/outbox/dispatcher.ts';
import { webhookOf } from '../store/contract/webhook.ts';
import { ACT } from '../support/actor.ts';
import { call, startTestApp, type TestApp } from '../support/app.ts';
import { ConsoleBrowser } from '../support/console.ts';
import { operatorBrowser } from '../support/operator.ts';
import { addLink, expectOk, seedShop } from '../support/shop.ts';

const URL = 'https://bot.example.com/hook';
const TARGET = { kind: 'webhook', url: URL, scheme: 'v1' } as const;

let app: TestApp;
let own: Credentials;
let owner: ConsoleBrowser;

beforeAll(async () => {
  app = await startTestApp();
  own = await seedShop(app);
  await app.core.store.updateProvider(own.code, { subscriptionFigures: 1 }, ACT);
  owner = await operatorBrowser(app);
});
afterAll(async () => {
  await app.close();
});

const byKey = (path: string, query: Record<string, string | number>) =>
  call(app, `/api/webhook-${path}`, own, query);
const detailOf = async (reply: ReturnType<typeof byKey>) =>
  (await reply).headers.get('x-error-detail');
const add = (figures: 0 | 1) =>
  owner.get('webhooks.add', { at: own.code, target: TARGET, token: null, events: [], figures });
const figuresOf = async (id: number) => (await webhookOf(app.core.store, id)).figures;

test('a key cannot switch them on, and can switch them off', async () => {
  const ofAccount = 'figures: an account switches it on in the console, not a key';
  expect(await detailOf(byKey('add', { url: URL, figures: 1 }))).toBe(ofAccount);
  const { json } = await expectOk(byKey('add', { url: URL, figures: 0 }));
  expect(await detailOf(byKey('update', { id: json.id, figures: 1 }))).toBe(ofAccount);
  expect(await figuresOf(json.id)).toBe(0);
  const { id } = await add(1);
  expect(await figuresOf(id)).toBe(1);
  const { data } = (await expectOk(byKey('list', {}))).json;
  expect(data.map((row: { figures: number }) => row.figures)).toEqual([1, 0]);
  await expectOk(byKey('update', { id, figures: 1, events: 'link.full' }));
  expect(await figuresOf(id)).toBe(1);
  await expectOk(byKey('update', { id, figures: 0 }));
  expect(await figuresOf(id)).toBe(0);
});

test('a session by the key is no account', async () => {
  const browser = new ConsoleBrowser(app.url);
  await browser.get('session.key', { code: own.code, key: own.authKey });
  const given = { at: own.code, target: TARGET, token: null, events: [], figures: 1 };
  expect(await browser.refusal('webhooks.add', given)).toBe('malformed');
});

test('a key that moves the webhook switches them off, an account does not', async () => {
  const moves = {
    address: (id: number) => byKey('update', { id, url: `${URL}/thief` }),
    secret: (id: number) => byKey('rotate', { id }),
  };
  for (const move of Object.values(moves)) {
    const { id } = await add(1);
    await expectOk(byKey('update', { id, enabled: 0 }));
    await expectOk(byKey('update', { id, enabled: 1, url: URL }));
    expect(await figuresOf(id)).toBe(1);
    await expectOk(move(id));
    expect(await figuresOf(id)).toBe(0);
  }
  const { id } = await add(1);
  await owner.get('webhooks.rotate', { at: own.code, id, token: null });
  expect(await figuresOf(id)).toBe(1);
});

test('the store has the last word, if the switch was thrown meanwhile', async () => {
  const { store } = app.core;
  const { id: providerId = 0 } = (await store.findProvider(own.code)) ?? {};
  const { id } = await add(0);
  const key = { ...ACT, actor: { kind: 'provider', name: own.code, from: '192.0.2.1' } } as const;
  await store.updateWebhook(id, providerId, { figures: 1 }, key);
  expect(await figuresOf(id)).toBe(0);
});

/** Sends an event once, and returns what the webhook got. */
async function sent(webhookId: number, kind: StoredEvent['kind'], data: EventData) {
  const got: EventData[] = [];
  const deliver = async (_webhook: unknown, event: StoredEvent) => {
    got.push(event.data);
    return { verdict: 'accepted' } as const;
  };
  const sender = { concurrency: 1, spacingMs: 0, deliver };
  const settings = { gatewayCarryMessages: false, outputOffsetMinutes: 0 };
  const { core, clock, log } = app;
  const dispatcher = new Dispatcher(
    {
      core,
      clock,
      log,
      settings,
      gateways: () => ({}),
      eventSenders: { webhook: sender, telegram: sender },
      onAttempt: () => undefined,
      random: () => 0,
    },
    new PushContents(core.store, settings),
    new AbortController().signal,
    (fault) => {
      throw fault;
    },
  );
  const event = { id: 1, providerId: 1, kind, atMs: 0, data };
  const base = { id: 1, nextAtMs: 0, queuedAtMs: 0, attemptCount: 0 };
  await dispatcher.sendEvent({ ...base, kind: 'event', event }, webhookId);
  return got[0];
}

test('are in events about a link, and of its end and traffic, where they are on alone', async () => {
  const nowMs = app.clock.nowMs();
  const { id: install_id } = await addLink(app, own);
  const { id: other } = await addLink(app, own, 'LinkCode0002');
  const figures = { endsAtMs: nowMs + DAY_MS, totalBytes: 1_000, usedBytes: 10 };
  await app.core.store.keepSubscriptionFigures(install_id, figures, 'proxy', nowMs);
  const traffic = { total_bytes: 1_000, used_bytes: 10, read_at: new Date(nowMs).toISOString() };
  const all = { ends_at: new Date(nowMs + DAY_MS).toISOString(), ...traffic };
  const [{ id: on }, { id: off }] = [await add(1), await add(0)];
  for (const kind of ['link.updated', 'link.full', 'link.refused'] as const) {
    expect(await sent(on, kind, { install_id, x: 1 })).toEqual({ install_id, x: 1, ...all });
    expect(await sent(on, kind, { install_id: other })).toEqual({ install_id: other });
    expect(await sent(off, kind, { install_id, x: 1 })).toEqual({ install_id, x: 1 });
  }
  expect(await sent(on, 'device.admitted', { install_id })).toEqual({ install_id });
  const kept = { ...figures, readAtMs: nowMs } as KeptFigures;
  const ending = linkEnding(install_id, kept, nowMs).data;
  expect(await sent(on, 'link.ending', ending)).toEqual({ install_id, days: 1, ...all });
  expect(await sent(off, 'link.ending', ending)).toEqual({ install_id, days: 1 });
  const ended = linkEnded(install_id, kept).data;
  expect(await sent(on, 'link.ended', ended)).toEqual({
    install_id,
    ended_at: all.ends_at,
    ...traffic,
  });
  expect(await sent(off, 'link.ended', ended)).toEqual({ install_id });
  // That of the provider's own plan is no figure of a customer.
  const plan = { days: 1, ends_at: all.ends_at };
  expect(await sent(off, 'subscription.ending', plan)).toEqual(plan);
});

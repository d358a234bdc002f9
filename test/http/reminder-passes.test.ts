/** What passes of reminders end and leave alone. */

import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test';
import { DAY_MS, HOUR_MS } from '../../src/core/calendar.ts';
import type { Credentials } from '../../src/core/provider.ts';
import { makeReminder } from '../../src/jobs/remind.ts';
import { ACT } from '../support/actor.ts';
import { call, seedProvider, startTestApp, type TestApp } from '../support/app.ts';
import { besideOf } from '../support/beside.ts';
import { byLink, inbox, register } from '../support/messaging.ts';
import { addLink, bind, enter, expectOk } from '../support/shop.ts';

const CODE = 'LinkCode0001';

let app: TestApp;
let own: Credentials;
let linkId: number;
let providerId: number;
let token: string;

beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());
/** A customer whose subscription ends in 60 hours, and a reminder three days before the end. */
beforeEach(async () => {
  await app.reset();
  own = await seedProvider(app);
  await bind(app, own);
  const { id } = await addLink(app, own, CODE, 2);
  linkId = id;
  await enter(app, 'phone', CODE);
  token = await register(app, byLink('phone', CODE));
  const { store } = app.core;
  const texts = { en: '{days_left} left' };
  const added = { kind: 'before_end', amount: 72, texts, enabled: 1 };
  await expectOk(
    call(app, '/api/reminder-add', own, {}, { method: 'POST', body: JSON.stringify(added) }),
  );
  providerId = (await store.findProvider(own.code))?.id ?? 0;
  await store.confirmChanges(providerId, app.clock.nowMs(), ACT);
  const endsAtMs = app.clock.nowMs() + 60 * HOUR_MS;
  const figures = { endsAtMs, totalBytes: null, usedBytes: null };
  await store.keepSubscriptionFigures(id, figures, 'proxy', app.clock.nowMs());
});

async function pass(afterMs: number) {
  app.clock.advance(afterMs);
  const { clock, core, log } = app;
  await makeReminder({ core, clock, log, reader: null })(new AbortController().signal);
}

const count = async () => (await inbox(app, token)).json.data.length;

test('a greeting that a key changed waits for a day, as its text would', async () => {
  const { store } = app.core;
  const greets = async () => (await inbox(app, token)).json.data[0]?.payload.body;
  const change = async (greeting: string) => {
    app.clock.advance(1);
    await expectOk(call(app, '/api/update-install', own, { id: linkId, greeting }));
  };
  await store.updateLink(providerId, linkId, { greeting: 'Anna' }, ACT);
  await store.setReminder(providerId, 1, { texts: { en: 'Hi {greeting}' } }, ACT);
  await change('pay evil.example');
  await change('pay evil.example/now');
  await pass(60_000);
  expect(await greets()).toBe('Hi Anna');
  await store.confirmChanges(providerId, app.clock.nowMs(), ACT);
  expect(await greets()).toBe('Hi pay evil.example/now');
  await change('pay again');
  expect(await greets()).toBe('Hi pay evil.example/now');
  await store.updateLink(providerId, linkId, { greeting: 'Anna' }, ACT);
  expect(await greets()).toBe('Hi Anna');
});

test('what was sent ends once no figures are kept any more', async () => {
  await pass(60_000);
  expect(await count()).toBe(1);
  const provider = await app.core.store.nextReminded(0, 0);
  const code = provider?.provider.code ?? '';
  await app.core.store.updateProvider(code, { subscriptionFigures: 0 }, ACT);
  await pass(60_000);
  expect(await count()).toBe(0);
  const { open } = await app.core.store.listOpenReminders(providerId, 0, 10);
  expect(open).toEqual([]);
});

test('figures of over two days ago cost no write where no panel can be asked', async () => {
  const db = besideOf(app);
  const claims = () => db.query<{ n: number }, []>('SELECT count(*) AS n FROM reminding').get()?.n;
  await pass(2 * DAY_MS + 60_000);
  expect([await count(), Number(claims())]).toEqual([0, 0]);
  await db.close();
});

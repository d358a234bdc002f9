/** Reminders on every way to a device, and their end when the user has paid. */

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { SYSTEM } from '../../src/core/audit/entry.ts';
import { hostHash } from '../../src/core/host-name.ts';
import type { FiguresReader } from '../../src/core/port/figures-reader.ts';
import type { OwnReminder } from '../../src/core/port/reminder.ts';
import type { Credentials } from '../../src/core/provider.ts';
import { readAnnounce } from '../../src/core/ride/text.ts';
import { parseTrustedProxies } from '../../src/http/request/address.ts';
import { PushContents } from '../../src/jobs/outbox/contents.ts';
import { makeReminder } from '../../src/jobs/remind.ts';
import { ACT } from '../support/actor.ts';
import { call, seedProvider, startTestApp, type TestApp } from '../support/app.ts';
import { ack, byLink, inbox, register } from '../support/messaging.ts';
import { VAPID } from '../support/my-news.ts';
import { answer, type Panel, SUBSCRIPTION, startPanel } from '../support/panel.ts';
import { ofApp, RIDES } from '../support/rides.ts';
import { bind, enter, expectOk } from '../support/shop.ts';
import { openStream } from '../support/stream.ts';
import { until } from '../support/until.ts';
import { exchange, HOST, keyPath, upstreamTo } from '../support/upstream.ts';

const GB = 1024 ** 3;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const KEY = 'key-of-anna-01';
const CODE = 'LinkCode0001';
const HASH = hostHash(HOST);
const TEXTS = { en: '{days_left} left', ru: 'Осталось {days_left}', fa: 'مانده: {days_left}' };

let app: TestApp;
let panel: Panel;
let own: Credentials;
let linkId: number;
/** What the panel says in its next answers; empty: nothing. */
let userinfo = '';
let reader: FiguresReader | null = null;

beforeAll(async () => {
  panel = await startPanel(({ send }) => {
    const said = userinfo === '' ? {} : { 'subscription-userinfo': userinfo };
    send(answer(200, SUBSCRIPTION, { 'Content-Type': 'text/plain', ...said }));
  });
  app = await startTestApp({
    pushKey: VAPID.publicKey,
    rides: RIDES,
    trustedProxies: parseTrustedProxies(['127.0.0.1']),
    gateKeyPaths: [keyPath('/sub/{key}')],
    gateRide: 'on',
  });
});
afterAll(async () => {
  await app.close();
  await panel.stop();
});
beforeEach(async () => {
  await app.reset();
  [userinfo, reader] = ['', null];
  own = await seedProvider(app);
  await bind(app, own, HASH);
  app.settings.gateUpstreams = [upstreamTo(panel.url, own.code, { ride: 'on' })];
  await app.core.store.updateProvider(own.code, { subscriptionFigures: 1 }, ACT);
  const link = { install_limit: 3, install_code: CODE, subscription_key: KEY };
  linkId = (await expectOk(call(app, '/api/add-install', own, link))).json.id;
  await enter(app, 'phone', CODE, HASH);
  app.clock.advance(1_000);
});

const providerId = async () => (await app.core.store.findProvider(own.code))?.id ?? 0;

/** Keeps figures as a fetch would: an end in so many hours, and the traffic. */
async function says(hours: number, used = 1) {
  const nowMs = app.clock.nowMs();
  const read = { endsAtMs: nowMs + hours * HOUR_MS, totalBytes: 10 * GB, usedBytes: used * GB };
  await app.core.store.keepSubscriptionFigures(linkId, read, 'proxy', nowMs);
}

async function rule(more: Partial<OwnReminder> = {}) {
  const usual = { kind: 'before_end', amount: 72, texts: TEXTS, pushText: 'neutral', enabled: 1 };
  const draft = { ...(usual as OwnReminder), ...more, providerId: await providerId() };
  const nowMs = app.clock.nowMs();
  const act = { actor: SYSTEM, atMs: nowMs };
  const added = await app.core.store.addReminder(
    { ...draft, createdAtMs: nowMs, countMax: 10 },
    act,
  );
  if (typeof added === 'string') throw new Error(added);
  return added.reminder;
}

/** Makes the passes that are due, a minute later. */
async function pass(afterMs = 61_000) {
  app.clock.advance(afterMs);
  const remind = makeReminder({
    core: app.core,
    clock: app.clock,
    log: app.log,
    reader: reader && { read: (...given) => reader?.read(...given) ?? Promise.resolve(null) },
  });
  await remind(new AbortController().signal);
  app.clock.advance(1);
}

const plain = (text: string) => text.replace(/[\u00a0\u202f]/g, ' ');
const bodies = async (token: string) =>
  (await inbox(app, token)).json.data.map((one: { payload: { body: string } }) =>
    plain(one.payload.body),
  );

async function fetched(language: string | null = null, hwid = 'phone') {
  const second = { 'accept-language': `${language?.toLowerCase()}, ru;q=0.5` };
  const headers = { ...ofApp('INCY', language), ...(language && second), 'x-hwid': hwid };
  const port = Number(new URL(app.url).port);
  const { headers: got } = await exchange(port, 'GET', `/sub/${KEY}`, headers);
  return plain(readAnnounce(got.get('announce') ?? ''));
}

describe('a reminder comes', () => {
  test('to the inbox, filled, without its marks, once', async () => {
    const token = await register(app, byLink('phone', CODE, HASH));
    await rule();
    await says(48);
    for (let turn = 0; turn < 3; turn += 1) await pass();
    const { json, text } = await inbox(app, token);
    expect(json.data).toHaveLength(1);
    expect(plain(json.data[0].payload.body)).toBe('2 days left');
    expect(text).not.toContain('"reminder"');
    expect(text).not.toContain('"fill"');
    await ack(app, token, [{ id: json.data[0].id, state: 'received' }]);
    await pass();
    expect(await bodies(token)).toEqual([]);
  });

  test('by a stream', async () => {
    const token = await register(app, byLink('phone', CODE, HASH));
    const stream = await openStream(app, token);
    await rule();
    await says(48);
    await pass();
    await until('it came', () => stream.ids().length === 1);
    stream.socket.close();
  });

  for (const [language, text] of [
    [null, '2 days left'],
    // The main language has a text too: the second one of the phone, Russian, is not taken.
    ['EN', '2 days left'],
    ['RU', 'Осталось 2 дня'],
    ['FA', 'مانده: ۲ روز'],
  ] as const) {
    test(`on the answer to a fetch, in the language of the phone: ${language}`, async () => {
      await rule();
      await says(48);
      await pass();
      expect(await fetched(language)).toBe(text);
    });
  }

  test('as a push that says nothing, and as one with the text where the provider wants it', async () => {
    const settings = { gatewayCarryMessages: true, outputOffsetMinutes: 180 };
    await register(app, byLink('phone', CODE, HASH));
    await says(48);
    const [target] = await app.core.store.findTargets(await providerId(), ['phone']);
    const render = async (locale: string | null) => {
      const contents = new PushContents(app.core.store, settings);
      const [round] = await app.core.store.listRounds(await providerId(), {
        beforeId: null,
        countMax: 1,
      });
      const of = { distributionId: round?.id ?? 0, deviceId: target?.id ?? 0 };
      return contents.render(of, locale, app.clock.nowMs());
    };
    await rule();
    await pass();
    for (const [locale, body] of [
      [null, 'There is news'],
      ['de', 'There is news'],
      ['ru-RU', 'Есть новое сообщение'],
      ['fa', 'پیام تازه‌ای دارید'],
      ['zh-CN', '您有新消息'],
    ] as const) {
      const content = await render(locale);
      expect(content).toMatchObject({ body, title: null, link: null, inboxMessage: null });
      expect(JSON.stringify(content)).not.toMatch(/\d days|left/);
    }
    await rule({ kind: 'traffic', amount: 5, pushText: 'full' });
    await pass();
    expect(plain((await render('ru'))?.body ?? '')).toBe('Осталось 2 дня');
  });

  test('not in quiet hours, by the zone of the provider', async () => {
    const token = await register(app, byLink('phone', CODE, HASH));
    const minute = new Date(app.clock.nowMs() + 3 * HOUR_MS).toISOString().slice(11, 16);
    const [hours = 0, minutes = 0] = minute.split(':').map(Number);
    const clock = (all: number) =>
      `${String(Math.floor(all / 60) % 24).padStart(2, '0')}:${String(all % 60).padStart(2, '0')}`;
    const at = hours * 60 + minutes;
    const quiet = { quietFrom: clock(at), quietTo: clock(at + 120) };
    await app.core.store.updateProvider(own.code, quiet, ACT);
    await rule();
    await says(48);
    await pass();
    expect(await bodies(token)).toEqual([]);
    // Four hours further east it is no night.
    await app.core.store.updateProvider(own.code, { timeZone: '+07:00' }, ACT);
    await pass();
    expect(await bodies(token)).toHaveLength(1);
  });

  test('of two that are due, the one that is nearer to the end', async () => {
    const token = await register(app, byLink('phone', CODE, HASH));
    await rule();
    await rule({ amount: 24, texts: { en: 'one day' } });
    await says(20);
    await pass();
    expect(await bodies(token)).toEqual(['one day']);
  });

  test('after the end, and to apps that were silent, where there is an address', async () => {
    const token = await register(app, byLink('phone', CODE, HASH));
    await rule({ kind: 'after_end', amount: 1, texts: { en: 'ended' } });
    await rule({ kind: 'inactive', amount: 3, texts: { en: 'come back' } });
    await says(1);
    await pass(2 * HOUR_MS);
    expect(await bodies(token)).toEqual([]);
    await pass(24 * HOUR_MS);
    expect(await bodies(token)).toEqual(['ended']);
    await says(30 * 24);
    await pass(5 * DAY_MS);
    // It has no address.
    expect(await bodies(token)).toEqual([]);
    const rounds = await app.core.store.listRounds(await providerId(), {
      beforeId: null,
      countMax: 9,
    });
    expect(rounds.map(({ kind, recipientCount }) => [kind, recipientCount])).toEqual([
      ['inactive', 0],
      ['after_end', 1],
    ]);
  });
});

describe('a reminder ends', () => {
  test('on the very answer in which the panel says that the user has paid', async () => {
    await rule();
    await says(48);
    await pass();
    const endS = Math.floor((app.clock.nowMs() + 40 * DAY_MS) / 1_000);
    userinfo = `upload=0; download=0; total=${10 * GB}; expire=${endS}`;
    expect(await fetched()).toBe('');
  });

  test('in inbox and push at once, before the next pass; and for good after it', async () => {
    const token = await register(app, byLink('phone', CODE, HASH));
    await rule();
    await says(48);
    await pass();
    expect(await bodies(token)).toHaveLength(1);
    const [round] = await app.core.store.listRounds(await providerId(), {
      beforeId: null,
      countMax: 1,
    });
    app.clock.advance(60_000);
    await says(40 * 24);
    expect(await bodies(token)).toEqual([]);
    const [target] = await app.core.store.findTargets(await providerId(), ['phone']);
    const settings = { gatewayCarryMessages: false, outputOffsetMinutes: 180 };
    const contents = new PushContents(app.core.store, settings);
    const of = { distributionId: round?.id ?? 0, deviceId: target?.id ?? 0 };
    expect(await contents.render(of, null, app.clock.nowMs())).toBeNull();
    await pass();
    const page = { beforeId: null, countMax: 9 };
    expect(await app.core.store.listRounds(await providerId(), page)).toMatchObject([
      { recipientCount: 1, gotCount: 0, endedCount: 1 },
    ]);
  });

  test('when it is switched off or removed', async () => {
    const token = await register(app, byLink('phone', CODE, HASH));
    const { id } = await rule();
    await says(48);
    await pass();
    expect(await bodies(token)).toHaveLength(1);
    await app.core.store.setReminder(await providerId(), id, { enabled: 0 }, ACT);
    await pass();
    expect(await bodies(token)).toEqual([]);
  });
});

describe('figures that were read over two days ago', () => {
  test('send nothing, until the panel confirms them; it is asked once an hour', async () => {
    const token = await register(app, byLink('phone', CODE, HASH));
    await rule();
    await says(5 * 24);
    const asked: number[] = [];
    let said: { endsAtMs: number } | null = null;
    const makes = makeReminder({
      core: app.core,
      clock: app.clock,
      log: app.log,
      reader: {
        read: async (installId) => {
          asked.push(installId);
          return said && { ...said, totalBytes: null, usedBytes: null };
        },
      },
    });
    const remind = async (afterMs: number) => {
      app.clock.advance(afterMs);
      await makes(new AbortController().signal);
    };
    await remind(49 * HOUR_MS);
    expect([asked.length, await bodies(token)]).toEqual([1, []]);
    await remind(10 * 60_000);
    expect(asked).toHaveLength(1);
    said = { endsAtMs: app.clock.nowMs() + 60 * HOUR_MS };
    await remind(HOUR_MS);
    expect(asked).toEqual([linkId, linkId]);
    expect(await bodies(token)).toHaveLength(1);
    await remind(2 * HOUR_MS);
    expect(asked).toHaveLength(2);
  });

  test('that are younger are confirmed too where a panel can be asked: the user may have paid', async () => {
    const token = await register(app, byLink('phone', CODE, HASH));
    await rule();
    await says(50);
    const paid = { endsAtMs: app.clock.nowMs() + 40 * DAY_MS, totalBytes: null, usedBytes: null };
    reader = { read: async () => paid };
    await pass(2 * HOUR_MS);
    expect(await bodies(token)).toEqual([]);
    expect((await call(app, '/api/reminder-rounds', own)).json.data).toEqual([]);
  });
});

test('a clock that leaps ahead sends nothing early', async () => {
  const token = await register(app, byLink('phone', CODE, HASH));
  await rule();
  await says(4 * 24);
  const rightMs = app.clock.nowMs();
  const core = { ...app.core, leastMs: () => rightMs };
  app.clock.advance(1.5 * DAY_MS);
  const remind = makeReminder({ core, clock: app.clock, log: app.log, reader: null });
  await remind(new AbortController().signal);
  expect(await bodies(token)).toEqual([]);
  expect((await call(app, '/api/reminder-rounds', own)).json.data).toEqual([]);
});

describe('many links that move at once', () => {
  test('stop the reminders of the provider, which is told, until a person lets them go on', async () => {
    const links: number[] = [];
    for (let n = 0; n < 40; n += 1) {
      const code = `LinkCode1${String(n).padStart(3, '0')}`;
      const { json } = await expectOk(
        call(app, '/api/add-install', own, { install_limit: 1, install_code: code }),
      );
      links.push(json.id);
      await enter(app, `device-${n}`, code, HASH);
    }
    await rule();
    const keep = (id: number, hours: number) =>
      app.core.store.keepSubscriptionFigures(
        id,
        { endsAtMs: app.clock.nowMs() + hours * HOUR_MS, totalBytes: null, usedBytes: null },
        'proxy',
        app.clock.nowMs(),
      );
    for (const id of links) await keep(id, 30 * 24);
    app.clock.advance(DAY_MS);
    // Five of forty: more than a twentieth.
    for (const id of links.slice(0, 5)) await keep(id, 40);
    await pass();
    const rounds = await call(app, '/api/reminder-rounds', own);
    expect(rounds.json.data).toEqual([]);
    expect(rounds.json.stopped_at).not.toBeNull();
    await pass(DAY_MS / 2);
    expect((await call(app, '/api/reminder-rounds', own)).json.data).toEqual([]);
    const act = { actor: SYSTEM, atMs: app.clock.nowMs() };
    expect(await app.core.store.resumeReminders(await providerId(), act)).toBe(true);
    await pass();
    const after = await call(app, '/api/reminder-rounds', own);
    expect(after.json).toMatchObject({ stopped_at: null, data: [{ devices: 5 }] });
  });

  test('four links are no mass, however few there are', async () => {
    await rule();
    await says(30 * 24);
    app.clock.advance(DAY_MS);
    await says(48);
    await pass();
    expect((await call(app, '/api/reminder-rounds', own)).json).toMatchObject({
      stopped_at: null,
      data: [{ devices: 1 }],
    });
  });
});

/** Placeholders on every way of a message to a device, and where they are asked for. */

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { hostHash } from '../../src/core/host-name.ts';
import type { Credentials } from '../../src/core/provider.ts';
import { readAnnounce } from '../../src/core/ride/text.ts';
import { parseTrustedProxies } from '../../src/http/request/address.ts';
import { PushContents } from '../../src/jobs/outbox/contents.ts';
import { ACT } from '../support/actor.ts';
import { call, seedProvider, startTestApp, type TestApp } from '../support/app.ts';
import { byBinding, byLink, inbox, register } from '../support/messaging.ts';
import { subscriber, VAPID } from '../support/my-news.ts';
import { answer, type Panel, SUBSCRIPTION, startPanel } from '../support/panel.ts';
import { ofApp, RIDES } from '../support/rides.ts';
import { addLink, bind, enter, expectOk } from '../support/shop.ts';
import { openStream } from '../support/stream.ts';
import { until } from '../support/until.ts';
import { exchange, HOST, keyPath, upstreamTo } from '../support/upstream.ts';

const GB = 1024 ** 3;
const DAY_MS = 86_400_000;
const [KEY, OTHER_KEY] = ['key-of-anna-01', 'key-of-boris-1'] as const;
const [CODE, OTHER] = ['LinkCode0001', 'LinkCode0002'] as const;
const HASH = hostHash(HOST);

const SAID = '{greeting|friend}: {days_left|soon}, {traffic_left|some}, {devices}/{limit}';
const FORM = {
  title: 'News',
  body: `<b>${SAID}</b>`,
  locales: { RU: { body: SAID }, FA: { body: SAID }, CN: { body: SAID } },
  type_push: 'optional',
  expire_days: 3,
};
const plain = (text: string) => text.replace(/[\u00a0\u202f]/g, ' ');
const EN = 'Anna <3: 3 days, 9 GB, 1/3';
const HTML = 'Anna &lt;3: 3 days, 9 GB, 1/3';
const RU = 'Anna <3: 3 дня, 9 ГБ, 1/3';

let app: TestApp;
let panel: Panel;
let own: Credentials;
let linkId: number;

beforeAll(async () => {
  // It says no figures: the proxy would keep them at some time.
  panel = await startPanel(({ send }) =>
    send(answer(200, SUBSCRIPTION, { 'Content-Type': 'text/plain' })),
  );
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
  own = await seedProvider(app);
  await bind(app, own, HASH);
  app.settings.gateUpstreams = [upstreamTo(panel.url, own.code, { ride: 'on' })];
  const terms = { subscriptionFigures: 1, my: 1 } as const;
  await app.core.store.updateProvider(own.code, terms, ACT);
  for (const [key, code] of [
    [KEY, CODE],
    [OTHER_KEY, OTHER],
  ] as const) {
    const link = { install_limit: 3, install_code: code, subscription_key: key };
    const { json } = await expectOk(call(app, '/api/add-install', own, link));
    if (code === CODE) linkId = json.id;
  }
  await expectOk(call(app, '/api/update-install', own, { id: linkId, greeting: 'Anna <3' }));
  const end = { endsAtMs: app.clock.nowMs() + 3 * DAY_MS, totalBytes: 10 * GB, usedBytes: GB };
  await app.core.store.keepSubscriptionFigures(linkId, end, 'proxy', app.clock.nowMs());
  await enter(app, 'phone', CODE, HASH);
  app.clock.advance(1_000);
});

const to = { os: ['ios', 'android'] };

/** Sends, by default with the mark, and delivers. */
async function send(more: object = { fill: 1 }, form: object = FORM, by = own): Promise<number> {
  app.clock.advance(5 * 60_000);
  const body = JSON.stringify({ PushNotificationForm: form, ...to, ...more });
  const { json } = await expectOk(
    call(app, '/remote/notification', by, {}, { method: 'POST', body }),
  );
  await app.deliver();
  app.clock.advance(1);
  return json.id;
}

async function waiting(token: string, id?: number) {
  if (id === undefined) return (await inbox(app, token)).json.data;
  const headers = { authorization: `Bearer ${token}` };
  return (await call(app, '/device/inbox', null, { id }, { headers })).json.data;
}

/** Checks a payload as a device gets it. */
function expectFilled(payload: Record<string, unknown>) {
  expect(JSON.parse(plain(JSON.stringify(payload)))).toEqual({
    title: 'News',
    body: `<b>${HTML}</b>`,
    locales: {
      RU: { body: 'Anna &lt;3: 3 дня, 9 ГБ, 1/3' },
      FA: { body: 'Anna &lt;3: ۳ روز, ۹ گیگابایت, ۱/۳' },
      CN: { body: 'Anna &lt;3: 3天, 9 GB, 1/3' },
    },
    type_push: 'optional',
    expire_days: 3,
  });
}

describe('each way of a message has it filled', () => {
  test('the poll, and the fetch of one by its id', async () => {
    const token = await register(app, byLink('phone', CODE, HASH));
    const id = await send();
    for (const data of [await waiting(token), await waiting(token, id)]) {
      expect(data).toHaveLength(1);
      expectFilled(data[0].payload);
    }
  });

  test('the stream, what waited and what comes', async () => {
    const token = await register(app, byLink('phone', CODE, HASH));
    const first = await send();
    const stream = await openStream(app, token);
    await until('the first came', () => stream.ids().length === 1);
    const second = await send();
    await until('the second came', () => stream.ids().length === 2);
    expect(stream.ids()).toEqual([first, second]);
    for (const { data = [] } of stream.frames)
      for (const { payload } of data) expectFilled(payload);
    stream.socket.close();
  });

  test('a push, in the language of the device, and the message in it', async () => {
    await register(app, byLink('phone', CODE, HASH));
    const id = await send();
    const provider = await app.core.store.findProvider(own.code);
    const [target] = await app.core.store.findTargets(provider?.id ?? 0, ['phone']);
    const settings = { gatewayCarryMessages: true, outputOffsetMinutes: 180 };
    const contents = new PushContents(app.core.store, settings);
    const of = { distributionId: id, deviceId: target?.id ?? 0 };
    for (const [locale, body] of [
      [null, EN],
      ['ru', RU],
    ] as const) {
      const content = await contents.render(of, locale, app.clock.nowMs());
      expect(content).toMatchObject({ title: 'News' });
      expect(plain(content?.body ?? '')).toBe(body);
      expectFilled(JSON.parse(content?.inboxMessage ?? '{}').payload);
    }
  });

  const viaProxy = async (key: string, hwid: string | null, language: string | null) => {
    const headers = { ...ofApp('INCY', language), ...(hwid !== null && { 'x-hwid': hwid }) };
    const port = Number(new URL(app.url).port);
    const { headers: got } = await exchange(port, 'GET', `/sub/${key}`, headers);
    return readAnnounce(got.get('announce') ?? '');
  };
  const viaGate = async (key: string, hwid: string | null, language: string | null) => {
    const headers = {
      ...ofApp('INCY', language),
      'x-original-uri': `/sub/${key}`,
      'x-forwarded-host': HOST,
      'x-original-method': 'GET',
      ...(hwid !== null && { 'x-hwid': hwid }),
    };
    const got = await fetch(`${app.url}/gate`, { headers });
    return readAnnounce(got.headers.get('announce') ?? '');
  };
  const doors = [
    ['the proxy', viaProxy],
    ['/gate', viaGate],
  ] as const;
  for (const [name, door] of doors) {
    test(`the ride through ${name}: what the fetched link has, and nothing of another`, async () => {
      await door(OTHER_KEY, 'phone', null);
      await door(OTHER_KEY, 'tablet', null);
      app.clock.advance(1);
      await send();
      const said = async (...from: [key: string, hwid: string, language: string | null]) =>
        plain(await door(...from));
      expect(await said(KEY, 'phone', null)).toBe(`News\n${EN}`);
      expect(await said(KEY, 'phone', 'RU')).toBe(`News\n${RU}`);
      // A stranger's link, with the HWID of the phone; and an own slot there.
      expect(await said(OTHER_KEY, 'phone', null)).toBe('News\nfriend: soon, some, 2/3');
      expect(await said(OTHER_KEY, 'tablet', null)).toBe('News\nfriend: soon, some, 2/3');
      expect(await said(KEY, 'phone', null)).toBe(`News\n${EN}`);
    });
  }

  test('the page of users, without figures: a code alone opens it', async () => {
    const body = { link: CODE, push: subscriber().subscription, locale: 'en' };
    const headers = {
      'content-type': 'application/json',
      'user-agent': 'X Linux; Android Chrome/1',
    };
    const init = { method: 'POST', headers, body: JSON.stringify(body) };
    const joined = await fetch(`${app.url}/my/news`, init);
    const cookie = (joined.headers.get('set-cookie') ?? '').split(';', 1)[0] ?? '';
    await send();
    const page = await fetch(`${app.url}/my/news?link=${CODE}`, {
      headers: { cookie, 'accept-language': 'en' },
    });
    expect(await page.text()).toContain('<b>Anna &lt;3: soon, some, 1/3</b>');
  });
});

describe('a device', () => {
  test('that did not show the link gets none of its values', async () => {
    const token = await register(app, byBinding('laptop', own, HASH));
    await enter(app, 'laptop', CODE, HASH);
    await send();
    const [{ payload }] = await waiting(token);
    expect(payload.body).toBe('<b>friend: soon, some, –/–</b>');
  });

  test('gets what is true when it reads, not when it was sent', async () => {
    const token = await register(app, byLink('phone', CODE, HASH));
    await send();
    app.clock.advance(2 * DAY_MS);
    const [{ payload }] = await waiting(token);
    expect(plain(payload.body)).toBe('<b>Anna &lt;3: 1 day, some, 1/3</b>');
  });

  test('of another provider gets its values there, and none of ours', async () => {
    const rival = await seedProvider(app);
    await bind(app, rival, HASH);
    await addLink(app, rival, 'LinkCode0009', 7);
    await enter(app, 'phone', 'LinkCode0009', HASH);
    const token = await register(app, byLink('phone', 'LinkCode0009', HASH));
    app.clock.advance(1);
    await send({ fill: 1 }, FORM, rival);
    await send({}, { ...FORM, body: SAID }, rival);
    const bodies = (await waiting(token)).map((one: { payload: { body: string } }) =>
      plain(one.payload.body),
    );
    expect(bodies).toEqual(['<b>friend: soon, some, 1/7</b>', SAID]);
  });
});

describe('without the mark', () => {
  test('a message is what it was, byte for byte, braces included', async () => {
    const token = await register(app, byLink('phone', CODE, HASH));
    await send({});
    const { text } = await inbox(app, token);
    expect(text).toContain(`"payload":${JSON.stringify(FORM)}`);
  });

  test('the list of messages has the same fields for both', async () => {
    const ids = [await send({}), await send()];
    const { json } = await call(app, '/remote/list', own);
    const [filled, bare] = json.data;
    expect([bare.id, filled.id]).toEqual(ids);
    const { created_at: _a, id: _b, sent_at: _c, ...one } = bare;
    const { created_at: _d, id: _e, sent_at: _f, ...other } = filled;
    expect(other).toEqual(one);
  });
});

describe('the API', () => {
  const ask = (body: object, query: Record<string, string | number> = {}) =>
    call(app, '/remote/notification', own, query, {
      method: 'POST',
      body: JSON.stringify({ ...to, ...body }),
    });

  test('takes fill in the query and in the body, and refuses two that differ', async () => {
    const token = await register(app, byLink('phone', CODE, HASH));
    await expectOk(ask({ PushNotificationForm: FORM }, { fill: 1 }));
    await app.deliver();
    expectFilled((await waiting(token))[0].payload);
    for (const [body, query] of [
      [{ fill: 0 }, { fill: 1 }],
      [{ fill: 'x' }, {}],
      [{}, { fill: 'x' }],
    ] as const) {
      const { headers, json } = await ask({ PushNotificationForm: FORM, ...body }, query);
      expect(json).toMatchObject({ rc: 0, msg: 'Unknown error' });
      expect(headers.get('x-error-detail')).toContain('fill');
    }
  });

  test('names a placeholder that it does not know', async () => {
    const { headers, json } = await ask({
      PushNotificationForm: { ...FORM, body: '{note}' },
      fill: 1,
    });
    expect(json).toMatchObject({ rc: 0, msg: 'Unknown error' });
    expect(headers.get('x-error-detail')).toBe('body has an unknown placeholder {note}');
  });

  test('refuses a repeat of a key that has another mark', async () => {
    const query = { idempotency_key: 'one-message' };
    await expectOk(ask({ PushNotificationForm: FORM }, query));
    const again = await ask({ PushNotificationForm: FORM }, { ...query, fill: 1 });
    expect(again.json).toMatchObject({ rc: 0, msg: 'Unknown error' });
  });

  test('keeps greetings of one line without signs of direction', async () => {
    const greet = async (greeting: string) =>
      (await call(app, '/api/update-install', own, { id: linkId, greeting })).json.rc;
    const fits = [
      'Anna',
      'А'.repeat(40),
      '😀'.repeat(40),
      'می‌خواهم',
      '👨‍👩‍👧',
      '{limit}',
      'default',
    ];
    const others = [
      'А'.repeat(41),
      ' ',
      'a\nb',
      'a\u2028b',
      'a\u202Eb',
      'a\u2066b',
      'a\u200Fb',
      'a\u0007b',
    ];
    for (const text of fits) expect([text, await greet(text)]).toEqual([text, 1]);
    for (const text of others) expect([text, await greet(text)]).toEqual([text, 0]);
    // `default` is none.
    expect(await app.core.store.findLinkFacts(linkId)).toMatchObject({ greeting: null });
  });
});

test('a field of the form is no mark', async () => {
  const token = await register(app, byLink('phone', CODE, HASH));
  await send({}, { ...FORM, fill: 1 });
  expect((await waiting(token))[0].payload).toEqual(FORM);
});

/** News on the page of users: browsers as devices of a link. */

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { findMine } from '../../src/core/my.ts';
import { figuresProof } from '../../src/core/my-figures.ts';
import type { Credentials } from '../../src/core/provider.ts';
import { ACT } from '../support/actor.ts';
import { call, startTestApp, type TestApp } from '../support/app.ts';
import { notify, order } from '../support/messaging.ts';
import { openedCount, pushed, subscriber, VAPID } from '../support/my-news.ts';
import { addLink, enter, LINK, seedShop } from '../support/shop.ts';

const PHONE =
  'Mozilla/5.0 (Linux; Android 15; Pixel 9) AppleWebKit/537.36 Chrome/141.0 Mobile Safari/537.36';

let app: TestApp;
let own: Credentials;
let linkId: number;

beforeAll(async () => {
  app = await startTestApp({ pushKey: VAPID.publicKey });
});
afterAll(() => app.close());
beforeEach(async () => {
  await app.reset();
  own = await seedShop(app);
  linkId = (await addLink(app, own, LINK, 2)).id;
  await app.core.store.updateProvider(own.code, { my: 1, myName: 'Northwind' }, ACT);
});

const postJson = (body: object, cookie = '') =>
  fetch(`${app.url}/my/news`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'user-agent': PHONE, cookie },
    body: JSON.stringify(body),
  });

const stop = (what: string, cookie = '') =>
  fetch(`${app.url}/my/news`, {
    method: 'POST',
    headers: { cookie },
    body: new URLSearchParams({ link: LINK, stop: what }),
    redirect: 'manual',
  });

const open = (cookie = '', headers: Record<string, string> = {}) =>
  fetch(`${app.url}/my/news?link=${LINK}`, { headers: { cookie, ...headers } });

const cookieOf = (reply: Response) =>
  (reply.headers.get('set-cookie') ?? '').split(';', 1)[0] ?? '';

/** Registers a browser; returns its cookie and its HWID. */
async function join(push = subscriber(), cookie = '') {
  const reply = await postJson({ link: LINK, push: push.subscription, locale: 'ru-RU' }, cookie);
  expect(reply.status).toBe(200);
  const devices = await app.core.store.listDevices({
    providerCode: own.code,
    installCode: null,
    os: null,
    countMax: 100,
  });
  const hwid = devices.map((device) => device.hwid).find((one) => one.startsWith('web-')) ?? '';
  return { cookie: cookieOf(reply), hwid, push };
}

describe('a browser', () => {
  test('becomes a device with a HWID of the server, without a slot', async () => {
    const push = subscriber();
    const body = { link: LINK, push: push.subscription, locale: 'ru', hwid: 'mine' };
    const reply = await postJson(body);
    expect(await reply.json()).toEqual({});
    const cookie = reply.headers.get('set-cookie') ?? '';
    for (const rule of ['__Secure-', 'Path=/my', 'Secure', 'HttpOnly', 'SameSite=Strict']) {
      expect(cookie).toContain(rule);
    }
    const { json } = await call(app, '/api/list-install', own);
    expect(json.data).toMatchObject([{ install_count: 0 }]);
    expect(await app.core.store.findDevice('mine')).toBeNull();
    const [device] = await app.core.store.listDevices({
      providerCode: own.code,
      installCode: null,
      os: null,
      countMax: 9,
    });
    expect(device).toMatchObject({ os: 'android', deviceName: 'Chrome' });
    expect(device?.hwid).toMatch(/^web-[A-Za-z0-9]{32}$/);
    expect(await (await open(cookieOf(reply))).text()).toContain('You receive news');
    expect(await (await open()).text()).not.toContain('You receive news');
  });

  test('of one link is none of another link of the provider', async () => {
    const { cookie } = await join();
    await notify(app, own, '<b>Hello</b>', { os: ['android'] });
    await app.deliver();
    const other = 'OTHERLINK002';
    await addLink(app, own, other, 2);
    const pageOf = async (link: string) =>
      (await fetch(`${app.url}/my/news?link=${link}`, { headers: { cookie } })).text();
    expect(await pageOf(LINK)).toContain('<b>Hello</b>');
    const page = await pageOf(other);
    expect(page).not.toContain('You receive news');
    expect(page).not.toContain('<b>Hello</b>');
  });

  test('gets what is sent to its system, in its language, and acknowledges it', async () => {
    const { cookie, hwid, push } = await join();
    const locales = { ru: { title: 'Новости', body: 'Привет' } };
    const id = await notify(
      app,
      own,
      '<b>Hello</b><script>x</script>',
      { os: ['android'] },
      { title: 'News', locales },
    );
    await app.deliver();
    const plain = await pushed(app, hwid, push, id);
    expect(JSON.parse(plain)).toEqual({
      web_push: 8030,
      mutable: true,
      id,
      kind: 'notification',
      notification: {
        title: 'Новости',
        body: 'Привет',
        tag: String(id),
        silent: true,
        navigate: `http://${new URL(app.url).host}/my/news?link=${LINK}`,
      },
    });
    const page = await (await open(cookie, { 'accept-language': 'en' })).text();
    expect(page).toContain('<b>Hello</b>');
    expect(page).not.toContain('<script>x');
    const missing = async () => (await app.core.store.findDistribution(id, 9))?.missing;
    expect(await missing()).toMatchObject([{ hwid }]);
    const tell = (state: string) => postJson({ items: [{ id, state }] }, cookie);
    // What only apps do counts for nothing here.
    for (const state of ['executed', 'failed']) expect((await tell(state)).status).toBe(200);
    expect(await missing()).toMatchObject([{ hwid }]);
    expect((await tell('received')).status).toBe(200);
    expect(await missing()).toEqual([]);
    expect((await tell('opened')).status).toBe(200);
    expect(await openedCount(app, own.code, id)).toBe(1);
    // What was received stays on the page.
    expect(await (await open(cookie)).text()).toContain('<b>Hello</b>');
  });

  test('reads figures in a message only on a page that was opened so that it shows them', async () => {
    const { store } = app.core;
    const nowMs = app.clock.nowMs();
    await store.updateProvider(own.code, { subscriptionFigures: 1 }, ACT);
    const figures = {
      endsAtMs: nowMs + 2.5 * 86_400_000,
      totalBytes: 2 * 1024 ** 3,
      usedBytes: 1024 ** 3,
    };
    await store.keepSubscriptionFigures(linkId, figures, 'proxy', nowMs);
    const { cookie } = await join();
    const body = 'Ends in {days_left|soon}, {traffic_left|some} left, {devices}/{limit}';
    await notify(app, own, body, { os: ['android'], fill: 1 });
    await app.deliver();
    const at = async (ending: string) => {
      const init = { headers: { cookie, 'accept-language': 'en' } };
      return (await fetch(`${app.url}/my/news?link=${LINK}${ending}`, init)).text();
    };
    const proofOf = async () => {
      const link = await findMine(
        app.core,
        { installCode: LINK, domainHash: null },
        app.clock.nowMs(),
      );
      return link === null ? '' : figuresProof(link, app.clock.nowMs());
    };
    for (const ending of ['', '&sub=1.aaaaaaaaaaaaaaaa']) {
      const page = await at(ending);
      expect(page).toContain('Ends in soon, some left, 0/2');
      expect(page).not.toContain('sub=');
    }
    const proof = await proofOf();
    const opened = await (await fetch(`${app.url}/my?link=${LINK}${proof}`)).text();
    expect(opened).toContain(`/my/news?link=${LINK}&#38;sub=`);
    const page = await at(proof);
    expect(page).toContain('Ends in 3 days, some left, 0/2');
    expect(page).toContain(`/my?link=${LINK}&#38;sub=`);
    await store.updateProvider(own.code, { myTraffic: 1 }, ACT);
    expect(await at(await proofOf())).toMatch(/Ends in 3 days, 1\sGB left, 0\/2/);
    await store.updateProvider(own.code, { subscriptionFigures: 0 }, ACT);
    expect(await at(proof)).toContain('Ends in soon, some left, 0/2');
    await store.updateProvider(own.code, { subscriptionFigures: 1 }, ACT);
    app.clock.advance(86_400_000 + 120_000);
    expect(await at(proof)).not.toContain('3 days');
  });

  test('gets no command: neither by its system, nor by its HWID', async () => {
    await enter(app, 'phone');
    const { cookie, hwid } = await join();
    const data = { action_type: 'import-data', import_data: 'x' };
    await order(app, own, { ...data, os: ['android'], specific_device_toggle: false });
    await app.deliver();
    const token = cookie.split('=')[1] ?? '';
    const inbox = await fetch(`${app.url}/device/inbox`, {
      headers: { authorization: `Bearer ${token}` },
    });
    expect(await inbox.json()).toMatchObject({ rc: 1, data: [] });
    const named = await fetch(
      `${app.url}/remote/command?provider_code=${own.code}&auth_key=${own.authKey}`,
      { method: 'POST', body: JSON.stringify({ ...data, hwid, specific_device_toggle: true }) },
    );
    expect(await named.json()).toEqual({ rc: 0, msg: 'Device with this HWID not found' });
  });

  test('is one of five at most; one that has its place renews it', async () => {
    const first = await join();
    for (let n = 0; n < 4; n++) await join();
    const full = await postJson({ link: LINK, push: subscriber().subscription });
    expect([full.status, await full.json()]).toMatchObject([
      409,
      { refused: 'browser_limit_reached' },
    ]);
    const { cookie } = await join(first.push, first.cookie);
    expect(cookie).not.toBe(first.cookie);
    // A service worker whose subscription changed names no link.
    const again = await postJson({ push: subscriber().subscription }, cookie);
    expect(again.status).toBe(200);
    expect(await app.core.store.countBrowsers(linkId)).toBe(5);
  });

  test('is stopped by its user alone, or all five', async () => {
    const one = await join();
    await join();
    const reply = await stop('this', one.cookie);
    expect([reply.status, reply.headers.get('location')]).toEqual([303, `/my/news?link=${LINK}`]);
    expect(reply.headers.get('set-cookie')).toContain('Max-Age=0');
    expect(await app.core.store.countBrowsers(linkId)).toBe(1);
    expect((await stop('this', one.cookie)).status).toBe(303);
    expect(await app.core.store.countBrowsers(linkId)).toBe(1);
    await stop('all');
    expect(await app.core.store.countBrowsers(linkId)).toBe(0);
  });

  test('ends with its link, and with the page', async () => {
    const { cookie } = await join();
    await call(app, '/api/update-install', own, { id: linkId, status: 5 });
    expect((await open(cookie)).status).toBe(404);
    expect((await postJson({ items: [{ id: 1, state: 'opened' }] }, cookie)).status).toBe(404);
    expect(await app.core.store.countBrowsers(linkId)).toBe(0);
  });
});

describe('what is odd', () => {
  test.each([
    ['no subscription', { link: LINK }, 400],
    [
      'a private endpoint',
      { link: LINK, push: { ...subscriber().subscription, endpoint: 'https://127.0.0.1/x' } },
      400,
    ],
    [
      'keys that are none',
      { link: LINK, push: { endpoint: 'https://push.example.org/x', keys: {} } },
      400,
    ],
    ['an unknown link', { link: 'Unknown00001', push: subscriber().subscription }, 404],
    ['no link', { push: subscriber().subscription }, 404],
    ['acknowledgements of a stranger', { items: [{ id: 1, state: 'opened' }] }, 404],
  ])('%s is refused', async (_, body, status) => {
    expect((await postJson(body)).status).toBe(status);
    expect(await app.core.store.countBrowsers(linkId)).toBe(0);
  });

  test.each([
    ['evil"<x>.example', true],
    [`${'x'.repeat(300)}.example`, true],
    ['a.example', false],
  ])('a host that is none is neither kept nor a fault: %p', async (host, isOdd) => {
    for (const path of ['/my', '/my/news']) {
      const shown = await fetch(`${app.url}${path}?link=${LINK}`, { headers: { host } });
      expect([path, shown.status]).toEqual([path, 200]);
    }
    const init = {
      method: 'POST',
      headers: { host, 'content-type': 'application/json' },
      body: JSON.stringify({ link: LINK, push: subscriber().subscription }),
    };
    expect((await fetch(`${app.url}/my/news`, init)).status).toBe(isOdd ? 404 : 200);
    expect(await app.core.store.countBrowsers(linkId)).toBe(isOdd ? 0 : 1);
  });

  test.each([
    ['cross-site', 404],
    ['same-site', 404],
    ['same-origin', 303],
  ])('a form of a page that is %s: %d', async (site, status) => {
    await join();
    for (const [path, fields] of [
      ['/my', { link: LINK }],
      ['/my/news', { link: LINK, stop: 'all' }],
    ] as const) {
      const body = new URLSearchParams(fields);
      const headers = { 'sec-fetch-site': site };
      const init = { method: 'POST', body, headers, redirect: 'manual' } as const;
      expect((await fetch(`${app.url}${path}`, init)).status).toBe(status);
    }
    expect(await app.core.store.countBrowsers(linkId)).toBe(status === 404 ? 1 : 0);
  });

  test('without Web Push there is no page of news, and no way to it', async () => {
    const plain = await startTestApp();
    try {
      const other = await seedShop(plain);
      await addLink(plain, other, LINK, 2);
      await plain.core.store.updateProvider(other.code, { my: 1 }, ACT);
      expect(await (await fetch(`${plain.url}/my?link=${LINK}`)).text()).not.toContain('/my/news');
      expect((await fetch(`${plain.url}/my/news?link=${LINK}`)).status).toBe(404);
    } finally {
      await plain.close();
    }
  });

  test('the parts are served with a policy of their own', async () => {
    for (const part of [
      'news.js',
      'worker.js',
      `app.webmanifest?link=${LINK}`,
      `icon.svg?link=${LINK}`,
    ]) {
      const reply = await fetch(`${app.url}/my/${part}`);
      expect([part, reply.status]).toEqual([part, 200]);
      expect(reply.headers.get('x-content-type-options')).toBe('nosniff');
    }
    const manifest = await (await fetch(`${app.url}/my/app.webmanifest?link=${LINK}`)).json();
    expect(manifest).toMatchObject({
      name: 'Northwind',
      display: 'standalone',
      start_url: `/my/news?link=${LINK}`,
    });
    const myName = `Northwind 1${'😀'.repeat(3)}`;
    await app.core.store.updateProvider(own.code, { myName }, ACT);
    const renamed = await fetch(`${app.url}/my/app.webmanifest?link=${LINK}`);
    expect(await renamed.json()).toMatchObject({ name: myName, short_name: 'Northwind 1😀' });
    expect((await fetch(`${app.url}/mynews`)).status).toBe(404);
    expect((await fetch(`${app.url}/my/other`)).status).toBe(404);
  });
});

/** The page of users: what it shows, what it frees, and what it tells to those who guess. */

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { DAY_MS, HOUR_MS } from '../../src/core/calendar.ts';
import { actingAs, type Core } from '../../src/core/core.ts';
import { thisReference } from '../../src/core/my.ts';
import type { ProviderChange } from '../../src/core/port/provider.ts';
import type { Store } from '../../src/core/port/store.ts';
import type { Credentials } from '../../src/core/provider.ts';
import { ACT } from '../support/actor.ts';
import { call, startTestApp, type TestApp } from '../support/app.ts';
import { addLink, enter, HASH, LINK, seedShop } from '../support/shop.ts';
import { XSS_VECTORS } from '../support/xss-vectors.ts';

let app: TestApp;
let own: Credentials;

/** What the server asked of its store. */
const asked: string[] = [];

/** Notes each method that is called. */
function noting(core: Core): Core {
  const get = (store: Store, name: string) => {
    asked.push(name);
    const method: unknown = Reflect.get(store, name);
    return typeof method === 'function' ? method.bind(store) : method;
  };
  return { ...core, store: new Proxy(core.store, { get: get as never }) };
}

beforeAll(async () => {
  app = await startTestApp({}, noting);
});
afterAll(() => app.close());
beforeEach(async () => {
  await app.reset();
  app.settings.authFailuresPerMinuteMax = 1_000_000;
  own = await seedShop(app);
  await addLink(app, own, LINK, 2);
  await setUp({ my: 1, myName: 'Northwind', supportUrl: 'https://help.example.org/northwind' });
});

const setUp = (change: ProviderChange) => app.core.store.updateProvider(own.code, change, ACT);

const open = (query = `?link=${LINK}`, headers: Record<string, string> = {}) =>
  fetch(`${app.url}/my${query}`, { headers, redirect: 'manual' });

const post = (fields: Record<string, string>) =>
  fetch(`${app.url}/my`, { method: 'POST', body: new URLSearchParams(fields), redirect: 'manual' });

/** The references of the places that a page shows, the youngest first. */
const references = (html: string) =>
  [...html.matchAll(/name="free" value="([^"]+)"/g)].map(([, one = '']) => one);

const knock = (hwid: string, model = 'Pixel 9') =>
  call(app, '/install', null, {
    id: HASH,
    installid: LINK,
    hwid,
    os_name: 'android',
    os_version: '15',
    device_model: model,
  });

describe('the page', () => {
  test('shows the places by model, system and day, and never a HWID', async () => {
    await knock('hwid-one');
    app.clock.advance(2 * DAY_MS);
    await knock('hwid-two', 'Galaxy S25');
    const reply = await open();
    const html = await reply.text();
    expect(reply.status).toBe(200);
    for (const shown of [
      'Northwind',
      '2 of 2',
      'Pixel 9',
      'Galaxy S25',
      'Android 15',
      '2 days ago',
      'today',
      'https://help.example.org/northwind',
    ]) {
      expect(html).toContain(shown);
    }
    expect(html).not.toContain('hwid-');
    expect(html).not.toContain('<script');
    expect(Buffer.byteLength(html)).toBeLessThan(10_000);
    const header = (name: string) => reply.headers.get(name);
    expect(header('cache-control')).toBe('no-store');
    expect(header('referrer-policy')).toBe('no-referrer');
    expect(header('content-security-policy')).toMatch(
      /^style-src 'sha256-[^;]+; default-src 'none'; form-action 'self'/,
    );
    expect(reply.headers.has('set-cookie')).toBe(false);
  });

  test('is below 10 KB with a hundred devices of long names, and turns its pages', async () => {
    await addLink(app, own, 'LongLink0001', 100);
    const store = actingAs(app.core, () => ACT.actor).store;
    for (let n = 0; n < 100; n++) {
      const facts = {
        osVersion: '15',
        deviceName: `${n} ${'<"&>'.repeat(30)}`,
        appVersion: '',
        userAgent: '',
      };
      const key = { installCode: 'LongLink0001', domainHash: HASH, hwid: `h${n}` };
      await store.takeSlot(key, { ...facts, os: 'android' }, app.clock.nowMs());
    }
    const seen = new Set<string>();
    for (let from = 0; from < 100; from += 8) {
      const html = await (
        await open(`?link=LongLink0001&from=${from}`, { 'accept-language': 'ru' })
      ).text();
      expect(Buffer.byteLength(html)).toBeLessThan(10_000);
      for (const [, n = ''] of html.matchAll(/<bdi>(\d+) &#60;/g)) seen.add(n);
    }
    expect(seen.size).toBe(100);
  });

  test.each([
    ['ru', 'Устройств:', 'ltr'],
    ['zh-CN', '设备：', 'ltr'],
    ['fa', 'دستگاه از', 'rtl'],
    ['de', 'Devices:', 'ltr'],
  ])('speaks %p', async (language, text, direction) => {
    const html = await (await open(undefined, { 'accept-language': language })).text();
    expect(html).toContain(text);
    expect(html).toContain(`dir="${direction}"`);
  });

  test('opens by code, by the address of the page and by a form, and asks without any', async () => {
    expect(await (await open('')).text()).toContain('<form');
    for (const link of [
      LINK,
      ` ${LINK} `,
      `https://x.example/my?link=${LINK}`,
      `https://s.example/sub#T?installid=${LINK}`,
    ]) {
      expect((await open(`?link=${encodeURIComponent(link)}`)).status).toBe(200);
      const reply = await post({ link });
      expect([reply.status, reply.headers.get('location')]).toEqual([303, `/my?link=${LINK}`]);
    }
  });

  test('escapes what a device says of itself', async () => {
    for (const [n, vector] of XSS_VECTORS.slice(0, 40).entries()) {
      const code = `XssLink${String(n).padStart(5, '0')}`;
      await addLink(app, own, code, 2);
      const query = { id: HASH, installid: code, hwid: 'h', os_name: vector.slice(0, 60) };
      await call(app, '/install', null, { ...query, device_model: vector.slice(0, 60) });
      const html = await (await open(`?link=${code}`)).text();
      expect(html).not.toMatch(/<(?:script|img|svg|iframe)/i);
    }
  });

  test('is nowhere if the operator forbids it', async () => {
    app.settings.myPath = '';
    expect((await open()).status).toBe(404);
    expect(await (await fetch(`${app.url}/`)).text()).not.toContain('name="link"');
    app.settings.myPath = '/places';
    expect((await open()).status).toBe(404);
    expect((await fetch(`${app.url}/places?link=${LINK}`)).status).toBe(200);
    app.settings.myPath = '/my';
  });
});

describe('a place', () => {
  test('is freed by POST alone, and goes to the newcomer who waits', async () => {
    await enter(app, 'one');
    await enter(app, 'two');
    expect((await knock('new')).json.rc).not.toBe(1);
    const html = await (await open()).text();
    const [free = ''] = references(html);
    expect((await open(`?link=${LINK}&free=${free}`)).status).toBe(200);
    expect((await knock('new')).json.rc).not.toBe(1);
    const freed = await post({ link: LINK, free });
    expect(freed.headers.get('location')).toBe(`/my?link=${LINK}&said=freed`);
    expect((await knock('new')).json.rc).toBe(1);
    expect(await (await open(`?link=${LINK}&said=freed`)).text()).toContain(
      'The device is removed',
    );
  });

  test('is freed once in the cool-down, however many users free those of others', async () => {
    await enter(app, 'one');
    await enter(app, 'two');
    const [second = '', first = ''] = references(await (await open()).text());
    const said = async (free: string) => (await post({ link: LINK, free })).headers.get('location');
    expect(await said(second)).toEndWith('said=freed');
    expect(await said(first)).toEndWith('said=cooling');
    await enter(app, 'two');
    const cooling = await (await open()).text();
    expect(references(cooling)).toEqual([]);
    expect(cooling).toContain('in 24 hours');
    app.clock.advance(23 * HOUR_MS + 30 * 60_000);
    expect(await (await open()).text()).toContain('in 30 minutes');
    app.clock.advance(HOUR_MS / 2);
    expect(references(await (await open()).text())).toHaveLength(2);
  });

  test('is not freed by an old reference, one of another link, or one to know a device by', async () => {
    // The same device, and the same time, on both links.
    const other = await addLink(app, own, 'OtherLink001', 2);
    await enter(app, 'one');
    await enter(app, 'one', other.code);
    const [old = ''] = references(await (await open()).text());
    const link = await app.core.store.findMy(
      { installCode: LINK, domainHash: null },
      app.clock.nowMs(),
    );
    if (link === null) throw new Error('the page is shut');
    app.clock.advance(16 * 60_000);
    const [foreign = ''] = references(await (await open(`?link=${other.code}`)).text());
    const known = thisReference(link, 'one', app.clock.nowMs());
    for (const free of [old, foreign, known, '', 'x', `zzzzzzzzz.${'A'.repeat(16)}`]) {
      const reply = await post({ link: LINK, free });
      expect(reply.headers.get('location')).toEndWith('said=gone');
    }
    expect(references(await (await open()).text())).toHaveLength(1);
  });

  test('is marked as this one by a reference that lives for minutes', async () => {
    await enter(app, 'one');
    await enter(app, 'two');
    await knock('waiting', 'iPhone 17');
    const { store } = app.core;
    await store.saveFigures();
    const link = await store.findMy({ installCode: LINK, domainHash: null }, app.clock.nowMs());
    if (link === null) throw new Error('the page is shut');
    const at = (hwid: string) =>
      `?link=${LINK}&this=${thisReference(link, hwid, app.clock.nowMs())}`;
    const here = at('one');
    expect(await (await open(here)).text()).toContain('this one');
    expect(await (await open()).text()).not.toContain('this one');
    expect(await (await open(at('waiting'))).text()).toContain('iPhone 17 cannot connect');
    app.clock.advance(16 * 60_000);
    expect(await (await open(here)).text()).not.toContain('this one');
  });
});

describe('a guesser', () => {
  /** All states in which there is no page, and how to bring them about. */
  const STATES: Readonly<Record<string, () => Promise<unknown>>> = {
    unknown: async () => undefined,
    malformed: async () => undefined,
    disabled: async () => {
      const link = await app.core.store.findLink(LINK);
      const status = { id: link?.id ?? 0, status: 5 };
      return call(app, '/api/update-install', own, status);
    },
    'switched off': () => setUp({ my: 0 }),
    suspended: () => setUp({ suspendedAtMs: app.clock.nowMs() }),
    ended: () => setUp({ activeUntilMs: app.clock.nowMs() }),
    removed: async () => {
      const link = await app.core.store.findLink(LINK);
      return app.core.store.removeLink(link?.providerId ?? 0, link?.id ?? 0, ACT);
    },
    revoked: async () => {
      const link = await app.core.store.findLink(LINK);
      const { providerId = 0, id = 0 } = link ?? {};
      return app.core.store.revokeLink(providerId, id, 'NewCode00001', ACT);
    },
  };
  const NAMES: Readonly<Record<string, string>> = { unknown: 'Unknown00001', malformed: '!' };

  const shape = async (reply: Response) => {
    const headers = [...reply.headers].filter(([name]) => name !== 'date');
    return { status: reply.status, headers, text: await reply.text() };
  };

  test('is answered alike, by GET and by POST, whatever the link is', async () => {
    const answers: unknown[] = [];
    const steps = new Set<string>();
    await enter(app, 'one');
    const [free = ''] = references(await (await open()).text());
    for (const [state, bring] of Object.entries(STATES)) {
      await bring();
      const link = NAMES[state] ?? LINK;
      asked.length = 0;
      const got = await shape(await open(`?link=${link}`));
      const posted = await shape(await post({ link }));
      const freed = await shape(await post({ link, free }));
      answers.push([got, posted, freed]);
      if (state !== 'malformed') steps.add(asked.join());
      await setUp({ my: 1, suspendedAtMs: null, activeUntilMs: null });
      const known = await app.core.store.findLink(LINK);
      if (known) await call(app, '/api/update-install', own, { id: known.id, status: 10 });
    }
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
    expect(answers[0]).toMatchObject([{ status: 404 }, { status: 404 }, { status: 404 }]);
    // The same steps, so in the same time: one statement decides.
    expect([...steps]).toHaveLength(1);
    expect([...steps].join().match(/findMy/g)).toHaveLength(3);
  });

  test('is answered late after so many guesses, and others at once', async () => {
    // The guesses of other tests were in another minute.
    app.clock.advance(2 * 60_000);
    app.settings.authFailuresPerMinuteMax = 3;
    for (let n = 0; n < 3; n++) expect((await open('?link=Unknown00001')).status).toBe(404);
    const late = open('?link=Unknown00001');
    while (app.clock.sleeperCount === 0) await Bun.sleep(1);
    expect((await open()).status).toBe(200);
    app.clock.advance(1_000);
    expect((await late).status).toBe(404);
  });

  test('changes nothing by other methods', async () => {
    for (const method of ['PUT', 'DELETE', 'OPTIONS', 'PATCH']) {
      expect((await fetch(`${app.url}/my?link=${LINK}`, { method })).status).toBe(405);
    }
    const head = await fetch(`${app.url}/my?link=${LINK}`, { method: 'HEAD' });
    expect([head.status, await head.text()]).toEqual([200, '']);
  });

  test.each([
    ['too long', `link=${'x'.repeat(5_000)}`, 'application/x-www-form-urlencoded'],
    ['of JSON', `{"link":"${LINK}"}`, 'application/json'],
  ])('a body %s opens nothing', async (_, body, type) => {
    const init = {
      method: 'POST',
      body,
      headers: { 'content-type': type },
      redirect: 'manual',
    } as const;
    expect((await fetch(`${app.url}/my`, init)).status).toBe(404);
  });
});

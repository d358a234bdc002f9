/** The ways to the page of users: refusals, fetches, and the hosts of panels. */

import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { parseTrustedProxies } from '../../src/http/request/address.ts';
import { ACT } from '../support/actor.ts';
import { call } from '../support/app.ts';
import { answer, PANEL_HEADERS, SUBSCRIPTION } from '../support/panel.ts';
import { exchange, type Fronted, HOST, KEY, keyPath, startFronted } from '../support/upstream.ts';

const OPTIONS = {
  trustedProxies: parseTrustedProxies(['127.0.0.1']),
  gateKeyPaths: [keyPath('/sub/{key}')],
  myUrl: 'https://gatepost.example.org',
};

let at: Fronted;
beforeEach(async () => {
  at = await startFronted(undefined, { defaultLimit: 2 }, OPTIONS);
  await setUp({ my: 1, myName: 'Northwind' });
});
afterEach(() => at.stop());

const setUp = (change: { my: 0 | 1; myName?: string; webPageUrl?: string }) =>
  at.app.core.store.updateProvider(at.own.code, change, ACT);

/** A text as an app reads it from a header. */
const readText = (value = '') =>
  Buffer.from(value.replace(/^base64:/, ''), 'base64').toString('utf8');

/** Asks `/gate` as a proxy does. */
const gate = (hwid: string, key = KEY, more: Record<string, string> = {}) =>
  fetch(`${at.app.url}/gate`, {
    headers: { 'x-original-uri': `/sub/${key}`, 'x-forwarded-host': HOST, 'x-hwid': hwid, ...more },
  });

async function fill() {
  for (const hwid of ['one', 'two']) {
    expect((await at.get(`/sub/${KEY}`, hwid, { 'x-device-model': `Model ${hwid}` })).status).toBe(
      200,
    );
  }
}

describe('a refusal', () => {
  test('of a full link leads to its page, which knows the device again', async () => {
    await fill();
    const got = await at.get(`/sub/${KEY}`, 'new', { 'x-device-model': 'Model new' });
    expect(got.status).toBe(404);
    const address = got.headers.get('profile-web-page-url') ?? '';
    expect(address).toStartWith(`http://${HOST}/my?link=`);
    expect(got.headers.get('announce-url')).toBe(address);
    const announced = readText(got.headers.get('announce'));
    expect(announced.length).toBeLessThanOrEqual(200);
    expect(announced).toEndWith(`\n${address}`);
    expect(got.body).toContain(address);
    expect(got.body).not.toContain('new');
    await at.app.core.store.saveFigures();
    const page = await at.get(new URL(address).pathname + new URL(address).search, null);
    expect(page.status).toBe(200);
    expect(page.body).toContain('Model new cannot connect');
    expect(page.body).toContain('Northwind');
    // Of the panel nothing was asked.
    expect(page.headers.get('x-hwid-active')).toBeUndefined();
  });

  test('of another kind, or without pages, says what it said before', async () => {
    await fill();
    await setUp({ my: 0 });
    const full = await at.get(`/sub/${KEY}`, 'new');
    expect(full.headers.has('profile-web-page-url')).toBe(false);
    expect(full.headers.has('announce-url')).toBe(false);
    await setUp({ my: 1 });
    at.app.settings.myPath = '';
    expect((await at.get(`/sub/${KEY}`, 'new')).headers.has('announce-url')).toBe(false);
    at.app.settings.myPath = '/my';
    const nameless = await at.get(`/sub/${KEY}`, null);
    expect(nameless.headers.has('announce-url')).toBe(false);
  });

  test('by the gate names the server’s own address, if there is one', async () => {
    await fill();
    const refused = await gate('new');
    expect(refused.headers.get('announce-url')).toStartWith(
      'https://gatepost.example.org/my?link=',
    );
    at.app.settings.myUrl = '';
    expect((await gate('new')).headers.has('announce-url')).toBe(false);
  });
});

describe('a browser at the address of a subscription', () => {
  const browse = (path: string, method = 'GET') =>
    exchange(Number(new URL(at.app.url).port), method, path, { Accept: 'text/html,*/*' });

  test('is sent to the page of its link, without the panel and without a slot', async () => {
    await fill();
    const asked = at.panel.calls.length;
    const got = await browse(`/sub/${KEY}`);
    expect([got.status, got.headers.get('location')]).toEqual([
      303,
      `http://${HOST}/my?link=${HOST}/sub/${KEY}`,
    ]);
    const { pathname, search } = new URL(got.headers.get('location') ?? '');
    const page = await at.get(pathname + search, null);
    expect([page.status, page.body.includes('2 of 2')]).toEqual([200, true]);
    expect(at.panel.calls).toHaveLength(asked);
    expect((await at.links()).map(({ count }) => count)).toEqual([2]);
  });

  test('is refused without pages, for an unknown key and a disabled link', async () => {
    await fill();
    const refusal = await browse('/sub/unknown-key-0001');
    expect(refusal.status).toBe(404);
    await setUp({ my: 0 });
    expect((await browse(`/sub/${KEY}`)).body).toBe(refusal.body);
    await setUp({ my: 1 });
    const { json } = await call(at.app, '/api/list-install', at.own);
    await call(at.app, '/api/update-install', at.own, { id: json.data[0].id, status: 5 });
    expect((await browse(`/sub/${KEY}`)).status).toBe(404);
  });
});

describe('the button', () => {
  test('replaces that of a panel which sends one with each answer', async () => {
    await at.stop();
    const own = { 'Profile-Web-Page-Url': 'https://panel.example/sub/KEY' };
    at = await startFronted(
      ({ send }) => send(answer(200, SUBSCRIPTION, { ...PANEL_HEADERS, ...own })),
      { defaultLimit: 2 },
      OPTIONS,
    );
    await setUp({ my: 1 });
    const button = async () => {
      const got = await at.get(`/sub/${KEY}`, 'one');
      return got.headers.get('profile-web-page-url');
    };
    await button();
    expect(await button()).toBe(own['Profile-Web-Page-Url']);
    const [upstream] = at.app.settings.gateUpstreams;
    if (upstream) at.app.settings.gateUpstreams = [{ ...upstream, panel: 'marzban' }];
    expect(await button()).toBe(`http://${HOST}/my?link=${HOST}/sub/${KEY}`);
  });

  test('beside a subscription opens the page by the address of the subscription', async () => {
    await fill();
    const got = await at.get(`/sub/${KEY}`, 'one');
    const address = got.headers.get('profile-web-page-url') ?? '';
    expect(address).toBe(`http://${HOST}/my?link=${HOST}/sub/${KEY}`);
    const page = await at.get(new URL(address).pathname + new URL(address).search, null);
    expect([page.status, page.body.includes('2 of 2')]).toEqual([200, true]);
    // A fetch knows no device again: the address is the same for all of them.
    expect(page.body).not.toContain('this one');
  });

  test('is the provider’s own if it has one, and is not there without pages', async () => {
    await fill();
    await setUp({ my: 1, webPageUrl: 'https://ours.example/' });
    const own = await at.get(`/sub/${KEY}`, 'one');
    expect(own.headers.get('profile-web-page-url')).toBe('https://ours.example/');
    await at.app.core.store.updateProvider(at.own.code, { my: 0, webPageUrl: null }, ACT);
    expect((await at.get(`/sub/${KEY}`, 'one')).headers.has('profile-web-page-url')).toBe(false);
  });
});

describe('the host of a panel', () => {
  test('keeps its path until its provider has pages', async () => {
    await setUp({ my: 0 });
    const asked = at.panel.calls.length;
    expect((await at.get('/my', null)).status).toBe(404);
    await setUp({ my: 1 });
    expect((await at.get('/my', null)).body).toContain('<form');
    expect(at.panel.calls.length).toBe(asked);
  });

  test('opens links of its provider alone', async () => {
    const other = await at.app.core.store.findProvider(at.own.code);
    expect(other).not.toBeNull();
    const { addProvider } = await import('../../src/core/provider.ts');
    const draft = { name: 'x', plan: 'pro', activeUntilMs: null, installCountMax: null } as const;
    const added = await addProvider(at.app.core, draft, at.app.clock.nowMs());
    if (!('code' in added)) throw new Error('not added');
    await at.app.core.store.updateProvider(added.code, { my: 1 }, ACT);
    const foreign = await at.app.core.store.findProvider(added.code);
    const { newLink } = await import('../../src/core/link.ts');
    if (foreign === null) throw new Error('not there');
    const link = { installCode: 'Foreign00001', installLimit: 2, note: null };
    const { core, clock } = at.app;
    await core.store.addLink(newLink(core, foreign, link, clock.nowMs()), ACT);
    expect((await at.get('/my?link=Foreign00001', null)).status).toBe(404);
    const own = await fetch(`${at.app.url}/my?link=Foreign00001`);
    expect(own.status).toBe(200);
  });
});

test('a key that the panel has not taken shows nothing, frees nothing and counts nothing', async () => {
  const asked = at.panel.calls.length;
  for (const key of ['never-seen-key-01', 'never-seen-key-02']) {
    for (const link of [`https://${HOST}/sub/${key}`, `${HOST}/sub/${key}`]) {
      const shown = await at.get(`/my?link=${encodeURIComponent(link)}`, null);
      expect(shown.status).toBe(404);
      const body = new URLSearchParams({ link, free: 'x' });
      expect((await fetch(`${at.app.url}/my`, { method: 'POST', body })).status).toBe(404);
    }
  }
  expect(await at.links()).toEqual([]);
  expect(at.panel.calls.length).toBe(asked);
});

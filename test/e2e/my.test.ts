/**
 * The page of users of the executable in a real browser: without scripts from the refusal of an
 * app to the freed place, and as an installed app with its service worker. Chromium can make no
 * subscription offline: the push goes to a strict push service, which decrypts it by the package
 * http_ece, and the DevTools protocol delivers the plain text.
 */

import { afterAll, beforeAll, expect } from 'bun:test';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { reachEnv } from '../servers/reach-env.ts';
import { type StrictServers, startStrictServers } from '../servers/strict-servers.ts';
import { call } from '../support/app.ts';
import {
  closePages,
  deliverPush,
  HAS_CHROMIUM,
  openPage,
  sharedShell,
  startBrowser,
  testChromium,
} from '../support/chromium.ts';
import { notify } from '../support/messaging.ts';
import {
  addProviderByCommand,
  run,
  type ServerProcess,
  startServe,
  temporaryFolder,
} from '../support/process.ts';
import { expectOk, HASH } from '../support/shop.ts';
import { until } from '../support/until.ts';
import { useProcesses } from '../support/use-processes.ts';

useProcesses();

const LINKS = { en: 'PageLink0001', fa: 'PageLink0002', app: 'PageLink0003' } as const;
const NAME = 'Northwind <b>';
const BYTES_MAX = 10_000;

let browser: Browser;
let servers: StrictServers;
let server: ServerProcess;
let by: { code: string; authKey: string };
let site: string;

beforeAll(async () => {
  servers = await startStrictServers();
  const dataDir = join(temporaryFolder(), 'data');
  by = await addProviderByCommand(dataDir, '--plan', 'enterprise');
  const set = ['provider', 'set', by.code, '--data', dataDir];
  const shown = await run([...set, '--page', 'on', '--page-name', NAME, '--page-color', '#0f766e']);
  expect([shown.code, shown.stderr]).toEqual([0, '']);
  server = await startServe({ dataDir, env: reachEnv(servers) });
  // A cookie that is Secure is kept for localhost alone without TLS.
  site = `http://localhost:${server.port}`;
  await expectOk(call(server, '/api/add-domain', by, { domain_hash: HASH }));
  for (const install_code of Object.values(LINKS)) {
    await expectOk(call(server, '/api/add-install', by, { install_limit: 100, install_code }));
  }
  if (HAS_CHROMIUM) browser = await sharedShell();
});
afterAll(async () => {
  await closePages();
  await servers.stop();
});

const knock = async (link: string, n: number) => {
  const facts = { os_name: 'android', os_version: '15', device_model: `Pixel ${n}` };
  const query = { id: HASH, installid: link, hwid: `hwid-${link}-${n}`, ...facts };
  return (await call(server, '/install', null, query)).json.rc;
};

/** Follows a page to its end; returns the devices that it showed, and the longest page in bytes. */
async function turnAll(page: Page, older: string) {
  const models: string[] = [];
  let bytesMax = 0;
  for (;;) {
    models.push(...(await page.locator('li strong').allTextContents()));
    const sent = await (await fetch(page.url())).text();
    bytesMax = Math.max(bytesMax, Buffer.byteLength(sent));
    expect(sent).not.toContain('hwid-');
    const next = page.getByRole('link', { name: older });
    if ((await next.count()) === 0) return { models, bytesMax };
    await next.click();
  }
}

const WORDS = {
  en: { lang: 'en', dir: 'ltr', older: 'More devices', full: '100 of 100', freed: '99 of 100' },
  fa: { lang: 'fa', dir: 'rtl', older: 'دستگاه‌های بیشتر', full: '۱۰۰', freed: '۹۹' },
} as const;

for (const language of ['en', 'fa'] as const) {
  const [link, words] = [LINKS[language], WORDS[language]];
  testChromium(
    `without scripts a place of a hundred is found and freed: ${language}`,
    async () => {
      for (let n = 0; n < 100; n++) expect(await knock(link, n)).toBe(1);
      expect(await knock(link, 100)).not.toBe(1);
      const viewport = { width: 360, height: 740 };
      const options = { javaScriptEnabled: false, locale: language, viewport };
      const context = await browser.newContext(options);
      const { page, troubles } = await openPage(context, site);
      await page.goto(`${site}/my`);
      await page.getByRole('textbox').fill(link);
      await page.getByRole('button').click();
      await page.getByText(words.full).waitFor();
      expect(await page.title()).toBe(NAME);
      const root = page.locator('html');
      expect([await root.getAttribute('lang'), await root.getAttribute('dir')]).toEqual([
        words.lang,
        words.dir,
      ]);
      const { models, bytesMax } = await turnAll(page, words.older);
      expect(new Set(models).size).toBe(100);
      expect(bytesMax).toBeLessThan(BYTES_MAX);
      const last = page.getByRole('listitem').last();
      const model = await last.locator('strong').textContent();
      await last.locator('summary').click();
      await last.getByRole('button').click();
      await page.getByRole('status').waitFor();
      expect(await page.getByText(words.freed).count()).toBeGreaterThan(0);
      // None but the one is freed, and none more before the cool-down is over.
      expect(await page.locator('summary').count()).toBe(0);
      const { models: left } = await turnAll(page, words.older);
      expect([left.length, left.includes(model ?? '')]).toEqual([99, false]);
      // The newcomer who was refused has the place, and the next one has none.
      expect(await knock(link, 100)).toBe(1);
      expect(await knock(link, 101)).not.toBe(1);
      expect(troubles).toEqual([]);
      await context.close();
    },
    60_000,
  );
}

/** Registers the browser of a page, as its script does after the push service has answered. */
async function register(page: Page) {
  const [push] = await servers.subscribe(1);
  const body = JSON.stringify({ link: LINKS.app, push, locale: 'en' });
  const status = await page.evaluate(async (text) => {
    const headers = { 'content-type': 'application/json' };
    return (await fetch('/my/news', { method: 'POST', headers, body: text })).status;
  }, body);
  expect(status).toBe(200);
}

/** The receipt of the one device of a message. */
const receipt = async (id: number) =>
  (await expectOk(call(server, '/remote/receipts', by, { id }))).json.data[0];

testChromium(
  'an installed app shows a push of its service worker; a tap opens it',
  async () => {
    const userAgent = 'Mozilla/5.0 (Linux; Android 15; Pixel 9) Chrome/141.0 Mobile Safari/537.36';
    const whole = await startBrowser();
    const context = await whole.newContext({ userAgent, permissions: ['notifications'] });
    const { page, troubles } = await openPage(context, site);
    const inbox = `${site}/my/news?link=${LINKS.app}`;
    await page.goto(inbox);
    const session = await context.newCDPSession(page);
    // Chromium reads the manifest itself: it names no fault, and an app in the colour.
    const { errors, data } = await session.send('Page.getAppManifest');
    expect(errors).toEqual([]);
    expect(JSON.parse(data ?? '')).toMatchObject({
      name: NAME,
      display: 'standalone',
      theme_color: '#0f766e',
    });
    await register(page);
    await page.reload();
    await until('a service worker', () => context.serviceWorkers().length > 0);
    // Of the host it has its own path alone.
    const scopes = `navigator.serviceWorker.getRegistrations().then((all) =>
      all.map(({ scope }) => scope))`;
    expect(await page.evaluate(scopes)).toEqual([`${site}/my/`]);

    const body =
      '<b>Hello</b> there<a href="javascript:alert(1)" onclick=alert(1)> </a><script>x</script>';
    const form = { title: 'Frankfurt', link_for_open: 'https://example.com/a' };
    const id = await notify(server, by, body, { os: ['android'] }, form);
    const sent = () => servers.visits('webpush').then((all) => all.find((one) => one.delivered));
    await until('the push', async () => (await sent()) !== undefined);
    const content = (await sent())?.content;
    expect(content).toMatchObject({
      web_push: 8030,
      id,
      notification: { title: 'Frankfurt', body: 'Hello there', navigate: inbox },
    });
    // A push to a worker that is not active yet is lost.
    const isActive =
      "navigator.serviceWorker.ready.then(({ active }) => active?.state === 'activated')";
    await until('an active worker', () => page.evaluate<boolean>(isActive));
    await deliverPush(context, page, site, JSON.stringify(content));
    await until('received', async () => (await receipt(id))?.received_at !== null);
    const [worker] = context.serviceWorkers();
    if (worker === undefined) throw new Error('there is no service worker');
    const shown = `self.registration.getNotifications().then((all) =>
      all.map(({ title, body, tag }) => ({ title, body, tag })))`;
    await until('a notification', async () => (await worker.evaluate<object[]>(shown)).length > 0);
    expect(await worker.evaluate(shown)).toEqual([
      { title: 'Frankfurt', body: 'Hello there', tag: `${id}` },
    ]);
    const tap = `new Promise((opened) => {
      self.clients.openWindow = (url) => { opened(url); return Promise.resolve(null); };
      self.registration.getNotifications().then(([notification]) =>
        self.dispatchEvent(new NotificationEvent('notificationclick', { notification })));
    })`;
    expect(await worker.evaluate(tap)).toBe(inbox);
    await until('opened', async () => (await receipt(id))?.opened_at !== null);
    await page.reload();
    expect(await page.locator('li').innerHTML()).toContain('<b>Hello</b> there');
    expect(await page.locator('main').innerHTML()).not.toMatch(/<script|onclick|javascript:/);
    expect(troubles).toEqual([]);
    await whole.close();
  },
  60_000,
);

/**
 * News in a real browser: the page of an installed app, and its service worker. Chromium can make
 * no subscription offline: the test makes one, decrypts the push by the package http_ece, and
 * delivers its plain text by the DevTools protocol.
 */

import { expect } from 'bun:test';
import type { Page } from 'playwright-core';
import { ACT } from '../support/actor.ts';
import { startTestApp, type TestApp } from '../support/app.ts';
import {
  closePages,
  deliverPush,
  openPage,
  sharedShell,
  startBrowser,
  testChromium,
} from '../support/chromium.ts';
import { faultsOf } from '../support/console-page.ts';
import { notify } from '../support/messaging.ts';
import { openedCount, pushed, subscriber, VAPID } from '../support/my-news.ts';
import { addLink, LINK, seedShop } from '../support/shop.ts';
import { becomes, until } from '../support/until.ts';

/** Registers the browser of a page, as its script does after the push service has answered. */
async function join(page: Page) {
  const to = subscriber();
  const body = JSON.stringify({ link: LINK, push: to.subscription, locale: 'en' });
  const status = await page.evaluate(async (text) => {
    const headers = { 'content-type': 'application/json' };
    return (await fetch('/my/news', { method: 'POST', headers, body: text })).status;
  }, body);
  expect(status).toBe(200);
  return to;
}

const missing = async (app: TestApp, id: number) =>
  (await app.core.store.findDistribution(id, 9))?.missing.length;

testChromium(
  'a service worker shows a push, and acknowledges it; a tap opens it',
  async () => {
    const app = await startTestApp({ pushKey: VAPID.publicKey });
    const browser = await startBrowser();
    try {
      const own = await seedShop(app);
      await addLink(app, own, LINK, 3);
      await app.core.store.updateProvider(own.code, { my: 1, myName: 'Northwind' }, ACT);
      const userAgent =
        'Mozilla/5.0 (Linux; Android 15; Pixel 9) Chrome/141.0 Mobile Safari/537.36';
      const context = await browser.newContext({ userAgent, permissions: ['notifications'] });
      const { page, troubles } = await openPage(context, app.url);
      await page.goto(`${app.url}/my/news?link=${LINK}`);
      await page.locator('#get').waitFor();
      const to = await join(page);
      await page.reload();
      await page.getByText('You receive news').waitFor();
      await until('a service worker', () => context.serviceWorkers().length > 0);

      const id = await notify(
        app,
        own,
        '<b>Hello</b> there',
        { os: ['android'] },
        { title: 'Frankfurt' },
      );
      await app.deliver();
      const [device] = await app.core.store.listDevices({
        providerCode: own.code,
        installCode: null,
        os: null,
        countMax: 1,
      });
      expect(await missing(app, id)).toBe(1);
      const plain = await pushed(app, device?.hwid ?? '', to, id);
      await deliverPush(context, page, app.url, plain);
      await until('received', async () => (await missing(app, id)) === 0);
      const [worker] = context.serviceWorkers();
      const shown = `self.registration.getNotifications().then((all) =>
      all.map(({ title, body, tag }) => ({ title, body, tag })))`;
      expect(await worker?.evaluate(shown)).toEqual([
        { title: 'Frankfurt', body: 'Hello there', tag: `${id}` },
      ]);
      await worker?.evaluate(`self.registration.getNotifications().then(([notification]) =>
      self.dispatchEvent(new NotificationEvent('notificationclick', { notification })))`);
      await until('opened', async () => (await openedCount(app, own.code, id)) === 1);
      await page.reload();
      expect(await page.locator('li').innerHTML()).toContain('<b>Hello</b> there');
      const shots = process.env['MY_SHOTS'];
      if (shots) await page.screenshot({ path: `${shots}/news.png`, fullPage: true });
      await page.getByRole('button', { name: 'Stop in this browser' }).click();
      await page.locator('#get').waitFor();
      expect(troubles).toEqual([]);
    } finally {
      await browser.close();
      await app.close();
    }
  },
  60_000,
);

testChromium(
  'an iPhone is shown how, and a browser without scripts is told',
  async () => {
    const app = await startTestApp({ pushKey: VAPID.publicKey });
    const browser = await sharedShell();
    try {
      const own = await seedShop(app);
      await addLink(app, own, LINK, 3);
      await app.core.store.updateProvider(own.code, { my: 1, myColor: '#ffd400' }, ACT);
      for (const [locale, colorScheme] of [
        ['en', 'light'],
        ['fa', 'dark'],
      ] as const) {
        const userAgent = 'Mozilla/5.0 (iPhone; CPU iPhone OS 18_4 like Mac OS X) Safari/604.1';
        const viewport = { width: 360, height: 740 };
        const context = await browser.newContext({
          userAgent,
          locale,
          colorScheme,
          viewport,
          bypassCSP: true,
        });
        await context.addInitScript('delete window.PushManager');
        const { page } = await openPage(context, app.url);
        await page.goto(`${app.url}/my/news?link=${LINK}`);
        await page.locator('#apple svg').waitFor();
        await becomes(() => page.locator('#get').isVisible(), false);
        expect(await faultsOf(page)).toEqual([]);
        const shots = process.env['MY_SHOTS'];
        if (shots) await page.screenshot({ path: `${shots}/apple-${locale}.png`, fullPage: true });
        await context.close();
      }
      const bare = await browser.newContext({ javaScriptEnabled: false });
      const { page } = await openPage(bare, app.url);
      await page.goto(`${app.url}/my/news?link=${LINK}`);
      await becomes(() => page.getByText('Scripts are switched off').isVisible(), true);
    } finally {
      await closePages();
      await app.close();
    }
  },
  60_000,
);

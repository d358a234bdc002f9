/** The page of users in a browser without scripts: shown, turned, and a place freed. */

import { expect } from 'bun:test';
import type { Browser } from 'playwright-core';
import { texts as en } from '../../src/console/texts/en.ts';
import { ACT } from '../support/actor.ts';
import { call, seedProvider, startTestApp, type TestApp } from '../support/app.ts';
import { closePages, openPage, sharedShell, testChromium } from '../support/chromium.ts';
import { faultsOf, openTab, startConsoleSite } from '../support/console-page.ts';
import { addLink, HASH, LINK, seedShop } from '../support/shop.ts';
import { becomes } from '../support/until.ts';

const MODELS = [
  ...(['Pixel 9', 'iPhone 17', 'Galaxy S25', 'ThinkPad X1', 'iPad Air'] as const),
  ...(['Redmi Note 15', 'MacBook Air', 'Galaxy A56', 'iPhone 16'] as const),
];

testChromium(
  'without scripts a place is freed, in all languages and themes',
  async () => {
    const app = await startTestApp();
    const browser = await sharedShell();
    try {
      const own = await seedShop(app);
      await addLink(app, own, LINK, 10);
      const change = { my: 1, myName: 'Northwind', myColor: '#0f766e' } as const;
      await app.core.store.updateProvider(own.code, change, ACT);
      for (const [n, device_model] of MODELS.entries()) {
        const facts = { os_name: n % 2 ? 'ios' : 'android', os_version: '15', device_model };
        await call(app, '/install', null, { id: HASH, installid: LINK, hwid: `h${n}`, ...facts });
        app.clock.advance(86_400_000);
      }
      const faults: string[] = [];
      for (const [locale, colorScheme] of [
        ...([
          ['fa', 'light'],
          ['ru', 'dark'],
          ['zh-CN', 'light'],
          ['en', 'dark'],
        ] as const),
      ]) {
        const viewport = { width: 360, height: 760 };
        const context = await browser.newContext({
          javaScriptEnabled: false,
          locale,
          colorScheme,
          viewport,
        });
        const { page, troubles } = await openPage(context, app.url);
        await page.goto(`${app.url}/my?link=${LINK}`);
        const shots = process.env['MY_SHOTS'];
        if (shots) await page.screenshot({ path: `${shots}/my-${locale}.png`, fullPage: true });
        const width = await page.locator('main').boundingBox();
        expect(width?.width ?? 0).toBeLessThanOrEqual(360);
        expect(troubles).toEqual([]);
        await context.close();
        // axe needs scripts of its own, which the page's policy does not forbid to the tester.
        const looked = await browser.newContext({ bypassCSP: true, locale, colorScheme, viewport });
        const { page: other } = await openPage(looked, app.url);
        for (const path of ['/my', `/my?link=${LINK}`, '/my?link=Unknown00001']) {
          await other.goto(`${app.url}${path}`);
          const found = await faultsOf(other);
          faults.push(...found.map((fault) => `${locale} ${path}: ${fault}`));
        }
        await looked.close();
      }
      expect(faults).toEqual([]);

      await freeAPlace(browser, app);
    } finally {
      await closePages();
      await app.close();
    }
  },
  60_000,
);

async function freeAPlace(browser: Browser, app: TestApp): Promise<void> {
  const context = await browser.newContext({ javaScriptEnabled: false });
  const { page, troubles } = await openPage(context, app.url);
  await page.goto(`${app.url}/my`);
  await page.getByRole('textbox').fill(LINK);
  await page.getByRole('button').click();
  await page.getByText('Devices: 9 of 10').waitFor();
  const last = page.getByRole('listitem').filter({ hasText: 'iPhone 16' });
  await last.locator('summary').click();
  await last.getByRole('button').click();
  await page.getByRole('status').waitFor();
  await becomes(() => page.getByText('Devices: 8 of 10').count(), 1);
  await becomes(() => page.getByText('iPhone 16').count(), 0);
  await becomes(() => page.locator('summary').count(), 0);
  expect(troubles).toEqual([]);
}

testChromium(
  'the provider switches the page on in the console',
  async () => {
    const site = await startConsoleSite();
    try {
      const { code, authKey } = await seedProvider(site.app);
      const signIn = ['session.key', { code, key: authKey }] as const;
      const { page, troubles } = await openTab(site, [...signIn], '/console/userpage');
      await page.getByLabel(en.heads.page, { exact: true }).selectOption('1');
      await page.getByLabel(en.heads.page_name).fill('Northwind <b>');
      await page.getByLabel(en.heads.page_color).fill('#0f766e');
      const shots = process.env['MY_SHOTS'];
      if (shots) await page.screenshot({ path: `${shots}/userpage.png` });
      await page.getByRole('button', { name: en.common.save }).click();
      await page.getByText(en.common.saved).waitFor();
      expect(await site.app.core.store.findProvider(code)).toMatchObject({
        my: 1,
        myName: 'Northwind <b>',
        myColor: '#0f766e',
        supportUrl: null,
      });
      expect(troubles).toEqual([]);
    } finally {
      await site.close();
    }
  },
  60_000,
);

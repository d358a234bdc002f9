/** The page of the console from its sources: what it says, and that axe finds no fault in it. */

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { Browser, Page } from 'playwright-core';
import { agentIn } from '../../src/console/parts/agent.ts';
import { texts as en } from '../../src/console/texts/en.ts';
import { texts as fa } from '../../src/console/texts/fa.ts';
import { texts as operatorEn } from '../../src/console/texts/operator-en.ts';
import { texts as operatorFa } from '../../src/console/texts/operator-fa.ts';
import { texts as operatorRu } from '../../src/console/texts/operator-ru.ts';
import { texts as operatorZh } from '../../src/console/texts/operator-zh.ts';
import { texts as ru } from '../../src/console/texts/ru.ts';
import { texts as zh } from '../../src/console/texts/zh.ts';
import { call, seedProvider, type TestApp } from '../support/app.ts';
import { openPage, testChromium } from '../support/chromium.ts';
import {
  type ConsoleSite,
  faultsOf,
  LOOKS_TRIED,
  startConsoleSite,
} from '../support/console-page.ts';

describe('texts', () => {
  test('numbers have the forms of the language', () => {
    expect([1, 2].map(en.links.countAll)).toEqual(['1 link', '2 links']);
    expect([1, 2, 5, 21].map(ru.overview.refusalCount)).toEqual([
      ...['1 отказ', '2 отказа', '5 отказов', '21 отказ'],
    ]);
    expect(fa.links.ofLimit('۰', '۵')).toBe('۰ از ۵');
    expect(zh.links.ofLimit('0', '5')).toBe('0 / 5');
  });

  test('years are those of the Jalali calendar in Persian', () => {
    const year = new Intl.DateTimeFormat(fa.tag, { year: 'numeric', timeZone: 'UTC' });
    expect(year.format(Date.UTC(2026, 10, 23))).toContain('۱۴۰۵');
  });

  test('no language repeats a sentence of English', () => {
    const sentencesOf = (texts: object): string[] =>
      Object.values(texts).flatMap((value) =>
        typeof value === 'string' ? [value] : typeof value === 'object' ? sentencesOf(value) : [],
      );
    for (const [model, ...others] of [
      [en, ru, zh, fa],
      [operatorEn, operatorRu, operatorZh, operatorFa],
    ]) {
      const sentences = sentencesOf(model ?? {});
      expect(sentences.length).toBeGreaterThan(100);
      for (const texts of others) {
        expect(sentencesOf(texts)).toHaveLength(sentences.length);
        expect(sentencesOf(texts).filter((text) => sentences.includes(text))).toEqual([]);
      }
    }
  });
});

test.each([
  ['Mozilla/5.0 (X11; Linux x86_64) Chrome/156.0.0.0 Safari/537.36', 'Chrome 156', 'Linux'],
  ['Mozilla/5.0 (Windows NT 10.0) Chrome/156.0 Safari/537.36 Edg/156.0', 'Edge 156', 'Windows'],
  ['Mozilla/5.0 (iPhone; CPU iPhone OS 26) Version/26.1 Mobile Safari/60', 'Safari 26', 'iPhone'],
  ['Mozilla/5.0 (Android 17; Mobile; rv:150.0) Firefox/150.0', 'Firefox 150', 'Android'],
])('%s is %s on %s', (text, browser, system) => {
  expect(agentIn(text)).toEqual({ browser, system });
});

test('any other agent is shown as it is', () => {
  expect(agentIn('curl/8.5.0')).toBeNull();
});

describe('in Chromium', () => {
  let site: ConsoleSite;
  let app: TestApp;
  let browser: Browser;
  let url: string;

  beforeAll(async () => {
    site = await startConsoleSite();
    ({ app, browser, url } = site);
  });
  afterAll(() => site?.close());

  async function signIn(page: Page, code: string, key: string): Promise<void> {
    await page.goto(`${url}/console`);
    await page.locator('.ways button').nth(1).click();
    await page.locator('input[name=code]').fill(code);
    await page.locator('input[name=key]').fill(key);
    await page.locator('button[type=submit]').click();
  }

  testChromium.each(LOOKS_TRIED)('no page has a fault: $colorScheme', async (look) => {
    const credentials = await seedProvider(app);
    for (let n = 0; n < 3; n++) {
      await call(app, '/api/add-install', credentials, { install_limit: '2', note: `${n}` });
    }
    const context = await browser.newContext({ ...look, reducedMotion: 'reduce' });
    const { page, troubles } = await openPage(context, url);
    await page.goto(`${url}/console`);
    await page.locator('h1').waitFor();
    expect(await faultsOf(page)).toEqual([]);
    await signIn(page, credentials.code, credentials.authKey);
    await page.locator('.bars').waitFor();
    expect(await faultsOf(page)).toEqual([]);
    await page.goto(`${url}/console/links`);
    await page.locator('.rows').waitFor();
    expect(await faultsOf(page)).toEqual([]);
    await page.locator('.title > button.main').click();
    expect(await faultsOf(page)).toEqual([]);
    expect(troubles).toEqual([]);
    await context.close();
  });

  testChromium('a refusal is said in words, and a session that is over leads back', async () => {
    const { code, authKey } = await seedProvider(app);
    const context = await browser.newContext({ locale: 'en-GB' });
    const { page } = await openPage(context, url);
    await signIn(page, code, 'x'.repeat(32));
    await page.getByText(en.refusals.sign_in_wrong).waitFor();
    await signIn(page, code, authKey);
    await page.getByRole('link', { name: 'Links' }).click();
    await page.getByRole('heading', { name: en.links.none }).waitFor();
    const providerId = (await app.core.store.findProvider(code))?.id ?? 0;
    const act = { actor: app.core.actor(), atMs: app.clock.nowMs() };
    await app.core.store.endSessions({ accountId: null, providerId }, null, act);
    await page.getByRole('link', { name: 'Overview' }).click();
    await page.getByRole('heading', { name: en.signIn.title }).waitFor();
    await context.close();
  });
});

/**
 * Every page of the navigation, so that a new page joins by itself: axe finds no fault in both
 * themes and directions, and what a provider, a device or a panel wrote is text.
 */

import { afterAll, beforeAll, expect, setDefaultTimeout } from 'bun:test';
import type { Page } from 'playwright-core';
import { testChromium } from '../support/chromium.ts';
import { type ConsoleSite, faultsOf, openTab, startConsoleSite } from '../support/console-page.ts';
import { makeWorld, type World } from '../support/console-world.ts';
import { PATIENCE_MS, until } from '../support/until.ts';
import { XSS_VECTORS } from '../support/xss-vectors.ts';

setDefaultTimeout(4 * PATIENCE_MS);

/** A vector in each field; those of one kind differ. */
const vector = (n: number, length: number) => {
  const fitting = XSS_VECTORS.filter((one) => one.length <= length && !/[\0-\x1f]/.test(one));
  return fitting[n % fitting.length] ?? '';
};
const WORDS = {
  note: (n: number) => vector(n, 100),
  model: (n: number) => vector(n + 40, 60),
  title: vector(3, 60),
  body: '<img src=x onerror=alert(1)><script>alert(1)</script>hello',
  name: vector(10, 30),
};

let site: ConsoleSite;
let world: World;
beforeAll(async () => {
  site = await startConsoleSite();
  world = await makeWorld(site.app, WORDS);
});
afterAll(() => site?.close());

const openAs = (colorScheme: 'light' | 'dark', locale: string) =>
  openTab(site, ['session.key', { code: world.own.code, key: world.own.authKey }], '/console', {
    colorScheme,
    locale,
  });

/** The paths of the pages that are in the navigation, and panels of records. */
async function pathsOn(page: Page): Promise<string[]> {
  await page.locator('nav a').first().waitFor();
  const hrefs = await page
    .locator('nav a')
    .evaluateAll((all) => all.map((one) => (one as unknown as { href: string }).href));
  return [
    ...hrefs,
    `${site.url}/console/links?link=${world.linkId}`,
    `${site.url}/console/messages?message=${world.messageId}`,
  ];
}

/** Goes to a page and waits until it has loaded what it shows. */
async function settle(page: Page, path: string): Promise<void> {
  await page.goto(path);
  await page.locator('main h1').first().waitFor();
  await until('it is loaded', async () => (await page.locator('.loading').count()) === 0);
}

testChromium.each([
  ['light', 'en-GB'],
  ['dark', 'fa-IR'],
] as const)('%s, %s', async (colorScheme, locale) => {
  const { context, page, troubles } = await openAs(colorScheme, locale);
  const paths = await pathsOn(page);
  expect(paths.length).toBeGreaterThan(6);
  for (const path of paths) {
    await settle(page, path);
    expect([path, await faultsOf(page)]).toEqual([path, []]);
    // No vector became an element, an address or a handler.
    const made = await page.evaluate(`[...document.querySelectorAll('main *')].filter((one) =>
      /^(?:script|iframe|object|embed|style|base|math)$/i.test(one.tagName) ||
      (one.tagName === 'IMG' && !one.src.startsWith('data:')) ||
      [...one.attributes].some(({ name, value }) => name.startsWith('on') ||
        /^\\s*javascript:/i.test(value))).map(({ outerHTML }) => outerHTML)`);
    expect([path, made]).toEqual([path, []]);
  }
  expect(troubles).toEqual([]);
  await context.close();
});

testChromium.each(['light', 'dark'] as const)(
  'the pages at / and /docs, %s',
  async (colorScheme) => {
    for (const path of ['/', '/docs', '/console']) {
      const { context, page, troubles } = await openTab(site, null, path, { colorScheme });
      await page.locator('h1').first().waitFor();
      expect([path, await faultsOf(page)]).toEqual([path, []]);
      expect(troubles).toEqual([]);
      await context.close();
    }
  },
);

testChromium('no page is wider than a small phone', async () => {
  const by = { code: world.own.code, key: world.own.authKey };
  const { context, page } = await openTab(site, ['session.key', by], '/console');
  const paths = await pathsOn(page);
  await page.setViewportSize({ width: 320, height: 700 });
  const wide: string[] = [];
  for (const path of paths) {
    await settle(page, path);
    const width = Number(await page.evaluate('document.documentElement.scrollWidth'));
    if (width > 320) wide.push(`${path}: ${width}`);
  }
  expect(wide).toEqual([]);
  await context.close();
});

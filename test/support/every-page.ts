/** Looks at every page of a navigation: axe, texts of others, and a small screen. */

import { afterAll, beforeAll, expect } from 'bun:test';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { testChromium } from './chromium.ts';
import { type ConsoleSite, faultsOf, openTab, startConsoleSite, type Tab } from './console-page.ts';
import { makeWorld, type World } from './console-world.ts';
import { operatorEntry } from './operator.ts';
import { IS_LONG, scaleOf } from './scale.ts';
import { until } from './until.ts';
import { XSS_VECTORS } from './xss-vectors.ts';

/** A vector in each field; those of one kind differ. */
const vector = (n: number, length: number) => {
  const fitting = XSS_VECTORS.filter((one) => one.length <= length && !/[\0-\x1f]/.test(one));
  return fitting[n % fitting.length] ?? '';
};
const HOSTILE_WORDS = {
  note: (n: number) => vector(n, 100),
  model: (n: number) => vector(n + 40, 60),
  title: vector(3, 60),
  body: '<img src=x onerror=alert(1)><script>alert(1)</script>hello',
  name: vector(10, 30),
};

/** The addresses of the pages that are in the navigation. */
async function pagesOn(page: Page): Promise<string[]> {
  await page.locator('nav a').first().waitFor();
  return page
    .locator('nav a')
    .evaluateAll((all) => all.map((one) => (one as unknown as { href: string }).href));
}

/** The days of the world: each adds rows, of which axe examines every one. */
const DAYS = scaleOf('EVERY_PAGE_DAYS', { short: 4, long: 14 });

interface Opened {
  tab: Tab;
  paths: string[];
}
type Opening = (site: ConsoleSite, world: World, options: BrowserContextOptions) => Promise<Opened>;

/** Opens the console as a provider; with the addresses of all its pages, and of two panels. */
export const asProvider: Opening = async (site, world, options) => {
  const by = { code: world.own.code, key: world.own.authKey };
  const tab = await openTab(site, ['session.key', by], '/console', options);
  const paths = [
    ...(await pagesOn(tab.page)),
    `${site.url}/console/links?link=${world.linkId}`,
    `${site.url}/console/messages?message=${world.messageId}`,
  ];
  expect(paths.length).toBeGreaterThan(6);
  return { tab, paths };
};

/** Opens it as the operator; with the addresses of all pages, and of three panels. */
export const asOperator: Opening = async (site, world, options) => {
  const secret = await operatorEntry(site.app);
  const tab = await openTab(site, ['session.entry', { secret }], '/console', options);
  const [device] = await site.app.core.store.pageDevices(Number.MAX_SAFE_INTEGER, 1);
  const hwid = encodeURIComponent(device?.hwid ?? '');
  const paths = [
    ...(await pagesOn(tab.page)),
    `${site.url}/console/providers?provider=${world.own.code}`,
    `${site.url}/console/devices?hwid=${hwid}`,
    `${site.url}/console/sends?show=all&send=${world.messageId}`,
  ];
  expect(paths.length).toBeGreaterThan(8);
  return { tab, paths };
};

/**
 * The looks of a console: each theme, both directions, and the longest words (Russian); what axe
 * is asked for once, and what for each theme.
 */
const LOOKS = [
  { colorScheme: 'light', locale: 'ru', rules: 'all' },
  { colorScheme: 'dark', locale: 'fa-IR', rules: IS_LONG ? 'all' : 'contrast' },
] as const;

/** Declares the tests that open the console in a world of hostile words, and look at all pages. */
export function testEveryPage(opening: Opening): void {
  let site: ConsoleSite;
  let world: World;
  beforeAll(async () => {
    site = await startConsoleSite();
    world = await makeWorld(site.app, HOSTILE_WORDS, DAYS);
  });
  afterAll(() => site?.close());
  testChromium.each(LOOKS)(
    'every page is sound: $colorScheme, $locale',
    async ({ rules, ...options }) => {
      const { tab, paths } = await opening(site, world, options);
      for (const path of paths) await expectSound(tab, path, rules);
      expect(tab.troubles).toEqual([]);
      await tab.context.close();
    },
  );
}

/** Goes to a page and waits until it has loaded what it shows. */
async function settle(page: Page, path: string): Promise<void> {
  await page.goto(path);
  await page.locator('main h1').first().waitFor();
  await until('it is loaded', async () => (await page.locator('.loading').count()) === 0);
}

/** Expects no fault of axe's, that what others wrote is text, and that a phone is wide enough. */
async function expectSound({ page }: Tab, path: string, rules: 'all' | 'contrast'): Promise<void> {
  await page.setViewportSize({ width: 320, height: 700 });
  await settle(page, path);
  const width = Number(await page.evaluate('document.documentElement.scrollWidth'));
  expect([path, Math.max(width, 320)]).toEqual([path, 320]);
  await page.setViewportSize({ width: 1_280, height: 720 });
  expect([path, await faultsOf(page, rules)]).toEqual([path, []]);
  // No vector became an element, an address or a handler.
  const made = await page.evaluate(`[...document.querySelectorAll('main *')].filter((one) =>
    /^(?:script|iframe|object|embed|style|base|math)$/i.test(one.tagName) ||
    (one.tagName === 'IMG' && !one.src.startsWith('data:')) ||
    [...one.attributes].some(({ name, value }) => name.startsWith('on') ||
      /^\\s*javascript:/i.test(value))).map(({ outerHTML }) => outerHTML)`);
  expect([path, made]).toEqual([path, []]);
}

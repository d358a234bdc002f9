/** Looks at every page of a navigation: axe, texts of others, and a small screen. */

import { expect } from 'bun:test';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { type ConsoleSite, faultsOf, openTab, type Tab } from './console-page.ts';
import type { World } from './console-world.ts';
import { until } from './until.ts';
import { XSS_VECTORS } from './xss-vectors.ts';

/** A vector in each field; those of one kind differ. */
const vector = (n: number, length: number) => {
  const fitting = XSS_VECTORS.filter((one) => one.length <= length && !/[\0-\x1f]/.test(one));
  return fitting[n % fitting.length] ?? '';
};
export const HOSTILE_WORDS = {
  note: (n: number) => vector(n, 100),
  model: (n: number) => vector(n + 40, 60),
  title: vector(3, 60),
  body: '<img src=x onerror=alert(1)><script>alert(1)</script>hello',
  name: vector(10, 30),
};

/** The addresses of the pages that are in the navigation. */
export async function pagesOn(page: Page): Promise<string[]> {
  await page.locator('nav a').first().waitFor();
  return page
    .locator('nav a')
    .evaluateAll((all) => all.map((one) => (one as unknown as { href: string }).href));
}

/** Opens the console as a provider; with the addresses of all its pages, and of two panels. */
export async function openAll(site: ConsoleSite, world: World, options: BrowserContextOptions) {
  const by = { code: world.own.code, key: world.own.authKey };
  const tab = await openTab(site, ['session.key', by], '/console', options);
  const paths = [
    ...(await pagesOn(tab.page)),
    `${site.url}/console/links?link=${world.linkId}`,
    `${site.url}/console/messages?message=${world.messageId}`,
  ];
  expect(paths.length).toBeGreaterThan(6);
  return { tab, paths };
}

/** Goes to a page and waits until it has loaded what it shows. */
async function settle(page: Page, path: string): Promise<void> {
  await page.goto(path);
  await page.locator('main h1').first().waitFor();
  await until('it is loaded', async () => (await page.locator('.loading').count()) === 0);
}

/** Expects that axe finds no fault, and that what others wrote is text. */
export async function expectSound(
  { page, troubles }: Tab,
  paths: readonly string[],
): Promise<void> {
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
}

/** Expects that no page is wider than a small phone. */
export async function expectNarrow({ page }: Tab, paths: readonly string[]): Promise<void> {
  await page.setViewportSize({ width: 320, height: 700 });
  const wide: string[] = [];
  for (const path of paths) {
    await settle(page, path);
    const width = Number(await page.evaluate('document.documentElement.scrollWidth'));
    if (width > 320) wide.push(`${path}: ${width}`);
  }
  expect(wide).toEqual([]);
}

/** Nothing that a page says is cut: the longest values of each language, on three screens. */

import { beforeAll, expect } from 'bun:test';
import type { Page } from 'playwright-core';
import type { Got } from '../../src/call/table.ts';
import { testChromium } from '../support/chromium.ts';
import { openTab, useConsoleSite } from '../support/console-page.ts';
import { makeWorld, type World } from '../support/console-world.ts';
import { until } from '../support/until.ts';

const site = useConsoleSite();
let world: World;
beforeAll(async () => {
  world = await makeWorld(site.app);
});

const WIDTHS = [320, 768, 1_366];

/** Links as full as they get, made on the day with the longest name. */
async function fill(page: Page): Promise<void> {
  await page.route('**/console/call/links.list', async (route) => {
    const response = await route.fetch();
    const { ok } = (await response.json()) as { ok: Got<'links.list'> };
    const rows = ok.rows.map((row) => ({
      ...row,
      deviceCount: 100,
      limit: 100,
      isCopied: true,
      createdAtMs: Date.UTC(2026, 8, 28, 12),
    }));
    await route.fulfill({ response, json: { ok: { ...ok, rows } } });
  });
}

/**
 * The texts that are cut: what is wider than its place and not shown beyond it. Notes and names
 * have any length; they end in dots, and their panels show them whole. A hash is its beginning.
 */
const CUT = `[...document.querySelectorAll('main *')].filter((one) => {
  const { overflowX, position } = getComputedStyle(one);
  return (overflowX === 'hidden' || overflowX === 'clip') && position !== 'absolute' &&
    one.clientWidth > 0 && one.scrollWidth > one.clientWidth &&
    !one.matches('.c-note, .code.short, .visually-hidden, svg, svg *');
}).map((one) => one.className + ': ' + one.textContent.slice(0, 60))`;

testChromium.each(['en-GB', 'ru-RU', 'zh-CN', 'fa-IR'])('nothing is cut: %s', async (locale) => {
  const by = { code: world.own.code, key: world.own.authKey };
  const tab = await openTab(site, ['session.key', by], '/blank', { locale });
  const { page } = tab;
  await fill(page);
  const paths = [
    ...['/console', '/console/links', `/console/links?link=${world.linkId}`, '/console/messages'],
    ...['/console/domains', '/console/staff', '/console/webhooks', '/console/activity'],
  ];
  for (const path of paths) {
    await page.goto(`${site.url}${path}`);
    await page.locator('main h1').first().waitFor();
    await until('it is loaded', async () => (await page.locator('.loading').count()) === 0);
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 800 });
      const cut = [...new Set((await page.evaluate(CUT)) as string[])];
      expect([path, width, cut]).toEqual([path, width, []]);
    }
  }
});

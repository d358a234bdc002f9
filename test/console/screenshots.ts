/**
 * Leaves a picture of each page of the console in a folder: light, dark, right to left and on a
 * phone, of a world without real names.
 *
 *   make screenshots
 */

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { BrowserContextOptions } from 'playwright-core';
import { openTab, startConsoleSite } from '../support/console-page.ts';
import { makeWorld } from '../support/console-world.ts';
import { ROOT } from '../support/tree.ts';

const FOLDER = join(ROOT, 'dist', 'screenshots');
const WIDE = { width: 1280, height: 720 };
const LOOKS: Record<string, BrowserContextOptions> = {
  light: { colorScheme: 'light', viewport: WIDE },
  dark: { colorScheme: 'dark', viewport: WIDE },
  fa: { colorScheme: 'light', locale: 'fa-IR', viewport: WIDE },
  phone: { colorScheme: 'light', viewport: { width: 390, height: 780 } },
};
/** The time for the last rows to be drawn, ms. */
const DRAW_MS = 300;

mkdirSync(FOLDER, { recursive: true });
const site = await startConsoleSite();
const { linkId, messageId, own } = await makeWorld(site.app);
const by = { code: own.code, key: own.authKey };
const wide = await openTab(site, ['session.key', by], '/console');
await wide.page.locator('nav a').first().waitFor();
const hrefs = await wide.page
  .locator('nav a')
  .evaluateAll((all) => all.map((one) => (one as unknown as { href: string }).href));
await wide.context.close();
const pages = new Map(
  hrefs.map((href) => [new URL(href).pathname.split('/')[2] ?? 'overview', href]),
);
pages.set('link', `${site.url}/console/links?link=${linkId}`);
pages.set('message', `${site.url}/console/messages?message=${messageId}`);
pages.set('docs', `${site.url}/docs`);
pages.set('root', `${site.url}/`);
const only = process.argv.slice(2);
for (const [look, options] of Object.entries(LOOKS)) {
  const { context, page } = await openTab(site, ['session.key', by], '/console', options);
  for (const [name, href] of pages) {
    if (only.length > 0 && !only.includes(name)) continue;
    await page.goto(href);
    await page.locator('h1').first().waitFor();
    await Bun.sleep(DRAW_MS);
    await page.screenshot({ path: join(FOLDER, `${name}-${look}.png`) });
  }
  await context.close();
}
await site.close();

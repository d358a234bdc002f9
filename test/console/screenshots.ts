/**
 * Leaves a picture of each page of the console in a folder: light, dark, right to left and on a
 * phone, of a world without real names; and those of README, of the demonstration.
 *
 *   make screenshots
 */

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { BrowserContextOptions } from 'playwright-core';
import { ACT } from '../support/actor.ts';
import { call } from '../support/app.ts';
import { sharedShell } from '../support/chromium.ts';
import { openTab, startConsoleSite } from '../support/console-page.ts';
import { makeWorld } from '../support/console-world.ts';
import { operatorEntry } from '../support/operator.ts';
import { ROOT } from '../support/tree.ts';
import { pictureDemo } from './picture-demo.ts';

const FOLDER = join(ROOT, 'dist', 'screenshots');
const WIDE = { width: 1280, height: 720 };
const LOOKS: Record<string, BrowserContextOptions> = {
  light: { colorScheme: 'light', viewport: WIDE },
  dark: { colorScheme: 'dark', viewport: WIDE },
  fa: { colorScheme: 'light', locale: 'fa-IR', viewport: WIDE },
  phone: { colorScheme: 'light', viewport: { width: 390, height: 780 } },
  // The longest words, on the narrowest phone.
  narrow: { colorScheme: 'dark', locale: 'ru-RU', viewport: { width: 320, height: 640 } },
};
/** The time for the last rows to be drawn, ms. */
const DRAW_MS = 300;

mkdirSync(FOLDER, { recursive: true });
const site = await startConsoleSite();
const { linkId, messageId, own } = await makeWorld(site.app);
const by = { code: own.code, key: own.authKey };
const only = process.argv.slice(2);

/** Switches the page of users on; returns the code of a link with devices. */
async function codeToShow(): Promise<string> {
  const page = { my: 1, myName: 'Northwind', myColor: '#0f766e' } as const;
  await site.app.core.store.updateProvider(own.code, page, ACT);
  const { json } = await call(site.app, '/api/list-install', own, { id: linkId });
  return json.data[0].install_code;
}

type Who = 'provider' | 'operator';

async function openAs(who: Who, options: BrowserContextOptions = {}) {
  if (who === 'provider') return openTab(site, ['session.key', by], '/console', options);
  const secret = await operatorEntry(site.app);
  return openTab(site, ['session.entry', { secret }], '/console', options);
}

/** The pages of the navigation, and some of records. */
async function pagesOf(who: Who): Promise<Map<string, string>> {
  const { context, page } = await openAs(who);
  await page.locator('nav a').first().waitFor();
  const hrefs = await page
    .locator('nav a')
    .evaluateAll((all) => all.map((one) => (one as unknown as { href: string }).href));
  await context.close();
  const pages = new Map(
    hrefs.map((href) => [new URL(href).pathname.split('/')[2] ?? 'overview', href]),
  );
  if (who === 'operator') {
    pages.delete('account');
    pages.set('provider', `${site.url}/console/providers?provider=${own.code}`);
    pages.set('send', `${site.url}/console/sends?show=all&send=${messageId}`);
    pages.set('acting', `${site.url}/console?at=${own.code}`);
    return pages;
  }
  pages.set('link', `${site.url}/console/links?link=${linkId}`);
  pages.set('message', `${site.url}/console/messages?message=${messageId}`);
  pages.set('docs', `${site.url}/docs`);
  pages.set('my-ask', `${site.url}/my`);
  pages.set('my', `${site.url}/my?link=${await codeToShow()}`);
  return pages.set('root', `${site.url}/`);
}

for (const who of ['provider', 'operator'] as const) {
  const all = [...(await pagesOf(who))];
  const pages = all.filter(([name]) => only.length === 0 || only.includes(name));
  for (const [look, options] of pages.length === 0 ? [] : Object.entries(LOOKS)) {
    const { context, page } = await openAs(who, options);
    for (const [name, href] of pages) {
      await page.goto(href);
      await page.locator('h1').first().waitFor();
      await Bun.sleep(DRAW_MS);
      await page.screenshot({ path: join(FOLDER, `${name}-${look}.png`) });
    }
    await context.close();
  }
}
await site.close();
if (only.length === 0 || only.includes('readme')) await pictureDemo(FOLDER);
await (await sharedShell()).close();

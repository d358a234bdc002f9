/** Leaves the pictures of README: of a demonstration that has lived for a minute. */

import { join } from 'node:path';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { sharedShell } from '../support/chromium.ts';
import { ROOT } from '../support/tree.ts';
import { until } from '../support/until.ts';

/** Time for phones to come, to be refused and to open messages, ms. */
const LIFE_MS = 60_000;
/** The time for the last rows to be drawn, ms. */
const DRAW_MS = 500;
const VIEWPORT = { width: 1280, height: 720 };

interface Shown {
  url: string;
  providers: { provider_code: string; auth_key: string }[];
}

type Shot = (page: Page) => Promise<unknown>;

const inRows = (page: Page) => page.locator('tbody tr').locator('a, button');
const open: Shot = (page) => inRows(page).first().click();
const openLast: Shot = (page) => inRows(page).last().click();

const SHOTS: Readonly<Record<string, [BrowserContextOptions, path: string, Shot?]>> = {
  'console-overview': [{ colorScheme: 'dark' }, '/console'],
  'console-links': [{}, '/console/links?search=Office', open],
  'console-message': [{}, '/console/messages', openLast],
  'console-links-fa': [{ locale: 'fa-IR' }, '/console/links?search=Gift'],
};

export async function pictureDemo(folder: string): Promise<void> {
  const words = [process.execPath, join(ROOT, 'src/main.ts'), 'demo', '--port', '0', '--json'];
  const demo = Bun.spawn(words, { stdout: 'pipe', stderr: 'inherit' });
  let text = '';
  const reading = (async () => {
    for await (const part of demo.stdout.pipeThrough(new TextDecoderStream())) text += part;
  })();
  await until('the demonstration begins', () => text.includes('\n'));
  const { providers, url } = JSON.parse(text) as Shown;
  const [own] = providers;
  await Bun.sleep(LIFE_MS);
  const browser = await sharedShell();
  for (const [name, [options, path, shot]] of Object.entries(SHOTS)) {
    const context = await browser.newContext({ viewport: VIEWPORT, ...options });
    const page = await context.newPage();
    await page.goto(`${url}/console`);
    const given = { code: own?.provider_code, key: own?.auth_key };
    await page.evaluate(async (body) => {
      const headers = { 'content-type': 'application/json' };
      await fetch('/console/call/session.key', { method: 'POST', headers, body });
    }, JSON.stringify(given));
    await page.goto(`${url}${path}`);
    await page.locator('h1').first().waitFor();
    await Bun.sleep(DRAW_MS);
    await shot?.(page);
    await Bun.sleep(DRAW_MS);
    await page.screenshot({ path: join(folder, `${name}.png`) });
    await context.close();
  }
  demo.kill('SIGINT');
  await Promise.all([reading, demo.exited]);
}

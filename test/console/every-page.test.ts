/**
 * Every page of a provider's navigation, so that a new page joins by itself: axe finds no fault in
 * both themes and directions, and what a provider, a device or a panel wrote is text.
 */

import { afterAll, beforeAll, expect, setDefaultTimeout } from 'bun:test';
import type { BrowserContextOptions } from 'playwright-core';
import { testChromium } from '../support/chromium.ts';
import { type ConsoleSite, faultsOf, openTab, startConsoleSite } from '../support/console-page.ts';
import { makeWorld, type World } from '../support/console-world.ts';
import { expectNarrow, expectSound, HOSTILE_WORDS, pagesOn } from '../support/every-page.ts';
import { PATIENCE_MS } from '../support/until.ts';

setDefaultTimeout(4 * PATIENCE_MS);

let site: ConsoleSite;
let world: World;
beforeAll(async () => {
  site = await startConsoleSite();
  world = await makeWorld(site.app, HOSTILE_WORDS);
});
afterAll(() => site?.close());

async function open(options: BrowserContextOptions) {
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

testChromium.each([
  ['light', 'en-GB'],
  ['dark', 'fa-IR'],
] as const)('%s, %s', async (colorScheme, locale) => {
  const { paths, tab } = await open({ colorScheme, locale });
  await expectSound(tab, paths);
  await tab.context.close();
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

// Russian has the longest words.
testChromium('no page is wider than a small phone', async () => {
  const { paths, tab } = await open({ locale: 'ru' });
  await expectNarrow(tab, paths);
  await tab.context.close();
});

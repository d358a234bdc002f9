/** Every page of a provider's navigation on a small phone, and the pages for everybody. */

import { afterAll, beforeAll, expect, setDefaultTimeout } from 'bun:test';
import { testChromium } from '../support/chromium.ts';
import { type ConsoleSite, faultsOf, openTab, startConsoleSite } from '../support/console-page.ts';
import { makeWorld, type World } from '../support/console-world.ts';
import { expectNarrow, HOSTILE_WORDS, openAll } from '../support/every-page.ts';
import { PATIENCE_MS } from '../support/until.ts';

setDefaultTimeout(4 * PATIENCE_MS);

let site: ConsoleSite;
let world: World;
beforeAll(async () => {
  site = await startConsoleSite();
  world = await makeWorld(site.app, HOSTILE_WORDS);
});
afterAll(() => site?.close());

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
  const { paths, tab } = await openAll(site, world, { locale: 'ru' });
  await expectNarrow(tab, paths);
  await tab.context.close();
});

/** The pages for everybody: axe finds no fault in both themes. */

import { afterAll, beforeAll, expect, setDefaultTimeout } from 'bun:test';
import { testChromium } from '../support/chromium.ts';
import { type ConsoleSite, faultsOf, openTab, startConsoleSite } from '../support/console-page.ts';
import { PATIENCE_MS } from '../support/until.ts';

setDefaultTimeout(4 * PATIENCE_MS);

let site: ConsoleSite;
beforeAll(async () => {
  site = await startConsoleSite();
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

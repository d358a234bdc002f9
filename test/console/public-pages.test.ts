/** The pages for everybody: axe finds no fault in both themes. */

import { expect } from 'bun:test';
import { testChromium } from '../support/chromium.ts';
import { faultsOf, openTab, useConsoleSite } from '../support/console-page.ts';

const site = useConsoleSite();

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

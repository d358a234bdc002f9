/** The pages for everybody: axe finds no fault in both themes. */

import { expect } from 'bun:test';
import { testChromium } from '../support/chromium.ts';
import { faultsOf, openTab, useConsoleSite } from '../support/console-page.ts';
import { IS_LONG } from '../support/scale.ts';

const site = useConsoleSite();

testChromium.each([
  ['light', 'all'],
  ['dark', IS_LONG ? 'all' : 'contrast'],
] as const)('the pages at / and /docs, %s', async (colorScheme, rules) => {
  for (const path of ['/', '/docs', '/console']) {
    const { context, page, troubles } = await openTab(site, null, path, { colorScheme });
    await page.locator('h1').first().waitFor();
    expect([path, await faultsOf(page, rules)]).toEqual([path, []]);
    expect(troubles).toEqual([]);
    await context.close();
  }
});

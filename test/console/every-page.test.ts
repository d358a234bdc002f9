/**
 * Every page of a provider's navigation, so that a new page joins by itself: axe finds no fault in
 * both themes and directions, and what a provider, a device or a panel wrote is text.
 */

import { afterAll, beforeAll, setDefaultTimeout } from 'bun:test';
import { testChromium } from '../support/chromium.ts';
import { type ConsoleSite, startConsoleSite } from '../support/console-page.ts';
import { makeWorld, type World } from '../support/console-world.ts';
import { expectSound, HOSTILE_WORDS, openAll } from '../support/every-page.ts';
import { PATIENCE_MS } from '../support/until.ts';

setDefaultTimeout(4 * PATIENCE_MS);

let site: ConsoleSite;
let world: World;
beforeAll(async () => {
  site = await startConsoleSite();
  world = await makeWorld(site.app, HOSTILE_WORDS);
});
afterAll(() => site?.close());

testChromium.each([
  ['light', 'en-GB'],
  ['dark', 'fa-IR'],
] as const)('%s, %s', async (colorScheme, locale) => {
  const { paths, tab } = await openAll(site, world, { colorScheme, locale });
  await expectSound(tab, paths);
  await tab.context.close();
});

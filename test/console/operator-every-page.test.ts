/** Every page of the operator's navigation, as every-page.test.ts has those of a provider. */

import { afterAll, beforeAll, expect, setDefaultTimeout } from 'bun:test';
import type { BrowserContextOptions } from 'playwright-core';
import { testChromium } from '../support/chromium.ts';
import { type ConsoleSite, openTab, startConsoleSite } from '../support/console-page.ts';
import { makeWorld, type World } from '../support/console-world.ts';
import { expectNarrow, expectSound, HOSTILE_WORDS, pagesOn } from '../support/every-page.ts';
import { operatorEntry } from '../support/operator.ts';
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
  const secret = await operatorEntry(site.app);
  const tab = await openTab(site, ['session.entry', { secret }], '/console', options);
  const [device] = await site.app.core.store.pageDevices(Number.MAX_SAFE_INTEGER, 1);
  const hwid = encodeURIComponent(device?.hwid ?? '');
  const paths = [
    ...(await pagesOn(tab.page)),
    `${site.url}/console/providers?provider=${world.own.code}`,
    `${site.url}/console/devices?hwid=${hwid}`,
    `${site.url}/console/sends?show=all&send=${world.messageId}`,
  ];
  expect(paths.length).toBeGreaterThan(2);
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

testChromium('no page is wider than a small phone', async () => {
  const { paths, tab } = await open({});
  await expectNarrow(tab, paths);
  await tab.context.close();
});

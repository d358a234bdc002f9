/** The list of links reads what is in view, and on as the person scrolls. */

import { expect } from 'bun:test';
import { addLink } from '../../src/core/link.ts';
import { seedProvider } from '../support/app.ts';
import { testChromium } from '../support/chromium.ts';
import { openTab, useConsoleSite } from '../support/console-page.ts';
import { until } from '../support/until.ts';

const LINKS = 1_200;

const site = useConsoleSite();

testChromium('a list that is opened reads one page, the end of it on a jump', async () => {
  const { core } = site.app;
  const { code, authKey } = await seedProvider(site.app);
  const provider = await core.store.findProvider(code);
  if (provider === null) throw new Error('there is no provider');
  const note = (n: number) => `customer ${n}`;
  const add = (n: number) =>
    addLink(core, provider, { installCode: null, installLimit: 3, note: note(n) }, 1);
  // Newest first: the customers are shown in the order of their numbers.
  for (let n = LINKS; n > 0; n -= 50) {
    await Promise.all(Array.from({ length: 50 }, (_, back) => add(n - back)));
  }
  const by = ['session.key', { code, key: authKey }] as const;
  const { context, page, troubles } = await openTab(site, [...by], '/console/domains');
  const read: number[] = [];
  page.on('response', async (response) => {
    if (!response.url().endsWith('/links.list')) return;
    const { ok } = await response.json().catch(() => ({}));
    read.push(ok?.rows.length);
  });
  await page.goto(`${site.url}/console/links`);
  await page.locator('.rows').getByText(note(1), { exact: true }).waitFor();
  await page.waitForLoadState('networkidle');
  expect(read).toEqual([100]);

  await page.evaluate('scrollTo(0, document.documentElement.scrollHeight)');
  await page.locator('.rows').getByText(note(LINKS), { exact: true }).waitFor();
  // A response is counted a moment after the page has it.
  const readCount = () => read.reduce((sum, count) => sum + count, 0);
  await until('all links are read', () => readCount() >= LINKS);
  await page.waitForLoadState('networkidle');
  expect(read.length).toBeLessThanOrEqual(4);
  expect(readCount()).toBe(LINKS);
  expect(troubles).toEqual([]);
  await context.close();
});

/** Pages whose server answers late, or not at all: what they show, and what they keep. */

import { afterEach, expect } from 'bun:test';
import type { Route } from 'playwright-core';
import { texts as en } from '../../src/console/texts/en.ts';
import { call, seedProvider } from '../support/app.ts';
import { testChromium } from '../support/chromium.ts';
import { openTab, untilFollowed, useConsoleSite } from '../support/console-page.ts';
import { becomes, until } from '../support/until.ts';

const DOMAIN_HASH = 'e'.repeat(64);

const site = useConsoleSite({}, { expectsTrouble: true });

afterEach(async () => {
  await until('no stream is left', () => site.app.server.liveCount() === 0);
});

async function open(pathOf: (linkId: number) => string) {
  const of = await seedProvider(site.app);
  await call(site.app, '/api/add-domain', of, { domain_hash: DOMAIN_HASH, domain_name: 'a.b' });
  const { id } = (await call(site.app, '/api/add-install', of, { install_limit: 2 })).json;
  const by = ['session.key', { code: of.code, key: of.authKey }] as const;
  const tab = await openTab(site, [...by], pathOf(id));
  return { ...tab, of, id };
}

/** A proxy before a server that is down. */
const down = (route: Route) =>
  route.fulfill({ status: 502, contentType: 'text/html', body: '<h1>Bad gateway</h1>' });

testChromium('a proxy without its server is said in words, and the page tries again', async () => {
  const { page } = await open(() => '/console/links');
  await page.route('**/call/domains.list', down);
  await page.getByRole('link', { name: en.domains.title }).click();
  await page.getByText(en.refusals.offline).waitFor();
  await page.unroute('**/call/domains.list');
  await page.getByRole('button', { name: en.retry }).click();
  await page.locator('tbody').getByText('a.b').waitFor();
  await page.getByText(en.refusals.offline).waitFor({ state: 'detached' });
});

testChromium(
  'what was typed stays while the server is away; a link that is gone goes',
  async () => {
    const { page, of, id } = await open((link) => `/console/links?link=${link}`);
    await page.getByText(en.link.edit).click();
    const note = page.locator('.message-panel').getByLabel(en.heads.note);
    await note.fill('half a sent');
    await page.route('**/call/links.show', down);
    await page.getByRole('button', { name: en.common.disable, exact: true }).click();
    await page.locator('.message-panel').getByText(en.refusals.offline).waitFor();
    await becomes(() => note.inputValue(), 'half a sent');
    await page.unroute('**/call/links.show');
    await page.getByRole('button', { name: en.retry }).click();
    await page.getByRole('button', { name: en.common.enable, exact: true }).waitFor();
    await becomes(() => note.inputValue(), 'half a sent');
    // Another person raises the limit.
    await untilFollowed(site.app);
    await call(site.app, '/api/update-install', of, { id, install_limit: 7 });
    site.app.clock.advance(1_000);
    await page.locator('.facts').getByText(en.links.ofLimit('0', '7')).waitFor();
    await becomes(() => note.inputValue(), 'half a sent');
    expect(
      await page.locator('.message-panel').getByLabel(en.heads.install_limit).inputValue(),
    ).toBe('7');
    await call(site.app, '/api/remove-install', of, { id });
    await page.getByRole('button', { name: en.common.enable, exact: true }).click();
    await page.locator('.message-panel .notice').getByText(en.refusals.install_not_found).waitFor();
    await becomes(() => note.count(), 0);
  },
);

testChromium('an answer that was overtaken is dropped', async () => {
  const { page } = await open(() => '/console/domains');
  const words = en.domains;
  const held = Promise.withResolvers<void>();
  const answered = Promise.withResolvers<void>();
  let count = 0;
  await page.getByRole('button', { name: en.common.disable }).waitFor();
  await page.route('**/call/domains.list', async (route) => {
    count += 1;
    const answer = await route.fetch();
    if (count === 1) await held.promise;
    await route.fulfill({ response: answer });
    if (count === 2) answered.resolve();
  });
  await page.getByRole('button', { name: en.common.disable }).click();
  await page.getByRole('dialog').getByRole('button', { name: en.common.disable }).click();
  await until('it asks for the first time', () => count === 1);
  // The list is as before: the same button disables it, and enables it by another tab.
  await page.getByLabel(words.host).fill('c.d');
  await page.getByRole('button', { name: words.bind, exact: true }).click();
  await answered.promise;
  await page.locator('tbody').getByText('c.d').waitFor();
  held.resolve();
  await page.waitForResponse('**/call/setup.read');
  await page.waitForFunction('true');
  await becomes(() => page.locator('tbody').getByText('c.d').count(), 1);
});

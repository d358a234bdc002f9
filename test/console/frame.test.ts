/** The frame of the page: palette, keys, one stream for all tabs, a menu on phones, upgrades. */

import { beforeEach, expect, test } from 'bun:test';
import type { Locator, Page } from 'playwright-core';
import { systemClock } from '../../src/base/clock.ts';
import { texts as en } from '../../src/console/texts/en.ts';
import { call, seedProvider } from '../support/app.ts';
import { testChromium } from '../support/chromium.ts';
import {
  callFrom,
  faultsOf,
  openBlank,
  openTab,
  type Tab,
  useConsoleSite,
} from '../support/console-page.ts';
import { startRelay } from '../support/relay.ts';
import { becomes, until } from '../support/until.ts';

const site = useConsoleSite({ clock: systemClock }, { expectsTrouble: true });
let code: string;
let key: string;
beforeEach(async () => {
  await until('no stream is left', () => site.app.server.liveCount() === 0);
  ({ code, authKey: key } = await seedProvider(site.app));
});

async function open(path: string, options = {}): Promise<Tab> {
  return await openTab(site, ['session.key', { code, key }], path, options);
}

async function addLink(note: string): Promise<string> {
  const of = { code, authKey: key };
  return (await call(site.app, '/api/add-install', of, { install_limit: 2, note })).json
    .install_code;
}

test('the page names the files that it needs, before its script asks for them', async () => {
  const pageAt = async (path: string, cookie: string) => {
    const answer = await fetch(`${site.app.url}${path}`, { headers: { cookie } });
    return answer.text();
  };
  const inside = await pageAt('/console/links?at=x', '__Host-gatepost=x');
  expect(inside).toMatch(/<link rel="modulepreload" href="\/console\/links-\w+\.js">/);
  expect(inside).toMatch(/<link rel="modulepreload" href="\/console\/chunk-\w+\.js">/);
  expect(inside).toContain('side-before');
  const outside = await pageAt('/console/links', '');
  expect(outside).not.toMatch(/links-\w+\.js/);
  expect(outside).not.toContain('side-before');
});

testChromium('the palette opens pages, links and actions by keys alone', async () => {
  const installCode = await addLink('Order 1041');
  const { page, troubles } = await open('/console');
  await page.getByRole('heading', { level: 1 }).waitFor();
  await page.keyboard.press('Control+k');
  const field = page.getByRole('combobox', { name: en.palette.name });
  await field.waitFor();
  expect(await faultsOf(page)).toEqual([]);
  await page.keyboard.type('1041');
  await page.getByRole('option', { name: installCode }).waitFor();
  await page.keyboard.press('Enter');
  await page.waitForURL(/\/console\/links\?.*link=\d+/);
  await page.keyboard.press('Control+k');
  await page.keyboard.type('overv');
  await page.getByRole('option', { name: en.shell.overview }).waitFor();
  await page.keyboard.press('Enter');
  await page.getByText(en.overview.byDay).first().waitFor();
  // Escape leaves, and the focus is where it was.
  const find = page.locator('.find');
  await find.press('Enter');
  await page.locator('dialog[open]').waitFor();
  await page.keyboard.press('ArrowDown');
  await becomes(() => page.locator('[aria-selected=true]').count(), 1);
  await page.keyboard.press('Escape');
  await field.waitFor({ state: 'detached' });
  await becomes(() => page.locator('.find:focus').count(), 1);
  await page.keyboard.press('?');
  await page.getByRole('dialog', { name: en.palette.keys }).waitFor();
  expect(await faultsOf(page)).toEqual([]);
  await page.keyboard.press('Escape');
  await page.keyboard.press('/');
  await field.waitFor();
  await page.keyboard.type('<b>nothing');
  await page.getByText(en.palette.nothing).waitFor();
  expect(troubles).toEqual([]);
});

testChromium('all tabs have one stream, also when the first one is closed', async () => {
  const { context, page: first } = await open('/console');
  await until('a stream is open', () => site.app.server.liveCount() === 1);
  const second = await context.newPage();
  await second.goto(`${site.url}/console`);
  await second.getByRole('heading', { level: 1 }).waitFor();
  expect(site.app.server.liveCount()).toBe(1);
  await first.close();
  await until('the other has it', async () => {
    // Nothing happens without a lock that is free.
    const { held = [] } = await second.evaluate(() => navigator.locks.query());
    return held.length === 1 && site.app.server.liveCount() === 1;
  });
  await context.close();
  await until('no stream is left', () => site.app.server.liveCount() === 0);
});

/** Gives a page a clock of its own, which {@link untilLater} moves; a stream is open then. */
async function withClock(page: Page): Promise<void> {
  await page.clock.install();
  await page.reload();
  await page.getByRole('heading', { level: 1 }).waitFor();
  await until('a stream is open', () => site.app.server.liveCount() >= 1);
}

/** Lets the time of a page pass, as its pauses between two streams do, until it shows something. */
const untilLater = (page: Page, shown: Locator, isThere = true) =>
  until('the page goes on', async () => {
    await page.clock.runFor(1_000);
    return (await shown.isVisible()) === isThere;
  });

/** Opens the console over a way that can be cut; a stream is open then. */
async function openOver(relay: ReturnType<typeof startRelay>) {
  const url = `http://localhost:${relay.port}`;
  const tab = await openTab({ ...site, url }, ['session.key', { code, key }], '/console');
  await withClock(tab.page);
  return { ...tab, banner: tab.page.getByText(en.shell.offline) };
}

testChromium('without a server the page says so, and goes on by itself', async () => {
  let relay = startRelay(Number(new URL(site.url).port));
  const { banner, page } = await openOver(relay);
  const { port } = relay;
  relay.stop();
  await untilLater(page, banner);
  relay = startRelay(Number(new URL(site.url).port), port);
  await untilLater(page, banner, false);
  relay.stop();
});

testChromium(
  'a browser that believes to be offline is not believed while the stream lives',
  async () => {
    const relay = startRelay(Number(new URL(site.url).port));
    const { banner, context, page } = await openOver(relay);
    const session = await context.newCDPSession(page);
    const none = { latency: 0, downloadThroughput: -1, uploadThroughput: -1 };
    for (const method of ['overrideNetworkState', 'emulateNetworkConditions'] as const) {
      await session.send(`Network.${method}` as never, { offline: true, ...none } as never);
      await until('it believes', () => page.evaluate('!navigator.onLine') as Promise<boolean>);
      // The page has handled what it was told of the network.
      await page.evaluate('new Promise((done) => requestAnimationFrame(done))');
      await becomes(() => banner.isVisible(), false);
      await session.send(`Network.${method}` as never, { offline: false, ...none } as never);
    }
    // Offline in truth, with the stream gone.
    await session.send('Network.emulateNetworkConditions', { offline: true, ...none });
    relay.drop();
    await untilLater(page, banner);
    relay.stop();
  },
);

testChromium('a cable that is pulled out is noticed by the silence', async () => {
  const relay = startRelay(Number(new URL(site.url).port));
  const { banner, page } = await openOver(relay);
  relay.silence(true);
  await page.clock.runFor(75_000);
  await banner.waitFor();
  relay.stop();
});

testChromium('a session that ends elsewhere leads to the sign-in without a click', async () => {
  const { context, page } = await open('/console');
  await withClock(page);
  const other = await context.newPage();
  await openBlank(other, site.url);
  await callFrom(other, 'session.leave', {});
  await untilLater(page, page.getByRole('heading', { name: en.signIn.title }));
});

testChromium('a file of an older version loads the page anew, once', async () => {
  const { context, page } = await open('/console');
  await page.getByRole('heading', { level: 1 }).waitFor();
  let loads = 0;
  page.on('domcontentloaded', () => {
    loads += 1;
  });
  await context.route(/\/console\/links-\w+\.js$/, (route) => route.fulfill({ status: 404 }));
  await page.getByRole('link', { name: en.shell.links }).click();
  await page.getByText(en.refusals.outdated).waitFor();
  expect(loads).toBe(1);
});

testChromium('on a phone the pages are behind a button', async () => {
  const { page, troubles } = await open('/console', {
    viewport: { width: 320, height: 640 },
  });
  const menu = page.getByRole('button', { name: en.shell.navigation });
  await menu.click();
  await page.getByRole('link', { name: en.shell.links }).click();
  await page.getByRole('heading', { level: 1, name: en.shell.links }).waitFor();
  await page.locator('.side').waitFor({ state: 'hidden' });
  const width = Number(await page.evaluate('document.documentElement.scrollWidth'));
  expect(width).toBeLessThanOrEqual(320);
  expect(troubles).toEqual([]);
});

/** The connection is lost after the server did its work: nothing is made or sent twice. */

import { expect } from 'bun:test';
import type { Page } from 'playwright-core';
import { texts as en } from '../../src/console/texts/en.ts';
import { testChromium } from '../support/chromium.ts';
import { useConsoleSite } from '../support/console-page.ts';
import { openSend } from '../support/console-send.ts';

const site = useConsoleSite({}, { expectsTrouble: true });

async function open(path: string) {
  return await openSend(site, path);
}

/** Lets the next call through, and loses its answer. */
const loseAnswer = (page: Page, call: string) =>
  page.route(
    `**/console/call/${call}`,
    async (route) => {
      await route.fetch();
      await route.abort('connectionreset');
    },
    { times: 1 },
  );

const countOf = async (code: string) =>
  (await site.app.core.store.findProvider(code))?.installCount;

testChromium('a new link is one', async () => {
  const { code, page } = await open('/console/links');
  await page.getByRole('button', { name: en.links.add }).first().click();
  const dialog = page.getByRole('dialog');
  await loseAnswer(page, 'links.add');
  await dialog.getByRole('button', { name: en.links.create }).click();
  await dialog.getByText(en.refusals.offline).waitFor();
  expect(await countOf(code)).toBe(2);
  await dialog.getByRole('button', { name: en.links.create }).click();
  await page.locator('.message-panel').waitFor();
  expect(await countOf(code)).toBe(2);
});

testChromium('many new links are as many as were wanted', async () => {
  const { code, page } = await open('/console/links');
  await page.getByRole('button', { name: en.links.add }).first().click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel(en.links.howMany).fill('3');
  await loseAnswer(page, 'links.add-many');
  const create = dialog.getByRole('button', { name: en.links.createMany(3) });
  await create.click();
  await dialog.getByText(en.refusals.offline).waitFor();
  await create.click();
  await dialog.getByText(en.links.areReady(3)).waitFor();
  expect(await countOf(code)).toBe(4);
});

testChromium.each([
  ['compose', 'send.notification'],
  ['commands', 'send.command'],
] as const)('what %s sent is sent once', async (path, call) => {
  const { page, phones, sent } = await open(`/console/${path}`);
  const words = en.compose;
  if (path === 'compose') await page.getByLabel(words.body).first().fill('Hello');
  await page.getByRole('button', { name: words.byHwid }).click();
  await page.getByLabel(words.hwids, { exact: true }).fill(phones[0]);
  await page.getByRole('button', { name: words.check }).click();
  await loseAnswer(page, call);
  await page.getByRole('button', { name: words.sendTo('1', 1) }).click();
  await page.getByText(en.refusals.offline).waitFor();
  expect(await sent()).toHaveLength(1);
  await page.getByRole('button', { name: words.sendTo('1', 1) }).click();
  await page.waitForURL(/message=\d+/);
  expect(await sent()).toHaveLength(1);
});

testChromium('a test is sent again when it is asked for again', async () => {
  const { page, phones, sent } = await open('/console/commands');
  const words = en.compose;
  await page.getByText(words.test).click();
  await page.getByLabel(words.testHwid).fill(phones[0]);
  const send = page.getByRole('button', { name: words.sendTest });
  await loseAnswer(page, 'send.command');
  await send.click();
  await page.getByText(en.refusals.offline).waitFor();
  await send.click();
  await page.getByText(words.tested(phones[0])).waitFor();
  expect(await sent()).toHaveLength(1);
  const answered = page.waitForResponse('**/send.command');
  await send.click();
  await answered;
  expect(await sent()).toHaveLength(2);
});

/** Targets by a filter, and when a message to all is accepted. */

import { expect } from 'bun:test';
import { texts as en } from '../../src/console/texts/en.ts';
import { testChromium } from '../support/chromium.ts';
import { callFrom, faultsOf, useConsoleSite } from '../support/console-page.ts';
import { openSend } from '../support/console-send.ts';
import { becomes } from '../support/until.ts';

const site = useConsoleSite();

async function open(path: string) {
  const tab = await openSend(site, path);
  return { ...tab, main: tab.page.locator('.actions .main').first() };
}

const words = en.compose;
const FORM = { body: 'x', type_push: 'optional', expire_days: 7 };

testChromium('a filter finds devices, and the send has the filter', async () => {
  const { main, page, phones, sent } = await open('/console/compose');
  await page.getByLabel(words.body).first().fill('Hello');
  await page.getByRole('button', { name: words.byFilter }).click();
  await page.getByText(words.finds('2', 2)).waitFor();
  await page.getByText(phones[1]).waitFor();
  await page.getByLabel(words.filterSeen).selectOption('before 7');
  await page.getByText(words.finds('0', 0)).waitFor();
  await main.click();
  await page.getByText(en.refusals.no_devices_found).waitFor();
  await page.getByLabel(words.filterSeen).selectOption('since 7');
  await page.getByText(words.finds('2', 2)).waitFor();
  await becomes(() => page.locator('.send-form .copy').isVisible(), false);
  expect(await faultsOf(page)).toEqual([]);
  await main.click();
  await page.getByText(words.reaches('2', 2)).waitFor();
  await main.click();
  await page.waitForURL(/message=\d+/);
  const [message] = await sent();
  expect(message).toMatchObject({ targetHwid: '', targetOs: null });
  await page.getByText(en.messages.toFilter).first().waitFor();
});

testChromium(
  'while a filter searches nothing is checked; a device that left it gets nothing',
  async () => {
    const { main, page, phones, sent, free } = await open('/console/compose');
    await page.getByLabel(words.body).first().fill('Hello');
    const gate = Promise.withResolvers<void>();
    await page.route('**/console/call/send.find', async (route) => {
      await gate.promise;
      await route.continue();
    });
    await page.getByRole('button', { name: words.byFilter }).click();
    // While it searches there is nothing to check.
    await main.click();
    await page.locator('.send-form > .problem').getByText(words.finding).waitFor();
    gate.resolve();
    await page.getByText(words.finds('2', 2)).waitFor();
    await main.click();
    await page.getByText(words.reaches('2', 2)).waitFor();
    await free(phones[1]);
    await page.getByRole('button', { name: words.findAgain }).click();
    await page.getByText(words.finds('1', 1)).waitFor();
    await main.click();
    await page.getByText(words.reaches('1', 1)).waitFor();
    await main.click();
    await page.waitForURL(/message=\d+/);
    expect(await sent()).toHaveLength(1);
  },
);

testChromium('a copy that the API would refuse is not offered as a call of it', async () => {
  const { page } = await open('/console/compose');
  const curl = page.locator('.send-form .copy');
  await page.getByRole('button', { name: words.byHwid }).click();
  const hwids = page.getByLabel(words.hwids, { exact: true });
  await hwids.fill('a, b, c, d, e');
  await becomes(() => curl.isVisible(), true);
  await hwids.fill('a, b, c, d, e, f');
  await curl.waitFor({ state: 'hidden' });
});

testChromium('after a message to all it says when the next one is accepted', async () => {
  const { code, page } = await open('/console/compose');
  await page.getByText(words.interval).waitFor();
  const body = { PushNotificationForm: FORM, specific_device_toggle: false, os: ['android'] };
  await callFrom(page, 'send.notification', { at: code, body });
  await page.reload();
  await page.getByText(/accepted in [1-4] min/).waitFor();
});

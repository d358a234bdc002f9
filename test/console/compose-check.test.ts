/** What is sent is what was checked; a copy is what was sent. */

import { expect } from 'bun:test';
import { texts as en } from '../../src/console/texts/en.ts';
import { testChromium } from '../support/chromium.ts';
import { callFrom, useConsoleSite } from '../support/console-page.ts';
import { openSend } from '../support/console-send.ts';
import { becomes } from '../support/until.ts';

const site = useConsoleSite();

async function open(path: string) {
  const tab = await openSend(site, path);
  return { ...tab, main: tab.page.locator('.actions .main').first() };
}

const words = en.compose;
const FORM = { body: 'x', type_push: 'optional', expire_days: 7 };

testChromium('other targets are checked anew', async () => {
  const { main, page, phones, sent } = await open('/console/compose');
  await page.getByLabel(words.body).first().fill('Hello');
  await page.getByRole('button', { name: words.byHwid }).click();
  await page.getByLabel(words.hwids, { exact: true }).fill(phones[0]);
  await main.click();
  await page.getByText(words.reaches('1', 1)).waitFor();
  await page.getByRole('button', { name: words.byOs }).click();
  await page.locator('.reach').waitFor({ state: 'detached' });
  await becomes(() => main.textContent(), words.check);
  await main.click();
  await page.getByText(words.reaches('2', 2)).waitFor();
  const ways = (await page.locator('.ways-of dd').allInnerTexts()).map(Number);
  expect([ways.length, ways.reduce((sum, count) => sum + count, 0)]).toEqual([6, 2]);
  expect(await sent()).toEqual([]);
});

testChromium('a language that is removed is checked and previewed anew', async () => {
  const { main, page } = await open('/console/compose');
  await page.getByLabel(words.body).first().fill('Hello');
  await page.locator('.add-language').selectOption('ru');
  await page.getByLabel(words.body).nth(1).fill('Привет');
  await page.locator('.phone').nth(1).waitFor();
  await main.click();
  await page.locator('.reach').waitFor();
  await page.getByRole('button', { name: words.removeLanguage }).click();
  await page.locator('.phone').nth(1).waitFor({ state: 'detached' });
  await becomes(() => main.textContent(), words.check);
});

testChromium('a check that comes late does not stand for what was typed meanwhile', async () => {
  const { main, page, sent } = await open('/console/compose');
  await page.getByLabel(words.body).first().fill('Hello');
  const gate = Promise.withResolvers<void>();
  await page.route('**/console/call/send.check', async (route) => {
    await gate.promise;
    await route.continue();
  });
  await main.click();
  await page.getByLabel(words.body).first().fill('Another text');
  const answered = page.waitForResponse('**/console/call/send.check');
  gate.resolve();
  await answered;
  await page.locator('form.send-form[aria-busy=false]').waitFor();
  await becomes(() => main.textContent(), words.check);
  expect(await sent()).toEqual([]);
});

testChromium('Enter in the HWID of a test sends to that device alone', async () => {
  const { page, phones, sent } = await open('/console/compose');
  await page.getByLabel(words.body).first().fill('Hello');
  await page.getByText(words.test).click();
  const field = page.getByLabel(words.testHwid);
  await field.fill(phones[0]);
  await field.press('Enter');
  await page.getByText(words.tested(phones[0])).waitFor();
  expect(await sent()).toMatchObject([{ targetHwid: phones[0], targetOs: null }]);
});

testChromium('a message that is too large is refused in words', async () => {
  const { page } = await open('/console/compose');
  await page.getByLabel(words.body).first().fill('x'.repeat(3_100));
  await page.locator('aside').getByText(en.refusals.message_too_large).waitFor();
});

const named = (hwid: string) => ({ specific_device_toggle: true, hwid });
const IMAGE = 'https://example.com/a.png';

testChromium.each([
  ['compose', { PushNotificationForm: { ...FORM, background_image: IMAGE } }],
  [
    'commands',
    {
      action_type: 'set-settings',
      settings: { 'my-object': { a: 1 }, 'my-number': 5, 'my-text': '5', 'ping-type': 'tcp' },
    },
  ],
  ['commands', { action_type: 'set-settings', settings: { 'app-auto-start': 'on' } }],
  ['commands', { action_type: 'import-data', import_data: 'vless://Ünï\n2' }],
] as const)('a copy on %s is what was sent: %j', async (path, content) => {
  const { code, main, page, phones, sent } = await open('/console');
  const body = { ...content, ...named(phones[0]) };
  const call = path === 'compose' ? 'send.notification' : 'send.command';
  const { ok } = (await callFrom(page, call, { at: code, body })) as { ok: { id: number } };
  await page.goto(`${site.url}/console/${path}?copy=${ok.id}`);
  await main.click();
  await page.getByText(words.reaches('1', 1)).waitFor();
  await main.click();
  await page.waitForURL(/message=\d+/);
  const [second, first] = await sent();
  expect(second?.payload).toEqual(first?.payload as Record<string, unknown>);
});

testChromium('a line that sets nothing is not left out unseen', async () => {
  const { main, page, phones } = await open('/console/commands');
  await page.getByRole('button', { name: en.command.actions['set-settings'] }).click();
  await page.getByRole('button', { name: words.byHwid }).click();
  await page.getByLabel(words.hwids, { exact: true }).fill(phones[0]);
  const custom = page.locator('textarea[name=custom]');
  await custom.fill('my-key=1\nping-type tcp');
  await main.click();
  const said = await page.evaluate(
    'document.querySelector("textarea[name=custom]").validationMessage',
  );
  expect(said).toBe(en.command.customWrong);
  await becomes(() => main.textContent(), words.check);
  await custom.fill('my-key=1\n\nping-type=tcp');
  await main.click();
  await page.getByText(words.reaches('1', 1)).waitFor();
});

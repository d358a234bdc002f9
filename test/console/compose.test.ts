/** Notifications and commands are written, checked and sent in the browser. */

import { expect } from 'bun:test';
import { texts as en } from '../../src/console/texts/en.ts';
import { texts as fa } from '../../src/console/texts/fa.ts';
import { testChromium } from '../support/chromium.ts';
import { faultsOf, LOOKS_TRIED, useConsoleSite } from '../support/console-page.ts';
import { openSend } from '../support/console-send.ts';
import { becomes } from '../support/until.ts';

const site = useConsoleSite();

async function open(path: string, options = {}) {
  return await openSend(site, path, options);
}

testChromium('a message is previewed, tested, checked and sent', async () => {
  const { page, phones, sent } = await open('/console/compose');
  const words = en.compose;
  await page.getByLabel(words.titleLabel).first().fill('News <b>');
  await page.getByLabel(words.body).first().fill('Hello <b>you</b><img src=x onerror=alert(1)>');
  const phone = page.locator('.phone').first();
  await phone.getByText('you').waitFor();
  await becomes(() => phone.locator('h3').textContent(), 'News <b>');
  await becomes(() => phone.locator('b').textContent(), 'you');
  await becomes(() => phone.locator('img').count(), 0);
  await page.locator('.add-language').selectOption('ru');
  await page.getByLabel(words.body).nth(1).fill('Привет');
  await page.locator('.phone').nth(1).getByText('Привет').waitFor();
  await page.getByText(words.test).click();
  await page.getByLabel(words.testHwid).fill(phones[0]);
  await page.getByRole('button', { name: words.sendTest }).click();
  await page.getByText(words.tested(phones[0])).waitFor();
  await page.getByRole('button', { name: words.check }).click();
  await page.getByText(words.reaches('2', 2)).waitFor();
  await page.getByRole('button', { name: words.sendTo('2', 2) }).click();
  await page.waitForURL(/\/console\/messages\?.*message=\d+/);
  expect((await sent()).map(({ payload }) => payload)).toMatchObject([
    { title: 'News <b>', body: 'Hello <b>you</b><img />', locales: { ru: { body: 'Привет' } } },
    { title: 'News <b>' },
  ]);
});

testChromium(
  'placeholders are explained, previewed for links, and sent with the mark',
  async () => {
    const { page, sent } = await open('/console/compose');
    const words = en.compose;
    await page.getByLabel(words.body).first().fill('Hello {greeting|friend}');
    await page.locator('.phone').first().getByText('{greeting|friend}').waitFor();
    await becomes(() => page.locator('.phone').count(), 1);
    await page.getByLabel(words.fill).selectOption('1');
    await page.getByText(words.placeholders.days_left).waitFor();
    await page.locator('.phone').nth(1).getByText('Hello friend').waitFor();
    await page.getByLabel(words.body).first().fill('Hello {note}');
    await page.getByText('unknown placeholder {note}').waitFor();
    await page.getByLabel(words.body).first().fill('Hello {greeting|friend}');
    await page.getByRole('button', { name: words.check }).click();
    await page.getByRole('button', { name: words.sendTo('2', 2) }).click();
    await page.waitForURL(/\/console\/messages\?.*message=\d+/);
    await page.getByText(en.messages.filled).waitFor();
    expect((await sent()).map(({ payload }) => payload)).toMatchObject([
      { body: 'Hello {greeting|friend}', fill: 1 },
    ]);
  },
);

testChromium('a command has its fields, and a copy has those of the first', async () => {
  const { page, sent } = await open('/console/commands');
  const words = en.command;
  await page.getByRole('button', { name: words.actions['set-settings'] }).click();
  await page.getByLabel('ping-type').selectOption('tcp');
  await page.getByLabel('app-auto-start').selectOption('true');
  await becomes(() => page.getByLabel('mux-quic').isVisible(), false);
  await page.getByText(words.newer).click();
  await page.getByLabel('mux-quic').selectOption('skip');
  await page.getByLabel(words.custom).fill('my-key=1\n');
  await page.getByRole('button', { name: en.compose.check }).click();
  await page.getByText(en.compose.reaches('2', 2)).waitFor();
  await page.getByRole('button', { name: en.compose.sendTo('2', 2) }).click();
  await page.waitForURL(/message=\d+/);
  const [first] = await sent();
  expect(first?.payload).toMatchObject({
    action_type: 'set-settings',
    settings: { 'ping-type': 'tcp', 'app-auto-start': 'true', 'mux-quic': 'skip', 'my-key': 1 },
  });
  const id = new URL(page.url()).searchParams.get('message') ?? '';
  await page.goto(`${site.url}/console/commands?copy=${id}`);
  await page.getByLabel('ping-type').waitFor();
  await becomes(() => page.getByLabel('ping-type').inputValue(), 'tcp');
  await becomes(() => page.getByLabel('mux-quic').inputValue(), 'skip');
  await becomes(() => page.getByLabel('mux-quic').isVisible(), true);
});

testChromium.each(LOOKS_TRIED)(
  'axe finds no fault once it is filled in: $colorScheme',
  async (look) => {
    const { page } = await open('/console/compose', look);
    await page.locator('textarea').first().fill('Hello');
    await page.locator('.phone').waitFor();
    await page.locator('.send-form .actions .main').click();
    await page.locator('.reach').waitFor();
    expect(await faultsOf(page)).toEqual([]);
    await page.goto(`${site.url}/console/commands`);
    await page.locator('.chips button').nth(1).click();
    await page.getByText(new RegExp(`${en.command.newer}|${fa.command.newer}`)).click();
    await page.getByLabel('mux-quic').waitFor();
    expect(await faultsOf(page)).toEqual([]);
  },
);

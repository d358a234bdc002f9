/** Forms used twice in a visit, or in another shape: the second use is like the first. */

import { expect } from 'bun:test';
import { texts as en } from '../../src/console/texts/en.ts';
import { seedProvider } from '../support/app.ts';
import { testChromium } from '../support/chromium.ts';
import { openTab, useConsoleSite } from '../support/console-page.ts';
import { becomes } from '../support/until.ts';

const site = useConsoleSite();

async function open(path: string) {
  const { code, authKey } = await seedProvider(site.app);
  const tab = await openTab(site, ['session.key', { code, key: authKey }], path);
  const provider = await site.app.core.store.findProvider(code);
  return { ...tab, providerId: provider?.id ?? 0, code };
}

testChromium('a Telegram chat is typed after an address; neither goes into the other', async () => {
  const { page, providerId } = await open('/console/webhooks');
  const words = en.webhooks;
  await page.getByLabel(words.address).fill('https://bot.example.com/hook');
  await page.getByRole('button', { name: words.telegram, exact: true }).click();
  const chat = page.getByLabel(words.chat, { exact: true });
  await becomes(() => chat.inputValue(), '');
  await chat.pressSequentially('-1001234567890');
  await becomes(() => chat.inputValue(), '-1001234567890');
  await page.getByLabel(words.token).fill('123456:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA');
  await page.getByLabel(en.heads.locale).last().selectOption('fa');
  await page.getByRole('button', { name: words.add, exact: true }).click();
  await page.getByRole('heading', { name: '-1001234567890' }).waitFor();
  const [webhook] = await site.app.core.store.listWebhooks(providerId);
  expect(webhook?.target).toMatchObject({ kind: 'telegram', chat: '-1001234567890', locale: 'fa' });
  // The form of an address is empty and takes a whole one.
  await becomes(() => page.getByLabel(en.heads.locale).last().inputValue(), 'en');
  await page.getByRole('button', { name: en.common.address, exact: true }).click();
  await page.getByLabel(words.address).fill('https://bot.example.com/again');
  await page.getByRole('button', { name: words.add, exact: true }).click();
  await page.getByText(words.secretOnce).waitFor();
  // The path of an address is a secret: the list shows the host alone.
  await page.getByRole('heading', { name: 'https://bot.example.com/…' }).waitFor();
  const targets = (await site.app.core.store.listWebhooks(providerId)).map(({ target }) => target);
  expect(targets).toMatchObject([
    { chat: '-1001234567890' },
    { url: 'https://bot.example.com/again' },
  ]);
});

testChromium('after an invitation and a key the forms choose what they chose before', async () => {
  const { page, providerId } = await open('/console/staff');
  const words = en.staff;
  const role = page.getByLabel(words.role, { exact: true });
  await becomes(() => role.inputValue(), 'reader');
  await role.selectOption('owner');
  await page.getByRole('button', { name: words.invite }).click();
  await page.locator('.secret .code').waitFor();
  await becomes(() => role.inputValue(), 'reader');

  const ends = page.getByLabel(words.ends, { exact: true });
  await becomes(() => ends.inputValue(), '365');
  const form = page.locator('form', { has: page.getByLabel(words.scope) });
  for (const name of ['one', 'two']) {
    await form.getByLabel(en.common.name).fill(name);
    await page.getByRole('button', { name: words.addKey }).click();
    await page.locator('tbody').getByText(name).waitFor();
    await becomes(() => ends.inputValue(), '365');
    await becomes(() => page.getByLabel(words.scope).inputValue(), 'read');
  }
  const keys = await site.app.core.store.listKeys(providerId);
  const days = keys.map(({ createdAtMs, untilMs }) => ((untilMs ?? 0) - createdAtMs) / 86_400_000);
  expect(days).toEqual([365, 365]);
});

testChromium('the address of a customer is offered for no other, nor stored', async () => {
  const { page } = await open('/console/links');
  const notes = ['anna', 'boris'];
  for (const [n, note] of notes.entries()) {
    await page.getByRole('button', { name: en.links.add }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel(en.heads.note).fill(note);
    await dialog.getByRole('button', { name: en.links.create }).click();
    const address = page.getByLabel(en.link.address, { exact: true });
    await address.waitFor();
    await becomes(() => address.inputValue(), '');
    const start = n === 0 ? '' : 'https://sub.example.com/…';
    expect(await address.getAttribute('placeholder')).toBe(start);
    await address.fill(`https://sub.example.com/s/secret-of-${note}?token=${note}`);
    await page.getByRole('button', { name: en.link.make }).click();
    await page.locator('.final .code').getByText(`secret-of-${note}`).waitFor();
    await becomes(() => address.inputValue(), '');
    await page.getByRole('button', { name: en.common.close }).first().click();
  }
  expect(await page.evaluate(() => JSON.stringify(localStorage))).not.toMatch(/secret|token/);
});

testChromium('an address that an older version stored is removed', async () => {
  const { page, code } = await open('/console/domains');
  await page.evaluate(
    (name) => localStorage.setItem(name, 'https://sub.example.com/s/secret'),
    `subscription of ${code}`,
  );
  await page.goto(`${site.url}/console/links`);
  await page.getByRole('button', { name: en.links.add }).click();
  await page.getByRole('dialog').getByRole('button', { name: en.links.create }).click();
  const address = page.getByLabel(en.link.address, { exact: true });
  await address.waitFor();
  await becomes(() => address.inputValue(), '');
  expect(await page.evaluate(() => JSON.stringify(localStorage))).not.toContain('secret');
});

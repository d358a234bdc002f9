/** The operator's pages in the browser: providers, and acting for one. */

import { expect } from 'bun:test';
import { texts as base } from '../../src/console/texts/en.ts';
import { texts as own } from '../../src/console/texts/operator-en.ts';
import { seedProvider } from '../support/app.ts';
import { testChromium } from '../support/chromium.ts';
import { openTab, useConsoleSite } from '../support/console-page.ts';
import { operatorEntry } from '../support/operator.ts';
import { becomes, until } from '../support/until.ts';

const en = { ...base, ...own };

const site = useConsoleSite();

async function open(path: string, role: 'operator' | 'observer' = 'operator') {
  const secret = await operatorEntry(site.app, role, role);
  const tab = await openTab(site, ['session.entry', { secret }], path);
  return tab.page;
}

const XSS = '<img src=x onerror=alert(1)>';
const words = en.providers;

testChromium('a provider is added, its key is shown once, and its terms change', async () => {
  const page = await open('/console');
  await page.getByRole('heading', { name: words.title }).waitFor();
  await page.getByRole('button', { name: words.add }).click();
  const dialog = page.locator('dialog[open]');
  await dialog.getByLabel(en.common.name).fill(XSS);
  await dialog.getByLabel(base.heads.active_until).fill('2027-03-31');
  await dialog.getByRole('button', { name: words.add }).click();
  const key = (await page.locator('.secret .code').textContent()) ?? '';
  expect(key).toMatch(/^[A-Za-z0-9_-]{32}$/);
  await dialog.getByRole('button', { name: en.common.close }).click();
  await page.locator('.secret').waitFor({ state: 'detached' });
  await page.getByRole('button', { name: XSS }).click();
  const panel = page.locator('aside');
  await panel.locator('summary').getByText(en.common.change).click();
  await panel.getByLabel(base.heads.plan, { exact: true }).selectOption('basic');
  await panel.getByLabel(base.heads.max_links).fill('12');
  await panel.getByRole('button', { name: en.common.save }).first().click();
  await panel.getByText(words.ofCap('0', '12')).waitFor();
  const [provider] = await site.app.core.store.listProviders();
  expect(provider).toMatchObject({ name: XSS, plan: 'basic', installCountMax: 12 });
  expect(new Date(provider?.activeUntilMs ?? 0).toISOString()).toBe('2027-03-31T21:00:00.000Z');
  await panel.getByRole('button', { name: words.suspend }).click();
  await page.locator('tbody').getByText(words.states.suspended).waitFor();
  await page.keyboard.press('Escape');
  await becomes(() => page.locator(':focus').textContent(), XSS);
});

testChromium('an operator acts for a provider, and comes back', async () => {
  const { code } = await seedProvider(site.app, { name: 'Ромашка' });
  await seedProvider(site.app, { name: 'Other' });
  const page = await open('/console/providers');
  await page.getByLabel(words.search).fill('ромаш');
  const row = page.locator('tbody tr');
  await until('one is left', async () => (await row.count()) === 1);
  await row.getByRole('button', { name: words.act }).click();
  await page.locator('.acting').getByText('Ромашка').waitFor();
  await page.getByRole('link', { name: en.shell.links }).click();
  await page.getByRole('heading', { name: en.links.none }).waitFor();
  expect(page.url()).toEndWith(`/console/links?at=${code}`);
  await page.getByRole('link', { name: en.activity.title }).click();
  await page.getByText(en.activity.sentences['provider.visit']({})).waitFor();
  await page.getByRole('button', { name: words.back }).click();
  await page.getByRole('heading', { name: words.title }).waitFor();
  await becomes(() => page.getByRole('link', { name: en.shell.links }).count(), 0);
  // The palette finds a provider too.
  await page.keyboard.press('Control+k');
  await page.locator('.palette input').fill('ромаш');
  await page.getByRole('option', { name: /Ромашка/ }).click();
  await page.locator('.acting').waitFor();
});

testChromium('a removal asks for the code; a new key is shown once', async () => {
  const { code } = await seedProvider(site.app, { name: 'Gone' });
  const page = await open(`/console/providers?provider=${code}`);
  const panel = page.locator('aside');
  await panel.getByRole('button', { name: words.rotate }).click();
  await panel.locator('dialog').getByRole('button', { name: words.rotate }).click();
  expect(await page.locator('.secret .code').textContent()).toMatch(/^[\w-]{32}$/);
  await panel.locator('dialog').getByRole('button', { name: en.common.close }).click();
  await panel.getByText(words.oldKeyUntil).waitFor();
  await panel.getByRole('button', { name: words.remove }).click();
  const dialog = panel.locator('dialog[open]');
  await dialog.getByLabel(words.typeCode(code)).fill('Wrong001');
  await dialog.getByRole('button', { name: words.remove }).click();
  await dialog.getByText(words.wrongCode).waitFor();
  await dialog.getByLabel(words.typeCode(code)).fill(code);
  await dialog.getByRole('button', { name: words.remove }).click();
  await panel.waitFor({ state: 'detached' });
  expect(await site.app.core.store.findProvider(code)).toBeNull();
});

testChromium('an observer looks, and has no button that changes', async () => {
  const { code } = await seedProvider(site.app, { name: 'Seen' });
  const page = await open(`/console/providers?provider=${code}`, 'observer');
  await page.locator('aside').getByText(words.made).waitFor();
  for (const name of [words.add, words.suspend, words.rotate, words.remove, en.common.save]) {
    expect([name, await page.getByRole('button', { name, exact: true }).count()]).toEqual([
      name,
      0,
    ]);
  }
});

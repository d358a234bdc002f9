/** A file of links in the browser: of its rows, one was taken after the preview. */

import { expect } from 'bun:test';
import { texts as en } from '../../src/console/texts/en.ts';
import { call, seedProvider } from '../support/app.ts';
import { testChromium } from '../support/chromium.ts';
import { openTab, useConsoleSite } from '../support/console-page.ts';

const site = useConsoleSite();

testChromium('a long file is read, and what was taken meanwhile is skipped in words', async () => {
  const of = await seedProvider(site.app);
  const by = { code: of.code, key: of.authKey };
  const { context, page } = await openTab(site, ['session.key', by], '/console/links');
  await page.getByRole('button', { name: en.links.more }).click();
  await page.getByRole('button', { name: en.links.import }).click();
  const dialog = page.getByRole('dialog', { name: en.links.import });
  // 60 KB in several pieces, of a script that has two bytes a letter.
  const rows = Array.from({ length: 120 }, (_, n) => `file0000${n + 1_000},${'ж'.repeat(250)}`);
  const buffer = Buffer.from(['code,note', ...rows, ''].join('\n'));
  const file = { name: 'links.csv', mimeType: 'text/csv', buffer };
  await dialog.getByLabel(en.common.file).setInputFiles(file);
  await dialog.getByText(en.links.willBeMade(120)).waitFor();
  const taken = { install_code: 'file00001003', install_limit: 1 };
  await call(site.app, '/api/add-install', of, taken);
  await dialog.getByRole('button', { name: en.links.createMany(120) }).click();
  await dialog.getByText(en.links.areReady(119)).waitFor();
  await dialog.getByText(en.links.areSkipped(1)).waitFor();
  await dialog.getByText(`${en.links.line('5')}: install_code is taken`).waitFor();
  expect((await site.app.core.store.findProvider(of.code))?.installCount).toBe(120);
  await dialog.getByRole('button', { name: en.common.close }).click();
  await dialog.waitFor({ state: 'hidden' });
  await context.close();
});

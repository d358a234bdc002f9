/** Many links are changed or removed in the browser: a preview, ten seconds, and a job. */

import { expect } from 'bun:test';
import { texts as en } from '../../src/console/texts/en.ts';
import { UNDO_MS } from '../../src/core/job/job.ts';
import { jobStep } from '../../src/core/job/step.ts';
import { call, seedProvider } from '../support/app.ts';
import { testChromium } from '../support/chromium.ts';
import { faultsOf, LOOKS_TRIED, openTab, useConsoleSite } from '../support/console-page.ts';
import { becomes } from '../support/until.ts';

const DOMAIN_HASH = 'c'.repeat(64);

const site = useConsoleSite();

const words = en.links;

/** Five links: three of Anna, of which one has two devices. */
async function open(path: string, options = {}) {
  const { app } = site;
  const of = await seedProvider(app);
  await call(app, '/api/add-domain', of, { domain_hash: DOMAIN_HASH });
  for (const note of ['Anna 1', 'Anna 2', 'Boris', 'Anna 3', 'Clara']) {
    const { json } = await call(app, '/api/add-install', of, { install_limit: 3, note });
    for (const hwid of note === 'Anna 3' ? ['one', 'two'] : []) {
      const query = { id: DOMAIN_HASH, installid: json.install_code, hwid: `${of.code}-${hwid}` };
      await call(app, '/install', null, query);
    }
  }
  const by = { code: of.code, key: of.authKey };
  const tab = await openTab(site, ['session.key', by], path, options);
  const { page } = tab;
  await page.locator('.rows tbody tr').first().waitFor();
  await page.locator(`[aria-label="${en.links.more}"], [popovertarget]`).last().click();
  const dialog = page.locator('dialog[open]');
  const links = async () => {
    const filter = { providerCode: of.code, isFull: false, status: null };
    const found = await app.core.store.listLinks({ ...filter, countMax: 9 });
    return found.map(({ installLimit, note, status }) => `${note} ${installLimit} ${status}`);
  };
  /** Lets the ten seconds pass, and the job do its work. */
  const pass = async () => {
    app.clock.advance(UNDO_MS);
    while (await jobStep(app.core, 'test', app.clock.nowMs()));
  };
  return { ...tab, dialog, links, pass };
}

testChromium('those that match are changed after a preview; the others stay', async () => {
  const { dialog, links, page, pass } = await open('/console/links?search=anna');
  await page.getByRole('button', { name: words.bulk }).click();
  const main = dialog.locator('.main');
  await main.click();
  await dialog.getByText('nothing to change is given').waitFor();
  await dialog.getByLabel(en.heads.install_limit).fill('1');
  await main.click();
  await dialog.getByText(words.willChange(3)).waitFor();
  await dialog.getByText(words.stayAsTheyAre(1)).waitFor();
  await dialog.getByText('Anna 2').waitFor();
  await becomes(() => dialog.getByText(words.areAll).count(), 0);
  // Another wish is shown anew.
  await dialog.getByLabel(en.heads.status).selectOption('5');
  await becomes(() => main.textContent(), words.preview);
  await main.click();
  await dialog.getByText(words.willChange(3)).waitFor();
  await main.click();
  await page.locator('.jobs').getByText(en.jobs.changing).waitFor();
  expect((await links()).filter((link) => link.endsWith(' 10'))).toHaveLength(5);
  await pass();
  expect((await links()).toSorted()).toEqual([
    ...['Anna 1 1 5', 'Anna 2 1 5', 'Anna 3 3 10', 'Boris 3 10', 'Clara 3 10'],
  ]);
});

testChromium('a removal says which devices lose access, and is taken back', async () => {
  const { dialog, links, page, pass } = await open('/console/links?search=anna');
  await page.getByRole('button', { name: words.bulk }).click();
  await dialog.getByRole('button', { name: words.remove, exact: true }).click();
  const main = dialog.locator('.main');
  await main.click();
  await dialog.getByText(words.cannotUpdate(2)).waitFor();
  await becomes(() => main.textContent(), words.removeMany(3));
  await main.click();
  await page.locator('.jobs').getByText(en.jobs.removing).waitFor();
  await page.getByRole('button', { name: en.jobs.undo }).click();
  await page.locator('.jobs').waitFor({ state: 'detached' });
  await pass();
  expect(await links()).toHaveLength(5);
});

testChromium.each(LOOKS_TRIED)('axe finds no fault: $colorScheme', async (look) => {
  const { dialog, page } = await open('/console/links', look);
  await page.locator('.menu:popover-open button').last().click();
  await dialog.locator('input[type=number]').fill('4');
  await dialog.locator('select').last().selectOption('write');
  await dialog.locator('input[name=note]').fill('x');
  await dialog.locator('.main').click();
  // No filter is set.
  await dialog.locator('.reach .problem').waitFor();
  expect(await faultsOf(page)).toEqual([]);
});

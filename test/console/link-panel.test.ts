/** The panel of a link: a slot that is freed and taken back, a refusal, its QR code. */

import { expect } from 'bun:test';
import { texts as en } from '../../src/console/texts/en.ts';
import { hwidOfHash } from '../../src/core/formats.ts';
import { ACT } from '../support/actor.ts';
import { call, seedProvider } from '../support/app.ts';
import { testChromium } from '../support/chromium.ts';
import { faultsOf, LOOKS_TRIED, openTab, useConsoleSite } from '../support/console-page.ts';
import { moveIn } from '../support/moving-in.ts';
import { becomes } from '../support/until.ts';

const DOMAIN_HASH = 'f'.repeat(64);
const HOUR_MS = 3_600_000;
const XSS = '<img src=x onerror=alert(1)>';

const site = useConsoleSite({ bounds: { myUrl: 'https://gatepost.example.org' } });

/** A link with one device, and another that was refused. */
async function open(options = {}) {
  const of = await seedProvider(site.app);
  await call(site.app, '/api/add-domain', of, { domain_hash: DOMAIN_HASH });
  const added = await call(site.app, '/api/add-install', of, { install_limit: 1, note: XSS });
  const { id, install_code: code } = added.json;
  for (const hwid of ['old', 'new']) {
    const facts = { hwid: `${of.code}-${hwid}`, os_name: 'Android', device_model: XSS };
    await call(site.app, '/install', null, { id: DOMAIN_HASH, installid: code, ...facts });
    site.app.clock.advance(HOUR_MS);
  }
  await site.app.core.store.saveFigures();
  const by = ['session.key', { code: of.code, key: of.authKey }] as const;
  const tab = await openTab(site, [...by], `/console/links?link=${id}`, options);
  await tab.page.locator('.message-panel .list').first().waitFor();
  const link = async () => site.app.core.store.findLinkById(id);
  return { ...tab, of, id, link };
}

testChromium('a slot is freed in ten seconds unless it is taken back', async () => {
  const { page, of, link } = await open();
  const words = en.link;
  const free = page.getByRole('button', { name: words.free, exact: true });
  await free.click();
  await page
    .locator('.jobs')
    .getByText(en.jobs.freeing(`${of.code}-old`))
    .waitFor();
  await page.getByRole('button', { name: en.jobs.undo }).click();
  await page.locator('.jobs').waitFor({ state: 'detached' });
  expect((await link())?.deviceCount).toBe(1);
  const provider = await site.app.core.store.findProvider(of.code);
  const jobs = await site.app.core.store.listJobs(provider?.id ?? 0, 9, 1);
  expect(jobs.map(({ kind, state }) => `${kind} ${state}`)).toEqual(['link.free cancelled']);
});

testChromium('a refusal is explained, and helped', async () => {
  const { page, link } = await open();
  const words = en.link;
  await page.getByText(en.reasons.link_limit_reached).first().waitFor();
  // The same model and system, silent since: once beside the device that was refused.
  await page.getByText(words.samePhone).first().waitFor();
  await page.getByRole('button', { name: words.raise('2') }).click();
  await page.getByText(words.remedies.now).waitFor();
  expect((await link())?.installLimit).toBe(2);
  await page.getByRole('button', { name: en.common.disable, exact: true }).click();
  await page.getByText(words.remedies.enable).waitFor();
  expect((await link())?.status).toBe(5);
});

testChromium('a device that its hash alone names is shown as such', async () => {
  const { page, of, id } = await open();
  await call(site.app, '/api/update-install', of, { id, install_limit: 2 });
  const link = await site.app.core.store.findLinkById(id);
  const hash = 'a'.repeat(64);
  await moveIn(site.app, of.code, link?.installCode ?? '', hwidOfHash(hash));
  await page.reload();
  await page.getByText(en.link.byHash).waitFor();
  await page.getByText(hwidOfHash(hash)).waitFor();
});

testChromium('the final link has a QR code, and the panel closes by Escape', async () => {
  const { page } = await open();
  const words = en.link;
  await page.getByLabel(words.address).fill('https://sub.example.com/s/abc');
  await page.getByRole('button', { name: words.make }).click();
  await page.getByRole('img', { name: words.qr }).waitFor();
  await page.getByLabel(words.form).selectOption('happ');
  await page.getByText(/^happ:\/\/add\/https:/).waitFor();
  const png = await page.getByRole('link', { name: 'PNG' }).getAttribute('href');
  expect(png).toStartWith('data:image/png;base64,');
  await page.getByLabel(words.address).fill(`https://sub.example.com/${'ж'.repeat(1_900)}`);
  await page.getByRole('button', { name: words.make }).click();
  await page.getByText(words.tooLong).waitFor();
  await becomes(() => page.getByRole('link', { name: 'PNG' }).count(), 0);
  await page.getByLabel(words.form).selectOption('query');
  await page.keyboard.press('Escape');
  await page.locator('.message-panel').waitFor({ state: 'detached' });
  expect(page.url()).not.toContain('link=');
});

testChromium(
  'the page of the user of a link has a QR code, once the provider has it on',
  async () => {
    const { page, of, link } = await open();
    const words = en.link;
    const code = page.getByRole('img', { name: words.pageQr });
    await becomes(() => code.count(), 0);
    await site.app.core.store.updateProvider(of.code, { my: 1 }, ACT);
    await page.reload();
    await code.waitFor();
    const { installCode } = (await link()) ?? {};
    const address = `https://gatepost.example.org/my?link=${installCode}`;
    await page.getByText(address, { exact: true }).waitFor();
    const png = await page.locator('a[download="link.png"]').getAttribute('href');
    expect(png).toStartWith('data:image/png;base64,');
  },
);

testChromium('a row opens the panel, which gives the focus back to it', async () => {
  const { page, id } = await open();
  await page.keyboard.press('Escape');
  await page.locator('.message-panel').waitFor({ state: 'detached' });
  const row = page.locator(`[data-id="${id}"]`);
  await row.focus();
  await page.keyboard.press('Enter');
  await page.locator('.message-panel').waitFor();
  await page.getByText(en.link.edit).click();
  await page.locator('.message-panel').getByLabel(en.heads.note).fill('Anna');
  await page.getByRole('button', { name: en.common.save }).click();
  await page.locator('.panel-head').getByText('Anna').waitFor();
  await page.keyboard.press('Escape');
  await page.locator('.message-panel').waitFor({ state: 'detached' });
  expect(await page.evaluate('document.activeElement?.dataset.id')).toBe(`${id}`);
});

testChromium('a link is removed after a question', async () => {
  const { page, link } = await open();
  await page.getByRole('button', { name: en.link.remove }).click();
  await page.getByRole('dialog').getByRole('button', { name: en.link.remove }).click();
  await page.locator('.message-panel').waitFor({ state: 'detached' });
  expect(await link()).toBeNull();
});

testChromium.each(LOOKS_TRIED)('axe finds no fault: $colorScheme', async (look) => {
  const { page } = await open(look);
  expect(await faultsOf(page)).toEqual([]);
});

testChromium('devices are named in the panel, and a refused one with a click', async () => {
  const { page, of, id, link } = await open();
  const words = en.link;
  const terms = { id, install_limit: 4, when_new: 'refuse' };
  await call(site.app, '/api/update-install', of, terms);
  const door = { id: DOMAIN_HASH, installid: (await link())?.installCode ?? '' };
  await call(site.app, '/install', null, { ...door, hwid: 'stranger' });
  await site.app.core.store.saveFigures();
  await page.reload();
  await page.getByText(words.remedies.name).first().waitFor();
  await page.getByText(words.name, { exact: true }).click();
  const file = page.locator('input[type=file]');
  const own = (text: string) => ({
    name: 'hwids.csv',
    mimeType: 'text/csv',
    buffer: Buffer.from(`code,hwid\nOther0000001,other\n${text}`),
  });
  await file.setInputFiles(own(''));
  await page.getByText(words.namesNone).waitFor();
  await file.setInputFiles(own(`${door.installid},pc-1\n${door.installid},tv-1\n`));
  await becomes(() => page.getByLabel(words.names).inputValue(), 'pc-1\ntv-1');
  await becomes(() => page.getByText(words.namesNone).count(), 0);
  await page.getByRole('button', { name: words.nameIt, exact: true }).click();
  await page.getByText(words.named).nth(1).waitFor();
  expect((await link())?.deviceCount).toBe(3);
  const refused = page.locator('li', { hasText: 'stranger' });
  await refused.getByRole('button', { name: words.nameOne }).click();
  await page.getByText(words.named).nth(2).waitFor();
  expect((await link())?.deviceCount).toBe(4);
  expect((await call(site.app, '/install', null, { ...door, hwid: 'stranger' })).json.rc).toBe(1);
});

/** A refused value is said in words of the page, at its field; what was typed comes back. */

import { expect } from 'bun:test';
import { texts as en } from '../../src/console/texts/en.ts';
import { texts as fa } from '../../src/console/texts/fa.ts';
import { texts as ru } from '../../src/console/texts/ru.ts';
import { texts as zh } from '../../src/console/texts/zh.ts';
import { invite } from '../../src/core/account/sign-in.ts';
import { call, seedProvider } from '../support/app.ts';
import { testChromium } from '../support/chromium.ts';
import { openTab, useConsoleSite } from '../support/console-page.ts';
import { becomes } from '../support/until.ts';

const site = useConsoleSite();

async function open(path: string, locale = 'en-GB') {
  const of = await seedProvider(site.app);
  const by = { code: of.code, key: of.authKey };
  const tab = await openTab(site, ['session.key', by], path, { locale });
  return { ...tab, of };
}

const LANGUAGES = [
  ['en-GB', en],
  ['ru-RU', ru],
  ['zh-CN', zh],
  ['fa-IR', fa],
] as const;

testChromium.each(LANGUAGES)('a refused value is said at its field: %s', async (locale, texts) => {
  const { page } = await open('/console/webhooks', locale);
  const form = page.locator('form');
  const address = page.getByLabel(texts.webhooks.address, { exact: true });
  await address.fill('http://bot.example.com/hook');
  await form.getByRole('button', { name: texts.webhooks.add, exact: true }).click();
  const problem = form.getByRole('alert');
  await becomes(() => problem.textContent(), `${texts.webhooks.address}: ${texts.misfit.address}`);
  expect(await address.getAttribute('aria-invalid')).toBe('true');
  await becomes(() => page.locator('input[name=url]:focus').count(), 1);
  await address.fill('https://bot.example.com/hook');
  await form.getByRole('button', { name: texts.webhooks.add, exact: true }).click();
  await page.locator('.secret').waitFor();
  await becomes(() => page.locator('[aria-invalid=true]').count(), 0);
});

testChromium.each(LANGUAGES)(
  'no refusal of a message is in another language: %s',
  async (locale, texts) => {
    const { page } = await open('/console/compose', locale);
    const words = texts.compose;
    await page.getByLabel(words.body).fill('hello');
    await page.getByLabel(words.background).fill('ftp://x');
    await page.getByRole('button', { name: words.check }).click();
    const said = page.locator('form .problem:not([hidden])').first();
    await said.waitFor();
    expect(await said.textContent()).toStartWith(words.background);
    if (locale !== 'en-GB') expect(await said.textContent()).not.toMatch(/must|background_image/);
  },
);

testChromium('a message comes back after another language, page, reload and session', async () => {
  const { page, of, context } = await open('/console/compose');
  const write = async () => {
    await page.getByLabel(en.compose.titleLabel).first().fill('Half a title');
    await page.getByLabel(en.compose.body).first().fill('half a message');
    await page.getByLabel(en.compose.addLanguage).selectOption('fa');
    await page.locator('textarea[name="body fa"]').fill('پیام');
    await page.getByRole('button', { name: en.compose.byHwid }).click();
    await page.getByLabel(en.compose.hwids).fill('one,two');
  };
  const expectBack = async () => {
    await becomes(() => page.locator('textarea[name="body fa"]').inputValue(), 'پیام');
    await becomes(() => page.locator('input[name=hwid]').inputValue(), 'one,two');
    await becomes(() => page.locator('input[name=title]').inputValue(), 'Half a title');
    await becomes(() => page.locator('textarea[name=body]').inputValue(), 'half a message');
  };
  await write();
  await page.reload();
  await expectBack();
  await page.getByText(en.common.restored).waitFor();
  await page.getByRole('link', { name: en.shell.links, exact: true }).click();
  await page.getByRole('link', { name: en.compose.title, exact: true }).click();
  await expectBack();
  await page.getByLabel(en.shell.languageName, { exact: true }).selectOption('ru');
  await page.getByRole('heading', { name: ru.compose.title }).waitFor();
  await expectBack();
  await page.getByLabel(ru.shell.languageName, { exact: true }).selectOption('en');
  await page.getByRole('heading', { name: en.compose.title }).waitFor();
  await expectBack();
  // The session ends on the server; the next call finds out.
  await context.clearCookies();
  await page.getByRole('button', { name: en.compose.check }).click();
  await page.getByRole('button', { name: en.signIn.byKey }).click();
  await page.locator('input[name=code]').fill(of.code);
  await page.locator('input[name=key]').fill(of.authKey);
  await page.locator('button[type=submit]').click();
  await expectBack();
  await page.getByRole('button', { name: en.common.throwAway }).click();
  await becomes(() => page.locator('textarea[name=body]').inputValue(), '');
  await becomes(() => page.locator('textarea[name="body fa"]').count(), 0);
  await page.reload();
  await page.locator('textarea[name=body]').waitFor();
  await becomes(() => page.locator('textarea[name=body]').inputValue(), '');
  await page.locator('textarea[name=body]').fill('again');
  await page.getByRole('button', { name: en.shell.leave }).click();
  await page.getByRole('heading', { name: en.signIn.title }).waitFor();
  expect(await page.evaluate('JSON.stringify(localStorage)')).not.toContain('again');
});

testChromium('a form with secrets leaves nothing in the browser', async () => {
  const { page, of } = await open('/console/webhooks');
  const { id } = (await call(site.app, '/api/add-install', of, { install_limit: 1 })).json;
  await page.getByLabel(en.webhooks.address).fill('https://bot.example.com/secret-1');
  await page.getByRole('button', { name: en.webhooks.telegram, exact: true }).click();
  await page.getByLabel(en.webhooks.token).fill('123456:secret-2');
  await page.goto(`${site.url}/console/staff`);
  await page.getByLabel(en.common.name).first().fill('secret-3');
  await page.goto(`${site.url}/console/links?link=${id}`);
  await page.getByLabel(en.link.address, { exact: true }).fill('https://sub.example.com/secret-4');
  await page.goto(`${site.url}/console/commands`);
  await page.getByRole('button', { name: en.command.actions['import-data'] }).click();
  await page.getByLabel(en.command.data).fill('vless://secret-5');
  expect(
    await page.evaluate('JSON.stringify({ ...localStorage, ...sessionStorage })'),
  ).not.toContain('secret-');
});

testChromium('a link that is over says so; one that is opened while signed in, too', async () => {
  const { page, of } = await open('/console/links');
  const { app } = site;
  const providerId = (await app.core.store.findProvider(of.code))?.id ?? 0;
  const made = await invite(
    app.core,
    { providerId, role: 'reader', isOperators: false },
    app.clock.nowMs(),
  );
  // As pasted into the address bar of the open page.
  await page.evaluate(`location.hash = 'invitation=${made}'`);
  await page.getByText(en.signIn.signedInAs(of.code)).waitFor();
  expect(page.url()).not.toContain('invitation');
  await page.getByRole('button', { name: en.signIn.leaveFor }).click();
  await page.getByRole('heading', { name: en.signIn.invited }).waitFor();
  await page.getByLabel(en.common.name).fill('newcomer');
  await page.getByRole('button', { name: en.signIn.accept }).click();
  await page.getByRole('heading', { name: en.account.title, level: 1 }).waitFor();
  await becomes(() => page.getByText(en.signIn.leaveFor).count(), 0);
  // A reader's page without the right to it.
  await page.goto(`${site.url}/console/staff`);
  await page.getByRole('heading', { name: en.refusals.no_right }).waitFor();
  await becomes(() => page.getByText(en.shell.noRole).count(), 0);
  await page.getByRole('button', { name: en.shell.leave }).click();
  for (const kind of ['entry', 'invitation']) {
    await page.goto(`${site.url}/blank`);
    await page.goto(`${site.url}/console#${kind}=${'x'.repeat(32)}`);
    if (kind === 'invitation') {
      await page.getByLabel(en.common.name).fill('latecomer');
      await page.getByRole('button', { name: en.signIn.accept }).click();
    }
    await page.getByText(en.signIn.linkOver).waitFor();
  }
});

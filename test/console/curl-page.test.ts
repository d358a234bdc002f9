/** Every form that has a public call copies it as the form is filled in. */

import { afterAll, afterEach, beforeAll, expect } from 'bun:test';
import type { Locator, Page } from 'playwright-core';
import { texts as en } from '../../src/console/texts/en.ts';
import { testChromium } from '../support/chromium.ts';
import { type ConsoleSite, startConsoleSite, type Tab } from '../support/console-page.ts';
import { openSend } from '../support/console-send.ts';

let site: ConsoleSite;
beforeAll(async () => {
  site = await startConsoleSite();
});
afterAll(() => site.close());

const tabs: Tab[] = [];
afterEach(async () => {
  for (const { context } of tabs.splice(0)) await context.close();
});

async function open(path: string): Promise<Page> {
  const tab = await openSend(site, path);
  tabs.push(tab);
  const stub = 'navigator.clipboard.writeText = async (text) => { globalThis.copied = text; }';
  await tab.page.evaluate(stub);
  return tab.page;
}

async function copied(page: Page, within: Page | Locator): Promise<string> {
  await within.getByRole('button', { name: en.copying.asCurl }).first().click();
  const text = String(await page.evaluate('globalThis.copied'));
  return text.replace(/^curl (?:-G )?'http:\/\/localhost:\d+/, '').replace(/provider_code=\w+/, '');
}

testChromium('a new link, and a change of one', async () => {
  const page = await open('/console/links');
  await page.getByRole('button', { name: en.links.add }).first().click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel(en.heads.install_limit).fill('7');
  expect(await copied(page, dialog)).toMatch(/^\/api\/add-install'.* 'install_limit=7' --data/);
  await dialog.getByRole('button', { name: en.links.create }).click();
  const panel = page.locator('.message-panel');
  await panel.getByText(en.link.edit).click();
  await panel.getByLabel(en.heads.note).fill('Anna');
  expect(await copied(page, panel)).toMatch(/^\/api\/update-install'.*'install_limit=7'.*Anna/);
});

testChromium('a new webhook, and its events', async () => {
  const page = await open('/console/webhooks');
  const words = en.webhooks;
  await page.getByLabel(words.address).fill('https://bot.example.com/hook');
  await page.getByLabel('link.full').check();
  const [form] = [page.locator('form').last()];
  expect(await copied(page, form)).toMatch(
    /^\/api\/webhook-add'.*hook' .*signature=v1'.*link\.full/,
  );
  await form.getByRole('button', { name: words.add }).click();
  await page.getByText(words.secretOnce).waitFor();
  // The form is empty again.
  expect(await copied(page, form)).not.toContain('hook ');
  await page.getByRole('button', { name: words.telegram }).click();
  await form.getByLabel(words.chat).fill('-100');
  await form.getByLabel(words.token).fill('123:secret');
  const telegram = await copied(page, form);
  expect(telegram).toContain(`"bot_token=$BOT_TOKEN"`);
  expect(telegram).not.toContain('secret');
  await page.getByText(words.changeEvents).click();
  const events = page.locator('details form');
  expect(await copied(page, events)).toMatch(/^\/api\/webhook-update'.*'events=link\.full'/);
  await events.getByLabel('link.full').uncheck();
  expect(await copied(page, events)).toContain("'events=all'");
});

testChromium('a domain', async () => {
  const page = await open('/console/domains');
  await page.getByLabel(en.domains.host).fill('sub.example.com');
  await page.locator('.hash .code').waitFor();
  expect(await copied(page, page)).toMatch(
    /^\/api\/add-domain'.*domain_hash=[0-9a-f]{64}' .*domain_name=sub\.example\.com'/,
  );
});

testChromium('a notification, and its test', async () => {
  const page = await open('/console/compose');
  await page.getByLabel(en.compose.body).first().fill('Hello');
  expect(await copied(page, page)).toMatch(/^\/remote\/notification.*"Hello".*"os":\["ios"/);
  await page.getByText(en.compose.test).click();
  await page.getByLabel(en.compose.testHwid).fill('phone-9');
  expect(await copied(page, page.locator('details'))).toMatch(/"Hello".*"hwid":"phone-9"/);
});

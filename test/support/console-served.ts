/** The console of the executable in a real browser: its pages, and a hand that counts. */

import type { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core';
import { texts as en } from '../../src/console/texts/en.ts';
import { texts as fa } from '../../src/console/texts/fa.ts';
import type { BaseTexts } from '../../src/console/texts/texts.ts';
import type { Credentials } from '../../src/core/provider.ts';
import { openPage } from './chromium.ts';
import { addProviderByCommand, run, type ServerProcess } from './process.ts';
import { IS_LONG } from './scale.ts';

/** The languages in which each flow is tried: one from left to right, one from right to left. */
export const LANGUAGES: readonly (readonly [locale: string, words: BaseTexts])[] = [
  ['en-GB', en],
  ['fa-IR', fa],
];

/** Those of a run: in the short form one. */
export const TRIED = IS_LONG ? LANGUAGES : LANGUAGES.slice(0, 1);

export const HOST = 'sub.example.com';
export const HASH = new Bun.CryptoHasher('sha256').update(HOST).digest('hex');

/** The address by a name: a browser keeps the cookies of a session there, and makes passkeys. */
export const siteOf = ({ port }: Pick<ServerProcess, 'port'>) => `http://localhost:${port}`;

/** What a person does with a page, counted. */
export class Hand {
  clicks = 0;
  fields = 0;

  constructor(readonly page: Page) {}

  async click(what: Locator): Promise<void> {
    await what.click();
    this.clicks += 1;
  }

  /** Clicks the button, or the link of the navigation, with these words. */
  press = (name: string, within: Page | Locator = this.page) =>
    this.click(within.getByRole('button', { name, exact: true }));

  follow = (name: string) => this.click(this.page.getByRole('link', { name, exact: true }));

  async type(label: string, text: string, within: Page | Locator = this.page): Promise<void> {
    await within.getByLabel(label, { exact: true }).first().fill(text);
    this.fields += 1;
  }
}

export interface Visit {
  page: Page;
  hand: Hand;
  troubles: string[];
  close(): Promise<void>;
}

/** Opens a page of the site in a browser of its own. */
export async function visit(
  { browser, site }: { browser: Browser; site: string },
  path: string,
  options: BrowserContextOptions = {},
): Promise<Visit> {
  const context = await browser.newContext({ reducedMotion: 'reduce', ...options });
  const { page, troubles } = await openPage(context, site);
  await page.goto(`${site}${path}`);
  return { page, troubles, hand: new Hand(page), close: () => context.close() };
}

/** Signs in by the page, with the key of a provider. */
export async function signInByKey(
  { hand }: Pick<Visit, 'hand'>,
  { common, signIn: words }: BaseTexts,
  { code, authKey }: Credentials,
): Promise<void> {
  await hand.press(words.byKey);
  await hand.type(words.providerCode, code);
  await hand.type(common.key, authKey);
  await hand.press(words.enter);
  await hand.page.locator('.shell h1').waitFor();
}

/** A provider of the plan that may do everything. */
export const addProvider = ({ dataDir }: Pick<ServerProcess, 'dataDir'>) =>
  addProviderByCommand(dataDir, '--plan', 'enterprise');

/** The path of an operator's first entry. */
export async function entryPath(server: Pick<ServerProcess, 'dataDir' | 'port'>): Promise<string> {
  const site = siteOf(server);
  const words = ['console', 'link', '--data', server.dataDir, '--url', site, '--json'];
  const { link } = JSON.parse((await run(words)).stdout) as { link: string };
  return link.slice(site.length);
}

/** Asks the public API as a provider's program does. */
export async function ask(
  site: string,
  path: string,
  { code, authKey }: Credentials,
  params: Record<string, string> = {},
): Promise<Record<string, unknown>> {
  const query = new URLSearchParams({ provider_code: code, auth_key: authKey, ...params });
  const answer = await fetch(`${site}${path}?${query}`);
  return (await answer.json()) as Record<string, unknown>;
}

/** Knocks with a link, as the app on a device does; returns the status of the answer. */
export async function knock(
  site: string,
  installCode: string,
  hwid: string,
  facts: Record<string, string> = {},
): Promise<Record<string, unknown>> {
  const device = { os_name: 'android', os_version: '16', device_model: 'Pixel 9', ...facts };
  const query = new URLSearchParams({ id: HASH, installid: installCode, hwid, ...device });
  return (await (await fetch(`${site}/install?${query}`)).json()) as Record<string, unknown>;
}

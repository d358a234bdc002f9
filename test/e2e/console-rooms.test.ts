/**
 * Each flow beside links in the console of the executable, in one language; with
 * TEST_LONG=1 in both: ways in, domains, webhooks, keys, staff, messages, commands, activity.
 */

import { afterAll, beforeAll, describe, expect } from 'bun:test';
import type { Browser } from 'playwright-core';
import type { BaseTexts } from '../../src/console/texts/texts.ts';
import type { Credentials } from '../../src/core/provider.ts';
import { closePages, HAS_CHROMIUM, sharedShell, testChromium } from '../support/chromium.ts';
import {
  addProvider,
  ask,
  entryPath,
  HASH,
  HOST,
  knock,
  signInByKey,
  siteOf,
  TRIED,
  type Visit,
  visit,
} from '../support/console-served.ts';
import { type ServerProcess, startServe } from '../support/process.ts';
import { codeAt } from '../support/totp.ts';
import { useProcesses } from '../support/use-processes.ts';

useProcesses();

const PASSWORD = 'a long enough password';
const HOUR_MS = 3_600_000;
const STEP_MS = 30_000;

let server: ServerProcess;
let browser: Browser;
let site: string;
beforeAll(async () => {
  if (HAS_CHROMIUM) browser = await sharedShell();
});
afterAll(closePages);

interface Scene extends Visit {
  locale: string;
  words: BaseTexts;
  own: Credentials;
}

/** A step of a person: the flows of a scene run in this order. */
type Flow = (scene: Scene) => Promise<void>;
const FLOWS: Readonly<Record<string, Flow>> = {
  'a domain is bound, disabled and enabled': async ({ hand, own, page, words }) => {
    await hand.follow(words.domains.title);
    await hand.type(words.domains.host, `https://${HOST}/s/abc`);
    await hand.press(words.domains.bind);
    await page.getByText(words.domains.isBound(HOST)).waitFor();
    await hand.press(words.common.disable);
    await hand.press(words.common.disable, page.getByRole('dialog'));
    await hand.press(words.common.enable);
    await page.getByRole('button', { name: words.common.disable, exact: true }).waitFor();
    const { data } = await ask(site, '/api/list-domain', own);
    expect(data).toMatchObject([{ domain_hash: HASH, status: 10 }]);
  },
  'a webhook is added, disabled and removed': async ({ hand, page, words }) => {
    await hand.follow(words.webhooks.title);
    await hand.type(words.webhooks.address, 'https://bot.example.com/hook');
    await hand.press(words.webhooks.add);
    await page.getByText(words.webhooks.secretOnce).waitFor();
    await hand.press(words.common.disable);
    await page.getByText(words.common.off, { exact: true }).waitFor();
    await hand.press(words.common.remove);
    await hand.press(words.common.remove, page.getByRole('dialog'));
    await page.getByText(words.webhooks.none).waitFor();
  },
  'a key reads, and is refused once it is removed': async ({ hand, own, page, words }) => {
    await hand.follow(words.staff.title);
    await hand.type(words.common.name, 'bot');
    await hand.press(words.staff.addKey);
    const authKey = (await page.locator('.secret .code').textContent()) ?? '';
    const asBot = () => ask(site, '/api/list-install', { code: own.code, authKey });
    expect(await asBot()).toMatchObject({ rc: 1 });
    await hand.press(words.staff.remove);
    await hand.press(words.staff.remove, page.getByRole('dialog'));
    await page.locator('tbody').waitFor({ state: 'detached' });
    expect(await asBot()).toMatchObject({ rc: 0 });
  },
  'a person is invited, and has the pages of the role': async (scene) => {
    const { hand, locale, page, words } = scene;
    await page.getByLabel(words.staff.role, { exact: true }).selectOption('reader');
    await hand.press(words.staff.invite);
    const address = (await page.locator('.secret .code').getByText(site).textContent()) ?? '';
    const guest = await visit({ browser, site }, address.slice(site.length), { locale });
    await guest.hand.type(words.common.name, `reader-${locale.toLowerCase()}`);
    await guest.hand.press(words.signIn.accept);
    await guest.page.locator('.shell h1').waitFor();
    expect(await guest.page.getByRole('link', { name: words.staff.title }).count()).toBe(0);
    await guest.hand.follow(words.shell.links);
    await guest.page.getByRole('heading', { name: words.links.none }).waitFor();
    expect(await guest.page.getByRole('button', { name: words.links.add }).count()).toBe(0);
    expect(guest.troubles).toEqual([]);
    await guest.close();
  },
  'a message is shown, weighed and sent': async ({ hand, own, page, words }) => {
    await ask(site, '/api/add-install', own, {
      install_limit: '2',
      install_code: `${own.code}Link`,
    });
    await knock(site, `${own.code}Link`, `${own.code}-phone`);
    await hand.follow(words.compose.title);
    await hand.type(words.compose.titleLabel, 'Hello');
    await hand.type(words.compose.body, '<b>New</b> servers');
    await page.locator('.phone b, .phone strong').getByText('New').waitFor();
    await hand.press(words.compose.check);
    const reach = page.getByRole('region', { name: words.compose.reach });
    const number = new Intl.NumberFormat(words.tag).format(1);
    await reach.getByText(words.compose.reaches(number, 1)).waitFor();
    await hand.press(words.compose.sendTo(number, 1));
    await page.locator('.message-panel .said').waitFor();
  },
  'one for tomorrow is cancelled': async ({ hand, own, page, words }) => {
    await hand.follow(words.compose.title);
    await hand.type(words.compose.body, 'Tomorrow');
    // Another one to all would have to wait for five minutes.
    await hand.press(words.compose.byHwid);
    await hand.type(words.compose.hwids, `${own.code}-phone`);
    // The field has the time in UTC+3.
    const due = new Date(Date.now() + 27 * HOUR_MS).toISOString().slice(0, 16);
    await hand.type(words.compose.when, due);
    await hand.press(words.compose.check);
    await hand.press(words.compose.schedule);
    const panel = page.locator('.message-panel');
    await panel.getByRole('timer').waitFor();
    await hand.press(words.messages.cancel, panel);
    await hand.press(words.messages.cancel, panel.getByRole('dialog'));
    await panel.getByText(words.messages.isCancelled).waitFor();
  },
  'a command goes to one device': async ({ hand, own, page, words }) => {
    await hand.follow(words.command.title);
    await hand.press(words.command.actions['update-subscription']);
    await hand.press(words.compose.byHwid);
    await hand.type(words.compose.hwids, `${own.code}-phone`);
    await hand.press(words.compose.check);
    await hand.press(words.compose.sendTo(new Intl.NumberFormat(words.tag).format(1), 1));
    await page.locator('.message-panel').waitFor();
    expect(await ask(site, '/remote/list', own)).toMatchObject({ rc: 1 });
  },
  'activity has it all in sentences': async ({ hand, page, words }) => {
    await hand.follow(words.activity.title);
    await page.locator('.activity li').nth(7).waitFor();
    await page.getByText(words.activity.sentences['domain.activate']({ id: '1' })).waitFor();
  },
};

/** Sets a password and a code of an app, adds a passkey, and comes back by each. */
async function comeBack(visited: Visit, words: BaseTexts): Promise<void> {
  const { hand, page } = visited;
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('WebAuthn.enable');
  const kind = { protocol: 'ctap2', transport: 'internal', hasResidentKey: true } as const;
  const person = { hasUserVerification: true, isUserVerified: true } as const;
  await devtools.send('WebAuthn.addVirtualAuthenticator', {
    options: { ...kind, ...person, automaticPresenceSimulation: true },
  });
  await hand.type(words.account.passkeyName, 'laptop');
  await hand.press(words.account.addPasskey);
  await page.getByText('laptop').first().waitFor();
  await hand.type(words.common.password, PASSWORD);
  await hand.press(words.account.setPassword);
  await page.getByText(words.account.isSet).waitFor();
  const begun = page.waitForResponse((answer) => answer.url().endsWith('account.totp-begin'));
  await hand.press(words.account.beginFactor);
  const { ok } = (await (await begun).json()) as { ok: { uri: string } };
  // A code is taken for a step before and after its own, and each step once: these two are taken
  // for half a minute at least.
  const nowMs = Date.now();
  await hand.type(words.signIn.code, codeAt(ok.uri, nowMs));
  await hand.press(words.account.confirm);
  await page.locator('.codes li').nth(9).waitFor();
  await hand.press(words.shell.leave);
  await page.getByRole('heading', { name: words.signIn.title }).waitFor();
  await hand.type(words.common.name, 'operator');
  await hand.type(words.common.password, PASSWORD);
  await hand.press(words.signIn.enter);
  await page.getByLabel(words.signIn.code, { exact: true }).waitFor();
  await hand.type(words.signIn.code, codeAt(ok.uri, nowMs + STEP_MS));
  await hand.press(words.signIn.enter);
  await page.locator('.shell h1').waitFor();
  await hand.press(words.shell.leave);
  await hand.press(words.signIn.passkey);
  await page.locator('.shell h1').waitFor();
}

describe.each(TRIED)('rooms, %s', (locale, words) => {
  let scene: Scene;
  beforeAll(async () => {
    // Its own server: sentences name what is numbered there from 1.
    server = await startServe();
    site = siteOf(server);
    if (!HAS_CHROMIUM) return;
    const own = await addProvider(server);
    const visited = await visit({ browser, site }, '/console', { locale });
    await signInByKey(visited, words, own);
    scene = { ...visited, locale, words, own };
  });
  afterAll(async () => {
    await scene?.close();
    await server.stop();
  });

  testChromium.each(Object.entries(FLOWS))('%s', async (_name, flow) => {
    await flow(scene);
    expect(scene.troubles).toEqual([]);
  });

  testChromium('an operator comes back by password and code, and by passkey', async () => {
    const visited = await visit({ browser, site }, await entryPath(server), { locale });
    await visited.page.getByRole('heading', { level: 1, name: words.account.title }).waitFor();
    await comeBack(visited, words);
    expect(visited.troubles).toEqual([]);
    await visited.close();
  });
});

/** Keys that wait for a link, in the browser: agreed to and undone, by people with an account. */

import { expect } from 'bun:test';
import { texts as en } from '../../src/console/texts/en.ts';
import { subscriptionKeyHash } from '../../src/core/secret.ts';
import { ACT } from '../support/actor.ts';
import { call, seedProvider } from '../support/app.ts';
import { testChromium } from '../support/chromium.ts';
import { ConsoleBrowser } from '../support/console.ts';
import { faultsOf, openTab, useConsoleSite } from '../support/console-page.ts';
import { operatorBrowser } from '../support/operator.ts';

const site = useConsoleSite();
const words = en.links;
let count = 0;

/** A provider with a link for whose code a key waits. */
async function aWaitingTie() {
  const { core } = site.app;
  count += 1;
  const code = `BotLink0000${count}`;
  const of = await seedProvider(site.app);
  await call(site.app, '/api/add-install', of, { install_limit: 2, install_code: code });
  const provider = await core.store.findProvider(of.code);
  const providerId = provider?.id ?? 0;
  await core.store.switchTies(providerId, false, ACT);
  const keyHash = subscriptionKeyHash('panel-key');
  await core.store.tieByFetch({ providerId, keyHash, installCode: code, hwid: 'a' }, ACT);
  const hasKey = async () => (await core.store.findLink(code))?.hasSubscriptionKey;
  return { of, providerId, hasKey };
}

testChromium('an owner agrees, and takes it back', async () => {
  const { of, hasKey } = await aWaitingTie();
  const operator = await operatorBrowser(site.app);
  const { secret } = await operator.get('staff.invite', { at: of.code, role: 'owner' });
  const invited = ['session.invited', { secret, name: 'nina' }] as const;
  const { context, page } = await openTab(site, [...invited], '/console/links');
  await page.getByRole('button', { name: words.more }).click();
  await page.getByRole('button', { name: words.ties }).click();
  const dialog = page.getByRole('dialog', { name: words.ties });
  await dialog.getByText(words.tiesOff).waitFor();
  expect(await faultsOf(page)).toEqual([]);
  await dialog.getByRole('button', { name: words.agree, exact: true }).click();
  await dialog.getByRole('button', { name: words.untie }).waitFor();
  expect(await hasKey()).toBe(true);
  await dialog.getByRole('button', { name: words.untie }).click();
  await dialog.getByRole('button', { name: words.untie }).waitFor({ state: 'detached' });
  expect(await hasKey()).toBe(false);
  await context.close();
});

testChromium('the main key, which a bot has, makes no tie and no key that could', async () => {
  const { of, hasKey } = await aWaitingTie();
  const browser = new ConsoleBrowser(site.app.url);
  await browser.get('session.key', { code: of.code, key: of.authKey });
  const refusal = async (done: Promise<unknown>) =>
    done.then(
      () => 'done',
      (fault) => `${fault}`,
    );
  const at = of.code;
  expect(await refusal(browser.get('ties.make', { at, ids: [1] }))).toContain('no_account');
  expect(await refusal(browser.get('ties.undo', { at, ids: [1] }))).toContain('no_account');
  expect(await refusal(browser.get('ties.switch', { at, isOn: true }))).toContain('no_account');
  const key = { at, name: 'x', scope: 'ties' as const, days: null };
  expect(await refusal(browser.get('keys.add', key))).toContain('no_account');
  expect(await hasKey()).toBe(false);
});

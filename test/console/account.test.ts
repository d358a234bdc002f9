/** The page of the own account: sessions of a key, and names of passkeys. */

import { expect } from 'bun:test';
import { texts as en } from '../../src/console/texts/en.ts';
import { texts as fa } from '../../src/console/texts/fa.ts';
import { makeEntry } from '../../src/core/account/sign-in.ts';
import { ACT } from '../support/actor.ts';
import { seedProvider } from '../support/app.ts';
import { testChromium } from '../support/chromium.ts';
import { ConsoleBrowser } from '../support/console.ts';
import { faultsOf, LOOKS_TRIED, openTab, useConsoleSite } from '../support/console-page.ts';
import { operatorEntry } from '../support/operator.ts';
import { codeAt } from '../support/totp.ts';
import { becomes } from '../support/until.ts';

const site = useConsoleSite();

const words = en.account;

testChromium('a provider that signed in with its key sees its sessions, and ends one', async () => {
  const { code, authKey: key } = await seedProvider(site.app);
  const other = new ConsoleBrowser(site.app.url);
  await other.get('session.key', { code, key });
  const tab = await openTab(site, ['session.key', { code, key }], '/console');
  const { page } = tab;
  await page.getByRole('link', { name: en.shell.account }).click();
  await page.getByText(words.byKey).waitFor();
  await becomes(() => page.getByText(words.passwordHint).count(), 0);
  await page.getByText(words.thisOne).waitFor();
  await page.getByRole('button', { name: words.end }).click();
  await page.getByRole('button', { name: words.end }).waitFor({ state: 'detached' });
  expect(await other.refusal('session.list', {})).toBe('signed_out');
  await page.getByText(words.thisOne).waitFor();
});

testChromium('a passkey gets another name', async () => {
  const { core, clock } = site.app;
  const grant = { providerId: null, role: 'operator' } as const;
  const draft = { name: 'anna', grant, countMax: 9, createdAtMs: 0, invitation: null };
  const added = await core.store.addAccount(draft, ACT);
  if (typeof added === 'string') throw new Error(added);
  const { id: accountId } = added;
  const passkey = {
    accountId,
    credentialId: 'abc',
    publicKey: new Uint8Array(8),
    signCount: 0,
    transports: [],
    name: 'laptop',
    createdAtMs: 0,
  };
  await core.store.addPasskey(passkey, 9, ACT);
  const secret = await makeEntry(core, accountId, clock.nowMs());
  const tab = await openTab(site, ['session.entry', { secret }], '/console/account');
  const { page } = tab;
  const row = page.locator('li', { hasText: 'laptop' });
  await row.getByText(words.rename).first().click();
  await row.getByLabel(words.passkeyName).fill('phone');
  await row.getByRole('button', { name: words.rename }).click();
  await page.locator('li', { hasText: 'phone' }).waitFor();
  expect((await core.store.listPasskeys(accountId)).map(({ name }) => name)).toEqual(['phone']);
});

const XSS = '<img src=x onerror=alert(1)>';

// The every-page test signs in by key: it sees the sessions alone.
testChromium.each(LOOKS_TRIED)('no state of an account has a fault: $colorScheme', async (look) => {
  const { colorScheme, locale } = look;
  const texts = locale === 'en-GB' ? en : fa;
  const { core } = site.app;
  const own = texts.account;
  const secret = await operatorEntry(site.app, `olga-${colorScheme}`);
  const { id: accountId = 0 } = (await core.store.findAccount(`olga-${colorScheme}`)) ?? {};
  const passkey = {
    accountId,
    credentialId: colorScheme,
    publicKey: new Uint8Array(8),
    signCount: 0,
    transports: [],
    name: XSS,
    createdAtMs: 0,
  };
  await core.store.addPasskey(passkey, 9, ACT);
  const options = { ...look, viewport: { width: 320, height: 700 } };
  const tab = await openTab(site, ['session.entry', { secret }], '/console/account', options);
  const { page } = tab;
  const soundWith = async (state: string) => {
    expect([state, await faultsOf(page)]).toEqual([state, []]);
    const width = Number(await page.evaluate('document.documentElement.scrollWidth'));
    expect([state, width]).toEqual([state, 320]);
  };
  const press = (name: string) => page.getByRole('button', { name, exact: true }).click();
  const row = page.locator('li', { hasText: XSS });
  await row.getByText(own.rename).first().click();
  await soundWith('a passkey that is renamed');
  await page.getByLabel(texts.common.password, { exact: true }).fill('a long enough password');
  await press(own.setPassword);
  await page.getByText(own.isSet).waitFor();
  const begun = page.waitForResponse((answer) => answer.url().endsWith('account.totp-begin'));
  await press(own.beginFactor);
  const { ok } = (await (await begun).json()) as { ok: { uri: string } };
  await page.getByRole('img', { name: own.factor }).waitFor();
  await soundWith('the code of an authenticator app');
  await page.getByLabel(texts.signIn.code).fill('000000');
  await press(own.confirm);
  await page.getByText(texts.refusals.code_wrong).waitFor();
  await soundWith('a wrong code');
  await page.getByLabel(texts.signIn.code).fill(codeAt(ok.uri, site.app.clock.nowMs()));
  await press(own.confirm);
  await page.locator('.codes li').nth(9).waitFor();
  await soundWith('recovery codes');
});

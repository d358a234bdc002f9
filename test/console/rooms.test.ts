/** Domains, keys and staff, webhooks: bound, invited, made and removed in the browser. */

import { expect } from 'bun:test';
import { texts as en } from '../../src/console/texts/en.ts';
import { ACT } from '../support/actor.ts';
import { seedProvider } from '../support/app.ts';
import { testChromium } from '../support/chromium.ts';
import { openTab, useConsoleSite } from '../support/console-page.ts';
import { becomes } from '../support/until.ts';

const site = useConsoleSite();

async function open(path: string) {
  const { code, authKey } = await seedProvider(site.app);
  const tab = await openTab(site, ['session.key', { code, key: authKey }], path);
  const provider = await site.app.core.store.findProvider(code);
  return { ...tab, providerId: provider?.id ?? 0, code };
}

const XSS = '<img src=x onerror=alert(1)>';

testChromium('a domain is hashed in the browser, bound, disabled and enabled', async () => {
  const { page, providerId } = await open('/console/domains');
  const words = en.domains;
  await page.locator('.steps').getByText(words.bindStep).waitFor();
  await page.getByLabel(words.host).fill('https://Sub.example.com:8443/abc?x=1');
  const hash = new Bun.CryptoHasher('sha256').update('sub.example.com').digest('hex');
  await page.getByText(hash).first().waitFor();
  await page.getByRole('button', { name: words.bind, exact: true }).click();
  await page.getByText(words.isBound('sub.example.com')).waitFor();
  const bound = () => site.app.core.store.findDomain(providerId, hash);
  expect(await bound()).toMatchObject({ domainName: 'sub.example.com', status: 10 });
  await page.getByRole('button', { name: en.common.disable }).click();
  const dialog = page.getByRole('dialog', { name: words.sureDisable('sub.example.com') });
  await dialog.getByText(words.sureDisableHint).waitFor();
  await dialog.getByRole('button', { name: en.common.cancel }).click();
  await dialog.waitFor({ state: 'hidden' });
  expect(await bound()).toMatchObject({ status: 10 });
  await page.getByRole('button', { name: en.common.disable }).click();
  await dialog.getByRole('button', { name: en.common.disable }).click();
  await page.getByRole('button', { name: en.common.enable }).waitFor();
  expect(await bound()).not.toMatchObject({ status: 10 });
  await page.getByRole('button', { name: en.common.enable }).click();
  await page.getByRole('button', { name: en.common.disable }).waitFor();
  expect(await bound()).toMatchObject({ status: 10 });
  // The first step is done, and the next one is marked.
  await becomes(() => page.locator('.steps [aria-current=step] h3').textContent(), words.linkStep);
  await page.getByLabel(words.host).fill('not a host');
  await page.locator('.hash').getByText(words.wrongHost).waitFor();
});

testChromium('the step of a link opens its dialog; the typed host begins its address', async () => {
  const { page } = await open('/console/domains');
  await page.getByLabel(en.domains.host).fill('https://sub.example.com/s/abc');
  await page.getByRole('button', { name: en.domains.bind, exact: true }).click();
  const step = page.locator('.steps [aria-current=step]', { hasText: en.domains.linkStep });
  await step.getByRole('button', { name: en.common.goOn }).click();
  await page.getByRole('dialog').getByRole('button', { name: en.links.create }).click();
  const address = page.getByLabel(en.link.address, { exact: true });
  await address.waitFor();
  expect(await address.getAttribute('placeholder')).toBe('https://sub.example.com/…');
  await address.fill('https://sub.example.com/s/abc');
  await page.getByRole('button', { name: en.link.make }).click();
  await page.locator('.final .code').getByText('https://sub.example.com/s/abc#').waitFor();
});

testChromium('a key for a part of the API is shown once, and removed', async () => {
  const { page, providerId } = await open('/console/staff');
  const words = en.staff;
  const form = page.locator('form', { has: page.getByLabel(words.scope) });
  await form.getByLabel(en.common.name).fill(XSS);
  await form.getByLabel(words.scope).selectOption('send');
  await page.getByRole('button', { name: words.addKey }).click();
  const shown = await page.locator('.secret .code').textContent();
  expect(shown).toMatch(/^[A-Za-z0-9_-]{32}$/);
  const [key] = await site.app.core.store.listKeys(providerId);
  expect(key).toMatchObject({ name: XSS, scope: 'send' });
  await page.locator('tbody').getByText(XSS).first().waitFor();
  await page.getByRole('button', { name: words.remove }).click();
  const dialog = page.getByRole('dialog', { name: words.sureKey(XSS) });
  await dialog.getByRole('button', { name: en.common.cancel }).click();
  await dialog.waitFor({ state: 'hidden' });
  expect(await site.app.core.store.listKeys(providerId)).toHaveLength(1);
  await page.getByRole('button', { name: words.remove }).click();
  await dialog.getByRole('button', { name: words.remove }).click();
  await page.locator('tbody').waitFor({ state: 'detached' });
  expect(await site.app.core.store.listKeys(providerId)).toEqual([]);
});

testChromium('staff is invited, and the last owner stays', async () => {
  const { page, providerId } = await open('/console/staff');
  const words = en.staff;
  await page.getByLabel(words.role).selectOption('owner');
  await page.getByRole('button', { name: words.invite }).click();
  const address = (await page.locator('.secret .code').textContent()) ?? '';
  const invited = await site.browser.newContext({ locale: 'en-GB' });
  const door = await invited.newPage();
  await door.goto(address);
  await door.getByLabel(en.common.name).fill('anna');
  await door.getByRole('button', { name: en.signIn.accept }).click();
  await door.locator('.shell').waitFor();
  expect(door.url()).not.toContain('invitation');
  await invited.close();
  await page.reload();
  await page.getByLabel(words.roleOf('anna')).selectOption('reader');
  await page.getByText(en.refusals.last_of_role).waitFor();
  const [member] = await site.app.core.store.listMembers(providerId);
  expect(member).toMatchObject({ name: 'anna', role: 'owner' });
  const grant = { providerId, role: 'owner' } as const;
  const draft = { name: 'boris', grant, countMax: 9, createdAtMs: 0, invitation: null };
  await site.app.core.store.addAccount(draft, ACT);
  await page.reload();
  await page.getByLabel(words.roleOf('boris')).selectOption('support');
  const asked = () => site.app.core.store.listMembers(providerId);
  await page.locator(`select[aria-label="${words.roleOf('boris')}"]`).waitFor();
  await page.reload();
  await page.getByLabel(words.roleOf('boris')).waitFor();
  expect((await asked()).map(({ role }) => role).sort()).toEqual(['owner', 'support']);
  const row = (name: string) => page.locator('tr', { hasText: name });
  const remove = async (name: string) => {
    await row(name).getByRole('button', { name: words.remove }).click();
    const dialog = page.getByRole('dialog', { name: words.sureMember(name) });
    await dialog.getByRole('button', { name: words.remove }).click();
    return dialog;
  };
  // The refusal is said where it was asked.
  const refused = await remove('anna');
  await refused.getByText(en.refusals.last_of_role).waitFor();
  await refused.getByRole('button', { name: en.common.cancel }).click();
  await refused.waitFor({ state: 'hidden' });
  await remove('boris');
  await row('boris').waitFor({ state: 'detached' });
  expect((await asked()).map(({ name }) => name)).toEqual(['anna']);
});

testChromium('a webhook is added with its events, disabled, and removed', async () => {
  const { page, providerId } = await open('/console/webhooks');
  const words = en.webhooks;
  await page.getByText(words.none).waitFor();
  await page.getByLabel(words.address).fill('http://127.0.0.1/hook');
  await page.getByRole('button', { name: words.add }).click();
  await page.locator('.form .problem:visible').waitFor();
  await page.getByLabel(words.address).fill('https://bot.example.com/hook');
  await page.getByLabel('link.full').check();
  await page.getByRole('button', { name: words.add }).click();
  await page.getByText(words.secretOnce).waitFor();
  const [webhook] = await site.app.core.store.listWebhooks(providerId);
  expect(webhook).toMatchObject({ events: ['link.full'], disabled: null });
  await page.getByRole('button', { name: en.common.disable }).click();
  await page.getByText(en.common.off, { exact: true }).waitFor();
  await page.getByRole('button', { name: en.common.remove }).click();
  await page.getByRole('dialog').getByRole('button', { name: en.common.remove }).click();
  await page.getByText(words.none).waitFor();
  expect(await site.app.core.store.listWebhooks(providerId)).toEqual([]);
});

/** Reminders in the browser: copied, edited with their preview, switched on, and confirmed. */

import { expect } from 'bun:test';
import { texts as own } from '../../src/console/texts/en/reminders.ts';
import { texts as en } from '../../src/console/texts/en.ts';
import { texts as fa } from '../../src/console/texts/fa/reminders.ts';
import { DEFAULT_REMINDERS } from '../../src/core/reminder-texts.ts';
import { ACT, actOfKey } from '../support/actor.ts';
import { seedProvider } from '../support/app.ts';
import { testChromium } from '../support/chromium.ts';
import { ConsoleBrowser } from '../support/console.ts';
import { faultsOf, openTab, useConsoleSite } from '../support/console-page.ts';
import { operatorBrowser } from '../support/operator.ts';
import { addLink } from '../support/shop.ts';

const site = useConsoleSite();
const words = own.reminders;
const DAY_MS = 86_400_000;
const OURS = 'https://shop.example/pay';
const EVIL = 'https://evil.example/pay';

/** A provider with three links whose subscriptions end, and the call by which an owner enters. */
async function aProvider(name: string) {
  const { core, clock } = site.app;
  const own = await seedProvider(site.app);
  const provider = await core.store.findProvider(own.code);
  const providerId = provider?.id ?? 0;
  await core.store.updateProvider(own.code, { subscriptionFigures: 1, webPageUrl: OURS }, ACT);
  for (const days of [3, 2, 1]) {
    const { id } = await addLink(site.app, own, null);
    const end = { endsAtMs: clock.nowMs() + days * DAY_MS, totalBytes: 10, usedBytes: 5 };
    await core.store.keepSubscriptionFigures(id, end, 'proxy', clock.nowMs());
  }
  const operator = await operatorBrowser(site.app);
  const { secret } = await operator.get('staff.invite', { at: own.code, role: 'owner' });
  return { own, providerId, signIn: ['session.invited', { secret, name }] as const };
}

testChromium(
  'an owner copies the usual ones, edits one with its preview and switches it on',
  async () => {
    const { own, providerId, signIn } = await aProvider('nina');
    const { store } = site.app.core;
    const { page } = await openTab(site, [...signIn], '/console/reminders');
    await page.getByText(words.none).waitFor();
    await page.getByRole('button', { name: words.addDefaults }).click();
    const card = page.locator('section.card', { hasText: words.before(3, true) });
    await card.waitFor();
    expect(await store.listReminders(providerId)).toHaveLength(DEFAULT_REMINDERS.length);
    expect(await faultsOf(page)).toEqual([]);

    await card.getByRole('button', { name: words.edit }).click();
    const english = page.getByLabel(words.text('English'));
    await english.fill('Pay at evil.example: {days_left}');
    await page.getByText('texts.en has an address').waitFor();
    await english.fill('Hello {greeting|friend}, {days_left} left');
    // As three links get it, whose subscriptions end next.
    await page.getByText('Hello friend, 1 day left').waitFor();
    await page.getByText('Hello friend, 3 days left').waitFor();
    const shots = process.env['REMINDER_SHOTS'];
    if (shots) await page.screenshot({ path: `${shots}/edit.png`, fullPage: true });
    expect(await faultsOf(page)).toEqual([]);
    await page.getByRole('button', { name: en.common.save }).first().click();
    await card.getByText('Hello {greeting|friend}').waitFor();

    // Without figures nothing could be reminded of.
    await store.updateProvider(own.code, { subscriptionFigures: 0 }, ACT);
    await page.reload();
    await card.getByRole('button', { name: words.switchOn }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText(words.switchOnHint).waitFor();
    await dialog.getByRole('button', { name: words.switchOn }).click();
    await card.getByText(words.states.on, { exact: true }).waitFor();
    expect((await store.findProvider(own.code))?.subscriptionFigures).toBe(1);
    expect((await store.listReminders(providerId))[0]).toMatchObject({
      enabled: 1,
      textsAtMs: 0,
      texts: { en: 'Hello {greeting|friend}, {days_left} left' },
    });

    await page.getByLabel(en.heads.quiet_from).fill('22:00');
    await page.getByLabel(en.heads.quiet_to).fill('08:30');
    await page.getByLabel(en.heads.time_zone).selectOption('+03:30');
    await page.getByRole('button', { name: en.common.save }).click();
    await page.getByText(en.common.saved).waitFor();
    expect(await store.findProvider(own.code)).toMatchObject({
      quietFrom: '22:00',
      quietTo: '08:30',
      timeZone: '+03:30',
    });
    if (shots) await page.screenshot({ path: `${shots}/light.png`, fullPage: true });
  },
);

testChromium(
  'what a key changed is shown with old and new, and used when a person confirms',
  async () => {
    const { own, providerId, signIn } = await aProvider('rosa');
    const { clock, core } = site.app;
    const key = () => actOfKey(own.code, clock.nowMs());
    const term = { kind: 'traffic', amount: 80, pushText: 'neutral', enabled: 1 } as const;
    const draft = {
      ...term,
      texts: { en: 'A', fa: 'ب' },
      providerId,
      createdAtMs: 0,
      countMax: 10,
    };
    await core.store.addReminder(draft, ACT);
    await core.store.setReminder(providerId, 1, { texts: { en: 'B' } }, key());
    const all = await core.store.listReminders(providerId);
    await core.store.setReminder(providerId, all[0]?.id ?? 0, { texts: { en: 'B' } }, key());
    await core.store.updateProvider(own.code, { webPageUrl: EVIL }, key());
    const { page } = await openTab(site, [...signIn], '/console/reminders');
    await page.getByText(`\u2068${OURS}\u2069 → \u2068${EVIL}\u2069`).waitFor();
    expect(await faultsOf(page)).toEqual([]);
    const browser = new ConsoleBrowser(site.app.url);
    await browser.get('session.key', { code: own.code, key: own.authKey });
    const confirming = browser.get('reminders.confirm', { at: own.code, untilMs: clock.nowMs() });
    expect(await confirming.catch(String)).toContain('no_account');
    const shots = process.env['REMINDER_SHOTS'];
    for (const [locale, viewport, scheme] of [
      ['fa', { width: 390, height: 844 }, 'light'],
      ['ru', { width: 1280, height: 900 }, 'dark'],
      ['zh-CN', { width: 390, height: 844 }, 'dark'],
    ] as const) {
      if (!shots) break;
      const operator = await operatorBrowser(site.app);
      const { secret } = await operator.get('staff.invite', { at: own.code, role: 'owner' });
      const look = { locale, viewport, colorScheme: scheme };
      const entry = ['session.invited', { secret, name: `look${locale}` }] as const;
      const tab = await openTab(site, [...entry], '/console/reminders', look);
      await tab.page.getByText(EVIL).first().waitFor();
      expect(await faultsOf(tab.page)).toEqual([]);
      await tab.page.screenshot({ path: `${shots}/${locale}.png`, fullPage: true });
      if (locale === 'fa') {
        await tab.page.getByRole('button', { name: fa.reminders.edit }).click();
        await tab.page.waitForTimeout(1_000);
        await tab.page.screenshot({ path: `${shots}/fa-edit.png`, fullPage: true });
      }
    }
    await page.getByRole('button', { name: words.confirm }).click();
    await page.getByRole('dialog').getByRole('button', { name: words.confirm }).click();
    await page.getByText(words.waiting).first().waitFor({ state: 'detached' });
    expect((await core.store.findProvider(own.code))?.confirmedAtMs).toBeGreaterThan(0);
  },
);

/** Figures of subscriptions in the console and on the page of users, counted again on the page. */

import { expect } from 'bun:test';
import { texts as en } from '../../src/console/texts/en.ts';
import { invite } from '../../src/core/account/sign-in.ts';
import { DAY_MS } from '../../src/core/calendar.ts';
import { isRefused } from '../../src/core/outcome.ts';
import type { Credentials } from '../../src/core/provider.ts';
import { ACT } from '../support/actor.ts';
import { seedProvider } from '../support/app.ts';
import { testChromium } from '../support/chromium.ts';
import { faultsOf, openTab, useConsoleSite } from '../support/console-page.ts';
import { addLink, bind, enter } from '../support/shop.ts';

const GB = 1024 ** 3;
const LINKS = 12;
/** Days until the end, and the share of the traffic that was used; null: not known. */
const SUBSCRIPTIONS: readonly (readonly [days: number | null, share: number | null])[] = [
  ...([
    [-3, 0.4],
    [-0.5, 1],
    [0.5, 0.95],
    [1.5, 0.2],
    [2.5, 0.99],
    [2.9, null],
  ] as const),
  ...([
    [5, 0.91],
    [20, 0.1],
    [null, 0.5],
    [200, 0],
  ] as const),
];

const site = useConsoleSite();

/** A provider whose links have these subscriptions; the others have none. */
async function seed(): Promise<{ own: Credentials; secret: string }> {
  const { app } = site;
  const own = await seedProvider(app, { plan: 'enterprise' });
  const nowMs = app.clock.nowMs();
  const { store } = app.core;
  await store.updateProvider(own.code, { subscriptionFigures: 1, my: 1 }, ACT);
  await bind(app, own);
  for (let n = 0; n < LINKS; n++) {
    const { id, code } = await addLink(app, own, null, 3);
    await enter(app, `phone-${id}`, code);
    const [days = null, share = null] = SUBSCRIPTIONS[n] ?? [];
    if (n >= SUBSCRIPTIONS.length) continue;
    const figures = {
      endsAtMs: days === null ? null : nowMs + days * DAY_MS,
      totalBytes: share === null ? null : 50 * GB,
      usedBytes: share === null ? 3 * GB : share * 50 * GB,
    };
    await store.keepSubscriptionFigures(id, figures, 'proxy', nowMs);
  }
  const providerId = (await store.findProvider(own.code))?.id ?? 0;
  const secret = await invite(app.core, { providerId, role: 'owner', isOperators: false }, nowMs);
  if (isRefused(secret)) throw new Error(secret.says);
  return { own, secret };
}

const within = (low: number, high: number) =>
  SUBSCRIPTIONS.filter(([days]) => days !== null && days >= low && days < high).length;
const over = (least: number) => SUBSCRIPTIONS.filter(([, share]) => (share ?? 0) >= least).length;

testChromium('filters, columns, panel and composer show what the rows say', async () => {
  const { own, secret } = await seed();
  const by = ['session.invited', { secret, name: `owner-${own.code}` }] as const;
  const { page } = await openTab(site, [...by], '/console/links');
  const rows = page.locator('.rows tbody tr[aria-rowindex]');
  const count = async (chip: string, wanted: number) => {
    await page.getByRole('button', { name: chip, exact: true }).click();
    await page.getByText(en.links.countFound(wanted), { exact: true }).waitFor();
    expect(await rows.count()).toBe(wanted);
    await page.getByRole('button', { name: chip, exact: true }).click();
    await page.getByText(en.links.countAll(LINKS), { exact: true }).waitFor();
  };
  await count(en.links.endsIn(3), within(0, 3));
  await count(en.links.ended, within(-99, 0));
  await count(en.links.trafficOver('90'), over(0.9));
  const known = SUBSCRIPTIONS.filter(([, share]) => share !== null);
  expect(await page.locator('td.c-ends').getByText('%').count()).toBe(known.length);
  expect(await page.getByText(en.links.endedMark, { exact: true }).count()).toBe(within(-99, 0));
  expect(await faultsOf(page)).toEqual([]);
  await page.goto(`${site.url}/console/links?search=ends:3d&sort=ends`);
  await rows.first().click();
  await page.getByText(en.links.figuresRead).waitFor();
  expect(await faultsOf(page)).toEqual([]);

  await page.goto(`${site.url}/console/compose`);
  await page.getByLabel(en.compose.body).first().fill('Hello');
  await page.getByRole('button', { name: en.compose.byFilter }).click();
  await page.getByLabel(en.compose.filterFigures).selectOption('ends 3');
  const found = within(0, 3);
  await page.getByText(en.compose.finds(String(found), found)).waitFor();
  await page.locator('.actions .main').first().click();
  await page.getByText(en.compose.reaches(String(found), found)).waitFor();
});

testChromium('a provider that keeps none is told so where a filter asks for them', async () => {
  const { own, secret } = await seed();
  await site.app.core.store.updateProvider(own.code, { subscriptionFigures: 0 }, ACT);
  const by = ['session.invited', { secret, name: `owner-${own.code}` }] as const;
  const { page } = await openTab(site, [...by], '/console/links?search=ends:3d');
  await page.getByText(en.links.figuresNotKept).waitFor();
  await page.goto(`${site.url}/console/links`);
  await page.getByText(en.links.countAll(LINKS), { exact: true }).waitFor();
  expect(await page.getByRole('button', { name: en.links.ended, exact: true }).count()).toBe(0);
  expect(await page.locator('.c-ends').count()).toBe(0);
});

/** Jobs in the browser: slots that are freed when the time is over, and a failure. */

import { afterEach, expect } from 'bun:test';
import type { BrowserContextOptions } from 'playwright-core';
import { texts as en } from '../../src/console/texts/en.ts';
import { UNDO_MS } from '../../src/core/job/job.ts';
import { jobStep } from '../../src/core/job/step.ts';
import { call, seedProvider } from '../support/app.ts';
import { testChromium } from '../support/chromium.ts';
import { faultsOf, openTab, untilFollowed, useConsoleSite } from '../support/console-page.ts';
import { counted } from '../support/recount.ts';
import { becomes, until } from '../support/until.ts';

const DOMAIN_HASH = 'e'.repeat(64);
const HOUR_MS = 3_600_000;

const site = useConsoleSite();

afterEach(async () => {
  await until('no stream is left', () => site.app.server.liveCount() === 0);
});

const stepOn = async () => {
  const { app } = site;
  while (await jobStep(app.core, 'test', app.clock.nowMs()));
};

/** Lets the jobs begin that wait, and the stream say so. */
async function pass(): Promise<void> {
  site.app.clock.advance(UNDO_MS);
  await stepOn();
  site.app.clock.advance(1_000);
}

/** The panel of a link with two devices of the same model, an hour after one another. */
async function open(options: BrowserContextOptions = {}) {
  const { app } = site;
  const of = await seedProvider(app);
  await call(app, '/api/add-domain', of, { domain_hash: DOMAIN_HASH });
  const added = await call(app, '/api/add-install', of, { install_limit: 2, note: 'Anna' });
  const { id, install_code: code } = added.json;
  const [old, fresh] = [`${of.code}-old`, `${of.code}-new`];
  for (const hwid of [old, fresh]) {
    const facts = { hwid, os_name: 'Android', device_model: 'Pixel 9' };
    await call(app, '/install', null, { id: DOMAIN_HASH, installid: code, ...facts });
    app.clock.advance(HOUR_MS);
  }
  const by = ['session.key', { code: of.code, key: of.authKey }] as const;
  const tab = await openTab(site, [...by], `/console/links?link=${id}`, options);
  await tab.page.locator('.message-panel .list').first().waitFor();
  await untilFollowed(app);
  const hwids = async () => {
    const provider = await app.core.store.findProvider(of.code);
    const devices = await app.core.store.listLinkDevices(provider?.id ?? 0, id, 9);
    return devices.map(({ hwid }) => hwid);
  };
  return { ...tab, of, id, code, old, fresh, hwids };
}

testChromium('the old slot of a phone with a new HWID is freed when the time is over', async () => {
  const { page, old, fresh, hwids } = await open();
  const notice = page.locator('.message-panel .notice');
  await notice.getByText(en.link.samePhone).waitFor();
  await notice.getByText(old).waitFor();
  await notice.getByRole('button', { name: en.link.freeOld }).click();
  await page.locator('.jobs').getByText(en.jobs.freeing(old)).waitFor();
  expect(await hwids()).toEqual([fresh, old]);
  await pass();
  await page.locator('.jobs').waitFor({ state: 'detached' });
  // Until the panel asks anew, the slot and the question about the same phone name it.
  const named = page.locator('.panel-head ~ * .list').getByText(old);
  await until('it is gone', async () => (await named.count()) === 0);
  expect(await hwids()).toEqual([fresh]);
});

testChromium('all slots are freed when the time is over', async () => {
  const { page, hwids } = await open();
  await page.getByRole('button', { name: en.link.freeAll }).dblclick();
  await page.locator('.jobs').getByText(en.jobs.freeingAll).waitFor();
  await becomes(() => page.locator('.jobs li').count(), 1);
  await pass();
  await page.getByText(en.link.noDevices).waitFor();
  expect(await hwids()).toEqual([]);
});

testChromium('a link that is revoked shows its new code, and no QR code of the old', async () => {
  const { page, code, id } = await open();
  await page.getByLabel(en.link.address).fill('https://sub.example.com/s/abc');
  await page.getByRole('button', { name: en.link.make }).click();
  await page.getByText(`#sub.example.com?installid=${code}`).waitFor();
  await page.getByRole('button', { name: en.link.revoke }).click();
  await page.locator('.jobs').getByText(en.jobs.revoking).waitFor();
  await pass();
  const { installCode = '' } = (await site.app.core.store.findLinkById(id)) ?? {};
  expect(installCode).not.toBe(code);
  await page.locator('.panel-head').getByText(installCode).waitFor();
  await page.getByText(`installid=${code}`).waitFor({ state: 'detached' });
});

testChromium('a failed job is shown with its reason until it is dismissed', async () => {
  const { page, of } = await open();
  const { app } = site;
  await page.getByRole('button', { name: en.link.freeAll }).click();
  await page.locator('.jobs').getByText(en.jobs.freeingAll).waitFor();
  const act = { actor: { kind: 'operator', name: 'test', from: 'local' }, atMs: 0 } as const;
  await app.core.store.updateProvider(of.code, { suspendedAtMs: app.clock.nowMs() }, act);
  await pass();
  const reason = page.getByText(en.jobs.problems.subscription_required);
  await reason.waitFor();
  expect(await faultsOf(page)).toEqual([]);
  await page.reload();
  await reason.waitFor();
  await page.getByRole('button', { name: en.jobs.dismiss }).click();
  await page.locator('.jobs').waitFor({ state: 'detached' });
  await page.waitForFunction("document.activeElement.id === 'content'");
  await page.reload();
  await page.locator('.message-panel .list').first().waitFor();
  await becomes(() => page.locator('.jobs').count(), 0);
});

testChromium.each([320, 390, 1_366])(
  'undo lies over the panel, is said, and Ctrl+Z does it: %i px',
  async (width) => {
    const { page, hwids, old } = await open({ viewport: { width, height: 700 } });
    const panel = page.locator('.message-panel');
    const said = page.getByText(en.jobs.undoSaid(en.jobs.freeing(old)), { exact: true });
    const free = () => panel.locator('li', { hasText: old }).last().getByRole('button').last();
    await free().click();
    await said.waitFor({ state: 'attached' });
    expect(await said.getAttribute('role')).toBe('status');
    // Nothing lies over the button, also when the panel is scrolled.
    await panel.evaluate((one) => one.scrollTo(0, one.scrollHeight));
    await page.locator('.jobs').getByRole('button', { name: en.jobs.undo }).click();
    await page.locator('.jobs').waitFor({ state: 'detached' });
    await page.getByText(en.jobs.undone, { exact: true }).waitFor({ state: 'attached' });
    await free().click();
    await page.locator('.jobs').waitFor();
    // In a field the keys undo what was typed there.
    await page.getByLabel(en.link.address).press('Control+z');
    await page.locator('.jobs').waitFor();
    await page.locator('#panel-title').focus();
    await page.keyboard.press('Control+z');
    await page.locator('.jobs').waitFor({ state: 'detached' });
    await pass();
    expect((await hwids()).length).toBe(2);
  },
);

testChromium('a change behind a full queue of events says what it waits for', async () => {
  const { page, of } = await open();
  const { app } = site;
  await call(app, '/api/webhook-add', of, { url: 'https://bot.example.com/' });
  await app.core.store.addJob({
    providerId: (await app.core.store.findProvider(of.code))?.id ?? 0,
    kind: 'links.change',
    params: JSON.stringify({ filter: { search: null, status: null, isFull: false }, toId: 1 }),
    actor: { kind: 'operator', name: 'test', from: 'local' },
    totalCount: 1,
    createdAtMs: app.clock.nowMs(),
    dueAtMs: app.clock.nowMs(),
    among: ['links.change'],
    countMax: 1,
  });
  const setWaiting = (count: number) =>
    counted(app, `UPDATE destination SET waiting_count = ${count} WHERE webhook_id IS NOT NULL`);
  await setWaiting(10_000);
  await stepOn();
  await page.reload();
  await page.locator('.jobs').getByText(en.jobs.held).waitFor();
  await setWaiting(9_999);
  await page.reload();
  await page.locator('.jobs').getByText(en.jobs.changing).waitFor();
  await becomes(() => page.getByText(en.jobs.held).count(), 0);
  await setWaiting(0);
});

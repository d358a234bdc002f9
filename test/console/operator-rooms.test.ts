/** The operator's pages in the browser: devices, messages, health, settings and audit log. */

import { beforeAll, expect } from 'bun:test';
import { texts as base } from '../../src/console/texts/en.ts';
import { texts as own } from '../../src/console/texts/operator-en.ts';
import { ACT } from '../support/actor.ts';
import { testChromium } from '../support/chromium.ts';
import { openTab, useConsoleSite } from '../support/console-page.ts';
import { makeWorld, type World } from '../support/console-world.ts';
import { notify } from '../support/messaging.ts';
import { operatorEntry } from '../support/operator.ts';
import { becomes } from '../support/until.ts';

const en = { ...base, ...own };

const site = useConsoleSite();
let world: World;
beforeAll(async () => {
  world = await makeWorld(site.app);
});

async function open(path: string) {
  const secret = await operatorEntry(site.app);
  const tab = await openTab(site, ['session.entry', { secret }], path);
  return tab.page;
}

testChromium('a device is found by its model, handed over, and forgotten', async () => {
  const words = en.records;
  const [device] = await site.app.core.store.pageDevices(Number.MAX_SAFE_INTEGER, 1);
  const { deviceName = '', hwid = '' } = device ?? {};
  const page = await open('/console/devices');
  await page.getByLabel(words.searchDevice).fill(deviceName.toUpperCase());
  await page.getByRole('button', { name: deviceName }).first().waitFor();
  await page.getByLabel(words.searchDevice).fill(hwid);
  const row = page.locator('tbody tr');
  await row.filter({ hasText: hwid }).getByRole('button').click();
  const panel = page.locator('aside');
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    panel.getByRole('button', { name: words.handOver }).click(),
  ]);
  expect(await Bun.file((await file.path()) ?? '').json()).toMatchObject({ device: { hwid } });
  await panel.getByRole('button', { name: words.forget }).click();
  await panel.locator('dialog').getByRole('button', { name: words.forget }).click();
  await panel.waitFor({ state: 'detached' });
  expect(await site.app.core.store.findDevice(hwid)).toBeNull();
});

testChromium('a message that has not ended says why, and is blocked', async () => {
  const words = en.records;
  const [device] = await site.app.core.store.pageDevices(Number.MAX_SAFE_INTEGER, 1);
  const to = { hwid: device?.hwid ?? '' };
  const id = await notify(site.app, world.own, 'text', to, { title: 'Stuck' });
  const page = await open('/console/sends');
  await page.getByRole('button', { name: 'Stuck' }).click();
  const panel = page.locator('aside');
  await panel.getByText(words.waiting.worker).waitFor();
  await panel.getByRole('button', { name: words.block }).click();
  await panel.locator('dialog').getByRole('button', { name: words.block }).click();
  await panel.getByText(words.waiting.ended).waitFor();
  const filter = { providerCode: null, countMax: 1, beforeId: id + 1 };
  expect(await site.app.core.store.listAllDistributions(filter)).toMatchObject([{ status: 140 }]);
});

testChromium('the doctor examines, and its findings are sorted', async () => {
  const words = en.machine;
  const page = await open('/console/health');
  await page.getByText(words.notExamined).waitFor();
  await page.getByRole('button', { name: words.examine }).click();
  const levels = page.locator('.findings .badge');
  await levels.first().waitFor();
  expect(await levels.allTextContents()).toEqual([
    ...[words.levels.problem, words.levels.warning, words.levels.ok],
  ]);
});

testChromium('the chain is verified, and the log is filtered by the address', async () => {
  const words = en.machine;
  const page = await open('/console/audit');
  await page.getByRole('button', { name: words.verify }).click();
  await page.getByText(words.whole('3')).waitFor();
  await page.locator('summary').getByText(words.filter).click();
  await page.getByLabel(en.activity.group).selectOption('providers');
  await page.getByRole('button', { name: words.search, exact: true }).click();
  await page.getByText(en.activity.sentences['provider.add']({ plan: 'enterprise' })).waitFor();
  // The whole list has that one too.
  await becomes(() => page.locator('.activity li').count(), 1);
  expect(page.url()).toContain('group=providers');
  await page.goto(`${site.url}/console/settings?search=log`);
  await page.locator('tbody tr').waitFor();
  await becomes(() => page.locator('tbody tr').count(), 1);
});

testChromium(
  'a test of a gateway that is not set up says so; figures lead to a provider',
  async () => {
    const words = en.delivery;
    const page = await open('/console/gateways');
    await page.getByLabel('HWID').fill('phone');
    await page.getByRole('button', { name: words.send }).click();
    await page.getByText(en.refusals.gateway_not_set_up).waitFor();
    await page.getByText(words.noWebhooks).waitFor();
    await page.goto(`${site.url}/console/figures`);
    await page.getByRole('button', { name: words.days(14) }).click();
    await page.locator('tbody').getByRole('button', { name: world.own.code }).click();
    await page.locator('.acting').waitFor();
    expect(page.url()).toEndWith(`/console?at=${world.own.code}`);
  },
);

testChromium('an observer is invited, and the last operator stays', async () => {
  const words = en.accounts;
  const page = await open('/console/accounts');
  await page.getByRole('button', { name: en.staff.invite }).click();
  const link = await page.locator('.secret .code').textContent();
  expect(link).toContain(`${site.url}/console#invitation=`);
  const { store } = site.app.core;
  for (const { id, name } of await store.listMembers(null)) {
    if (name !== 'olga') await store.removeRole(id, null, ACT);
  }
  await page.getByLabel(en.staff.roleOf('olga')).selectOption('observer');
  await page.getByText(en.refusals.last_of_role).waitFor();
  await page.getByLabel(en.common.name).first().fill('somebody else');
  await page.getByRole('button', { name: words.endSessions }).click();
  await page.getByText(en.refusals.account_not_found).waitFor();
});

testChromium('backups are verified one by one, and a copy is made for a download', async () => {
  const words = en.backups;
  const page = await open('/console/backups');
  const rows = page.locator('tbody tr');
  await rows.first().waitFor();
  for (const row of await rows.all()) await row.getByRole('button').click();
  await page.getByText(words.good, { exact: true }).waitFor();
  await page.getByText('a chunk is damaged').waitFor();
  await page.getByRole('button', { name: words.make }).click();
  await page.getByText('the disk is full').waitFor();
  await page.getByLabel(words.passphrase).fill('a long passphrase');
  await page.getByRole('button', { name: words.prepare }).click();
  const link = page.getByRole('link', { name: words.save('7 byte') });
  await link.waitFor();
  expect(await link.getAttribute('href')).toBe('/console/backup');
});

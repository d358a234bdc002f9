/** The page of upstreams in the browser: checked, added, changed and removed. */

import { afterAll, beforeAll, expect } from 'bun:test';
import { texts as en } from '../../src/console/texts/en.ts';
import { texts as own } from '../../src/console/texts/operator-en.ts';
import { seedProvider } from '../support/app.ts';
import { testChromium } from '../support/chromium.ts';
import { faultsOf, openTab, useConsoleSite } from '../support/console-page.ts';
import { operatorEntry } from '../support/operator.ts';
import { becomes } from '../support/until.ts';

const words = own.upstreams;
const site = useConsoleSite({}, { expectsTrouble: true });
let panel: Bun.Server<undefined>;
beforeAll(async () => {
  const answer = () => new Response('', { status: 404 });
  panel = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: answer });
});
afterAll(async () => {
  await panel?.stop(true);
});

testChromium('an upstream is checked, added, changed and removed', async () => {
  const { code } = await seedProvider(site.app);
  const secret = await operatorEntry(site.app);
  const tab = await openTab(site, ['session.entry', { secret }], '/console/upstreams');
  const { page, troubles } = tab;
  await page.getByRole('heading', { name: words.none }).waitFor();
  const field = (label: string) => page.getByLabel(label, { exact: true });
  const press = (name: string) => page.getByRole('button', { name, exact: true }).click();
  await field(words.host).fill('sub.example.com');
  await field(words.url).fill('http://127.0.0.1:9');
  await field(words.provider).fill(code);
  await press(words.check);
  await page
    .getByText(
      words.panel.silent('ECONNREFUSED: the connection is refused, no program listens there'),
    )
    .waitFor();
  await page.getByText(words.binding.not_bound).waitFor();
  await page.getByText(/^The certificate is valid for the host, until .*\d/).waitFor();
  expect(await faultsOf(page)).toEqual([]);
  // What was checked is no longer what stands there.
  await field(words.url).fill(`http://127.0.0.1:${panel.port}`);
  await press(words.check);
  await page.getByText(words.panel.answers('404 to HEAD /, 404 to GET /sub/{key}')).waitFor();
  await press(words.put);
  const row = page.getByRole('row').filter({ hasText: 'sub.example.com' });
  await row.getByText(words.here).waitFor();
  expect(site.app.settings.gateUpstreams).toMatchObject([
    { host: 'sub.example.com', defaultLimit: 3 },
  ]);

  await row.getByRole('button', { name: en.common.change }).click();
  await page.getByRole('heading', { name: words.changeOf('sub.example.com') }).waitFor();
  await field(words.limit).fill('5');
  await field(words.key).selectOption({ label: words.keySigned('PasarGuard') });
  await field(words.panelKind).selectOption('pasarguard');
  await field(words.refusedAs).selectOption({ label: words.refusedAsPanel });
  await page.locator('textarea[name=more]').fill('placeholder = tru');
  await press(words.check);
  await page.getByText('the lines are not key = value').waitFor();
  await page.locator('textarea[name=more]').fill('placeholder = true');
  await press(words.check);
  await press(words.save);
  await page.getByText(words.saved).waitFor();
  expect(site.app.settings.gateUpstreams).toMatchObject([
    {
      defaultLimit: 5,
      key: 'pasarguard',
      placeholder: true,
      panel: 'pasarguard',
      refusedAs: 'panel',
    },
  ]);
  await becomes(() => field(words.key).inputValue(), 'pasarguard');
  await becomes(() => field(words.refusedAs).inputValue(), 'panel');
  await becomes(() => page.locator('textarea[name=more]').inputValue(), 'placeholder = true');

  await row.getByRole('button', { name: words.remove }).click();
  await page.getByRole('dialog').getByRole('button', { name: words.remove }).click();
  await page.getByRole('heading', { name: words.none }).waitFor();
  expect(site.app.settings.gateUpstreams).toEqual([]);
  expect(troubles).toEqual([]);
});

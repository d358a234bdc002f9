/** Activity: the values of what changed stand in words of the reader's language. */

import { expect } from 'bun:test';
import { texts as en } from '../../src/console/texts/en.ts';
import { texts as fa } from '../../src/console/texts/fa.ts';
import { ACT } from '../support/actor.ts';
import { call, seedProvider } from '../support/app.ts';
import { testChromium } from '../support/chromium.ts';
import { openTab, useConsoleSite } from '../support/console-page.ts';

const site = useConsoleSite();

testChromium.each([
  ['en-GB', en],
  ['fa-IR', fa],
] as const)('a change of status and rules is said in words: %s', async (locale, texts) => {
  const of = await seedProvider(site.app);
  await call(site.app, '/api/add-install', of, { install_limit: 2 });
  const { json } = await call(site.app, '/api/list-install', of);
  await call(site.app, '/api/update-install', of, { id: json.data[0].id, status: 5 });
  const rules = { enforce: 0, whenFull: 'replace-oldest', inactiveDays: 30 } as const;
  await site.app.core.store.updateProvider(of.code, rules, ACT);
  const signIn = ['session.key', { code: of.code, key: of.authKey }] as const;
  const { context, page, troubles } = await openTab(site, [...signIn], '/console/activity', {
    locale,
  });
  const { change, usual } = texts.activity;
  const { choices: values, labels: fields } = texts;
  for (const text of [
    change(fields.status, values.status[10], values.status[5]),
    change(fields.enforce, usual, values.enforce[0]),
    change(fields.when_full, usual, values.when_full['replace-oldest']),
    change(fields.inactive_days, usual, '30'),
  ]) {
    await page.locator('.activity').getByText(text, { exact: true }).waitFor();
  }
  expect(troubles).toEqual([]);
  await context.close();
});

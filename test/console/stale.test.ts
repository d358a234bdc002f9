/** Two browsers at one provider: what one changes, the rows of both show. */

import { afterEach, expect } from 'bun:test';
import type { Page } from 'playwright-core';
import { texts as en } from '../../src/console/texts/en.ts';
import { call, seedProvider } from '../support/app.ts';
import { testChromium } from '../support/chromium.ts';
import { openTab, useConsoleSite } from '../support/console-page.ts';
import { becomes, until } from '../support/until.ts';

const site = useConsoleSite();

afterEach(async () => {
  await until('no stream is left', () => site.app.server.liveCount() === 0);
});

const rowOf = (page: Page, id: number) => page.locator(`tr:has([data-id="${id}"])`);

/** What the row of a link says: note, devices of limit, status. */
const saysOf = async (page: Page, id: number) =>
  Promise.all(
    ['note', 'devices bdi', 'status'].map((cell) =>
      rowOf(page, id).locator(`.c-${cell}`).textContent(),
    ),
  );

/** Waits until a row has a note, while time goes on for the stream; then it says all of it. */
async function follows(page: Page, id: number, [note = '', ...more]: string[]): Promise<void> {
  const cell = rowOf(page, id).locator('.c-note', { hasText: note });
  await until(`the row has ${note}`, async () => {
    site.app.clock.advance(1_000);
    // The page is asked seldom: the browser loses track of thousands of questions.
    return cell.waitFor({ timeout: 500 }).then(
      () => true,
      () => false,
    );
  });
  await becomes(() => saysOf(page, id), [note, ...more]);
}

testChromium.each(['', '?sort=note', '?search=anna'])(
  'rows follow a change: links%s',
  async (search) => {
    const { app } = site;
    const of = await seedProvider(app);
    const { id } = (await call(app, '/api/add-install', of, { install_limit: 2, note: 'Anna' }))
      .json;
    await call(app, '/api/add-install', of, { install_limit: 4, note: 'Hannah, anna' });
    const by = ['session.key', { code: of.code, key: of.authKey }] as const;
    const [mine, other] = await Promise.all(
      [0, 1].map(() => openTab(site, [...by], `/console/links${search}`)),
    );
    if (mine === undefined || other === undefined) throw new Error('no tab');
    for (const { page } of [mine, other]) await rowOf(page, id).waitFor();
    await until('both have their stream', () => app.server.liveCount() === 2);
    await rowOf(mine.page, id).click();
    const panel = mine.page.locator('.message-panel');
    await panel.getByText(en.link.edit).click();
    await panel.getByLabel(en.heads.install_limit).fill('7');
    await panel.getByLabel(en.heads.note).fill('Anna B.');
    await panel.getByRole('button', { name: en.common.save }).click();
    // The own row at once, without the stream: its clock stands still.
    await becomes(() => saysOf(mine.page, id), ['Anna B.', '0 / 7', en.links.active]);
    await panel.getByRole('button', { name: en.common.disable, exact: true }).click();
    await becomes(() => saysOf(mine.page, id), ['Anna B.', '0 / 7', en.links.off]);
    await follows(other.page, id, ['Anna B.', '0 / 7', en.links.off]);
    // And a change by a program.
    await call(app, '/api/update-install', of, { id, install_limit: 9, note: 'Anna C.' });
    for (const { page } of [mine, other]) {
      await follows(page, id, ['Anna C.', '0 / 9', en.links.off]);
    }
    await expect(panel.getByText(en.links.ofLimit('0', '9')).count()).resolves.toBe(1);
  },
);

/**
 * A newcomer takes the way that the pages offer: a domain, a link, its QR code, a first device, its
 * slot freed, a message. It counts what a hand does.
 *
 * NEWCOMER_FIGURES=1 prints the counts.
 */

import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Browser } from 'playwright-core';
import { closePages, HAS_CHROMIUM, sharedShell } from '../support/chromium.ts';
import {
  addProvider,
  ask,
  HOST,
  knock,
  LANGUAGES,
  signInByKey,
  siteOf,
  visit,
} from '../support/console-served.ts';
import { type ServerProcess, startServe } from '../support/process.ts';
import { useProcesses } from '../support/use-processes.ts';

useProcesses();

/** At a second for a click and six for a field that is typed, well under two minutes. */
const CLICKS_MAX = 12;
const FIELDS_MAX = 4;
const PAGES_MAX = 5;

let server: ServerProcess;
let browser: Browser;
beforeAll(async () => {
  server = await startServe();
  if (HAS_CHROMIUM) browser = await sharedShell();
});
afterAll(closePages);

// Side by side: each waits ten seconds for its slot.
test.concurrent.skipIf(!HAS_CHROMIUM).each(LANGUAGES)(
  'from the sign-in to a message, %s',
  async (locale, words) => {
    const site = siteOf(server);
    const own = await addProvider(server);
    const visited = await visit({ browser, site }, '/console', { locale });
    const { hand, page, troubles } = visited;
    const pages = new Set(['/console']);
    page.on('framenavigated', (frame) => pages.add(new URL(frame.url()).pathname));
    await signInByKey(visited, words, own);

    // Each step leads to the next.
    const step = (name: string) => page.locator('.steps [aria-current=step]', { hasText: name });
    await hand.press(words.common.goOn, step(words.domains.bindStep));
    await hand.type(words.domains.host, `https://${HOST}/s/abc`);
    await hand.press(words.domains.bind);
    await hand.press(words.common.goOn, step(words.domains.linkStep));
    await hand.press(words.links.create, page.getByRole('dialog'));
    const panel = page.locator('.message-panel');
    // The address of a customer is a secret, which the page does not keep.
    await panel.getByLabel(words.link.address, { exact: true }).fill(`https://${HOST}/s/abc`);
    await hand.press(words.link.make, panel);
    await page.getByRole('img', { name: words.link.qr }).waitFor();
    const final = (await panel.locator('.final .code').textContent()) ?? '';
    expect(final).toStartWith(`https://${HOST}/s/abc#${HOST}?installid=`);

    // The app on a phone that has read the code.
    const code = final.split('installid=')[1] ?? '';
    expect(await knock(site, code, 'phone-1')).toMatchObject({ rc: 1 });
    await panel.getByText('phone-1').waitFor();
    await hand.press(words.link.free, panel);
    await page.getByText(words.jobs.freeing('phone-1')).waitFor();

    await hand.follow(words.messages.title);
    await hand.press(words.messages.write);
    await hand.type(words.compose.body, 'Hello');
    await hand.press(words.compose.check);
    await page.getByRole('region', { name: words.compose.reach }).waitFor();
    await hand.press(words.compose.sendTo(new Intl.NumberFormat(words.tag).format(1), 1));
    await page.locator('.message-panel .said').waitFor();

    // The slot is free when its ten seconds are over.
    await page.locator('.jobs').waitFor({ state: 'detached' });
    expect(await ask(site, '/api/list-hwid', own, { install_code: code })).toMatchObject({
      rc: 1,
      data: [],
    });
    if (process.env['NEWCOMER_FIGURES']) {
      console.log({ locale, clicks: hand.clicks, fields: hand.fields, pages: [...pages] });
    }
    expect(pages.size).toBeLessThanOrEqual(PAGES_MAX);
    expect(hand.clicks).toBeLessThanOrEqual(CLICKS_MAX);
    expect(hand.fields).toBeLessThanOrEqual(FIELDS_MAX);
    expect(troubles).toEqual([]);
    await visited.close();
  },
);

/** The pages of messages and of activity: what they say, by keyboard too, without faults of axe. */

import { beforeEach, expect, test } from 'bun:test';
import type { Locator, Page } from 'playwright-core';
import { texts as en } from '../../src/console/texts/en.ts';
import { texts as fa } from '../../src/console/texts/fa.ts';
import { texts as ru } from '../../src/console/texts/ru.ts';
import { ACTIONS } from '../../src/core/audit/entry.ts';
import type { Credentials } from '../../src/core/provider.ts';
import { call, seedProvider } from '../support/app.ts';
import { testChromium } from '../support/chromium.ts';
import { faultsOf, LOOKS_TRIED, openTab, useConsoleSite } from '../support/console-page.ts';
import { byBinding, post, register } from '../support/messaging.ts';
import { bind, HASH } from '../support/shop.ts';
import { becomes, until } from '../support/until.ts';
import { XSS_VECTORS } from '../support/xss-vectors.ts';

const MINUTE_MS = 60_000;
const words = en.messages;

const site = useConsoleSite();
let own: Credentials;
beforeEach(async () => {
  const { clock, server } = site.app;
  await until('no stream is left', async () => {
    await clock.advance(1_000);
    return server.liveCount() === 0;
  });
  await site.app.reset();
  own = await seedProvider(site.app);
  await bind(site.app, own);
});

const open = (path: string, options = {}) =>
  openTab(site, ['session.key', { code: own.code, key: own.authKey }], path, options);

const checkIn = (hwid: string, device_model = '') => {
  const query = { id: own.code, domain_hash: HASH, hwid, os_name: 'android', device_model };
  return call(site.app, '/provider', null, query);
};

async function send(path: string, body: object): Promise<number> {
  const init = { method: 'POST', body: JSON.stringify(body) };
  const sent = await call(site.app, path, own, {}, init);
  if (sent.json.rc !== 1) throw new Error(sent.text);
  return sent.json.id;
}

function notify(form: object, target: object = { os: ['android'] }): Promise<number> {
  const whole = { title: 'Hello', body: 'x', type_push: 'optional', expire_days: 1, ...form };
  return send('/remote/notification', { PushNotificationForm: whole, ...target });
}

/** The time in UTC+3, as a send has it. */
function inMinutes(minutes: number) {
  const local = new Date(site.app.clock.nowMs() + (180 + minutes) * MINUTE_MS).toISOString();
  return { send_date: local.slice(0, 10), send_time: local.slice(11, 16) };
}

/** A message to three devices of which one opened it, a command, and a message for tomorrow. */
async function world() {
  await checkIn('silent', 'Pixel 9');
  const token = await register(site.app, byBinding('phone', own));
  await register(site.app, byBinding('tablet', own));
  const locales = { ru: { title: 'Привет', body: 'Новые серверы' } };
  const sent = await notify({ body: '<b>New</b> servers', locales });
  await site.app.deliver();
  await post(site.app, '/device/ack', { items: [{ id: sent, state: 'opened' }] }, token);
  const update = { action_type: 'update-subscription', hwid: 'phone' };
  const command = await send('/remote/command', update);
  const later = await notify({ title: 'Tomorrow', ...inMinutes(24 * 60) }, { hwid: 'phone' });
  return { sent, command, later };
}

/** What a reader sees. */
const textOf = async (locator: Locator) =>
  (await locator.allInnerTexts()).join(' ').replace(/\s+/g, ' ');

const panelOf = (page: Page) => page.locator('aside.message-panel');

testChromium.each(LOOKS_TRIED)('no page has a fault: $colorScheme', async (look) => {
  const texts = look.locale === 'en-GB' ? en : fa;
  const { later, sent } = await world();
  const { context, page, troubles } = await open('/console/messages', look);
  await page.locator('.rows.messages tbody tr').nth(2).waitFor();
  expect(await faultsOf(page)).toEqual([]);
  await page.locator(`#message-${sent}`).click();
  await panelOf(page).getByText(texts.messages.steps.opened, { exact: true }).first().waitFor();
  await panelOf(page).locator('.receipt').nth(2).waitFor();
  expect(await faultsOf(page)).toEqual([]);
  await page.goto(`${site.url}/console/messages?message=${later}`);
  await panelOf(page).getByRole('button', { name: texts.messages.cancel }).click();
  expect(await faultsOf(page)).toEqual([]);
  await page.goto(`${site.url}/console/activity`);
  await page.locator('.activity li').first().waitFor();
  expect(await faultsOf(page)).toEqual([]);
  // The page that signs in is none: its icon may be missed late.
  expect(troubles.filter((text) => !text.includes('404'))).toEqual([]);
  await context.close();
});

testChromium('a panel says what became of a message, and keys close it', async () => {
  const { sent } = await world();
  const { context, page } = await open('/console/messages', { timezoneId: 'Asia/Tehran' });
  const rows = page.locator('.rows.messages tbody tr');
  await rows.nth(2).waitFor();
  expect(await textOf(rows.nth(0))).toContain(words.states.scheduled);
  expect(await textOf(rows.nth(2))).toContain('3 / 3');
  expect(await textOf(rows.nth(2))).toMatch(/15:00 UTC\+3\s+.*15:30 your time/);
  await page.locator(`#message-${sent}`).focus();
  await page.keyboard.press('Enter');
  const panel = panelOf(page);
  await panel.locator('.receipt').nth(2).waitFor();
  await panel.getByText(words.languages(1)).click();
  expect(await panel.locator('.said').allInnerTexts()).toEqual([
    expect.stringMatching(/Hello\s+New servers/),
    expect.stringMatching(/ru\s+Привет\s+Новые серверы/),
  ]);
  expect(await textOf(panel.locator('.funnel'))).toContain(
    'Received 1 33% Opened 1 33% Failed 0 Expired 0',
  );
  const { inbox, stream, push, fetch, unknown, none } = words.way;
  const late = [`${fetch(12)} 0`, `${unknown} 0`, `${none} 1`];
  const shown = [`${inbox} 2`, `${stream} 0`, `${push} 0`, ...late];
  expect(await textOf(panel.locator('.ways-of'))).toBe(shown.join(' '));
  await panel.getByRole('button', { name: words.ledgerShows.waiting }).click();
  await panel.locator('.receipt', { hasText: 'phone' }).waitFor({ state: 'detached' });
  await panel.getByText('Pixel 9').waitFor();
  await becomes(() => panel.locator('.receipt').count(), 2);
  await page.keyboard.press('Escape');
  await panel.waitFor({ state: 'detached' });
  await becomes(() => page.locator(`#message-${sent}:focus`).count(), 1);
  await context.close();
});

testChromium('on a phone the panel covers the page, and nothing is wider than it', async () => {
  const { sent } = await world();
  const viewport = { width: 320, height: 640 };
  const { context, page } = await open('/console/messages', { viewport, locale: 'fa-IR' });
  const isWide = () => page.evaluate('document.documentElement.scrollWidth > innerWidth');
  await page.locator(`#message-${sent}`).click();
  await panelOf(page).locator('.receipt').nth(2).waitFor();
  expect(await isWide()).toBe(false);
  await panelOf(page).getByRole('button', { name: fa.common.close }).click();
  await panelOf(page).waitFor({ state: 'detached' });
  expect(await isWide()).toBe(false);
  await page.goto(`${site.url}/console/activity`);
  await page.locator('.activity li').first().waitFor();
  expect(await isWide()).toBe(false);
  await context.close();
});

testChromium('a scheduled message is cancelled after one question', async () => {
  const { later } = await world();
  const { context, page } = await open(`/console/messages?message=${later}`);
  const panel = panelOf(page);
  await panel.getByRole('timer').waitFor();
  expect(await textOf(panel.getByRole('timer'))).toMatch(/for 23 hrs? (49|50) mins?/);
  await panel.getByRole('button', { name: words.cancel }).click();
  await panel.getByRole('dialog').getByRole('button', { name: words.cancel }).click();
  await panel.getByText(words.states.cancelled, { exact: true }).waitFor();
  await panel.getByRole('timer').waitFor({ state: 'detached' });
  await panel.getByRole('status').getByText(words.isCancelled).waitFor();
  await becomes(() => page.locator('#panel-title:focus').count(), 1);
  await page.goto(`${site.url}/console/activity?group=messages`);
  await page.getByText(`Message ${later} cancelled`).waitFor();
  await becomes(() => page.locator('.activity li').count(), 4);
  await context.close();
});

testChromium('what changes elsewhere comes in place; new messages wait', async () => {
  const { later } = await world();
  const { context, page } = await open('/console/messages');
  const rows = page.locator('.rows.messages tbody tr');
  await rows.nth(2).waitFor();
  const { clock, server } = site.app;
  // The stream compares with what it saw first, once a second of the server's clock.
  const seen = (what: string, locator: Locator) =>
    until(what, async () => {
      await clock.advance(1_000);
      return (await locator.count()) > 0;
    });
  await until('a stream is open', () => server.liveCount() === 1);
  await clock.advance(1_000);
  await call(site.app, '/remote/cancel', own, { id: later });
  await seen('the cancellation', rows.nth(0).getByText(words.states.cancelled));
  await send('/remote/command', { action_type: 'update-subscription', hwid: 'phone' });
  const fresh = page.getByRole('button', { name: words.fresh(1) });
  await seen('a new message', fresh);
  await fresh.click();
  await rows.nth(3).waitFor();
  await context.close();
});

testChromium('what providers and devices set comes out as text', async () => {
  const vectors = XSS_VECTORS.slice(0, 30);
  for (const [n, vector] of vectors.slice(0, 12).entries()) {
    await checkIn(`device-${n}`, vector.slice(0, 60));
  }
  const token = await register(site.app, byBinding('phone', own));
  const title = vectors.join(' ').slice(0, 900);
  const command = await send('/remote/command', {
    action_type: 'import-data',
    import_data: XSS_VECTORS.join('\n'),
    hwid: 'phone',
  });
  const id = await notify({ title, body: `${vectors.slice(0, 9).join('')} &lt;img src=x&gt; end` });
  await site.app.deliver();
  const failed = { id: command, state: 'failed', detail: '<img src=x onerror=alert(1)>' };
  await post(site.app, '/device/ack', { items: [failed] }, token);
  const { context, page, troubles } = await open(`/console/messages?message=${id}`);
  const panel = panelOf(page);
  await panel.locator('.receipt').nth(12).waitFor();
  await becomes(() => panel.locator('.said strong').textContent(), title);
  await becomes(() => page.locator('.message-title').first().textContent(), title.slice(0, 120));
  await page.goto(`${site.url}/console/messages?message=${command}`);
  await panel.locator('.why').waitFor();
  await becomes(() => panel.locator('.why').textContent(), failed.detail);
  await becomes(() => page.locator('main :is(img, script, iframe, style, object)').count(), 0);
  expect(troubles).toEqual([]);
  await context.close();
});

test('each action has a sentence in each language, and numbers have their forms', () => {
  for (const { activity } of [en, ru, fa]) {
    const about = { id: 7, hwids: 2, count: 5, role: 'sender', key: 'ab12', links: 3 };
    const sentences = (Object.keys(ACTIONS) as (keyof typeof ACTIONS)[]).map((action) =>
      activity.sentences[action]({ ...about, os: null, install_limit: 3 }),
    );
    expect(sentences.filter((text) => /NaN|null/.test(text))).toEqual([]);
    expect(new Set(sentences).size).toBe(sentences.length);
  }
  const free = { id: 7, hwids: 2 };
  expect(en.activity.sentences['install.free'](free)).toBe('2 devices removed from link 7');
  expect(ru.activity.sentences['install.free'](free)).toBe('Со ссылки 7 удалено: 2 устройства');
  expect(ru.messages.toDevices(21)).toBe('21 устройство');
});

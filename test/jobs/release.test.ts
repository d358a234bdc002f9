/** A newer version: asked for once a day, and said once by each door, on either store. */

import { afterEach, beforeEach, expect } from 'bun:test';
import { COMMIT, VERSION } from '../../src/base/version.ts';
import { noticeAppliance, noticeUpkeep } from '../../src/jobs/notice.ts';
import { makeReleaseCheck } from '../../src/jobs/release.ts';
import { openOutgoing } from '../../src/parts/open-outgoing.ts';
import { newestRelease } from '../../src/parts/release.ts';
import { startTestApp } from '../support/app.ts';
import { testAppliance } from '../support/appliance.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../support/delivery.ts';
import { testWith } from '../support/needs.ts';
import { type FakeChat, Nights } from '../support/nights.ts';
import { operatorBrowser } from '../support/operator.ts';
import { parseMetrics, seriesValue } from '../support/prometheus.ts';
import { RELEASE_TOOLS, type ReleasePage, releasePage } from '../support/release.ts';

const test = testWith(...RELEASE_TOOLS);
const NEWER = `${Number.parseInt(VERSION, 10) + 10}.0.0`;
const NEWEST = `${Number.parseInt(VERSION, 10) + 11}.0.0`;
const never = new AbortController().signal;

let nights: Nights;
let page: ReleasePage;
let chat: FakeChat;
beforeEach(async () => {
  nights = await Nights.open();
  page = releasePage();
  chat = await nights.addChat('1');
  Object.assign(nights.settings, { updateUrl: page.url, updateKey: page.key });
});
afterEach(async () => {
  await nights.close();
  await page.stop();
});

/** A node that serves, as app.ts puts it together. */
function node(random = 0.5) {
  const { core, clock } = nights.engine;
  const outgoing = openOutgoing(nights.settings);
  return makeReleaseCheck({
    settings: nights.settings,
    store: core.store,
    clock,
    log: nights.log,
    random: () => random,
    ask: (signal) => newestRelease(nights.settings, outgoing, { signal }),
    onNoted: () => noticeUpkeep(core, clock.nowMs()),
  });
}

/** Runs nodes each ten minutes; returns the hours from now at which the page was asked. */
async function hoursAsked(hours: number, ...nodes: ReturnType<typeof node>[]): Promise<number[]> {
  const asked: number[] = [];
  for (let tenth = 0; tenth <= hours * 6; tenth++) {
    page.asked.length = 0;
    for (const check of nodes) await check(never);
    if (page.asked.includes('SHA256SUMS')) asked.push(tenth / 6);
    expect(page.asked.length).toBeLessThanOrEqual(2);
    nights.engine.clock.advance(10 * MINUTE_MS);
  }
  return asked;
}

const doctor = async () => (await nights.doctor()).filter(({ check }) => check === 'version');
const metric = async () =>
  seriesValue(parseMetrics(await nights.metrics()), 'gatepost_update_available');

test('the page is asked once a day, with some time in between that differs', async () => {
  page.publish(VERSION);
  expect(await hoursAsked(54, node())).toEqual([1 / 6, 24 + 4 / 6, 49 + 1 / 6]);
});

test('several nodes, and one that restarts, ask once a day together', async () => {
  page.publish(VERSION);
  const asked = [
    ...(await hoursAsked(20, node(0.9), node(0.4))),
    ...(await hoursAsked(27, node(0.2), node(0.6))).map((hours) => hours + 20 + 1 / 6),
  ];
  expect(asked).toHaveLength(2);
  expect(asked[1]).toBeGreaterThanOrEqual(24);
});

test('nothing is asked without an address, and another address is asked soon', async () => {
  page.publish(VERSION);
  Object.assign(nights.settings, { updateUrl: '' });
  const check = node();
  expect(await hoursAsked(30, check)).toEqual([]);
  expect(await doctor()).toEqual([]);
  Object.assign(nights.settings, { updateUrl: page.url });
  expect(await hoursAsked(3, check)).toEqual([1 / 6]);
});

test('no request names the version, and what is too large is not read', async () => {
  page.publish(NEWER);
  await hoursAsked(1, node());
  expect(page.headers.length).toBe(2);
  for (const headers of page.headers) {
    const sent = JSON.stringify([...headers]);
    expect(sent).not.toContain(VERSION);
    expect(sent.toLowerCase()).not.toContain('gatepost');
    if (COMMIT !== 'source') expect(sent).not.toContain(COMMIT);
  }
  page.answer = () => new Response('x'.repeat(70_000));
  nights.engine.clock.advance(DAY_MS);
  await hoursAsked(2, node());
  expect(nights.lines.join('')).toContain('has more than 65536 bytes');
});

test('a newer version is said once by the chat, and by doctor, metrics and console', async () => {
  page.publish(VERSION);
  const check = node();
  await hoursAsked(1, check);
  expect((await doctor())[0]).toMatchObject({ level: 'ok' });
  expect(await metric()).toBe(0);
  page.publish(NEWER);
  await hoursAsked(72, check);
  const { core, clock } = nights.engine;
  await noticeAppliance(core, null, clock.nowMs());
  await nights.deliver();
  const told = `Newer version available\nVersion: ${NEWER}\nInstalled: ${VERSION}\nTime: `;
  expect(chat.messages).toEqual([expect.stringMatching(new RegExp(`^${told}`))]);
  expect((await doctor())[0]).toMatchObject({
    name: 'version_newer',
    level: 'warning',
    what: `${NEWER} is available; this is ${VERSION}`,
    todo: `make a backup, then install it; its files are at ${page.url}`,
  });
  expect(await metric()).toBe(1);
  page.publish(NEWEST);
  await hoursAsked(26, check);
  await nights.deliver();
  expect(chat.messages).toHaveLength(2);
  // After the upgrade there is nothing newer.
  await noticeUpkeep(core, clock.nowMs(), NEWEST);
  await nights.deliver();
  expect(chat.messages).toHaveLength(2);
});

test('the console has it', async () => {
  const base = testAppliance();
  const app = await startTestApp({ appliance: base });
  const operator = await operatorBrowser(app);
  expect((await operator.get('health.read', {})).newer).toBeNull();
  await app.core.store.noteSchedule('release', 'daily', 1);
  const found = { atMs: 1, result: '0.0.1', bytes: null, tookMs: null };
  await app.core.store.noteSuccess('release', found);
  expect((await operator.get('health.read', {})).newer).toBe('0.0.1');
  await app.close();
});

test('a page that is away once is none of the operator’s business, one that lies is', async () => {
  page.publish(NEWER);
  page.answer = () => new Response('away', { status: 503 });
  const check = node();
  await hoursAsked(1, check);
  expect(await doctor()).toEqual([]);
  await hoursAsked(26, check);
  expect((await doctor())[0]).toMatchObject({ name: 'version_unknown', level: 'warning' });
  page.answer = null;
  await hoursAsked(26, check);
  expect((await doctor())[0]?.name).toBe('version_newer');
  await nights.engine.core.store.noteSuccess('release', {
    atMs: nights.engine.clock.nowMs(),
    result: VERSION,
    bytes: null,
    tookMs: null,
  });
  page.files.set('SHA256SUMS', 'forged');
  await hoursAsked(26, check);
  expect((await doctor())[0]?.what).toContain('is not signed by update.key');
  await nights.deliver();
  expect(chat.messages).toHaveLength(1);
});

test('a stop ends a question, which is no failure', async () => {
  const stopping = new AbortController();
  page.answer = () => {
    stopping.abort();
    return new Promise<Response>(() => {});
  };
  const check = node();
  await check(stopping.signal);
  nights.engine.clock.advance(HOUR_MS);
  await check(stopping.signal);
  expect((await nights.upkeep())[0]).toMatchObject({ failure: null, success: null });
});

/** Calls of the console for changes that take long, or that can be taken back. */

import { afterAll, beforeAll, expect, test } from 'bun:test';
import { seedProvider, startTestApp, type TestApp } from '../../support/app.ts';
import { ConsoleBrowser } from '../../support/console.ts';

const FILTER = { search: null, status: null, isFull: false } as const;

let app: TestApp;
let browser: ConsoleBrowser;
let at: string;
beforeAll(async () => {
  app = await startTestApp();
  const { code, authKey } = await seedProvider(app);
  at = code;
  browser = new ConsoleBrowser(app.url);
  await browser.get('session.key', { code, key: authKey });
});
afterAll(() => app.close());

test('a change of many links is read by the bounds of one, listed and taken back', async () => {
  const { id } = await browser.get('links.add', { at, limit: 3, note: 'a' });
  const bulk = (change: object | null) => ({ at, filter: FILTER, change });
  expect(await browser.refusal('links.bulk', bulk({ limit: 101 }))).toBe('malformed');
  expect(await browser.refusal('links.bulk', bulk({}))).toBe('malformed');
  expect(await browser.get('links.bulk-preview', bulk(null))).toMatchObject({ count: 1 });
  const shown = { ...bulk(null), shownCount: 0 };
  expect(await browser.refusal('links.bulk', shown)).toBe('more_links_match');
  const added = await browser.get('links.bulk', bulk({ limit: 5, note: '' }));
  const { jobs } = await browser.get('jobs.list', { at });
  expect(jobs).toMatchObject([
    {
      id: added.id,
      state: 'waiting',
      by: at,
      totalCount: 1,
      dueAtMs: added.dueAtMs,
      work: { kind: 'links.change', change: { installLimit: 5, note: null }, toId: id },
    },
  ]);
  await browser.get('jobs.cancel', { at, id: added.id });
  expect(await browser.refusal('jobs.cancel', { at, id: added.id })).toBe('job_ended');
});

test('slots are freed and links revoked by jobs; an unknown link is refused', async () => {
  const { id: linkId } = await browser.get('links.add', { at, limit: 3, note: '' });
  await browser.get('slots.free', { at, linkId, hwid: 'phone-1' });
  await browser.get('slots.free-all', { at, linkId });
  await browser.get('links.revoke', { at, linkId });
  const { jobs } = await browser.get('jobs.list', { at });
  expect(jobs.slice(0, 3).map(({ work }) => work)).toEqual([
    { kind: 'link.revoke', linkId },
    { kind: 'link.free-all', linkId },
    { kind: 'link.free', linkId, hwid: 'phone-1' },
  ]);
  expect(await browser.refusal('links.revoke', { at, linkId: 999 })).toBe('install_not_found');
  for (const hwid of ['', 'a\u0000', 'a,b']) {
    expect(await browser.refusal('slots.free', { at, linkId, hwid })).toBe('malformed');
  }
});

test('a filter takes the searches that the API takes', async () => {
  for (const search of ['', 'a\u0000', '\ud800', 'x'.repeat(65)]) {
    const filter = { ...FILTER, search };
    const page = { at, filter, isOldest: false, beyondId: null, countMax: 1 };
    expect(await browser.refusal('links.list', page)).toBe('malformed');
    expect(await browser.refusal('links.bulk-preview', { at, filter, change: null })).toBe(
      'malformed',
    );
  }
});

test('support takes back what it frees, and no change of many links', async () => {
  const { id: linkId } = await browser.get('links.add', { at, limit: 3, note: '' });
  const filter = { ...FILTER, search: null };
  const bulk = await browser.get('links.bulk', { at, filter, change: { limit: 9 } });
  const { secret } = await browser.get('staff.invite', { at, role: 'support' });
  const support = new ConsoleBrowser(app.url);
  await support.get('session.invited', { secret, name: 'boris' });
  const own = await support.get('slots.free', { at, linkId, hwid: 'phone-1' });
  expect(await support.refusal('jobs.cancel', { at, id: bulk.id })).toBe('no_right');
  const { jobs } = await support.get('jobs.list', { at });
  const mayStop = new Map(jobs.map((job) => [job.id, job.mayStop]));
  expect([mayStop.get(own.id), mayStop.get(bulk.id)]).toEqual([true, false]);
  await support.get('jobs.cancel', { at, id: own.id });
  await browser.get('jobs.cancel', { at, id: bulk.id });
});

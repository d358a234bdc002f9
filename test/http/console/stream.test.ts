/** The stream of changes: what it tells, whom, how many there are, and how it ends. */

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { openSession } from '../../../src/core/account/session.ts';
import { makeEntry } from '../../../src/core/account/sign-in.ts';
import type { Role } from '../../../src/core/port/account.ts';
import { rotateKey } from '../../../src/core/provider.ts';
import { STREAM_BOUNDS, STREAM_SHARES } from '../../../src/http/console/stream.ts';
import { ACT } from '../../support/actor.ts';
import { seedProvider, startTestApp, type TestApp } from '../../support/app.ts';
import { ConsoleBrowser } from '../../support/console.ts';
import { LivePage } from '../../support/live.ts';
import { until } from '../../support/until.ts';

let app: TestApp;
const pages: LivePage[] = [];
beforeAll(async () => {
  app = await startTestApp();
});
afterEach(async () => {
  for (const page of pages.splice(0)) page.leave();
  await until('no stream is left', () => {
    app.clock.advance(1_000);
    return app.server.liveCount() === 0 && app.clock.sleeperCount === 0;
  });
  await app.reset();
});
afterAll(() => app.close());

let code: string;
let browser: ConsoleBrowser;
let key: string;
beforeEach(async () => {
  ({ code, authKey: key } = await seedProvider(app));
  browser = new ConsoleBrowser(app.url);
  await browser.get('session.key', { code, key });
});

async function opened(
  at = code,
  headers: Record<string, string> = { cookie: browser.cookie },
): Promise<LivePage> {
  const page = await LivePage.open(app, at, headers);
  pages.push(page);
  return page;
}

/** A browser of a new account with a role at a provider. */
async function staff(name: string, role: Role): Promise<{ id: number; browser: ConsoleBrowser }> {
  const providerId = (await app.core.store.findProvider(code))?.id ?? 0;
  const nowMs = app.clock.nowMs();
  const draft = { name, grant: { providerId, role }, countMax: 9, createdAtMs: nowMs };
  const added = await app.core.store.addAccount({ ...draft, invitation: null }, ACT);
  if (typeof added === 'string') throw new Error(added);
  const owner = { accountId: added.id, providerId: null, keyHash: null };
  const signedIn = { owner, actor: { kind: 'account', name } } as const;
  const from = { client: '127.0.0.1', agent: '' };
  const own = new ConsoleBrowser(app.url);
  own.cookie = `__Host-gatepost=${await openSession(app.core, from, signedIn, 'link', nowMs)}`;
  return { id: added.id, browser: own };
}

test('a page learns of a link that another makes, by its id, and of nothing else', async () => {
  const other = await seedProvider(app);
  const page = await opened();
  expect(page.answer.headers.get('content-type')).toBe('text/event-stream');
  await page.after(app, 'it looked once', () => page.text !== '');
  await app.clock.advance(1_000);
  const others = new ConsoleBrowser(app.url);
  await others.get('session.key', { code: other.code, key: other.authKey });
  await others.get('links.add', { at: other.code, limit: 1, note: '' });
  const { id } = await browser.get('links.add', { at: code, limit: 1, note: '' });
  await app.core.store.readAuditBack(Number.MAX_SAFE_INTEGER, 1);
  await page.after(app, 'the link is told', () => page.events.length > 0);
  expect(page.events).toEqual([{ links: [id] }]);
});

test('what happens between the opening and the next look is told', async () => {
  const other = await seedProvider(app);
  const first = await opened();
  await first.after(app, 'it looked once', () => first.text !== '');
  const others = new ConsoleBrowser(app.url);
  await others.get('session.key', { code: other.code, key: other.authKey });
  const second = await opened(other.code, { cookie: others.cookie });
  const { id } = await others.get('links.add', { at: other.code, limit: 1, note: '' });
  await app.core.store.readAuditBack(Number.MAX_SAFE_INTEGER, 1);
  await second.after(app, 'the link is told', () => second.events.length > 0);
  expect(second.events).toEqual([{ links: [id] }]);
});

test('nothing is read while nothing is committed; beats keep the connection', async () => {
  const page = await opened();
  await page.after(app, 'it began', () => page.text !== '');
  await page.after(app, 'it beats', () => page.text.includes('\nevent: beat\ndata: 0\n\n'));
  expect(page.events).toEqual([]);
});

test('a session that ended, also by another key, ends its stream', async () => {
  const page = await opened();
  await page.after(app, 'it began', () => page.text !== '');
  await rotateKey(app.core, code, 0, app.clock.nowMs());
  await page.after(app, 'it is over', () => page.isEnded);
  expect(page.events).toEqual([{ isOver: true }]);
  expect((await opened()).answer.status).toBe(401);
});

test('a role that is taken away ends the stream before the next event', async () => {
  const { browser: own, id } = await staff('anna', 'reader');
  const page = await opened(code, { cookie: own.cookie });
  await page.after(app, 'it began', () => page.text !== '');
  const owner = await opened();
  const providerId = (await app.core.store.findProvider(code))?.id ?? 0;
  await app.core.store.removeRole(id, providerId, ACT);
  await browser.get('links.add', { at: code, limit: 1, note: '' });
  await app.core.store.readAuditBack(Number.MAX_SAFE_INTEGER, 1);
  await page.after(app, 'it is over', () => page.isEnded);
  expect(page.events).toEqual([{ isOver: true }]);
  expect(owner.isEnded).toBe(false);
});

test('an open page does not keep its session', async () => {
  const beganAtMs = app.clock.nowMs();
  let page = await opened();
  while (page.answer.status === 200) {
    const { isEnded } = page;
    // It grows old; the page opens another.
    await page.after(app, 'it ends', () => page.isEnded || isEnded, 600_000);
    page = await opened();
  }
  expect(page.answer.status).toBe(401);
  expect(app.clock.nowMs() - beganAtMs).toBeLessThan(13 * 3_600_000);
});

test('without session, right or an own page there is none', async () => {
  const other = await seedProvider(app);
  const cookie = { cookie: browser.cookie };
  const refused = async (at: string, headers: Record<string, string>) => {
    const { answer } = await opened(at, headers);
    return [answer.status, ((await answer.json()) as { refused: string }).refused];
  };
  expect(await refused(code, {})).toEqual([401, 'signed_out']);
  expect(await refused(other.code, cookie)).toEqual([403, 'no_right']);
  expect(await refused('Unknown1', cookie)).toEqual([403, 'no_right']);
  expect(await refused(code, { ...cookie, 'sec-fetch-site': 'cross-site' })).toEqual([
    403,
    'other_origin',
  ]);
  expect(await refused(code, { ...cookie, origin: 'https://evil.example' })).toEqual([
    403,
    'other_origin',
  ]);
  expect(await refused(code, { ...cookie, host: 'gate.example.com' })).toEqual([403, 'insecure']);
});

test('streams of a session and of an owner are few', async () => {
  for (let n = 0; n < STREAM_BOUNDS.session; n++) expect((await opened()).answer.status).toBe(200);
  expect((await opened()).answer.status).toBe(429);
  for (let n = STREAM_BOUNDS.session; n < STREAM_BOUNDS.owner; n += STREAM_BOUNDS.session) {
    const own = new ConsoleBrowser(app.url);
    await own.get('session.key', { code, key });
    for (let one = 0; one < STREAM_BOUNDS.session; one++) {
      expect((await opened(code, { cookie: own.cookie })).answer.status).toBe(200);
    }
  }
  const last = new ConsoleBrowser(app.url);
  await last.get('session.key', { code, key });
  expect((await opened(code, { cookie: last.cookie })).answer.status).toBe(429);
  // Those that were left make room.
  for (const page of pages) page.leave();
  await until('room is there', async () => (await opened()).answer.status === 200);
});

describe('streams of all', () => {
  const { operators, providers } = structuredClone(STREAM_SHARES);
  beforeEach(() => {
    STREAM_SHARES.providers.waitingMax = 8;
    STREAM_SHARES.operators.waitingMax = 4;
  });
  afterEach(() => {
    Object.assign(STREAM_SHARES, { operators, providers });
  });

  const status = async (at: string, { cookie }: ConsoleBrowser) =>
    (await opened(at, { cookie })).answer.status;

  test('one provider takes half, with any number of accounts', async () => {
    const said: number[] = [];
    for (let n = 0; n < 5; n++) {
      const { browser: own } = await staff(`reader-${n}`, 'reader');
      said.push(await status(code, own));
    }
    expect(said).toEqual([200, 200, 200, 200, 429]);
  });

  test('in full ones a provider with fewer takes the newest of the one with most', async () => {
    const others = await Promise.all(Array.from({ length: 3 }, () => seedProvider(app)));
    const page = (n: number) => pages.at(n);
    for (let n = 0; n < 4; n++) expect(await status(code, browser)).toBe(200);
    const own = await Promise.all(
      others.map(async ({ code: at, authKey }) => {
        const other = new ConsoleBrowser(app.url);
        await other.get('session.key', { code: at, key: authKey });
        return { at, other };
      }),
    );
    for (const { at, other } of own.slice(0, 2)) {
      expect(await status(at, other)).toBe(200);
      expect(await status(at, other)).toBe(200);
    }
    // All are taken: four of the first, two each of two others.
    const [, , third] = own;
    if (third === undefined) throw new Error('three were made');
    expect(await status(third.at, third.other)).toBe(200);
    await until('the newest of the first is ended', () => page(3)?.isEnded === true);
    expect(pages.map(({ isEnded }) => isEnded).filter((isOver) => isOver)).toHaveLength(1);
    expect(await status(code, browser)).toBe(429);
    expect(app.server.liveCount()).toBe(8);
  });

  test('the operator has a reserve, and fills none of the providers', async () => {
    const nowMs = app.clock.nowMs();
    const draft = { name: 'ops', grant: { providerId: null, role: 'operator' as const } };
    const more = { countMax: 9, createdAtMs: nowMs, invitation: null };
    const added = await app.core.store.addAccount({ ...draft, ...more }, ACT);
    if (typeof added === 'string') throw new Error(added);
    const operator = new ConsoleBrowser(app.url);
    await operator.get('session.entry', { secret: await makeEntry(app.core, added.id, nowMs) });
    for (let n = 0; n < 4; n++) await status(code, browser);
    expect(await status(code, browser)).toBe(429);
    for (const expected of [200, 200, 429]) expect(await status(code, operator)).toBe(expected);
    const other = await seedProvider(app);
    const own = new ConsoleBrowser(app.url);
    await own.get('session.key', { code: other.code, key: other.authKey });
    expect(await status(other.code, own)).toBe(200);
  });
});

test('the server stops although streams are open', async () => {
  const own = await startTestApp();
  const { code: at, authKey } = await seedProvider(own);
  const there = new ConsoleBrowser(own.url);
  await there.get('session.key', { code: at, key: authKey });
  const page = await LivePage.open(own, at, { cookie: there.cookie });
  await page.after(own, 'it began', () => page.text !== '');
  const closed = own.close();
  await until('the stream ended', () => page.isEnded);
  own.clock.advance(1_000);
  await closed;
});

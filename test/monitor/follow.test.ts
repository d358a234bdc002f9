/** A followed panel: doctor, metrics and console say the same, compared with a recount. */

import { afterEach, expect, test } from 'bun:test';
import { type FollowStanding, followingIn } from '../../src/core/follow-standing.ts';
import { checkFollows } from '../../src/doctor/follow.ts';
import {
  EVERY_MS,
  type FollowingApp,
  someUser,
  startFollowing,
} from '../support/followed-panel.ts';
import { operatorBrowser } from '../support/operator.ts';
import { parseMetrics } from '../support/prometheus.ts';
import { HOST } from '../support/upstream.ts';

let following: FollowingApp | null = null;
afterEach(async () => {
  await following?.stop();
  following = null;
});

const users = (count: number) => Array.from({ length: count }, (_, n) => someUser(n + 1));

async function start(count: number): Promise<FollowingApp> {
  following = await startFollowing('marzban', users(count));
  return following;
}

/** Returns the finding of the doctor. */
async function found({ app }: FollowingApp) {
  const follows = await app.core.store.listFollows();
  const [first, ...more] = checkFollows(
    followingIn(app.settings.gateUpstreams),
    follows,
    app.clock.nowMs(),
  );
  expect(more).toEqual([]);
  return first;
}

/** The samples of a metric by its host. */
async function metric({ app }: FollowingApp, name: string) {
  const family = parseMetrics(await app.metrics.text()).get(`gatepost_follow_${name}`);
  return family?.samples.map(({ labels, value }) => [labels['host'], value]);
}

async function listed({ app }: FollowingApp) {
  const operator = await operatorBrowser(app);
  return (await operator.get('upstreams.list', {})).follows;
}

test('all of them have the users, changes and time of the last whole pass', async () => {
  const on = await start(7);
  expect(await found(on)).toMatchObject({
    level: 'ok',
    what: expect.stringContaining('first pass'),
  });
  expect(await listed(on)).toEqual([{ host: HOST, standing: 'begins', pass: null, reason: null }]);
  expect(await metric(on, 'users')).toEqual([]);
  expect(await metric(on, 'failing')).toEqual([[HOST, 0]]);
  await on.pass();
  on.panel.users[0] = someUser(1, { endsAtMs: Date.UTC(2028, 0, 1) });
  on.panel.users.push(someUser(8));
  await on.pass();
  // The recount.
  const [atMs, userCount] = [on.app.clock.nowMs(), (await on.known()).length];
  expect(userCount).toBe(on.panel.users.length);
  const pass = { atMs, userCount, changeCount: 2 };
  expect(await listed(on)).toEqual([{ host: HOST, standing: 'follows', pass, reason: null }]);
  expect(await metric(on, 'last_pass_timestamp_seconds')).toEqual([[HOST, atMs / 1000]]);
  expect(await metric(on, 'users')).toEqual([[HOST, 8]]);
  expect(await metric(on, 'changes')).toEqual([[HOST, 2]]);
  expect(await metric(on, 'failing')).toEqual([[HOST, 0]]);
  on.app.clock.advance(120_000);
  expect((await found(on))?.what).toBe(
    `the panel of ${HOST} is followed: 8 users, the last whole pass was 2 minutes ago`,
  );
});

/** Ways in which following goes wrong, each after a whole pass over 20 users. */
const WAYS: readonly [FollowStanding, string, (on: FollowingApp) => Promise<void>][] = [
  [
    'held',
    'problem: follow_held',
    async (on) => {
      on.panel.users.splice(0, 3);
      await on.pass();
    },
  ],
  [
    'refused',
    'problem: follow_refused',
    async (on) => {
      on.panel.odd = () => Response.json({}, { status: 401 });
      await on.pass();
    },
  ],
  [
    'failing',
    'warning: follow_failing',
    async (on) => {
      on.panel.odd = () => new Response('<html>');
      await on.pass();
    },
  ],
  [
    'late',
    'problem: follow_late',
    async (on) => {
      on.panel.odd = () => new Response('<html>');
      await on.pass();
      on.app.clock.advance(3 * EVERY_MS);
    },
  ],
  ['late', 'problem: follow_late', async ({ app }) => app.clock.advance(4 * EVERY_MS)],
];

test.each(WAYS)('%s is %s', async (standing, finding, way) => {
  const on = await start(20);
  await on.pass();
  await way(on);
  const one = await found(on);
  expect(`${one?.level}: ${one?.name}`).toBe(finding);
  const [console] = await listed(on);
  expect(console).toMatchObject({ standing, pass: { userCount: 20 } });
  expect(console?.reason ?? null).toBe((await on.follow()).failure?.reason ?? null);
  expect(await metric(on, 'failing')).toEqual([[HOST, 1]]);
  expect(await metric(on, 'users')).toEqual([[HOST, 20]]);
});

test('a token of one admin is said, and is no failure', async () => {
  const on = await start(3);
  on.panel.admin = 'boris';
  await on.pass();
  expect(await found(on)).toMatchObject({
    level: 'warning',
    name: 'follow_partial',
    what: expect.stringContaining('boris'),
  });
  expect(await listed(on)).toMatchObject([{ standing: 'partial' }]);
  expect(await metric(on, 'failing')).toEqual([[HOST, 0]]);
});

test('a panel that the settings follow no more is in none of them', async () => {
  const on = await start(3);
  await on.pass();
  on.set({ followMs: 0 });
  expect(await found(on)).toBeUndefined();
  expect(await listed(on)).toEqual([]);
  expect(await metric(on, 'users')).toEqual([]);
});

/** Passes over a followed panel that lacks users: who is gone, and what changes no link. */

import { afterEach, describe, expect, test } from 'bun:test';
import { actingAs } from '../../src/core/core.ts';
import { acceptFollow } from '../../src/core/follow.ts';
import { auditEntries } from '../support/audit.ts';
import {
  EVERY_MS,
  type FollowingApp,
  type SomeUser,
  someUser,
  startFollowing,
} from '../support/followed-panel.ts';
import { HOST } from '../support/upstream.ts';

let following: FollowingApp | null = null;
afterEach(async () => {
  await following?.stop();
  following = null;
});

const USERS = Array.from({ length: 20 }, (_, n) => someUser(n + 1));

async function start(...given: Parameters<typeof startFollowing>): Promise<FollowingApp> {
  following = await startFollowing(...given);
  await following.pass();
  return following;
}

const statusOf = async (on: FollowingApp, user: SomeUser) => (await on.link(user))?.status;
const DISABLE = { followGone: 'disable' } as const;
const [LAST = someUser(20)] = USERS.slice(-1);

/** Returns all links and all that is known, for a comparison. */
async function whole(on: FollowingApp) {
  const links = await Promise.all(USERS.map((user) => on.link(user)));
  return { links, known: await on.known() };
}

test('who is missing in two whole passes is gone, and told', async () => {
  const on = await start('marzban', [...USERS]);
  on.panel.users = USERS.slice(0, 19);
  await on.pass();
  expect((await on.follow()).pass).toMatchObject({ missingCount: 1, goneCount: 0 });
  expect(on.app.logLines.filter((line) => line.includes('follow_gone'))).toEqual([]);
  await on.pass();
  expect((await on.follow()).pass).toMatchObject({ missingCount: 0, goneCount: 1 });
  const told = on.app.logLines.filter((line) => line.includes('follow_gone'));
  expect(told).toHaveLength(1);
  expect(told[0]).toMatch(/count=1 .*links=tell|"count":1.*"links":"tell"/);
  expect(await statusOf(on, LAST)).toBe(10);
  expect(await on.known()).toHaveLength(19);
  await on.pass();
  expect((await on.follow()).pass).toMatchObject({ goneCount: 0 });
});

test('the link of one who is gone is disabled if that is set, and comes back with the user', async () => {
  const on = await start('marzban', [...USERS], DISABLE);
  on.panel.users = USERS.slice(0, 19);
  await on.pass();
  expect(await statusOf(on, LAST)).toBe(10);
  await on.pass();
  expect(await statusOf(on, LAST)).toBe(5);
  const [last] = (await auditEntries(on.app.core)).slice(-1);
  expect(last).toMatchObject({ action: 'install.import', name: 'panel' });
  on.panel.users = [...USERS];
  await on.pass();
  expect(await statusOf(on, LAST)).toBe(10);
});

test('one who comes back in between was never gone', async () => {
  const on = await start('marzban', [...USERS], DISABLE);
  for (const users of [USERS.slice(0, 19), USERS, USERS.slice(0, 19), USERS]) {
    on.panel.users = [...users];
    await on.pass();
  }
  expect(await statusOf(on, LAST)).toBe(10);
  expect((await on.known()).every(({ missedCount }) => missedCount === 0)).toBe(true);
});

test('what was changed by hand stays: a link that was enabled again, and one disabled', async () => {
  const on = await start('marzban', [...USERS], DISABLE);
  const { core, clock } = on.app;
  const act = () => ({ actor: core.actor(), atMs: clock.nowMs() });
  const set = async (user: SomeUser, status: number) =>
    core.store.updateLink(on.providerId, (await on.link(user))?.id ?? 0, { status }, act());
  const [first = LAST] = USERS;
  await set(first, 5);
  on.panel.users = [someUser(1, { note: 'new', state: 'expired' }), ...USERS.slice(1, 19)];
  await on.pass();
  await on.pass();
  expect(await statusOf(on, first)).toBe(5);
  expect(await statusOf(on, LAST)).toBe(5);
  await set(LAST, 10);
  await on.pass();
  expect(await statusOf(on, LAST)).toBe(10);
});

describe('changes no link', () => {
  const ODD: readonly [string, (on: FollowingApp) => void, string][] = [
    [
      '500 on page 2',
      ({ panel }) => {
        panel.odd = (path) =>
          /offset=[1-9]/.test(path) ? new Response('', { status: 500 }) : null;
      },
      'unreadable',
    ],
    ['an empty list', ({ panel }) => (panel.users = []), 'unreadable'],
    ['half of the users', ({ panel }) => (panel.users = USERS.slice(0, 10)), 'many_missing'],
    ['a tenth and one', ({ panel }) => (panel.users = USERS.slice(0, 17)), 'many_missing'],
    [
      'the list of another admin',
      ({ panel }) => {
        panel.admin = 'other';
        panel.users = [50, 51, 52].map((id) => someUser(id));
      },
      'other_view',
    ],
    [
      'a token that is refused',
      ({ panel }) => {
        panel.odd = () => Response.json({}, { status: 401 });
      },
      'refused',
    ],
    [
      'a page in place of an answer',
      ({ panel }) => {
        panel.odd = () => new Response('<html>');
      },
      'unreadable',
    ],
    ['a panel that was stopped', ({ panel }) => void panel.stop(), 'unreadable'],
  ];

  test.each(ODD)('%s', async (_, turnOdd, problem) => {
    const on = await start('marzban', [...USERS], DISABLE);
    const before = await whole(on);
    turnOdd(on);
    for (let n = 0; n < 3; n++) await on.pass(EVERY_MS * 4);
    expect((await on.follow()).failure).toMatchObject({ problem, count: 3 });
    expect(await whole(on)).toEqual(before);
    expect(
      await on.app.core.store.listPanelLinks(on.providerId, 'marzban', {
        afterUser: '',
        countMax: 99,
      }),
    ).toHaveLength(20);
    const lines = on.app.logLines.filter((line) => line.includes('follow_failed'));
    expect(lines).toHaveLength(1);
    // The panel is itself again.
    if (['unreadable', 'refused'].includes(problem) && _ !== 'a panel that was stopped') {
      on.panel.odd = null;
      on.panel.users = [...USERS];
      await on.pass(EVERY_MS * 20);
      expect((await on.follow()).failure).toBeNull();
    }
  });

  test('a list that has one user twice and another not', async () => {
    const on = await start('hiddify', [...USERS], DISABLE);
    const before = await whole(on);
    on.panel.users = [...USERS.slice(0, 19), someUser(1)];
    for (let n = 0; n < 3; n++) await on.pass();
    expect(await on.follow()).toMatchObject({ failure: null, pass: { missingCount: 0 } });
    expect(await whole(on)).toEqual(before);
  });

  test('an API that does not answer is asked less and less often', async () => {
    const on = await start('marzban', [...USERS]);
    on.panel.odd = () => new Response('', { status: 403 });
    const askedAtMs: number[] = [];
    for (let minute = 0; minute < 120; minute++) {
      const before = on.panel.asked.length;
      await on.pass(60_000);
      if (on.panel.asked.length > before) askedAtMs.push(minute);
    }
    const pauses = askedAtMs.slice(1).map((at, n) => at - (askedAtMs[n] ?? 0));
    expect(pauses).toEqual([5, 10, 20, 40]);
  });

  test('no user is missing in a view of a part', async () => {
    const on = await start('marzban', USERS.slice(0, 5), DISABLE);
    // The first view was of a part.
    const other = await on.follow();
    expect(other.view).toBe('');
    await on.stop();
    following = null;
    const part = await startFollowing('marzban', [...USERS], DISABLE);
    following = part;
    part.panel.admin = 'seller';
    await part.pass();
    part.panel.users = USERS.slice(0, 19);
    for (let n = 0; n < 3; n++) await part.pass();
    expect(await part.follow()).toMatchObject({
      view: 'seller',
      failure: null,
      pass: { userCount: 19, missingCount: 0, goneCount: 0 },
    });
    expect(await statusOf(part, LAST)).toBe(10);
  });
});

describe('a pass that waits', () => {
  const accept = (on: FollowingApp) => {
    const { core, clock } = on.app;
    return acceptFollow(
      actingAs(core, () => ({ kind: 'operator', name: 'o', from: 'local' })),
      HOST,
      clock.nowMs(),
    );
  };

  test('goes on once the operator agrees, and two passes later the users are gone', async () => {
    const on = await start('marzban', [...USERS], DISABLE);
    on.panel.users = USERS.slice(0, 15);
    await on.pass();
    expect(await on.follow()).toMatchObject({
      failure: { problem: 'many_missing' },
      held: { missingCount: 5, knownCount: 20, view: '' },
    });
    expect(await accept(on)).toBe('ok');
    await on.pass(0);
    expect((await on.follow()).pass).toMatchObject({ missingCount: 5 });
    expect(await statusOf(on, LAST)).toBe(10);
    await on.pass();
    expect((await on.follow()).pass).toMatchObject({ goneCount: 5 });
    expect(await statusOf(on, LAST)).toBe(5);
    expect(await statusOf(on, someUser(15))).toBe(10);
  });

  test('waits again if more are missing then', async () => {
    const on = await start('marzban', [...USERS], DISABLE);
    on.panel.users = USERS.slice(0, 15);
    await on.pass();
    await accept(on);
    on.panel.users = USERS.slice(0, 14);
    await on.pass(0);
    expect(await on.follow()).toMatchObject({ held: { missingCount: 6 }, isAccepted: false });
  });

  test('another admin is followed once the operator agrees', async () => {
    const on = await start('marzban', USERS.slice(0, 4), DISABLE);
    on.panel.admin = 'seller';
    on.panel.users = USERS.slice(2, 6);
    await on.pass();
    expect(await on.link(someUser(6))).toBeNull();
    await accept(on);
    await on.pass(0);
    expect(await on.follow()).toMatchObject({ view: 'seller', failure: null, held: null });
    expect(await statusOf(on, someUser(6))).toBe(10);
    expect(await statusOf(on, someUser(1))).toBe(10);
  });
});

test('a customer who was made again under a name is another one, if that is set', async () => {
  const on = await start('marzban', [...USERS], DISABLE);
  const [first = LAST] = USERS;
  const before = await on.link(first);
  on.panel.users[0] = someUser(1, { createdAtMs: on.app.clock.nowMs() });
  await on.pass();
  await on.pass();
  const after = await on.link(first);
  expect(after).toMatchObject({ status: 10 });
  expect(after?.id).not.toBe(before?.id);
  expect(await on.known()).toHaveLength(20);
});

test('and without that its link goes on', async () => {
  const on = await start('marzban', [...USERS]);
  const before = await on.link(someUser(1));
  on.panel.users[0] = someUser(1, { createdAtMs: on.app.clock.nowMs() });
  await on.pass();
  await on.pass();
  expect(await on.link(someUser(1))).toMatchObject({ id: before?.id ?? 0, status: 10 });
});

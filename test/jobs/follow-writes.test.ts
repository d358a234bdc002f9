/** Passes over a followed panel write what changed, and nothing else. */

import { afterEach, expect, test } from 'bun:test';
import { type Store, withMethods } from '../../src/core/port/store.ts';
import { subscriptionKeyHash } from '../../src/core/secret.ts';
import { NO_TERMS } from '../../src/core/slot.ts';
import { addLink } from '../store/contract/fixture.ts';
import { auditEntries } from '../support/audit.ts';
import {
  EVERY_MS,
  type FollowingApp,
  followerOf,
  keyOfUser,
  someUser,
  startFollowing,
} from '../support/followed-panel.ts';

let following: FollowingApp | null = null;
afterEach(async () => {
  await following?.stop();
  following = null;
});

const USERS = Array.from({ length: 10 }, (_, n) => someUser(n + 1));

/** Counts the users and links that passes write. */
function countWrites(on: FollowingApp) {
  const { app } = on;
  const { store } = app.core;
  const counts = { links: 0, users: 0 };
  const counting: Partial<Store> = {
    importLink: (...given) => {
      counts.links += 1;
      return store.importLink(...given);
    },
    stepFollow: (hold, step) => {
      counts.users += step.put.length + step.drop.length;
      return store.stepFollow(hold, step);
    },
  };
  const core = { ...app.core, store: withMethods(store, counting) };
  return { counts, follower: followerOf({ ...app, core }) };
}

test('an end that moves by a second, or by some minutes, writes nothing', async () => {
  following = await startFollowing('marzban', [...USERS]);
  await following.pass();
  const { counts, follower } = countWrites(following);
  for (let n = 0; n < 6; n++) {
    const endsAtMs = Date.UTC(2027, 0, 1) + (n % 2) * (n < 3 ? 1_000 : 600_000);
    following.panel.users = USERS.map((user) => ({ ...user, endsAtMs }));
    following.app.clock.advance(EVERY_MS);
    await follower.tick();
    await follower.idle();
  }
  expect((await following.follow()).pass).toMatchObject({ userCount: 10, changedCount: 0 });
  expect(counts).toEqual({ links: 0, users: 0 });
  // An end that is another one is written once, and no link for it.
  const renewed = USERS.map((user) => ({ ...user, endsAtMs: Date.UTC(2027, 1, 1) }));
  following.panel.users = renewed;
  for (let n = 0; n < 2; n++) {
    following.app.clock.advance(EVERY_MS);
    await follower.tick();
    await follower.idle();
  }
  expect(counts).toEqual({ links: 0, users: 10 });
  await follower.stop();
});

test('a pass without a change adds no entry to the audit log', async () => {
  following = await startFollowing('remnawave', [...USERS], { limits: 'panel' });
  await following.pass();
  const before = await auditEntries(following.app.core);
  for (let n = 0; n < 3; n++) await following.pass();
  expect(await auditEntries(following.app.core)).toEqual(before);
});

test('two nodes make one pass', async () => {
  following = await startFollowing('marzban', [...USERS]);
  const beside = await following.app.openBeside();
  const other = followerOf({ ...following.app, core: { ...following.app.core, store: beside } });
  await Promise.all([following.follower.tick(), other.tick()]);
  await Promise.all([following.follower.idle(), other.idle()]);
  const lists = following.panel.asked.filter((path) => path.includes('offset=0'));
  expect(lists).toHaveLength(1);
  expect(await following.known()).toHaveLength(10);
  await other.stop();
  await beside.close();
});

test('links from before: facts of an import decide what was set by hand', async () => {
  const user = someUser(1, { limit: 5 });
  following = await startFollowing('remnawave', [user], { limits: 'panel', followNotes: true });
  const { core, clock } = following.app;
  const keyHash = subscriptionKeyHash(keyOfUser('remnawave', user));
  const act = { actor: core.actor(), atMs: clock.nowMs() };
  const rules = { installCountMax: 9, updates: false };
  const link = {
    id: null,
    installCode: 'LinkCode0001',
    installLimit: 2,
    note: 'of the import',
    status: 10,
    createdAtMs: 0,
    panelUser: 'remnawave:1',
    slots: [],
  };
  const terms = { ...NO_TERMS, subscriptionKeyHash: keyHash };
  await core.store.importLink(following.providerId, { ...link, terms }, rules, act);
  const { id = 0 } = (await following.link(user)) ?? {};
  await core.store.updateLink(following.providerId, id, { installLimit: 4, note: 'mine' }, act);
  await following.pass();
  expect(await following.link(user)).toMatchObject({
    id,
    installLimit: 4,
    note: 'mine',
    panelUser: 'remnawave:1',
  });
});

test('links of the door: the limit is taken from the panel, a note and a state stay', async () => {
  const users = [someUser(1, { limit: 5 }), someUser(2, { note: 'told' })];
  following = await startFollowing('remnawave', users, { limits: 'panel', followNotes: true });
  const { core, clock } = following.app;
  const act = { actor: core.actor(), atMs: clock.nowMs() };
  for (const [n, user] of users.entries()) {
    const draft = {
      installCode: `LinkCode000${n}`,
      installLimit: 2,
      note: n === 0 ? 'mine' : null,
    };
    const id = await addLink(core.store, following.providerId, draft);
    const change = { subscriptionKeyHash: subscriptionKeyHash(user.key) };
    await core.store.updateLink(following.providerId, id, change, act);
  }
  const [first = someUser(1)] = users;
  const { id = 0 } = (await following.link(first)) ?? {};
  await core.store.updateLink(following.providerId, id, { status: 5 }, act);
  await following.pass();
  expect(await following.link(first)).toMatchObject({ installLimit: 5, note: 'mine', status: 5 });
  expect(await following.link(someUser(2))).toMatchObject({ note: 'user2 · told', status: 10 });
  following.panel.users = [{ ...first, limit: 6, note: 'other' }, someUser(2)];
  await following.pass();
  expect(await following.link(first)).toMatchObject({ installLimit: 6, note: 'mine', status: 5 });
});

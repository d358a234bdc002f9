import { expect, test } from 'bun:test';
import type { Follow, FollowedUser, FollowStore } from '../../../src/core/port/follow.ts';
import type { Store } from '../../../src/core/port/store.ts';
import { ACT } from '../../support/actor.ts';
import { auditEntries } from '../../support/audit.ts';
import { HASH, NOW_MS, OTHER_HASH, type Suite } from './fixture.ts';

const HOST = 'sub.example.org';
const FRESH = { source: 'Provide1/marzban', hashKey: HASH };
const LEASE_MS = 60_000;
const claimAt = (nowMs: number, owner = 'one') => ({
  owner,
  nowMs,
  leaseUntilMs: nowMs + LEASE_MS,
});

async function claimed(store: Store, host = HOST, nowMs = NOW_MS): Promise<Follow> {
  const follow = await store.claimFollow(host, FRESH, claimAt(nowMs));
  if (follow === null) throw new Error(`${host} is not due`);
  return follow;
}

const userHash = (n: number) => n.toString(16).padStart(32, '0');
const user = (n: number, more: Partial<FollowedUser> = {}): FollowedUser => ({
  userHash: userHash(n),
  keyHash: n.toString(16).padStart(64, 'f'),
  state: 'active',
  panelLimit: 3,
  endsAtMs: NOW_MS + n,
  note: null,
  missedCount: 0,
  ...more,
});

const PASSED = {
  counts: { userCount: 5, addedCount: 4, changedCount: 3, goneCount: 2, missingCount: 1 },
  view: '',
  tookMs: 70,
  nextAtMs: NOW_MS + 300_000,
};
const HELD = { missingCount: 6, knownCount: 20, view: '' };
const MANY = {
  problem: 'many_missing',
  reason: 'many',
  nextAtMs: NOW_MS + 9,
  tookMs: 1,
  held: HELD,
} as const;

async function known(store: Store, id: number): Promise<FollowedUser[]> {
  return store.listFollowed(id, { afterUser: '', countMax: 100 });
}

export const followContract: Record<keyof FollowStore, Suite> = {
  listFollows(opened) {
    test('lists panels by host, each with the key of its hashes', async () => {
      const { store } = opened();
      await claimed(store, 'b.example.org');
      await claimed(store, 'a.example.org');
      expect(await store.listFollows()).toMatchObject([
        { host: 'a.example.org', ...FRESH, view: null, pass: null, failure: null, held: null },
        { host: 'b.example.org', claimedAtMs: NOW_MS, nextAtMs: 0, isAccepted: false },
      ]);
    });
  },

  claimFollow(opened) {
    test('one node has a panel until its lease ends, or the pass', async () => {
      const { store, openBeside } = opened();
      const beside = await openBeside();
      const both = await Promise.all(
        [store, beside].map((each, n) => each.claimFollow(HOST, FRESH, claimAt(NOW_MS, `n${n}`))),
      );
      expect(both.filter((one) => one !== null)).toHaveLength(1);
      const other = { ...FRESH, hashKey: OTHER_HASH };
      const takenMs = NOW_MS + LEASE_MS;
      expect(await beside.claimFollow(HOST, FRESH, claimAt(takenMs - 1, 'two'))).toBeNull();
      const taken = await beside.claimFollow(HOST, other, claimAt(takenMs, 'two'));
      // The key stays: hashes of users depend on it.
      expect(taken).toMatchObject({ host: HOST, hashKey: HASH });
      const hold = { id: taken?.id ?? 0, ...claimAt(takenMs, 'two') };
      await beside.endFollow(hold, { ...PASSED, nextAtMs: takenMs + 10 });
      expect(await store.claimFollow(HOST, FRESH, claimAt(takenMs + 9))).toBeNull();
      expect(await store.claimFollow(HOST, FRESH, claimAt(takenMs + 10))).not.toBeNull();
    });

    test('a lease of a clock that was ahead is void', async () => {
      const { store } = opened();
      await store.claimFollow(HOST, FRESH, claimAt(NOW_MS + 9 * LEASE_MS, 'ahead'));
      expect(await store.claimFollow(HOST, FRESH, claimAt(NOW_MS))).not.toBeNull();
    });
  },

  emptyFollow(opened) {
    test('deletes all users in steps, then takes the other source over', async () => {
      const { store } = opened();
      const { id } = await claimed(store);
      const hold = { id, ...claimAt(NOW_MS) };
      const put = Array.from({ length: 1_500 }, (_, n) => user(n));
      await store.stepFollow(hold, { put, drop: [] });
      await store.endFollow(hold, { ...PASSED, nextAtMs: 0 });
      await claimed(store);
      expect(await store.emptyFollow({ ...hold, owner: 'two' }, 'a/hiddify')).toBe('lost');
      expect(await store.emptyFollow(hold, 'a/hiddify')).toBe(true);
      expect((await store.listFollows())[0]).toMatchObject(FRESH);
      expect(await store.emptyFollow(hold, 'a/hiddify')).toBe(false);
      expect(await known(store, id)).toEqual([]);
      expect((await store.listFollows())[0]).toMatchObject({
        source: 'a/hiddify',
        view: null,
        pass: null,
      });
    });
  },

  listFollowed(opened) {
    test('pages of users in the order of their hashes', async () => {
      const { store } = opened();
      const { id } = await claimed(store);
      const hold = { id, ...claimAt(NOW_MS) };
      await store.stepFollow(hold, { put: [3, 1, 2, 200].map((n) => user(n)), drop: [] });
      const page = (afterUser: string) => store.listFollowed(id, { afterUser, countMax: 2 });
      expect(await page('')).toEqual([user(1), user(2)]);
      expect(await page(userHash(2))).toEqual([user(3), user(200)]);
      expect(await page(userHash(200))).toEqual([]);
    });
  },

  findFollowed(opened) {
    test('by key and host; one that is there before one that was missed', async () => {
      const { store } = opened();
      const { id } = await claimed(store);
      const other = await claimed(store, 'b.example.org');
      const { keyHash } = user(1);
      await store.stepFollow(
        { id, ...claimAt(NOW_MS) },
        { put: [user(1, { missedCount: 1 }), user(2, { keyHash, note: 'n' })], drop: [] },
      );
      const there = { put: [user(3, { keyHash })], drop: [] };
      await store.stepFollow({ id: other.id, ...claimAt(NOW_MS) }, there);
      expect(await store.findFollowed(HOST, keyHash)).toEqual(user(2, { keyHash, note: 'n' }));
      expect(await store.findFollowed('b.example.org', keyHash)).toEqual(user(3, { keyHash }));
      expect(await store.findFollowed(HOST, OTHER_HASH)).toBeNull();
      expect(await store.findFollowed('c.example.org', keyHash)).toBeNull();
    });
  },

  stepFollow(opened) {
    test('adds, replaces and forgets users while the claim holds', async () => {
      const { store } = opened();
      const { id } = await claimed(store);
      const hold = { id, ...claimAt(NOW_MS) };
      expect(await store.stepFollow(hold, { put: [user(1), user(2)], drop: [] })).toBe(true);
      const changed = user(2, {
        keyHash: OTHER_HASH,
        state: 'expired',
        panelLimit: null,
        endsAtMs: null,
        note: 'a note',
        missedCount: 1,
      });
      const step = { put: [changed], drop: [userHash(1), userHash(9)] };
      expect(await store.stepFollow({ ...hold, owner: 'two' }, step)).toBe(false);
      expect(await known(store, id)).toEqual([user(1), user(2)]);
      expect(await store.stepFollow(hold, step)).toBe(true);
      expect(await known(store, id)).toEqual([changed]);
    });

    test('prolongs the claim', async () => {
      const { store } = opened();
      const { id } = await claimed(store);
      await store.stepFollow({ id, ...claimAt(NOW_MS + LEASE_MS - 1) }, { put: [], drop: [] });
      const late = claimAt(NOW_MS + LEASE_MS, 'two');
      expect(await store.claimFollow(HOST, FRESH, late)).toBeNull();
    });
  },

  endFollow(opened) {
    test('a whole pass ends failures; failures in a row are counted', async () => {
      const { store } = opened();
      const fail = async (nowMs: number) => {
        const { id } = await claimed(store, HOST, nowMs);
        const failed = { problem: 'unreadable', reason: 'away', nextAtMs: 0, tookMs: 1 } as const;
        await store.endFollow({ id, ...claimAt(nowMs) }, failed);
      };
      for (const ms of [0, 10, 20]) await fail(NOW_MS + ms);
      const why = { problem: 'unreadable', reason: 'away' };
      const times = { sinceMs: NOW_MS, atMs: NOW_MS + 20 };
      expect((await store.listFollows())[0]).toMatchObject({
        pass: null,
        failure: { ...why, ...times, count: 3 },
        nextAtMs: 0,
      });
      const { id } = await claimed(store, HOST, NOW_MS + 30);
      await store.endFollow({ id, ...claimAt(NOW_MS + 30) }, PASSED);
      const passed = { ...PASSED.counts, atMs: NOW_MS + 30, tookMs: 70 };
      const { view, nextAtMs } = PASSED;
      expect((await store.listFollows())[0]).toMatchObject({
        view,
        nextAtMs,
        pass: passed,
        failure: null,
      });
      await fail(NOW_MS + 300_000);
      expect((await store.listFollows())[0]).toMatchObject({
        pass: passed,
        failure: { sinceMs: NOW_MS + 300_000, count: 1 },
      });
    });

    test('of a lost claim changes nothing', async () => {
      const { store } = opened();
      const { id } = await claimed(store);
      for (const end of [PASSED, MANY]) {
        await store.endFollow({ id, ...claimAt(NOW_MS, 'two') }, end);
      }
      expect((await store.listFollows())[0]).toMatchObject({
        pass: null,
        failure: null,
        held: null,
      });
    });
  },

  acceptFollow(opened) {
    test('agrees once to a pass that waits, with an entry, and it is due', async () => {
      const { store } = opened();
      expect(await store.acceptFollow(HOST, ACT)).toBe('follow_not_found');
      const { id } = await claimed(store);
      expect(await store.acceptFollow(HOST, ACT)).toBe('follow_not_held');
      await store.endFollow({ id, ...claimAt(NOW_MS) }, MANY);
      const waits = { failure: { problem: 'many_missing' }, held: HELD, isAccepted: false };
      expect((await store.listFollows())[0]).toMatchObject(waits);
      expect(await store.acceptFollow(HOST, ACT)).toBe('ok');
      expect(await store.acceptFollow(HOST, ACT)).toBe('ok');
      expect((await store.listFollows())[0]).toMatchObject({ isAccepted: true, nextAtMs: 0 });
      const entries = await auditEntries({ store });
      expect(entries).toHaveLength(1);
      expect(entries[0]).toMatchObject({
        action: 'follow.accept',
        object: { host: HOST, missing: 6, known: 20 },
      });
    });

    test('stays through another failure, until a whole pass or one that waits again', async () => {
      const { store } = opened();
      const hold = { ...claimAt(NOW_MS), id: (await claimed(store)).id };
      await store.endFollow(hold, MANY);
      await store.acceptFollow(HOST, ACT);
      await claimed(store);
      await store.endFollow(hold, { problem: 'unreadable', reason: '', nextAtMs: 0, tookMs: 1 });
      expect((await store.listFollows())[0]).toMatchObject({ held: HELD, isAccepted: true });
      await claimed(store);
      await store.endFollow(hold, { ...MANY, nextAtMs: 0, held: { ...HELD, missingCount: 7 } });
      expect((await store.listFollows())[0]).toMatchObject({
        held: { missingCount: 7 },
        isAccepted: false,
      });
      await claimed(store);
      await store.endFollow(hold, PASSED);
      expect((await store.listFollows())[0]).toMatchObject({ held: null, isAccepted: false });
    });
  },

  forgetFollows(opened) {
    test('forgets panels that nobody follows any more, with their users', async () => {
      const { store } = opened();
      const { id } = await claimed(store);
      await claimed(store, 'b.example.org', NOW_MS + 2);
      const put = Array.from({ length: 1_001 }, (_, n) => user(n));
      await store.stepFollow({ id, ...claimAt(NOW_MS) }, { put, drop: [] });
      expect(await store.forgetFollows(NOW_MS)).toBe(false);
      let steps = 0;
      while (await store.forgetFollows(NOW_MS + 1)) steps += 1;
      expect(steps).toBe(2);
      expect((await store.listFollows()).map(({ host }) => host)).toEqual(['b.example.org']);
      expect(await known(store, id)).toEqual([]);
    });
  },
};

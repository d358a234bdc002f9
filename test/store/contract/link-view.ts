import { expect, test } from 'bun:test';
import { usualOf } from '../../../src/core/field.ts';
import type { LinkFilter } from '../../../src/core/port/link-view.ts';
import type { Store } from '../../../src/core/port/store.ts';
import { subscriptionKeyHash } from '../../../src/core/secret.ts';
import { LINK_TERMS } from '../../../src/core/terms.ts';
import { ACT } from '../../support/actor.ts';
import { ACTIVE_OF_ALL, addFigured, countedBy, FIGURE_FILTERS } from './figures-fixture.ts';
import {
  addDoor,
  addLink,
  addProvider,
  CODE,
  FACTS,
  knock,
  NOW_MS,
  OTHER_CODE,
  type Suite,
} from './fixture.ts';

type Method =
  | 'findLink'
  | 'findLinkById'
  | 'findLinksByKey'
  | 'listLinks'
  | 'listLinkSlice'
  | 'listLinksById'
  | 'countLinks'
  | 'listLinkDevices'
  | 'readLinkStory';

const EVERY: LinkFilter = { providerCode: null, isFull: false, status: null };

/** Two providers: of the first a link with both slots taken and one that is disabled. */
async function addLinks(store: Store): Promise<void> {
  const { providerId, installId } = await addDoor(store);
  await knock(store, 'a');
  await knock(store, 'b', CODE, FACTS, NOW_MS + 5);
  store.countRefusal({ providerId, installId }, 'link_limit_reached', NOW_MS);
  await store.saveFigures();
  const id = await addLink(store, providerId, { installCode: OTHER_CODE });
  await store.updateLink(providerId, id, { status: 5 }, ACT);
  const { id: other } = await addProvider(store, 'Provide2');
  await addLink(store, other, { installCode: 'LinkCode0003', note: null });
}

async function addMany(store: Store, providerId: number, count: number): Promise<void> {
  const numbers = Array.from({ length: count }, (_, n) => n);
  // As many as may wait for the database.
  for (const [, some] of Map.groupBy(numbers, (n) => Math.floor(n / 1_000))) {
    await Promise.all(
      some.map(async (n) => {
        const installCode = `Many${String(n).padStart(8, '0')}`;
        const note = n === 500 ? '100% of_it' : `customer ${n % 550}`;
        await addLink(store, providerId, { installCode, note, installCountMax: 5_000 });
      }),
    );
  }
}

/** Filters with the codes that each lets through. */
const FILTERED: readonly (readonly [LinkFilter, readonly string[]])[] = [
  [EVERY, ['LinkCode0003', OTHER_CODE, CODE]],
  [{ ...EVERY, providerCode: 'Provide1' }, [OTHER_CODE, CODE]],
  [{ ...EVERY, providerCode: 'provide1' }, []],
  [{ ...EVERY, isFull: true }, [CODE]],
  [{ ...EVERY, status: 5 }, [OTHER_CODE]],
  [{ ...EVERY, status: 10 }, ['LinkCode0003', CODE]],
  [{ providerCode: 'Provide1', isFull: true, status: 5 }, []],
  [{ ...EVERY, isOver: true }, []],
  [{ ...EVERY, search: 'linkcode0003' }, ['LinkCode0003']],
  [{ ...EVERY, search: 'OT' }, [OTHER_CODE, CODE]],
  [{ ...EVERY, search: '%' }, []],
  [{ ...EVERY, search: 'n_te' }, []],
  [{ ...EVERY, search: 'pixel' }, [CODE]],
  [{ ...EVERY, search: 'a' }, [CODE]],
  [{ ...EVERY, search: 'A' }, []],
  [{ ...EVERY, search: 'note', isFull: true }, [CODE]],
  [{ ...EVERY, providerCode: 'Provide2', search: 'note' }, []],
  [{ ...EVERY, inNote: 'NOT' }, [OTHER_CODE, CODE]],
  [{ ...EVERY, inNote: 'pixel' }, []],
  [{ ...EVERY, limit: 2 }, ['LinkCode0003', OTHER_CODE, CODE]],
  [{ ...EVERY, limit: 3 }, []],
  [{ ...EVERY, refusedSinceMs: NOW_MS }, [CODE]],
  [{ ...EVERY, refusedSinceMs: NOW_MS + 1 }, []],
  [{ ...EVERY, unusedSinceMs: NOW_MS }, []],
  [{ ...EVERY, unusedSinceMs: NOW_MS + 1 }, ['LinkCode0003', OTHER_CODE]],
  [{ ...EVERY, unusedSinceMs: NOW_MS + 5 }, ['LinkCode0003', OTHER_CODE]],
  [{ ...EVERY, unusedSinceMs: NOW_MS + 6 }, ['LinkCode0003', OTHER_CODE, CODE]],
  [{ providerCode: 'Provide2', isFull: false, status: null, refusedSinceMs: 0 }, []],
];

export const linkViewContract: Record<Method & keyof Store, Suite> = {
  findLink(opened) {
    test('by its code alone, with its provider', async () => {
      const { store } = opened();
      await addLinks(store);
      const [first] = await store.listProviders();
      expect(await store.findLink(CODE)).toEqual({
        id: expect.any(Number),
        installCode: CODE,
        installLimit: 2,
        deviceCount: 2,
        status: 10,
        note: 'note',
        createdAtMs: NOW_MS,
        providerId: first?.id ?? 0,
        providerCode: 'Provide1',
        ...usualOf(LINK_TERMS),
        replacedAtMs: null,
        limitWanted: null,
        hasSubscriptionKey: false,
        isCopied: false,
      });
      expect(await store.findLink('LinkCode0003')).toMatchObject({ providerCode: 'Provide2' });
      expect(await store.findLink('linkcode0003')).toBeNull();
    });

    test('with its own policy, a key, and when a slot was last replaced', async () => {
      const { store } = opened();
      const { providerId, installId } = await addDoor(store);
      const policy = { inactiveDays: 30, whenFull: 'replace-oldest', coolDownHours: 1 } as const;
      const key = { subscriptionKeyHash: subscriptionKeyHash('panel-key') };
      await store.updateLink(providerId, installId, { ...policy, ...key }, ACT);
      for (const hwid of ['a', 'b', 'c']) await knock(store, hwid);
      const has = { ...policy, hasSubscriptionKey: true, replacedAtMs: NOW_MS };
      expect(await store.findLink(CODE)).toMatchObject(has);
    });
  },

  findLinkById(opened) {
    test('as by its code', async () => {
      const { store } = opened();
      const { installId } = await addDoor(store);
      expect(await store.findLinkById(installId)).toEqual(await store.findLink(CODE));
      expect(await store.findLinkById(installId + 1)).toBeNull();
      expect(await store.findLinkById(999_999_999_999_999)).toBeNull();
    });
  },

  findLinksByKey(opened) {
    test('of all providers, and no other', async () => {
      const { store } = opened();
      await addLinks(store);
      const key = subscriptionKeyHash('panel-key');
      expect(await store.findLinksByKey(key)).toEqual([]);
      for (const code of [CODE, 'LinkCode0003']) {
        const { providerId = 0, id = 0 } = (await store.findLink(code)) ?? {};
        await store.updateLink(providerId, id, { subscriptionKeyHash: key }, ACT);
      }
      const found = await store.findLinksByKey(key);
      expect(found.map(({ installCode }) => installCode)).toEqual([CODE, 'LinkCode0003']);
      expect(found[0]).toEqual((await store.findLink(CODE)) ?? undefined);
    });
  },

  listLinks(opened) {
    test('chooses by figures what a count of all of them chooses, in lists, slices and counts', async () => {
      const { store } = opened();
      const { links } = await addFigured(store);
      for (const filter of FIGURE_FILTERS) {
        const codes = countedBy(links, filter).map(({ code }) => code);
        expect(codes).not.toEqual([]);
        const wanted = { ...ACTIVE_OF_ALL, ...filter };
        const listed = await store.listLinks({ ...wanted, countMax: 1_000 });
        expect(listed.map(({ installCode }) => installCode).toReversed()).toEqual(codes);
        expect(await store.countLinks({ ...wanted, providerCode: 'Provide1' })).toBe(codes.length);
        const slice = { ...wanted, providerCode: 'Provide1', beyondId: null, isOldest: true };
        const { links: sliced } = await store.listLinkSlice({ ...slice, countMax: 1_000 });
        expect(sliced.map(({ installCode }) => installCode)).toEqual(codes);
      }
    });

    test('nothing is unread before figures were kept for so long', async () => {
      const { store } = opened();
      const { links } = await addFigured(store);
      const unread = { ...ACTIVE_OF_ALL, unreadSinceMs: NOW_MS - 20 * 86_400_000 };
      expect(await store.countLinks(unread)).toBe(countedBy(links, unread).length);
      await store.updateProvider('Provide1', { subscriptionFigures: 0 }, ACT);
      expect(await store.countLinks(unread)).toBe(0);
      await store.updateProvider('Provide1', { subscriptionFigures: 1 }, ACT);
      expect(await store.countLinks(unread)).toBe(0);
    });

    test('of all providers or those that fit, newest first, no more than asked for', async () => {
      const { store } = opened();
      await addLinks(store);
      for (const [filter, codes] of FILTERED) {
        const listed = await store.listLinks({ ...filter, countMax: 10 });
        expect(listed.map(({ installCode }) => installCode)).toEqual([...codes]);
      }
      const [last, ...rest] = await store.listLinks({ ...EVERY, countMax: 1 });
      expect(rest).toEqual([]);
      expect(last).toEqual((await store.findLink('LinkCode0003')) ?? undefined);
    });

    test('a search goes through all links, and from an id backwards', async () => {
      const { store } = opened();
      const { providerId } = await addDoor(store);
      await addMany(store, providerId, 1_100);
      const of = { ...EVERY, providerCode: 'Provide1', search: 'customer 54' };
      // 54, 540 to 549, each twice.
      const found = await store.listLinks({ ...of, countMax: 100 });
      expect(found.length).toBe(22);
      expect(await store.countLinks(of)).toBe(22);
      const sorted = found.map(({ id }) => id).sort((a, b) => b - a);
      expect(found.map(({ id }) => id)).toEqual(sorted);
      const beforeId = sorted[20] ?? 0;
      const rest = await store.listLinks({ ...of, beforeId, countMax: 100 });
      expect(rest.map(({ id }) => id)).toEqual(sorted.slice(21));
      let turns = 0;
      const turn = async () => {
        turns += 1;
      };
      await store.listLinks({ ...of, countMax: 100 }, turn);
      await store.listLinks({ ...EVERY, isOver: true, countMax: 100 }, turn);
      expect(turns).toBe(4);
      const one = { ...of, fromId: beforeId, beforeId: beforeId + 1, countMax: 2 };
      expect((await store.listLinks(one, turn)).map(({ id }) => id)).toEqual([beforeId]);
      const before = { ...one, fromId: beforeId - 1, beforeId };
      expect(await store.listLinks(before, turn)).toEqual([]);
      expect(turns).toBe(4);
      const whole = await store.listLinks({ ...EVERY, beforeId, countMax: 2_000 });
      expect(whole.every(({ id }) => id < beforeId)).toBe(true);
      const literal = await store.listLinks({ ...EVERY, search: '0% OF_', countMax: 9 });
      expect(literal.map(({ installCode }) => installCode)).toEqual(['Many00000500']);
    });
  },

  listLinkSlice(opened) {
    test('what matches among the next links, either way, and where the rest is', async () => {
      const { store } = opened();
      const { providerId, installId } = await addDoor(store);
      await addMany(store, providerId, 4_100);
      const of = { ...EVERY, providerCode: 'Provide1', search: 'customer 54' };
      for (const isOldest of [false, true]) {
        let turns = 0;
        const turn = async () => {
          turns += 1;
        };
        const slice = (beyondId: number | null, countMax = 100) =>
          store.listLinkSlice({ ...of, beyondId, isOldest, countMax }, turn);
        const first = await slice(null);
        expect(turns).toBe(4);
        const rest = await slice(first.nextId);
        expect(rest.nextId).toBeNull();
        const ids = [...first.links, ...rest.links].map(({ id }) => id);
        const listed = await store.listLinks({ ...of, countMax: 100 });
        const all = listed.map(({ id }) => id);
        expect(ids).toEqual(isOldest ? all.toReversed() : all);
        expect(rest.links.length).toBe(isOldest ? 0 : 1);
        expect((await slice(null, 30)).links.map(({ id }) => id)).toEqual(ids.slice(0, 30));
        const two = await slice(null, 2);
        expect(two.nextId).toBe(ids[1] ?? 0);
        expect((await slice(two.nextId, 1)).links.map(({ id }) => id)).toEqual([ids[2] ?? 0]);
      }
      const every = { ...EVERY, providerCode: 'Provide1' };
      const whole = { ...every, beyondId: null, isOldest: true, countMax: 5_000 };
      const { links, nextId } = await store.listLinkSlice(whole);
      expect([links.length, links[0]?.id, nextId]).toEqual([4_101, installId, null]);
      const foreign = await store.listLinkSlice({ ...whole, providerCode: 'Provide2' });
      expect(foreign).toEqual({ links: [], nextId: null });
    });

    test('as the list of all that match', async () => {
      const { store } = opened();
      await addLinks(store);
      for (const [filter, codes] of FILTERED) {
        const of = { ...filter, beyondId: null, isOldest: false, countMax: 10 };
        const { links, nextId } = await store.listLinkSlice(of);
        expect(links.map(({ installCode }) => installCode)).toEqual([...codes]);
        expect(nextId).toBeNull();
      }
    });
  },

  listLinksById(opened) {
    test('the provider’s own, newest first', async () => {
      const { store } = opened();
      await addLinks(store);
      const links = await store.listLinks({ ...EVERY, countMax: 9 });
      const ids = links.map(({ id }) => id).toReversed();
      const own = links.filter(({ providerCode }) => providerCode === 'Provide1');
      const providerId = own[0]?.providerId ?? 0;
      expect(await store.listLinksById(providerId, [...ids, 999_999])).toEqual(own);
      expect(await store.listLinksById(providerId, [])).toEqual([]);
    });
  },

  countLinks(opened) {
    test('as many as the list without a limit has', async () => {
      const { store } = opened();
      await addLinks(store);
      for (const [filter, codes] of FILTERED) {
        expect(await store.countLinks(filter)).toBe(codes.length);
      }
    });
  },

  listLinkDevices(opened) {
    test('with what the provider knows of them, the latest first, of its own link', async () => {
      const { store } = opened();
      const { providerId, installId } = await addDoor(store);
      await knock(store, 'a');
      await knock(store, 'b', CODE, { ...FACTS, deviceName: 'Tablet' }, NOW_MS + 5);
      const devices = await store.listLinkDevices(providerId, installId, 9);
      expect(devices).toEqual([
        {
          ...FACTS,
          hwid: 'b',
          deviceName: 'Tablet',
          registeredAtMs: NOW_MS + 5,
          lastSeenAtMs: NOW_MS + 5,
        },
        { ...FACTS, hwid: 'a', registeredAtMs: NOW_MS, lastSeenAtMs: NOW_MS },
      ]);
      expect(await store.listLinkDevices(providerId, installId, 1)).toHaveLength(1);
      expect(await store.listLinkDevices(providerId + 1, installId, 9)).toEqual([]);
    });
  },

  readLinkStory(opened) {
    test('how slots of this link ended, the latest first', async () => {
      const { store } = opened();
      const { providerId, installId } = await addDoor(store);
      await addLink(store, providerId, { installCode: OTHER_CODE });
      expect(await store.readLinkStory(installId)).toEqual({ ends: [], refusals: null });
      await store.updateLink(providerId, installId, { whenFull: 'replace-oldest' }, ACT);
      for (const hwid of ['a', 'b']) await knock(store, hwid);
      await knock(store, 'c', CODE, FACTS, NOW_MS + 1);
      await knock(store, 'c', OTHER_CODE);
      const free = { installCode: OTHER_CODE, installId: null };
      await store.freeSlot(providerId, free, 'c', ACT);
      await store.freeSlot(providerId, { installCode: CODE, installId }, 'b', ACT);
      const stay = { registeredAtMs: NOW_MS, lastSeenAtMs: NOW_MS };
      expect((await store.readLinkStory(installId)).ends).toEqual([
        {
          hwid: 'b',
          ...stay,
          endedAtMs: ACT.atMs,
          why: 'deleted',
          actor: 'tester',
          forHwid: null,
        },
        {
          hwid: 'a',
          ...stay,
          endedAtMs: NOW_MS + 1,
          why: 'replaced',
          actor: 'device',
          forHwid: 'c',
        },
      ]);
    });

    test('keeps the end of a slot whose device was forgotten, without its HWID', async () => {
      const { store } = opened();
      const { installId } = await addDoor(store);
      await knock(store, 'a');
      await store.forgetDevice('a', ACT);
      const { ends } = await store.readLinkStory(installId);
      expect(ends).toMatchObject([{ hwid: null, why: 'forgotten', actor: 'tester' }]);
    });

    test('how many devices were refused, when and why the last', async () => {
      const { store } = opened();
      const { installId } = await addDoor(store);
      const { providerId = 0 } = (await store.findLink(CODE)) ?? {};
      store.countRefusal({ installId, providerId }, 'link_disabled', NOW_MS - 1);
      store.countRefusal({ installId, providerId }, 'link_limit_reached', NOW_MS);
      await store.saveFigures();
      const refusals = { count: 2, lastAtMs: NOW_MS, reason: 'link_limit_reached' } as const;
      expect((await store.readLinkStory(installId)).refusals).toEqual(refusals);
    });
  },
};

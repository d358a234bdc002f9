/** HWIDs that a provider names for a link before they come. */

import { describe, expect, test } from 'bun:test';
import type { Act } from '../../../src/core/port/audit.ts';
import type { Store } from '../../../src/core/port/store.ts';
import { ACT, actOfKey } from '../../support/actor.ts';
import {
  ALL,
  addDoor,
  addLink,
  CODE,
  FACTS,
  HASH,
  heard,
  knock,
  linkDraft,
  NOW_MS,
  OTHER_CODE,
  provider,
  type Suite,
} from './fixture.ts';
import { listening } from './happening.ts';
import { onLink, registration } from './message-fixture.ts';
import type { Race } from './race.ts';

const BY_CODE = { installCode: CODE, installId: null };
const OTHER = { installCode: OTHER_CODE, installId: null };
const MOST = 1_000;

const name = (store: Store, providerId: number, hwids: string[], selector = BY_CODE) =>
  store.nameHwids(providerId, selector, hwids, MOST, ACT);

async function hwidsOn(store: Store, providerId: number, selector = BY_CODE): Promise<string[]> {
  const slots = await store.listSlots(providerId, selector, null, 200);
  if (typeof slots === 'string') throw new Error(slots);
  return slots.map(({ hwid, isNamed }) => (isNamed ? `${hwid}?` : hwid)).sort();
}

const countOn = async (store: Store, code = CODE) => (await store.findLink(code))?.deviceCount;

export const namedHwidContract: Record<'nameHwids' | 'listNamed', Suite> = {
  nameHwids(opened) {
    test('a key that names over 100 on a day is told of once, and no account', async () => {
      const { store } = opened();
      const { providerId, told, toldOperator } = await listening(store, { installLimit: 100 });
      await addLink(store, providerId, { installCode: OTHER_CODE, installLimit: 100 });
      const by = actOfKey('Provide1', NOW_MS);
      const some = (letter: string, count: number) =>
        Array.from({ length: count }, (_, n) => `${letter}${n}`);
      const add = (hwids: string[], act: Act) =>
        store.nameHwids(providerId, OTHER, hwids, MOST, act);
      await name(store, providerId, some('x', 100));
      await add(some('a', 60), by);
      // Those that are there count once.
      await add(some('a', 60), by);
      const first = async () =>
        (await told()).filter(([kind]) => kind === 'key.first_use').map(([, data]) => data);
      expect(await first()).toEqual([]);
      await store.freeSlot(providerId, OTHER, 'a0', by);
      await add(some('b', 40), by);
      expect(await first()).toEqual([]);
      await store.freeSlot(providerId, OTHER, 'b0', by);
      for (const hwid of ['c', 'd']) {
        await add([hwid], by);
        await store.freeSlot(providerId, OTHER, hwid, by);
      }
      const data = {
        provider_code: 'Provide1',
        right: 'add_hwid',
        key_name: null,
        key: 'a1b2c3d4',
      };
      expect(await first()).toEqual([data]);
      expect(await toldOperator()).toEqual([['key.first_use', data]]);
    });

    test('counts from then on, all or none, and names again without a change', async () => {
      const { store } = opened();
      const { providerId, installId } = await addDoor(store);
      expect(await name(store, providerId, ['a'])).toEqual({
        installId,
        deviceCount: 1,
        addedCount: 1,
      });
      expect(await name(store, providerId, ['b', 'c'])).toBe('link_full');
      expect(await hwidsOn(store, providerId)).toEqual(['a?']);
      expect(await name(store, providerId, ['a', 'b'])).toMatchObject({
        deviceCount: 2,
        addedCount: 1,
      });
      expect(await name(store, providerId, ['b', 'a'])).toMatchObject({ addedCount: 0 });
      expect(await countOn(store)).toBe(2);
      expect(await knock(store, 'c')).toBe('link_limit_reached');
      const slots = await store.listSlots(providerId, BY_CODE, 'a', 10);
      expect(slots).toEqual([
        { hwid: 'a', deviceName: '', registeredAtMs: NOW_MS, lastSeenAtMs: NOW_MS, isNamed: true },
      ]);
    });

    test('becomes a slot as any when it comes, with its facts and that time', async () => {
      const { store } = opened();
      const { providerId, installId } = await addDoor(store);
      await name(store, providerId, ['a', 'b']);
      const later = NOW_MS + 5_000;
      const key = { installCode: CODE, domainHash: HASH, hwid: 'a' };
      expect(await store.findSlot(key)).toMatchObject({ isNamed: true, full: null });
      expect(heard(await store.takeSlot(key, FACTS, later))).toMatchObject({ deviceCount: 2 });
      expect(await store.findSlot(key)).not.toHaveProperty('isNamed');
      expect(await store.listLinkDevices(providerId, installId, 10)).toMatchObject([
        { hwid: 'a', ...FACTS, registeredAtMs: later, lastSeenAtMs: later },
      ]);
      expect(await hwidsOn(store, providerId)).toEqual(['a', 'b?']);
      expect(await store.findDevice('a')).toMatchObject({ installs: [{ installCode: CODE }] });
      expect((await store.readLinkStory(installId)).ends).toEqual([]);
    });

    test('of a HWID with a slot on the link changes nothing', async () => {
      const { store } = opened();
      const { providerId } = await addDoor(store);
      await knock(store, 'a');
      expect(await name(store, providerId, ['a'])).toMatchObject({
        deviceCount: 1,
        addedCount: 0,
      });
      expect(await hwidsOn(store, providerId)).toEqual(['a']);
    });

    test('is freed by its provider alone: no rule of the link does', async () => {
      const { store } = opened();
      const { providerId, installId } = await addDoor(store);
      const rules = { inactiveDays: 1, whenFull: 'replace-oldest', samePhone: 'replace' } as const;
      await store.updateLink(providerId, installId, { ...rules, coolDownHours: 1 }, ACT);
      await name(store, providerId, ['a', 'b']);
      const year = NOW_MS + 365 * 86_400_000;
      const key = { installCode: CODE, domainHash: HASH, hwid: 'c', reported: FACTS };
      expect(heard(await store.takeSlot(key, FACTS, year))).toBe('link_limit_reached');
      expect(await store.freeSlot(providerId, BY_CODE, 'a', ACT)).toEqual({ deviceCount: 1 });
      expect(await store.freeSlot(providerId, BY_CODE, 'a', ACT)).toEqual({ deviceCount: 1 });
      expect(heard(await store.takeSlot(key, FACTS, year))).toMatchObject({ deviceCount: 2 });
      // Of the two the device is the oldest that may go.
      const next = { ...key, hwid: 'd' };
      const muchLater = year + 365 * 86_400_000;
      expect(heard(await store.takeSlot(next, FACTS, muchLater))).toMatchObject({ deviceCount: 2 });
      expect(await hwidsOn(store, providerId)).toEqual(['b?', 'd']);
    });

    test('lets a waiting limit fall when it is freed', async () => {
      const { store } = opened();
      const { providerId, installId } = await addDoor(store);
      await name(store, providerId, ['a', 'b']);
      await store.updateLink(providerId, installId, { installLimit: 1, asTheyLeave: true }, ACT);
      await store.freeSlot(providerId, BY_CODE, 'b', ACT);
      expect(await store.findLink(CODE)).toMatchObject({
        installLimit: 1,
        limitWanted: null,
        deviceCount: 1,
      });
      expect(await knock(store, 'b')).toBe('link_limit_reached');
      expect(await knock(store, 'a')).toMatchObject({ deviceCount: 1 });
    });

    test('goes with all slots, with a new code and with its link', async () => {
      const { store } = opened();
      const { providerId, installId } = await addDoor(store);
      await knock(store, 'a');
      await name(store, providerId, ['b']);
      expect(await store.freeSlots(providerId, installId, ACT)).toEqual({ freedCount: 2 });
      expect(await countOn(store)).toBe(0);
      await name(store, providerId, ['b']);
      const revoked = await store.revokeLink(providerId, installId, OTHER_CODE, ACT);
      expect(revoked).toMatchObject({ freedCount: 1 });
      expect(await countOn(store, OTHER_CODE)).toBe(0);
      await name(store, providerId, ['c'], OTHER);
      expect(await store.removeLink(providerId, installId, ACT)).toMatchObject({ freedCount: 1 });
      expect(await store.listNamed(installId)).toEqual([]);
    });

    test('goes with its HWID, which has no other row, and its bar too', async () => {
      const { store } = opened();
      const { providerId, installId } = await addDoor(store);
      await name(store, providerId, ['a', 'b']);
      expect(await store.forgetDevice('a', ACT)).toBe('ok');
      expect(await hwidsOn(store, providerId)).toEqual(['b?']);
      expect(await countOn(store)).toBe(1);
      const none = { keyHash: null, host: null, why: 'none', isByUser: false };
      await store.askCut(providerId, { installId, hwid: 'b', ...none }, ACT);
      expect(await store.listBars(installId, NOW_MS)).toHaveLength(1);
      expect(await store.forgetDevice('b', ACT)).toBe('ok');
      expect(await store.listBars(installId, NOW_MS)).toEqual([]);
      expect(await countOn(store)).toBe(0);
    });

    test('is bounded for a provider, and names no link of another one', async () => {
      const { store } = opened();
      const { providerId } = await addDoor(store);
      const { providerId: otherId } = await addDoor(store, 'Provide2', OTHER_CODE);
      expect(await store.nameHwids(providerId, BY_CODE, ['a', 'b'], 1, ACT)).toBe('named_limit');
      expect(await store.nameHwids(providerId, BY_CODE, ['a'], 1, ACT)).toMatchObject({
        addedCount: 1,
      });
      // A HWID that is named already is no more than before.
      expect(await store.nameHwids(providerId, BY_CODE, ['a'], 1, ACT)).toMatchObject({
        addedCount: 0,
      });
      expect(await name(store, otherId, ['b'])).toBe('install_code_error');
      expect(await countOn(store)).toBe(1);
    });

    test('makes no device: no count, list, search or target has it', async () => {
      const { store } = opened();
      const { providerId: rivalId } = await addDoor(store, 'Rival001', OTHER_CODE);
      await addDoor(store);
      await knock(store, 'a');
      const before = await store.findDevice('a');
      await store.registerDevice(registration('b'));
      await name(store, rivalId, ['a', 'b'], OTHER);
      expect(await store.findDevice('a')).toEqual(before);
      expect(await store.listLinkDevices(rivalId, 2, 10)).toEqual([]);
      // Who is known elsewhere and who is not answer alike.
      const fresh = await addLink(store, rivalId, { installCode: 'LinkCode0003' });
      const third = { installCode: null, installId: fresh };
      const known = await store.nameHwids(rivalId, third, ['a'], MOST, ACT);
      expect(known).toMatchObject({ addedCount: 1, deviceCount: 1 });
      const none = await store.nameHwids(rivalId, third, ['unknown'], MOST, ACT);
      expect(none).toMatchObject({ addedCount: 1, deviceCount: 2 });
    });

    test('is refused as others on a disabled link, and for a register with the link it is known', async () => {
      const { store } = opened();
      const { providerId, installId } = await addDoor(store);
      await name(store, providerId, ['a']);
      await store.updateLink(providerId, installId, { status: 5 }, ACT);
      expect(await knock(store, 'a')).toBe('link_disabled');
      await store.updateLink(providerId, installId, { status: 10 }, ACT);
      const registered = await store.registerDevice(registration('a', { shown: onLink(CODE) }));
      expect(typeof registered).not.toBe('string');
      expect(await hwidsOn(store, providerId)).toEqual(['a']);
    });

    describe('with when_new refuse', () => {
      test('only HWIDs on the link come in, whether it is full or not', async () => {
        const { store } = opened();
        const { providerId, installId } = await addDoor(store);
        await knock(store, 'old');
        await store.updateLink(providerId, installId, { whenNew: 'refuse' }, ACT);
        expect(await knock(store, 'new')).toBe('not_named');
        expect(await knock(store, 'old')).toMatchObject({ deviceCount: 1 });
        await name(store, providerId, ['new']);
        expect(await knock(store, 'new')).toMatchObject({ deviceCount: 2 });
        expect(await knock(store, 'other')).toBe('not_named');
        // A link that only counts admits all.
        await store.updateLink(providerId, installId, { enforce: 0 }, ACT);
        expect(await knock(store, 'other')).toMatchObject({ deviceCount: 3 });
        await store.updateLink(providerId, installId, { enforce: null, whenNew: null }, ACT);
      });

      test("is the provider's, and the link's own goes first", async () => {
        const { store } = opened();
        const { providerId, installId } = await addDoor(store);
        await store.updateProvider('Provide1', { whenNew: 'refuse' }, ACT);
        expect(await knock(store, 'a')).toBe('not_named');
        await store.updateLink(providerId, installId, { whenNew: 'admit' }, ACT);
        expect(await knock(store, 'a')).toMatchObject({ deviceCount: 1 });
      });

      test('the first device of a link that the gate makes is let in, and no second one', async () => {
        const { store } = opened();
        const { providerId } = await addDoor(store);
        await store.updateProvider('Provide1', { whenNew: 'refuse' }, ACT);
        const { code: providerCode } = await provider(store, 'Provide1');
        const subscriptionKeyHash = 'cd'.repeat(32);
        const draft = linkDraft(providerId, { installCode: OTHER_CODE, subscriptionKeyHash });
        const key = { subscriptionKeyHash, providerCode, domainHash: HASH };
        const enter = (hwid: string) => store.addLinkWithSlot(draft, { ...key, hwid }, FACTS, ACT);
        expect(await enter('a')).toMatchObject({ deviceCount: 1, isNew: true });
        expect(await enter('b')).toMatchObject({ says: 'not_named' });
        expect(await countOn(store, OTHER_CODE)).toBe(1);
      });
    });
  },

  listNamed(opened) {
    test('lists those that have not come, the latest first', async () => {
      const { store } = opened();
      const { providerId, installId } = await addDoor(store);
      await name(store, providerId, ['a']);
      await store.nameHwids(providerId, BY_CODE, ['b'], MOST, { ...ACT, atMs: NOW_MS + 1 });
      const rows = await store.listNamed(installId);
      expect(rows.map(({ hwid }) => hwid)).toEqual(['b', 'a']);
      await knock(store, 'b');
      expect(await store.listNamed(installId)).toEqual([
        { hwid: 'a', namedAtMs: NOW_MS, deviceName: '' },
      ]);
    });
  },
};

/** HWIDs are named, come and are freed while others come: the link never exceeds its limit. */
const race: Race = {
  callCount: 150,
  atOnce: 25,
  given: async (store) => {
    const { providerId, installId } = await addDoor(store);
    await store.updateLink(providerId, installId, { installLimit: 5 }, ACT);
    return { providerId, installId };
  },
  call: async (store, { providerId = 0 }, n) => {
    const hwid = `phone-${n % 13}`;
    if (n % 5 === 1) return name(store, providerId, [hwid, `phone-${(n + 3) % 13}`]);
    if (n % 5 === 3) return store.freeSlot(providerId, BY_CODE, hwid, ACT);
    const key = { installCode: CODE, providerCode: null, domainHash: HASH, hwid };
    return store.takeSlot(key, FACTS, NOW_MS);
  },
  async check(store, { providerId = 0 }) {
    const slots = await store.listSlots(providerId, BY_CODE, null, 200);
    if (typeof slots === 'string') throw new Error(slots);
    const [link] = await store.listLinksOf(providerId, ALL);
    expect(link?.deviceCount).toBe(slots.length);
    expect(slots.length).toBeLessThanOrEqual(5);
    expect(new Set(slots.map(({ hwid }) => hwid)).size).toBe(slots.length);
  },
};

/** At the last free slot either the named HWID or the newcomer has it. */
const lastSlot: Race = {
  callCount: 40,
  atOnce: 20,
  given: async (store) => {
    const { providerId, installId } = await addDoor(store);
    await store.updateLink(providerId, installId, { installLimit: 1 }, ACT);
    return { providerId, installId };
  },
  call: async (store, { providerId = 0 }, n) => {
    if (n % 2 === 0) return name(store, providerId, [`named-${n}`]);
    const key = { installCode: CODE, providerCode: null, domainHash: HASH, hwid: `new-${n}` };
    return store.takeSlot(key, FACTS, NOW_MS);
  },
  async check(store, { providerId = 0 }) {
    expect(await hwidsOn(store, providerId)).toHaveLength(1);
    expect(await countOn(store)).toBe(1);
  },
};

export const NAMED_RACES: Readonly<Record<string, Race>> = {
  'of naming HWIDs against devices that come and go': race,
  'of a named HWID and newcomers at the last free slot': lastSlot,
};

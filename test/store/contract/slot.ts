import { expect, test } from 'bun:test';
import { DAY_MS } from '../../../src/core/calendar.ts';
import type { Policy } from '../../../src/core/port/slot.ts';
import type { Store } from '../../../src/core/port/store.ts';
import { NO_POLICY, policyOf } from '../../../src/core/slot.ts';
import { ACT } from '../../support/actor.ts';
import { counting } from './counting.ts';
import {
  ALL,
  addDoor,
  addLink,
  addProvider,
  bind,
  CODE,
  FACTS,
  HASH,
  knock,
  NOW_MS,
  OTHER_CODE,
  OTHER_HASH,
  SILENCE,
  type Suite,
} from './fixture.ts';
import { HOUR_MS, onLink, registration } from './message-fixture.ts';

type Method = 'findSlot' | 'takeSlot' | 'findPolicy' | 'forgetSlotEnds';

const keyOf = (hwid: string, domainHash = HASH, installCode = CODE) => ({
  installCode,
  domainHash,
  hwid,
});

const KEY_HASH = 'c'.repeat(64);
const withKey = { subscriptionKeyHash: KEY_HASH };

const link = (deviceCount: number, status = 10) => ({
  providerCode: 'Provide1',
  status,
  installLimit: 2,
  deviceCount,
});

export const slotContract: Record<Method & keyof Store, Suite> = {
  findSlot(opened) {
    test('shows the link, and the device only if it holds a slot there', async () => {
      const { store } = opened();
      const door = await addDoor(store);
      await knock(store, 'a');
      const known = await store.findSlot(keyOf('a'));
      expect(known).toMatchObject({ link: link(1), device: { ...FACTS, lastSeenAtMs: NOW_MS } });
      const { installId, providerId } = door;
      expect(await store.findSlot(keyOf('b'))).toEqual({
        link: { ...link(1), installId, providerId },
        isBound: true,
        device: null,
        full: null,
        counts: false,
      });
      // Known to the appliance, but not on this link.
      const key = { providerCode: 'Provide1', domainHash: null, hwid: 'c' };
      await store.recordCheckIn(key, FACTS, NOW_MS);
      expect(await store.findSlot(keyOf('c'))).toMatchObject({ device: null });
    });

    test('as the provider of the link knows the device, and no other does', async () => {
      const { store } = opened();
      await addDoor(store);
      await addDoor(store, 'Provide2', OTHER_CODE);
      await knock(store, 'a');
      const said = { ...FACTS, deviceName: 'told to another', os: 'ios' };
      await knock(store, 'a', OTHER_CODE, said, NOW_MS + 1);
      const first = await store.findSlot(keyOf('a'));
      expect(first).toMatchObject({ device: { ...FACTS, lastSeenAtMs: NOW_MS } });
      await knock(store, 'a', CODE, SILENCE, NOW_MS + 2);
      expect(await store.findSlot(keyOf('a'))).toMatchObject({
        device: { ...FACTS, lastSeenAtMs: NOW_MS + 2, isRegistered: false },
      });
      await store.registerDevice(registration('a', { shown: onLink() }));
      await knock(store, 'a', CODE, { ...SILENCE, os: 'ios', osVersion: '16' }, NOW_MS + 3);
      expect(await store.findSlot(keyOf('a'))).toMatchObject({
        device: { ...FACTS, osVersion: '16', lastSeenAtMs: NOW_MS + 3, isRegistered: true },
      });
    });

    test('shows a disabled link as such', async () => {
      const { store } = opened();
      const { providerId, installId } = await addDoor(store);
      await store.updateLink(providerId, installId, { status: 5 }, ACT);
      expect(await store.findSlot(keyOf('a'))).toMatchObject({ link: link(0, 5), device: null });
    });

    test('by a subscription key, which two providers may have', async () => {
      const { store } = opened();
      const one = await addDoor(store);
      const two = await addDoor(store, 'Provide2', OTHER_CODE);
      const byKey = (providerCode: string | null = null, hash = KEY_HASH, domainHash = HASH) =>
        store.findSlot({ subscriptionKeyHash: hash, providerCode, domainHash, hwid: 'a' });
      expect(await byKey()).toBe('link_not_found');
      await store.updateLink(one.providerId, one.installId, withKey, ACT);
      expect(await byKey()).toMatchObject({ link: { installId: one.installId }, isBound: true });
      expect(await byKey(null, KEY_HASH, OTHER_HASH)).toMatchObject({ isBound: false });
      expect(await byKey(null, OTHER_HASH)).toBe('link_not_found');
      expect(await byKey('Provide2')).toBe('link_not_found');

      await store.updateLink(two.providerId, two.installId, withKey, ACT);
      expect(await byKey()).toBe('key_ambiguous');
      expect(await byKey('Provide2')).toMatchObject({ link: { installId: two.installId } });
      expect(await byKey(null, KEY_HASH, OTHER_HASH)).toBe('key_ambiguous');
      await store.disableDomain(one.providerId, one.domainId, ACT);
      expect(await byKey()).toMatchObject({ link: { installId: two.installId }, isBound: true });
      expect(await byKey('Provide1')).toMatchObject({ isBound: false });
    });

    test('shows of a full link what its policy may free, to newcomers alone', async () => {
      const { store } = opened();
      const { providerId, installId } = await addDoor(store);
      await knock(store, 'a', CODE, FACTS, NOW_MS + 1);
      expect(await store.findSlot(keyOf('c'))).toMatchObject({ full: null });
      await knock(store, 'b', CODE, FACTS, NOW_MS + 2);
      expect(await store.findSlot(keyOf('c'))).toMatchObject({ full: null });
      await store.updateLink(providerId, installId, { inactiveDays: 30 }, ACT);
      const full = {
        policy: { ...policyOf(NO_POLICY, NO_POLICY), inactiveDays: 30 },
        replacedAtMs: null,
        oldest: { hwid: 'a', registeredAtMs: NOW_MS + 1, lastSeenAtMs: NOW_MS + 1 },
      } as const;
      expect(await store.findSlot(keyOf('c'))).toMatchObject({ full });
      expect(await store.findSlot(keyOf('a'))).toMatchObject({ full: null });
    });

    test("what a link's policy does not say its provider's does", async () => {
      const { store } = opened();
      const { providerId, installId } = await addDoor(store);
      for (const hwid of ['a', 'b']) await knock(store, hwid);
      const policyHere = async () => {
        const door = await store.findSlot(keyOf('c'));
        return typeof door === 'string' ? door : door.full?.policy;
      };
      const whole: Policy = {
        inactiveDays: 9,
        whenFull: 'replace-oldest',
        coolDownHours: 2,
        enforce: 1,
        withoutHwid: 'count',
        samePhone: 'off',
        samePhoneHours: 100,
        copiedHwid: 'off',
        whenNew: 'admit',
      };
      await store.updateProvider('Provide1', whole, ACT);
      expect(await policyHere()).toEqual(whole);
      const own = { inactiveDays: 0, coolDownHours: 3 };
      await store.updateLink(providerId, installId, own, ACT);
      expect(await policyHere()).toEqual({ ...whole, ...own });
      await store.updateLink(providerId, installId, { inactiveDays: null }, ACT);
      expect(await policyHere()).toEqual({ ...whole, coolDownHours: 3 });
    });

    test('tells a code that nobody has from a domain that is not actively bound', async () => {
      const { store } = opened();
      const { providerId, domainId } = await addDoor(store);
      const stranger = await addProvider(store, 'Provide2');
      await bind(store, stranger.id, OTHER_HASH);
      expect(await store.findSlot(keyOf('a', OTHER_HASH))).toMatchObject({ isBound: false });
      expect(await store.findSlot(keyOf('a', HASH, 'NoSuchCode00'))).toBe('link_not_found');
      await store.disableDomain(providerId, domainId, ACT);
      expect(await store.findSlot(keyOf('a'))).toMatchObject({ isBound: false });
    });
  },

  findPolicy(opened) {
    test("reads the link's, else its provider's, else the default, part by part", async () => {
      const { store } = opened();
      const { providerId, installId } = await addDoor(store);
      const standard = policyOf(NO_POLICY, NO_POLICY);
      expect(await store.findPolicy(installId)).toEqual(standard);
      await store.updateProvider('Provide1', { withoutHwid: 'count', inactiveDays: 3 }, ACT);
      await store.updateLink(providerId, installId, { withoutHwid: 'pass', enforce: 0 }, ACT);
      const own = { withoutHwid: 'pass', enforce: 0, inactiveDays: 3 } as const;
      expect(await store.findPolicy(installId)).toEqual({ ...standard, ...own });
      expect(await store.findPolicy(installId + 1)).toBe(null);
    });
  },

  takeSlot(opened) {
    counting(opened);

    test('a new HWID takes a slot and becomes known', async () => {
      const { store } = opened();
      const { providerId } = await addDoor(store);
      expect(await knock(store, 'a')).toMatchObject(link(1));
      expect(await store.listLinksOf(providerId, ALL)).toMatchObject([{ deviceCount: 1 }]);
      const detail = await store.findDevice('a');
      expect(detail?.device).toMatchObject({
        hwid: 'a',
        ...FACTS,
        firstSeenAtMs: NOW_MS,
        lastSeenAtMs: NOW_MS,
      });
      expect(detail?.installs).toEqual([
        {
          installCode: CODE,
          providerCode: 'Provide1',
          registeredAtMs: NOW_MS,
          lastSeenAtMs: NOW_MS,
        },
      ]);
    });

    test('a known HWID takes no second slot, also on a full link; silence erases nothing', async () => {
      const { store } = opened();
      await addDoor(store);
      await knock(store, 'a');
      await knock(store, 'b');
      const said = { ...SILENCE, osVersion: '16' };
      expect(await knock(store, 'a', CODE, said, NOW_MS + 1)).toMatchObject(link(2));
      expect((await store.findDevice('a'))?.device).toMatchObject({
        ...FACTS,
        osVersion: '16',
        firstSeenAtMs: NOW_MS,
        lastSeenAtMs: NOW_MS + 1,
      });
      expect(await knock(store, 'c')).toBe('link_limit_reached');
      expect(await store.findDevice('c')).toBeNull();
    });

    test('HWIDs are never case-folded', async () => {
      const { store } = opened();
      await addDoor(store);
      await knock(store, 'a');
      expect(await knock(store, 'A')).toMatchObject(link(2));
    });

    test('refuses without an active binding, and on a disabled link also known HWIDs', async () => {
      const { store } = opened();
      const { providerId, installId, domainId } = await addDoor(store);
      await knock(store, 'a');
      await store.updateLink(providerId, installId, { status: 5 }, ACT);
      for (const hwid of ['a', 'b']) expect(await knock(store, hwid)).toBe('link_disabled');
      await store.updateLink(providerId, installId, { status: 10 }, ACT);
      await store.disableDomain(providerId, domainId, ACT);
      for (const hwid of ['a', 'b']) expect(await knock(store, hwid)).toBe('link_domain_not_bound');
      expect(await knock(store, 'a', 'NoSuchCode00')).toBe('link_not_found');
      expect(await store.findDevice('b')).toBeNull();
    });

    test('a slot is seen by each call with the link, and by each without one', async () => {
      const { store } = opened();
      const { providerId, installId } = await addDoor(store);
      await addLink(store, providerId, { installCode: OTHER_CODE });
      const seen = async (installCode: string) => {
        const found = await store.findDevice('a');
        return found?.installs.find((one) => one.installCode === installCode)?.lastSeenAtMs;
      };
      await knock(store, 'a', CODE, FACTS, NOW_MS);
      await knock(store, 'a', OTHER_CODE, FACTS, NOW_MS + 1);
      expect([await seen(CODE), await seen(OTHER_CODE)]).toEqual([NOW_MS, NOW_MS + 1]);
      await knock(store, 'a', CODE, FACTS, NOW_MS + 2);
      expect([await seen(CODE), await seen(OTHER_CODE)]).toEqual([NOW_MS + 2, NOW_MS + 1]);
      expect(await store.findSlot(keyOf('a', HASH, OTHER_CODE))).toMatchObject({
        device: { lastSeenAtMs: NOW_MS + 1 },
      });
      const key = { providerCode: 'Provide1', domainHash: null, hwid: 'a' };
      await store.recordCheckIn(key, FACTS, NOW_MS + 3);
      expect([await seen(CODE), await seen(OTHER_CODE)]).toEqual([NOW_MS + 3, NOW_MS + 3]);
      const selector = { installCode: null, installId };
      expect(await store.listSlots(providerId, selector, null, 1)).toMatchObject([
        { lastSeenAtMs: NOW_MS + 3 },
      ]);
    });

    test('a slot keeps when it was seen when another slot of its device ends', async () => {
      const { store } = opened();
      const { providerId } = await addDoor(store);
      await addLink(store, providerId, { installCode: OTHER_CODE });
      const laterMs = NOW_MS + 3 * DAY_MS;
      for (const code of [CODE, OTHER_CODE]) await knock(store, 'a', code, FACTS, NOW_MS);
      await knock(store, 'a', OTHER_CODE, FACTS, laterMs);
      const other = { installCode: OTHER_CODE, installId: null };
      await store.freeSlot(providerId, other, 'a', ACT);
      const seenAtMs = async () => {
        const key = { providerCode: 'Provide1', domainHash: null, hwid: 'a' };
        const [shown, found] = [await store.findDevice('a'), await store.findSlot(keyOf('a'))];
        return [
          shown?.installs[0]?.lastSeenAtMs,
          typeof found === 'object' && found.device?.lastSeenAtMs,
          // Since then it was seen on all its links.
          await store.findCheckIn(key),
        ];
      };
      const since = (atMs: number) => [atMs, atMs, expect.objectContaining({ seenAtMs: atMs })];
      expect(await seenAtMs()).toEqual(since(NOW_MS));
      await knock(store, 'a', CODE, FACTS, laterMs + 1);
      expect(await seenAtMs()).toEqual(since(laterMs + 1));
    });

    test('of several seen at the same time it frees the one registered first', async () => {
      const { store } = opened();
      const { providerId, installId } = await addDoor(store);
      await store.updateLink(providerId, installId, { whenFull: 'replace-oldest' }, ACT);
      // As after the clock was put back.
      await knock(store, 'b', CODE, FACTS, NOW_MS + 1);
      await knock(store, 'a', CODE, FACTS, NOW_MS);
      for (const hwid of ['a', 'b']) {
        const key = { providerCode: 'Provide1', domainHash: null, hwid };
        await store.recordCheckIn(key, FACTS, NOW_MS + 2);
      }
      await knock(store, 'c', CODE, FACTS, NOW_MS + 3);
      expect((await store.findDevice('a'))?.installs).toEqual([]);
      expect((await store.findDevice('b'))?.installs).toHaveLength(1);
    });

    test('frees the slot not seen for longest when the policy says so, and no other', async () => {
      const { store } = opened();
      const { providerId, installId } = await addDoor(store);
      const policy = { inactiveDays: 1, whenFull: 'replace-oldest', coolDownHours: 1 } as const;
      await store.updateLink(providerId, installId, policy, ACT);
      const selector = { installCode: CODE, installId: null };
      const hwids = async () => {
        const slots = await store.listSlots(providerId, selector, null, 9);
        return typeof slots === 'string' ? slots : slots.map(({ hwid }) => hwid).sort();
      };
      await knock(store, 'a');
      await knock(store, 'b');
      // Of those seen at the same time the one registered first goes.
      expect(await knock(store, 'c')).toMatchObject(link(2));
      expect(await hwids()).toEqual(['b', 'c']);
      expect(await knock(store, 'd')).toBe('link_limit_reached');
      expect(await hwids()).toEqual(['b', 'c']);
      const later = NOW_MS + 2 * DAY_MS;
      await knock(store, 'b', CODE, FACTS, later);
      expect(await knock(store, 'd', CODE, FACTS, later)).toMatchObject(link(2));
      expect(await hwids()).toEqual(['b', 'd']);
      // It was inactive, so the cool-down of replacements counts from the first one.
      expect(await knock(store, 'e', CODE, FACTS, later)).toMatchObject(link(2));
      expect(await hwids()).toEqual(['d', 'e']);
      expect(await knock(store, 'f', CODE, FACTS, later)).toBe('link_limit_reached');
      expect(await knock(store, 'f', CODE, FACTS, later + HOUR_MS)).toMatchObject(link(2));
      expect(await hwids()).toEqual(['e', 'f']);
      expect((await store.findDevice('a'))?.installs).toEqual([]);
      expect(await store.listLinksOf(providerId, ALL)).toMatchObject([{ deviceCount: 2 }]);
    });
  },

  forgetSlotEnds(opened) {
    test('says when nothing is left that is as old', async () => {
      const { store } = opened();
      const { providerId } = await addDoor(store);
      const free = async (atMs: number) => {
        await knock(store, 'a');
        const selector = { installCode: CODE, installId: null };
        await store.freeSlot(providerId, selector, 'a', { ...ACT, atMs });
      };
      for (const atMs of [NOW_MS, NOW_MS + 1]) await free(atMs);
      expect(await store.forgetSlotEnds(NOW_MS)).toBe(false);
      expect(await store.forgetSlotEnds(NOW_MS + 1)).toBe(true);
      expect(await store.forgetSlotEnds(NOW_MS + 1)).toBe(false);
      expect(await store.forgetSlotEnds(NOW_MS + 2)).toBe(true);
      expect(await store.forgetSlotEnds(NOW_MS + 2)).toBe(false);
    });
  },
};

import { expect, test } from 'bun:test';
import type { Store } from '../../../src/core/port/store.ts';
import { ACT } from '../../support/actor.ts';
import {
  ALL,
  addDoor,
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
import { onLink, registration } from './message-fixture.ts';

type Method = 'findSlot' | 'takeSlot';

const keyOf = (hwid: string, domainHash = HASH, installCode = CODE) => ({
  installCode,
  domainHash,
  hwid,
});

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
      await addDoor(store);
      await knock(store, 'a');
      const known = await store.findSlot(keyOf('a'));
      expect(known).toMatchObject({ link: link(1), device: { ...FACTS, lastSeenAtMs: NOW_MS } });
      expect(await store.findSlot(keyOf('b'))).toEqual({ link: link(1), device: null });
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
      await store.updateInstall(providerId, installId, { status: 5 }, ACT);
      expect(await store.findSlot(keyOf('a'))).toEqual({ link: link(0, 5), device: null });
    });

    test('tells a code that nobody has from a domain that is not actively bound', async () => {
      const { store } = opened();
      const { providerId, domainId } = await addDoor(store);
      const stranger = await addProvider(store, 'Provide2');
      await bind(store, stranger.id, OTHER_HASH);
      expect(await store.findSlot(keyOf('a', OTHER_HASH))).toBe('link_domain_not_bound');
      expect(await store.findSlot(keyOf('a', HASH, 'NoSuchCode00'))).toBe('link_not_found');
      await store.disableDomain(providerId, domainId, ACT);
      expect(await store.findSlot(keyOf('a'))).toBe('link_domain_not_bound');
    });
  },

  takeSlot(opened) {
    test('a new HWID takes a slot and becomes known', async () => {
      const { store } = opened();
      const { providerId } = await addDoor(store);
      expect(await knock(store, 'a')).toEqual(link(1));
      expect(await store.listInstalls(providerId, ALL)).toMatchObject([{ deviceCount: 1 }]);
      const detail = await store.findDevice('a');
      expect(detail?.device).toMatchObject({
        hwid: 'a',
        ...FACTS,
        firstSeenAtMs: NOW_MS,
        lastSeenAtMs: NOW_MS,
      });
      expect(detail?.installs).toEqual([
        { installCode: CODE, providerCode: 'Provide1', registeredAtMs: NOW_MS },
      ]);
    });

    test('a known HWID takes no second slot, also on a full link; silence erases nothing', async () => {
      const { store } = opened();
      await addDoor(store);
      await knock(store, 'a');
      await knock(store, 'b');
      const said = { ...SILENCE, osVersion: '16' };
      expect(await knock(store, 'a', CODE, said, NOW_MS + 1)).toEqual(link(2));
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
      expect(await knock(store, 'A')).toEqual(link(2));
    });

    test('refuses without an active binding, and on a disabled link also known HWIDs', async () => {
      const { store } = opened();
      const { providerId, installId, domainId } = await addDoor(store);
      await knock(store, 'a');
      await store.updateInstall(providerId, installId, { status: 5 }, ACT);
      for (const hwid of ['a', 'b']) expect(await knock(store, hwid)).toBe('link_disabled');
      await store.updateInstall(providerId, installId, { status: 10 }, ACT);
      await store.disableDomain(providerId, domainId, ACT);
      for (const hwid of ['a', 'b']) expect(await knock(store, hwid)).toBe('link_domain_not_bound');
      expect(await knock(store, 'a', 'NoSuchCode00')).toBe('link_not_found');
      expect(await store.findDevice('b')).toBeNull();
    });
  },
};

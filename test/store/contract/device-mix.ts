import { expect, test } from 'bun:test';
import type { DeviceMixStore } from '../../../src/core/port/device-mix.ts';
import {
  addDoor,
  addLink,
  CODE,
  FACTS,
  knock,
  NOW_MS,
  removeProvider,
  type Suite,
} from './fixture.ts';

const COUNTS = [
  { os: 'android', app: 'Happ', count: 3 },
  { os: 'ios', app: '', count: 1 },
];

export const deviceMixContract: Record<keyof DeviceMixStore, Suite> = {
  listMixDevices(opened) {
    test('by system, beyond a position, of one provider', async () => {
      const { store } = opened();
      const { providerId } = await addDoor(store);
      await addLink(store, providerId, { installCode: 'OtherLink001', installLimit: 9 });
      const facts = (os: string) => ({ ...FACTS, os, userAgent: 'Happ/3.1' });
      await knock(store, 'a', CODE, facts('ios'), NOW_MS);
      await knock(store, 'b', CODE, facts('android'), NOW_MS);
      await knock(store, 'c', 'OtherLink001', facts('ios'), NOW_MS);
      const all = await store.listMixDevices(providerId, null, 9);
      expect(all.map(({ os, userAgent }) => `${os} ${userAgent}`)).toEqual([
        ...['android Happ/3.1', 'ios Happ/3.1', 'ios Happ/3.1'],
      ]);
      const [, second] = all;
      expect(await store.listMixDevices(providerId, second ?? null, 9)).toEqual(all.slice(2));
      expect(await store.listMixDevices(providerId, null, 1)).toEqual(all.slice(0, 1));
      expect(await store.listMixDevices(providerId + 1, null, 9)).toEqual([]);
    });
  },

  saveDeviceMix(opened) {
    test('replaces what was counted before, and goes with its provider', async () => {
      const { store } = opened();
      const { providerId } = await addDoor(store);
      await store.saveDeviceMix(providerId, { day: 7, counts: COUNTS });
      await store.saveDeviceMix(providerId, { day: 8, counts: COUNTS.slice(1) });
      const counts = [{ os: 'ios', app: '', count: 1 }];
      expect(await store.readDeviceMix(providerId)).toEqual({ day: 8, counts });
      await removeProvider(store, 'Provide1');
      expect(await store.readDeviceMix(providerId)).toBeNull();
    });
  },

  readDeviceMix(opened) {
    test('most devices first; null where nothing was counted', async () => {
      const { store } = opened();
      const { providerId } = await addDoor(store);
      expect(await store.readDeviceMix(providerId)).toBeNull();
      await store.saveDeviceMix(providerId, { day: 7, counts: COUNTS.toReversed() });
      expect(await store.readDeviceMix(providerId)).toEqual({ day: 7, counts: COUNTS });
    });
  },
};

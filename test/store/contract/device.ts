import { expect, test } from 'bun:test';
import { DAY_MS, utcDay } from '../../../src/core/calendar.ts';
import type { DeviceFilter } from '../../../src/core/port/device.ts';
import type { Store } from '../../../src/core/port/store.ts';
import { ACT } from '../../support/actor.ts';
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
import { deliver, holderOf, inboxOf, someAtATime, to } from './message-fixture.ts';

type Method =
  | 'findCheckIn'
  | 'recordCheckIn'
  | 'listDevices'
  | 'pageDevices'
  | 'findDevice'
  | 'forgetDevice'
  | 'countRefusals'
  | 'close';

const keyOf = (hwid: string, domainHash: string | null = null, providerCode = 'Provide1') => ({
  providerCode,
  domainHash,
  hwid,
});

export const deviceContract: Record<Method & keyof Store, Suite> = {
  findCheckIn(opened) {
    test('a slot that was not seen since makes it older', async () => {
      const { store } = opened();
      const { providerId } = await addDoor(store);
      await addLink(store, providerId, { installCode: OTHER_CODE });
      const seenAt = async () => {
        const found = await store.findCheckIn(keyOf('a'));
        return typeof found === 'string' ? found : found.seenAtMs;
      };
      await store.recordCheckIn(keyOf('a'), FACTS, NOW_MS - 1);
      for (const installCode of [CODE, OTHER_CODE]) await knock(store, 'a', installCode);
      await knock(store, 'a', CODE, FACTS, NOW_MS + 1);
      expect(await seenAt()).toBe(NOW_MS);
      await knock(store, 'a', OTHER_CODE, FACTS, NOW_MS + 2);
      expect(await seenAt()).toBe(NOW_MS + 1);
      await store.recordCheckIn(keyOf('a'), FACTS, NOW_MS + 3);
      expect(await seenAt()).toBe(NOW_MS + 3);
    });

    test('tells since when this provider has seen the device', async () => {
      const { store } = opened();
      await addProvider(store, 'Provide1');
      await addProvider(store, 'Provide2');
      const never = { seenAtMs: null, isLinked: false, isNewLink: false };
      expect(await store.findCheckIn(keyOf('a'))).toEqual(never);
      await store.recordCheckIn(keyOf('a'), FACTS, NOW_MS);
      expect(await store.findCheckIn(keyOf('a'))).toEqual({ ...never, seenAtMs: NOW_MS });
      expect(await store.findCheckIn(keyOf('a', null, 'Provide2'))).toEqual(never);
    });

    test('tells whether the call would link it', async () => {
      const { store } = opened();
      const { id } = await addProvider(store, 'Provide1');
      const stranger = await addProvider(store, 'Provide2');
      const domainId = await bind(store, id);
      await bind(store, stranger.id, OTHER_HASH);
      const isNewLink = async (hash: string) =>
        (await store.findCheckIn(keyOf('a', hash))) as { isNewLink: boolean };
      expect(await isNewLink(HASH)).toMatchObject({ isNewLink: true });
      expect(await isNewLink(OTHER_HASH)).toMatchObject({ isNewLink: false });
      await store.recordCheckIn(keyOf('a'), FACTS, NOW_MS);
      expect(await isNewLink(HASH)).toMatchObject({ isNewLink: true });
      await store.recordCheckIn(keyOf('a', HASH), FACTS, NOW_MS);
      expect(await isNewLink(HASH)).toMatchObject({ isNewLink: false });
      await store.disableDomain(id, domainId, ACT);
      expect(await isNewLink(HASH)).toMatchObject({ isNewLink: false });
    });

    test('tells whether it is linked: by a slot or an active binding, at this provider', async () => {
      const { store } = opened();
      const { providerId: id, domainId } = await addDoor(store);
      await addProvider(store, 'Provide2');
      const isLinked = async (hwid: string, code = 'Provide1') =>
        ((await store.findCheckIn(keyOf(hwid, null, code))) as { isLinked: boolean }).isLinked;
      await store.recordCheckIn(keyOf('tied'), FACTS, NOW_MS);
      expect(await isLinked('tied')).toBe(false);
      await store.recordCheckIn(keyOf('tied', HASH), FACTS, NOW_MS);
      await store.recordCheckIn(keyOf('tied', HASH, 'Provide2'), FACTS, NOW_MS);
      await knock(store, 'holder');
      expect(await isLinked('tied')).toBe(true);
      expect(await isLinked('tied', 'Provide2')).toBe(false);
      await store.disableDomain(id, domainId, ACT);
      expect(await isLinked('tied')).toBe(false);
      expect(await isLinked('holder')).toBe(true);
      await store.freeSlot(id, { installCode: CODE, installId: null }, 'holder', ACT);
      expect(await isLinked('holder')).toBe(false);
    });

    test('refuses an unknown provider', async () => {
      expect(await opened().store.findCheckIn(keyOf('a'))).toBe('provider_not_found');
    });
  },

  recordCheckIn(opened) {
    test('keeps the device, the sighting and the link', async () => {
      const { store } = opened();
      const { id } = await addProvider(store, 'Provide1');
      await bind(store, id);
      expect(await store.recordCheckIn(keyOf('a', HASH), FACTS, NOW_MS)).toBe('ok');
      expect(await store.recordCheckIn(keyOf('a', HASH), SILENCE, NOW_MS + 1)).toBe('ok');
      expect(await store.findDevice('a')).toMatchObject({
        device: { hwid: 'a', ...FACTS, firstSeenAtMs: NOW_MS, lastSeenAtMs: NOW_MS + 1 },
        installs: [],
        domains: [{ domainName: 'shop', providerCode: 'Provide1', status: 10, linkedAtMs: NOW_MS }],
        seenBy: [{ providerCode: 'Provide1', lastSeenAtMs: NOW_MS + 1 }],
      });
    });

    test('a binding that is disabled, unknown or foreign does not link', async () => {
      const { store } = opened();
      const { id } = await addProvider(store, 'Provide1');
      const stranger = await addProvider(store, 'Provide2');
      await store.disableDomain(id, await bind(store, id), ACT);
      await bind(store, stranger.id, OTHER_HASH);
      for (const hash of [HASH, OTHER_HASH, 'c'.repeat(64)]) {
        expect(await store.recordCheckIn(keyOf('a', hash), FACTS, NOW_MS)).toBe('ok');
      }
      expect((await store.findDevice('a'))?.domains).toEqual([]);
    });

    test('counts a device once on each day', async () => {
      const { store } = opened();
      const { id } = await addProvider(store, 'Provide1');
      const today = utcDay(NOW_MS);
      for (const ms of [0, 1, DAY_MS, DAY_MS + 1]) {
        await store.recordCheckIn(keyOf('a'), FACTS, NOW_MS + ms);
      }
      await store.saveFigures();
      expect(await store.listFigures(id, today, today + 1)).toMatchObject([
        { day: today, seen: 1 },
        { day: today + 1, seen: 1 },
      ]);
    });

    test('refuses an unknown provider and keeps nothing', async () => {
      const { store } = opened();
      expect(await store.recordCheckIn(keyOf('a'), FACTS, NOW_MS)).toBe('provider_not_found');
      expect(await store.findDevice('a')).toBeNull();
    });
  },

  pageDevices(opened) {
    test('the newest first, below an id, with the facts of the provider that saw it last', async () => {
      const { store } = opened();
      await addProvider(store, 'Provide1');
      await addProvider(store, 'Provide2');
      for (const hwid of ['a', 'b', 'c']) await store.recordCheckIn(keyOf(hwid), FACTS, NOW_MS);
      const pc = { ...FACTS, deviceName: 'PC' };
      await store.recordCheckIn(keyOf('a', null, 'Provide2'), pc, NOW_MS + 1);
      const all = await store.pageDevices(Number.MAX_SAFE_INTEGER, 9);
      const { deviceName } = FACTS;
      expect(all.map((one) => `${one.hwid} ${one.deviceName}`)).toEqual([
        ...[`c ${deviceName}`, `b ${deviceName}`, 'a PC'],
      ]);
      expect(await store.pageDevices(all[0]?.id ?? 0, 1)).toEqual(all.slice(1, 2));
      expect(await store.pageDevices(all[2]?.id ?? 0, 9)).toEqual([]);
    });
  },

  listDevices(opened) {
    const everything: DeviceFilter = {
      providerCode: null,
      installCode: null,
      os: null,
      countMax: 100,
    };

    test('filters by provider (on a link or seen), link and system, together too', async () => {
      const { store } = opened();
      const { providerId } = await addDoor(store);
      await addLink(store, providerId, { installCode: OTHER_CODE });
      await addDoor(store, 'Provide2', 'OtherLink001');
      await knock(store, 'on-one');
      await knock(store, 'on-other', OTHER_CODE, { ...FACTS, os: 'ios' });
      await knock(store, 'on-both', CODE);
      await knock(store, 'on-both', 'OtherLink001');
      await store.recordCheckIn(keyOf('seen', null, 'Provide2'), { ...FACTS, os: 'ios' }, NOW_MS);
      const list = async (filter: Partial<DeviceFilter>) => {
        const devices = await store.listDevices({ ...everything, ...filter });
        return devices.map(({ hwid }) => hwid).sort();
      };
      expect(await list({})).toEqual(['on-both', 'on-one', 'on-other', 'seen']);
      expect(await list({ providerCode: 'Provide1' })).toEqual(['on-both', 'on-one', 'on-other']);
      expect(await list({ providerCode: 'Provide2' })).toEqual(['on-both', 'seen']);
      expect(await list({ providerCode: 'Nobody00' })).toEqual([]);
      expect(await list({ installCode: CODE })).toEqual(['on-both', 'on-one']);
      expect(await list({ installCode: OTHER_CODE })).toEqual(['on-other']);
      expect(await list({ os: 'ios' })).toEqual(['on-other', 'seen']);
      expect(await list({ providerCode: 'Provide2', os: 'ios' })).toEqual(['seen']);
      expect(await list({ providerCode: 'Provide2', installCode: CODE })).toEqual(['on-both']);
      expect(await list({ providerCode: 'Provide2', installCode: OTHER_CODE })).toEqual([]);
    });

    test('latest seen first, and no more than asked for', async () => {
      const { store } = opened();
      await addProvider(store, 'Provide1');
      for (const [i, hwid] of ['a', 'b', 'c', 'a'].entries()) {
        await store.recordCheckIn(keyOf(hwid), FACTS, NOW_MS + i);
      }
      const list = async (countMax: number) =>
        (await store.listDevices({ ...everything, countMax })).map(({ hwid }) => hwid);
      expect(await list(100)).toEqual(['a', 'c', 'b']);
      expect(await list(2)).toEqual(['a', 'c']);
    });

    test('with the facts of the provider that saw it last; a system in any case', async () => {
      const { store } = opened();
      await addProvider(store, 'Provide1');
      await addProvider(store, 'Provide2');
      await store.recordCheckIn(keyOf('a'), FACTS, NOW_MS);
      const pc = { ...FACTS, os: 'Windows', deviceName: 'PC' };
      await store.recordCheckIn(keyOf('a', null, 'Provide2'), pc, NOW_MS + 1);
      const list = async (filter: Partial<DeviceFilter>) => {
        const devices = await store.listDevices({ ...everything, ...filter });
        return devices.map(({ deviceName }) => deviceName);
      };
      expect(await list({})).toEqual(['PC']);
      expect(await list({ providerCode: 'Provide1' })).toEqual([FACTS.deviceName]);
      expect(await list({ os: 'WINDOWS' })).toEqual(['PC']);
      expect(await list({ os: 'android' })).toEqual([]);
    });

    test('no more than asked for, also of more devices than a statement reads', async () => {
      const { store } = opened();
      await addProvider(store, 'Provide1');
      await someAtATime(10_001, (n) => store.recordCheckIn(keyOf(`d${n}`), FACTS, NOW_MS + n));
      const devices = await store.listDevices({ ...everything, countMax: 2 });
      expect(devices.map(({ hwid }) => hwid)).toEqual(['d10000', 'd9999']);
    });

    test('latest seen first, also of a provider, a link and a system', async () => {
      const { store } = opened();
      await addDoor(store);
      await knock(store, 'a');
      await knock(store, 'b', CODE, FACTS, NOW_MS + 1);
      // The older device and slot, seen later.
      await knock(store, 'a', CODE, SILENCE, NOW_MS + 2);
      for (const filter of [
        { providerCode: 'Provide1' },
        { installCode: CODE },
        { os: 'android' },
      ]) {
        const devices = await store.listDevices({ ...everything, ...filter });
        expect(devices.map(({ hwid }) => hwid)).toEqual(['a', 'b']);
      }
    });
  },

  findDevice(opened) {
    test('shows everything that it belongs to', async () => {
      const { store } = opened();
      await addDoor(store);
      await addDoor(store, 'Provide2', OTHER_CODE);
      await knock(store, 'a');
      await knock(store, 'a', OTHER_CODE, FACTS, NOW_MS + 1);
      await store.recordCheckIn(keyOf('a', HASH), FACTS, NOW_MS + 2);
      await store.recordCheckIn(keyOf('a', HASH, 'Provide2'), FACTS, NOW_MS + 3);
      const detail = await store.findDevice('a');
      expect(detail?.installs).toEqual([
        {
          installCode: OTHER_CODE,
          providerCode: 'Provide2',
          registeredAtMs: NOW_MS + 1,
          lastSeenAtMs: NOW_MS + 3,
        },
        {
          installCode: CODE,
          providerCode: 'Provide1',
          registeredAtMs: NOW_MS,
          lastSeenAtMs: NOW_MS + 2,
        },
      ]);
      expect(detail?.domains.map(({ providerCode }) => providerCode)).toEqual([
        'Provide2',
        'Provide1',
      ]);
      expect(detail?.seenBy).toMatchObject([
        { providerCode: 'Provide2', lastSeenAtMs: NOW_MS + 3 },
        { providerCode: 'Provide1', lastSeenAtMs: NOW_MS + 2 },
      ]);
    });

    test('nothing for an unknown HWID', async () => {
      expect(await opened().store.findDevice('a')).toBeNull();
    });
  },

  forgetDevice(opened) {
    test('with all that waits for it: it comes back as somebody new', async () => {
      const { store } = opened();
      const { providerId } = await addDoor(store);
      await knock(store, 'a');
      const a = await holderOf(store, 'a');
      for (let i = 0; i < 5; i++) await deliver(store, providerId, to('a'));
      expect(await store.forgetDevice('a', ACT)).toBe('ok');
      expect(await store.findDeviceByToken(a.tokenHash)).toBeNull();
      expect(await store.forgetDevice('a', ACT)).toBe('device_not_found');
      await knock(store, 'a');
      expect(await inboxOf(store, await holderOf(store, 'a'))).toEqual([]);
    });

    test('removes it from everywhere; its slots are free again', async () => {
      const { store } = opened();
      const { providerId } = await addDoor(store);
      await knock(store, 'a');
      await knock(store, 'b');
      await store.recordCheckIn(keyOf('a', HASH), FACTS, NOW_MS);
      expect(await store.forgetDevice('a', ACT)).toBe('ok');
      expect(await store.findDevice('a')).toBeNull();
      expect(await store.listLinksOf(providerId, ALL)).toMatchObject([{ deviceCount: 1 }]);
      expect(await knock(store, 'c')).toMatchObject({ deviceCount: 2 });
      expect((await store.findDevice('b'))?.installs).toHaveLength(1);
      expect(await store.findCheckIn(keyOf('a'))).toEqual({
        seenAtMs: null,
        isLinked: false,
        isNewLink: false,
      });
    });

    test('refuses an unknown HWID', async () => {
      expect(await opened().store.forgetDevice('a', ACT)).toBe('device_not_found');
    });
  },

  // test/core/forget.test.ts has those of links that refused it.
  countRefusals(opened) {
    test('none of a HWID that no link refused', async () => {
      expect(await opened().store.countRefusals('a')).toBe(0);
    });
  },

  close(opened) {
    test('finishes the writes under way', async () => {
      const { store, openBeside } = opened();
      const { id } = await addProvider(store, 'Provide1');
      const closing = await openBeside();
      const added = [1, 2, 3].map((n) => addLink(closing, id, { installCode: `LinkCode000${n}` }));
      await closing.close();
      expect(await store.listLinksOf(id, ALL)).toHaveLength(3);
      expect(await Promise.all(added)).toHaveLength(3);
    });
  },
};

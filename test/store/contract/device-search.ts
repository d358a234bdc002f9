import { expect, test } from 'bun:test';
import { ANY_DEVICE as ANY } from '../../../src/core/device-search.ts';
import type { DeviceSearch, DeviceSearchStore } from '../../../src/core/port/device-search.ts';
import { ACT } from '../../support/actor.ts';
import { addFigured, countedBy, FIGURE_FILTERS } from './figures-fixture.ts';
import { addDoor, addLink, CODE, FACTS, HASH, knock, NOW_MS, type Suite } from './fixture.ts';
import { checkIn, fillLinks, onLink, registration, tokenHash } from './message-fixture.ts';

const LATER_MS = NOW_MS + 3 * 86_400_000;

export const deviceSearchContract: Record<keyof DeviceSearchStore, Suite> = {
  searchDevices(opened) {
    test('by system, version, language, time, binding and link', async () => {
      const { store } = opened();
      const { domainId, providerId } = await addDoor(store);
      const note = { installCode: 'OtherLink001', installLimit: 9, note: '50%_Anna!' };
      await addLink(store, providerId, note);
      const facts = (os: string, appVersion: string) => ({ ...FACTS, os, appVersion });
      await knock(store, 'a', CODE, facts('ios', '1.0'), NOW_MS);
      await knock(store, 'b', 'OtherLink001', facts('android', '2.0'), LATER_MS);
      await knock(store, 'c', 'OtherLink001', facts('windows', '1.0'), NOW_MS);
      await checkIn(store, 'd');
      const own = {
        tokenHash: tokenHash('search'),
        shown: onLink(),
        locale: 'zh-CN',
        facts: facts('ios', '1.0'),
      };
      expect(await store.registerDevice(registration('a', own))).toHaveProperty('deviceId');
      const other = await addDoor(store, 'Provide2', 'ThirdLink001');
      await knock(store, 'e', 'ThirdLink001', facts('ios', '1.0'), NOW_MS);
      const search = async (of: Partial<DeviceSearch>, id = providerId) => {
        const { devices, next } = await store.searchDevices(id, { ...ANY, ...of }, null);
        expect(next).toBeNull();
        return devices.map(({ hwid }) => hwid).join('');
      };
      const all = await search({});
      expect([...all].toSorted().join('')).toBe('abcd');
      expect(await search({ os: 'ios' })).toBe('a');
      expect(await search({ appVersion: '1.0' })).toBe('ac');
      expect(await search({ language: 'zh' })).toBe('a');
      expect(await search({ language: 'z' })).toBe('');
      expect(await search({ seenSinceMs: LATER_MS })).toBe('b');
      expect(await search({ unseenSinceMs: LATER_MS, appVersion: '1.0' })).toBe('ac');
      expect(await search({ domainId })).toBe('d');
      expect(await search({ link: 'ANNA' })).toBe('bc');
      expect(await search({ link: '%_' })).toBe('bc');
      expect(await search({ link: 'Link%' })).toBe('');
      expect(await search({ link: 'otherlink', os: 'windows' })).toBe('c');
      expect(await search({}, other.providerId)).toBe('e');
      // One that is linked no more gets nothing.
      await store.disableDomain(providerId, domainId, ACT);
      expect(await search({ domainId })).toBe('');
    });

    test('by figures of the home link, as a count of the links with them', async () => {
      const { store } = opened();
      const { links, providerId } = await addFigured(store);
      for (const figures of FIGURE_FILTERS) {
        const { devices } = await store.searchDevices(providerId, { ...ANY, figures }, null);
        const hwids = countedBy(links, figures).map(({ code }) => `of-${code}`);
        expect(devices.map(({ hwid }) => hwid)).toEqual(hwids);
      }
      // A device whose home is another link is no device of that customer.
      const ending = FIGURE_FILTERS[0] ?? {};
      const [link] = countedBy(links, ending);
      const guest = {
        installCode: link?.code ?? '',
        domainHash: HASH,
        hwid: `of-${links[0]?.code}`,
      };
      expect(await store.takeSlot(guest, FACTS, NOW_MS)).toHaveProperty('installId');
      const { devices } = await store.searchDevices(providerId, { ...ANY, figures: ending }, null);
      expect(devices.map(({ hwid }) => hwid)).not.toContain(guest.hwid);
    });

    test('slice by slice', async () => {
      const { store } = opened();
      const { providerId } = await addDoor(store);
      await fillLinks(store, providerId, { count: 1_500 });
      const first = await store.searchDevices(providerId, ANY, null);
      expect(first.devices).toHaveLength(1_000);
      const second = await store.searchDevices(providerId, ANY, first.next);
      expect(second.devices).toHaveLength(500);
      expect(second.next).toBeNull();
      const hwids = [...first.devices, ...second.devices].map(({ hwid }) => hwid);
      expect(new Set(hwids).size).toBe(1_500);
    });
  },
};

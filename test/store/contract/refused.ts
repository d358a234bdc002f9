import { expect, test } from 'bun:test';
import type { RefusedDevice, RefusedStore } from '../../../src/core/port/figure.ts';
import { REFUSED_PER_LINK } from '../../../src/core/refused-devices.ts';
import { ACT } from '../../support/actor.ts';
import { addDoor, addLink, NOW_MS, OTHER_CODE, removeProvider, type Suite } from './fixture.ts';
import { listening } from './happening.ts';

const phone: RefusedDevice = { hwid: 'phone', deviceName: 'Pixel 9', os: 'android' };
const unknown: RefusedDevice = { hwid: '', deviceName: '', os: '' };

export const refusedContract: Record<keyof RefusedStore, Suite> = {
  listRefused(opened) {
    test('the devices of a link, the latest first, each once', async () => {
      const { store, openBeside } = opened();
      const beside = await openBeside();
      const link = await addDoor(store);
      const other = await addLink(store, link.providerId, { installCode: OTHER_CODE });
      store.countRefusal(link, 'hwid_required', NOW_MS + 2, unknown);
      store.countRefusal(link, 'link_disabled', NOW_MS, phone);
      await store.saveFigures();
      beside.countRefusal(link, 'link_limit_reached', NOW_MS + 9, { ...phone, deviceName: '' });
      beside.countRefusal(link, 'link_limit_reached', NOW_MS + 8, phone);
      beside.countRefusal({ ...link, installId: other }, 'link_disabled', NOW_MS, phone);
      // A refusal of which no device is known.
      beside.countRefusal(link, 'link_disabled', NOW_MS + 10);
      await beside.saveFigures();
      expect(await store.listRefused(link.installId)).toEqual([
        {
          ...phone,
          reason: 'link_limit_reached',
          count: 3,
          firstAtMs: NOW_MS,
          lastAtMs: NOW_MS + 9,
        },
        {
          ...unknown,
          reason: 'hwid_required',
          count: 1,
          firstAtMs: NOW_MS + 2,
          lastAtMs: NOW_MS + 2,
        },
      ]);
      expect((await store.listRefused(other)).map(({ count }) => count)).toEqual([1]);
    });

    test('no more than the last few, however many come', async () => {
      const { store } = opened();
      const link = await addDoor(store);
      const hwids = Array.from({ length: 3 * REFUSED_PER_LINK }, (_, n) => `h${100 + n}`);
      for (const [n, hwid] of hwids.entries()) {
        store.countRefusal(link, 'link_limit_reached', NOW_MS + n, { ...phone, hwid });
        if (n % 7 === 0) await store.saveFigures();
      }
      await store.saveFigures();
      const kept = (await store.listRefused(link.installId)).map(({ hwid }) => hwid);
      expect(kept).toEqual(hwids.toReversed().slice(0, REFUSED_PER_LINK));
      expect(await store.countRefusals('h100')).toBe(0);
    });

    test('they go with the link; of a link that is gone they hinder nobody', async () => {
      const { store } = opened();
      const link = await addDoor(store);
      store.countRefusal(link, 'link_disabled', NOW_MS, phone);
      await store.saveFigures();
      store.countRefusal(link, 'link_disabled', NOW_MS, phone);
      await store.removeLink(link.providerId, link.installId, ACT);
      await store.saveFigures();
      expect(await store.listRefused(link.installId)).toEqual([]);
      await removeProvider(store, 'Provide1');
    });

    test('the event names the last device, and the link by note and a part of its code', async () => {
      const { store } = opened();
      const link = await listening(store);
      store.countRefusal(link, 'link_limit_reached', NOW_MS, phone);
      await store.saveFigures();
      const data = {
        install_id: link.installId,
        code: 'Link…',
        note: 'note',
        reason: 'link_limit_reached',
        count: 1,
        day: '2026-11-20',
        hwid: 'phone',
        device_name: 'Pixel 9',
        os: 'android',
      };
      expect(await link.told()).toEqual([['link.refused', data]]);
    });

    test('the event names the slot that the device seems to have had', async () => {
      const { store } = opened();
      const link = await listening(store);
      store.countRefusal(link, 'link_limit_reached', NOW_MS, { ...phone, formerHwid: 'old' });
      await store.saveFigures();
      expect(await link.told()).toMatchObject([['link.refused', { former_hwid: 'old' }]]);
    });
  },

  forgetRefused(opened) {
    test('those last refused before a time', async () => {
      const { store } = opened();
      const link = await addDoor(store);
      store.countRefusal(link, 'link_disabled', NOW_MS, phone);
      store.countRefusal(link, 'link_disabled', NOW_MS + 1, unknown);
      await store.saveFigures();
      expect(await store.forgetRefused(NOW_MS)).toBe(false);
      expect(await store.forgetRefused(NOW_MS + 1)).toBe(true);
      expect(await store.forgetRefused(NOW_MS + 1)).toBe(false);
      expect(await store.listRefused(link.installId)).toMatchObject([{ hwid: '' }]);
    });
  },
};

import { expect, test } from 'bun:test';
import type {
  Figures,
  SubscriptionFiguresStore,
} from '../../../src/core/port/subscription-figures.ts';
import { ACT } from '../../support/actor.ts';
import {
  addDoor,
  addLink,
  knock,
  NOW_MS,
  type OpenedStore,
  OTHER_CODE,
  removeProvider,
  type Suite,
} from './fixture.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

const READ: Figures = { endsAtMs: NOW_MS + 3 * DAY_MS, totalBytes: 2 ** 36, usedBytes: 2 ** 35 };
const PERIOD = { periodEndsAtMs: READ.endsAtMs, periodTotalBytes: READ.totalBytes };
const FIRST = { ...READ, ...PERIOD, readAtMs: NOW_MS, source: 'proxy' as const, sinceMs: NOW_MS };

/** A link of a provider that keeps figures. */
async function keeping({ store }: OpenedStore) {
  const door = await addDoor(store);
  await store.updateProvider('Provide1', { subscriptionFigures: 1 }, ACT);
  return door;
}

export const subscriptionFiguresContract: Record<keyof SubscriptionFiguresStore, Suite> = {
  findSubscriptionFigures(opened) {
    test('finds what was kept of that link', async () => {
      const { store } = opened();
      const { installId, providerId } = await keeping(opened());
      const other = await addLink(store, providerId, { installCode: OTHER_CODE });
      expect(await store.findSubscriptionFigures(installId)).toBeNull();
      await store.keepSubscriptionFigures(installId, READ, 'proxy', NOW_MS);
      expect(await store.findSubscriptionFigures(installId)).toEqual(FIRST);
      expect(await store.findSubscriptionFigures(other)).toBeNull();
    });
  },

  listSubscriptionFigures(opened) {
    test('lists the figures of these links, without those that have none', async () => {
      const { store } = opened();
      const { installId, providerId } = await keeping(opened());
      const other = await addLink(store, providerId, { installCode: OTHER_CODE });
      await store.keepSubscriptionFigures(installId, READ, 'proxy', NOW_MS);
      expect(await store.listSubscriptionFigures([installId, other])).toEqual([
        { installId, ...READ, readAtMs: NOW_MS },
      ]);
      expect(await store.listSubscriptionFigures([])).toEqual([]);
    });
  },

  keepSubscriptionFigures(opened) {
    test('keeps nothing for a provider that wants none, and of no link', async () => {
      const { store } = opened();
      const { installId } = await addDoor(store);
      await store.keepSubscriptionFigures(installId, READ, 'proxy', NOW_MS);
      await store.keepSubscriptionFigures(installId + 99, READ, 'proxy', NOW_MS);
      expect(await store.findSubscriptionFigures(installId)).toBeNull();
    });

    test('keeps the largest numbers exactly, and what is not known', async () => {
      const { store } = opened();
      const { installId } = await keeping(opened());
      const read = { endsAtMs: null, totalBytes: Number.MAX_SAFE_INTEGER, usedBytes: null };
      await store.keepSubscriptionFigures(installId, read, 'panel', NOW_MS);
      expect(await store.findSubscriptionFigures(installId)).toMatchObject({
        ...read,
        source: 'panel',
      });
    });

    test('writes what moved, and another period once two reads agree', async () => {
      const { store } = opened();
      const { installId } = await keeping(opened());
      const paid = { ...READ, endsAtMs: NOW_MS + 33 * DAY_MS };
      const keep = (read: Figures, atMs: number) =>
        store.keepSubscriptionFigures(installId, read, 'proxy', atMs);
      await keep(READ, NOW_MS);
      await keep(READ, NOW_MS + HOUR_MS);
      expect(await store.findSubscriptionFigures(installId)).toEqual(FIRST);
      const paidAtMs = NOW_MS + 2 * HOUR_MS;
      await keep(paid, paidAtMs);
      expect(await store.findSubscriptionFigures(installId)).toEqual({
        ...FIRST,
        endsAtMs: paid.endsAtMs,
        readAtMs: paidAtMs,
        sinceMs: paidAtMs,
      });
      await keep(paid, paidAtMs + HOUR_MS);
      expect(await store.findSubscriptionFigures(installId)).toMatchObject({
        periodEndsAtMs: paid.endsAtMs,
        readAtMs: paidAtMs + HOUR_MS,
      });
    });

    test('figures go with their link and their provider', async () => {
      const { store } = opened();
      const { installId, providerId } = await keeping(opened());
      const other = await addLink(store, providerId, { installCode: OTHER_CODE });
      for (const id of [installId, other]) {
        await store.keepSubscriptionFigures(id, READ, 'proxy', NOW_MS);
      }
      await store.removeLink(providerId, other, ACT);
      expect(await store.findSubscriptionFigures(other)).toBeNull();
      await store.keepSubscriptionFigures(other, READ, 'proxy', NOW_MS);
      expect(await store.findSubscriptionFigures(other)).toBeNull();
      expect(await store.findSubscriptionFigures(installId)).not.toBeNull();
      await removeProvider(store, 'Provide1');
      expect(await store.findSubscriptionFigures(installId)).toBeNull();
    });

    test('figures of its links go with a device that is forgotten', async () => {
      const { store } = opened();
      const { installId, providerId } = await keeping(opened());
      const other = await addLink(store, providerId, { installCode: OTHER_CODE });
      await knock(store, 'phone');
      for (const id of [installId, other]) {
        await store.keepSubscriptionFigures(id, READ, 'proxy', NOW_MS);
      }
      await store.forgetDevice('phone', ACT);
      expect(await store.findSubscriptionFigures(installId)).toBeNull();
      expect(await store.findSubscriptionFigures(other)).not.toBeNull();
    });
  },

  forgetSubscriptionFigures(opened) {
    test('deletes what was read before, and what nobody wants any more', async () => {
      const { store } = opened();
      const { installId, providerId } = await keeping(opened());
      const other = await addLink(store, providerId, { installCode: OTHER_CODE });
      await store.keepSubscriptionFigures(installId, READ, 'proxy', NOW_MS);
      await store.keepSubscriptionFigures(other, READ, 'proxy', NOW_MS + DAY_MS);
      expect(await store.forgetSubscriptionFigures(NOW_MS)).toBe(false);
      expect(await store.forgetSubscriptionFigures(NOW_MS + 1)).toBe(true);
      expect(await store.findSubscriptionFigures(installId)).toBeNull();
      expect(await store.findSubscriptionFigures(other)).not.toBeNull();
      await store.updateProvider('Provide1', { subscriptionFigures: 0 }, ACT);
      expect(await store.forgetSubscriptionFigures(0)).toBe(true);
      expect(await store.forgetSubscriptionFigures(0)).toBe(false);
      expect(await store.findSubscriptionFigures(other)).toBeNull();
    });
  },
};

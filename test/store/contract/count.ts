import { expect, test } from 'bun:test';
import type { Store } from '../../../src/core/port/store.ts';
import {
  addDoor,
  addLink,
  addProvider,
  bind,
  FACTS,
  HASH,
  knock,
  NOW_MS,
  OTHER_CODE,
  type Suite,
} from './fixture.ts';
import { send } from './message-fixture.ts';

type Method = 'countDevices' | 'countDistributions' | 'countHoldings';

export const countContract: Record<Method & keyof Store, Suite> = {
  countDevices(opened) {
    test('as many as the list without a limit has', async () => {
      const { store } = opened();
      await addDoor(store);
      await knock(store, 'phone');
      const other = { ...FACTS, os: 'Windows' };
      const key = { providerCode: 'Provide1', domainHash: HASH, hwid: 'desk' };
      await store.recordCheckIn(key, other, NOW_MS);
      const all = { providerCode: null, installCode: null, os: null };
      const filters = [
        all,
        { ...all, providerCode: 'Provide1' },
        { ...all, providerCode: 'Nobody00' },
        { ...all, os: 'windows' },
        { ...all, os: FACTS.os, providerCode: 'Provide1' },
      ];
      const counts: number[] = [];
      for (const filter of filters) {
        const listed = await store.listDevices({ ...filter, countMax: 100 });
        expect(await store.countDevices(filter)).toBe(listed.length);
        counts.push(listed.length);
      }
      expect(counts).toEqual([2, 2, 0, 1, 1]);
    });
  },

  countDistributions(opened) {
    test('everybody’s, or one provider’s', async () => {
      const { store } = opened();
      const { id: one } = await addProvider(store, 'Provide1');
      const { id: two } = await addProvider(store, 'Provide2');
      for (const providerId of [one, two, one]) await send(store, providerId);
      expect(await store.countDistributions(null)).toBe(3);
      expect(await store.countDistributions('Provide1')).toBe(2);
      expect(await store.countDistributions('Nobody00')).toBe(0);
    });
  },

  countHoldings(opened) {
    test('what is a provider’s own, and nothing of another’s', async () => {
      const { store } = opened();
      const { providerId } = await addDoor(store);
      await knock(store, 'phone');
      await addLink(store, providerId, { installCode: OTHER_CODE });
      await send(store, providerId);
      const { id: other } = await addProvider(store, 'Provide2');
      await addLink(store, other, { installCode: 'LinkCode0003' });
      await bind(store, other);
      const held = { links: 2, hwids: 1, domains: 1, distributions: 1 };
      expect(await store.countHoldings('Provide1')).toEqual(held);
      const foreign = { links: 1, hwids: 0, domains: 1, distributions: 0 };
      expect(await store.countHoldings('Provide2')).toEqual(foreign);
      expect(await store.countHoldings('Nobody00')).toBeNull();
    });
  },
};

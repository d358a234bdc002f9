import { expect } from 'bun:test';
import { ACT } from '../../support/actor.ts';
import { ALL, CODE, FACTS, HASH, NOW_MS } from './fixture.ts';
import { addBoth, hwidsOn, KEY } from './link-tie.ts';
import type { Race } from './race.ts';

/**
 * Phones come by the key and by the code while the key is tied, undone and tied again: each slot is
 * on one link, no link has more than its limit, and one link has the key.
 */
const race: Race = {
  callCount: 120,
  atOnce: 20,
  given: async (store) => {
    const { providerId, installId } = await addBoth(store, ['x'], ['a', 'b'], 5);
    return { providerId, installId };
  },
  call: async (store, given, n) => {
    const { providerId = 0, installId = 0 } = given;
    if (n % 12 === 5) return store.giveKey(providerId, { installCode: null, installId }, KEY, ACT);
    if (n % 12 === 11) {
      const [tied] = await store.listTies(providerId, 'tied', { afterId: 0, countMax: 1 });
      return store.undoTie(providerId, tied?.id ?? 0, ACT);
    }
    const hwid = ['a', 'b', 'x', `n-${n}`][n % 4] ?? '';
    const name =
      n % 2 === 0
        ? { subscriptionKeyHash: KEY, providerCode: 'Provide1' }
        : { installCode: CODE, providerCode: null };
    return store.takeSlot({ ...name, domainHash: HASH, hwid }, FACTS, NOW_MS);
  },
  async check(store, { providerId = 0 }) {
    const links = await store.listLinksOf(providerId, ALL);
    for (const { installCode, deviceCount, installLimit } of links) {
      const hwids = await hwidsOn(store, providerId, installCode);
      expect(hwids).toHaveLength(deviceCount);
      expect(deviceCount).toBeLessThanOrEqual(installLimit);
    }
    expect(await store.findLinksByKey(KEY)).toHaveLength(1);
    expect(links.map(({ installCode }) => installCode)).toContain(CODE);
  },
};

export const TIE_RACES: Readonly<Record<string, Race>> = {
  'for slots of links whose key is tied and untied': race,
};

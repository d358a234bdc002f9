import { expect } from 'bun:test';
import { ACT } from '../../support/actor.ts';
import { ALL, addDoor, CODE, FACTS, HASH, NOW_MS } from './fixture.ts';
import type { Race } from './race.ts';

const BY_CODE = { installCode: CODE, installId: null };

/**
 * Limits fall and rise while phones come and go: the link never has more devices than its limit,
 * and while it waits for a lower one no slot is free.
 */
const race: Race = {
  callCount: 120,
  atOnce: 20,
  given: async (store) => {
    const { providerId, installId } = await addDoor(store);
    await store.updateLink(providerId, installId, { installLimit: 6 }, ACT);
    return { providerId, installId };
  },
  call: async (store, { providerId = 0, installId = 0 }, n) => {
    const hwid = `phone-${n % 11}`;
    if (n % 6 === 3) return store.freeSlot(providerId, BY_CODE, hwid, ACT);
    if (n % 6 === 5) {
      const change = { installLimit: 1 + ((n * 7) % 8), asTheyLeave: true };
      return store.updateLink(providerId, installId, change, ACT);
    }
    const key = { installCode: CODE, providerCode: null, domainHash: HASH, hwid };
    return store.takeSlot(key, FACTS, NOW_MS);
  },
  async check(store, { providerId = 0, installId = 0 }) {
    const lower = { installLimit: 1, asTheyLeave: true };
    await store.updateLink(providerId, installId, lower, ACT);
    for (;;) {
      const slots = await store.listSlots(providerId, BY_CODE, null, 200);
      if (typeof slots === 'string') throw new Error(slots);
      const [link] = await store.listLinksOf(providerId, ALL);
      const { limitWanted = null } = (await store.findLink(CODE)) ?? {};
      expect(link?.deviceCount).toBe(slots.length);
      expect(link?.installLimit).toBe(Math.max(1, slots.length));
      expect(limitWanted).toBe(slots.length > 1 ? 1 : null);
      const [slot] = slots;
      if (slot === undefined) break;
      await store.freeSlot(providerId, BY_CODE, slot.hwid, ACT);
    }
  },
};

export const LIMIT_RACES: Readonly<Record<string, Race>> = {
  'for slots of a link whose limit falls as they leave': race,
};

import { expect } from 'bun:test';
import { ACT } from '../../support/actor.ts';
import { addKeyed, cutWanted } from './cut-fixture.ts';
import { CODE, FACTS, HASH, NOW_MS } from './fixture.ts';
import type { Race } from './race.ts';

/** Devices come in all spellings while their HWID is cut off, and its bar is lifted. */
const race: Race = {
  callCount: 120,
  atOnce: 20,
  given: async (store) => {
    const { installId, providerId } = await addKeyed(store, ['a', 'b']);
    return { installId, providerId };
  },
  call: async (store, { installId = 0, providerId = 0 }, n) => {
    if (n === 60) {
      const wanted = { ...cutWanted(installId), hwid: 'Copied-1' };
      return store.askCut(providerId, wanted, ACT);
    }
    const hwid = ['copied-1', 'COPIED1', 'copied1'][n % 3] ?? '';
    return store.takeSlot({ installCode: CODE, domainHash: HASH, hwid }, FACTS, NOW_MS);
  },
  async check(store, { installId = 0, providerId = 0 }) {
    const selector = { installCode: null, installId };
    const listed = await store.listSlots(providerId, selector, null, 100);
    const hwids = typeof listed === 'string' ? [] : listed.map(({ hwid }) => hwid).sort();
    expect(hwids).toEqual(['a', 'b']);
  },
};

export const CUT_RACES: Readonly<Record<string, Race>> = {
  'for a slot of a HWID that is cut off': race,
};

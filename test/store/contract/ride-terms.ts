/** Terms of what rides, and buttons: kept, and seen at the door. */

import { expect, test } from 'bun:test';
import type { OwnRideTerms } from '../../../src/core/port/ride.ts';
import type { Store } from '../../../src/core/port/store.ts';
import { ACT } from '../../support/actor.ts';
import { addDoor, CODE, HASH, NOW_MS, provider, providerDraft, type Suite } from './fixture.ts';

const TERMS: OwnRideTerms = {
  ride: 'notifications',
  rideDesktop: 1,
  buttons: 'always',
  discovery: 1,
  supportUrl: 'tg://resolve?domain=example',
  webPageUrl: 'https://example.com/',
};

/** Returns what a device reads of the rides at its link; undefined: nothing. */
async function atDoor(store: Store) {
  const door = await store.findSlot({ installCode: CODE, domainHash: HASH, hwid: 'a' });
  if (typeof door === 'string') throw new Error(door);
  return door.link.rides;
}

export const rideTermsSuite: Suite = (opened) => {
  test('terms of what rides are kept, and go back', async () => {
    const { store } = opened();
    await store.addProvider(providerDraft('Provide1', TERMS), ACT);
    const before = await provider(store, 'Provide1');
    expect(before).toMatchObject(TERMS);
    const off = { rideDesktop: 0, discovery: 0 } as const;
    const none = { ride: null, buttons: null, supportUrl: null, ...off };
    await store.updateProvider('Provide1', none, ACT);
    expect(await provider(store, 'Provide1')).toEqual({ ...before, ...none });
  });

  test('a change of them has another version at the door; buttons alone are seen there', async () => {
    const { store } = opened();
    await addDoor(store);
    expect(await atDoor(store)).toBeUndefined();
    const set = async (change: Parameters<Store['updateProvider']>[1]) => {
      await store.updateProvider('Provide1', change, ACT);
      return await atDoor(store);
    };
    const first = await set({ supportUrl: TERMS.supportUrl });
    expect(first?.untilMs).toBeGreaterThan(NOW_MS + 86_400_000_000);
    // Those of the link alone: a door says nothing of its provider's.
    expect(first).toMatchObject({ supportUrl: null, webPageUrl: null });
    expect((await set({ ride: 'off' }))?.version).toBe((first?.version ?? 0) + 1);
    expect((await set({ ride: 'off', name: 'other' }))?.version).toBe((first?.version ?? 0) + 1);
    expect((await set({ webPageUrl: TERMS.webPageUrl, supportUrl: null }))?.untilMs).toBe(
      first?.untilMs as number,
    );
    expect(await set({ webPageUrl: null })).toBeUndefined();
  });

  test('buttons of a link are seen at its door alone', async () => {
    const { store } = opened();
    const { providerId, installId } = await addDoor(store);
    const buttons = { supportUrl: TERMS.supportUrl, webPageUrl: null };
    await store.updateLink(providerId, installId, buttons, ACT);
    expect(await store.findLink(CODE)).toMatchObject(buttons);
    expect(await atDoor(store)).toMatchObject(buttons);
    await store.updateLink(providerId, installId, { supportUrl: null }, ACT);
    expect(await atDoor(store)).toBeUndefined();
  });
};

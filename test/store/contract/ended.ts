import { expect, test } from 'bun:test';
import { type EndedStore, readEnded } from '../../../src/core/port/ended.ts';
import type { Store } from '../../../src/core/port/store.ts';
import { ACT } from '../../support/actor.ts';
import { addDoor, CODE, knock, NOW_MS, removeProvider, type Suite } from './fixture.ts';
import { addInbox, deliver, onLink, register, to, tokenHash } from './message-fixture.ts';

const SELECTOR = { installCode: CODE, installId: null };
const ENDED = { why: 'slot_freed', atMs: ACT.atMs } as const;

/** A device with a slot and a token by it. */
async function withToken(store: Store) {
  const door = await addDoor(store);
  await knock(store, 'a');
  const holder = await register(store, 'a', onLink());
  return { ...door, holder };
}

const free = (store: Store, providerId: number) => store.freeSlot(providerId, SELECTOR, 'a', ACT);

type Method = keyof EndedStore | 'findWaiting';

export const endedContract: Record<Method & keyof Store, Suite> = {
  findEndedToken(opened) {
    test('finds why a token ended with its last slot, and no other token', async () => {
      const { store } = opened();
      const { providerId, holder } = await withToken(store);
      expect(await store.findEndedToken(holder.tokenHash)).toBeNull();
      await free(store, providerId);
      expect(await store.findDeviceByToken(holder.tokenHash)).toBeNull();
      expect(await store.findEndedToken(holder.tokenHash)).toEqual(ENDED);
      expect(await store.findEndedToken(tokenHash('another'))).toBeNull();
    });
  },

  noteNotified(opened) {
    test('drops the ends that were told, and no later one', async () => {
      const { store } = opened();
      const { providerId, holder } = await withToken(store);
      await addDoor(store, 'Provide2', 'LinkCode0002');
      const both = await register(store, 'a', onLink('LinkCode0002'), holder);
      const find = async () => {
        const found = await store.findDeviceByToken(both.tokenHash);
        return { tokenId: found?.tokenId ?? 0, ended: found?.ended ?? null };
      };
      await free(store, providerId);
      const { tokenId, ended } = await find();
      expect(readEnded(ended ?? '')).toEqual([ENDED]);
      await store.noteNotified(tokenId, 'link_ended 1');
      expect((await find()).ended).toBe(ended);
      await store.noteNotified(tokenId, ended ?? '');
      expect((await find()).ended).toBeNull();
      await removeProvider(store, 'Provide2');
      expect(await store.findEndedToken(both.tokenHash)).toMatchObject({ why: 'link_ended' });
    });
  },

  forgetEndedTokens(opened) {
    test('deletes those from before a time', async () => {
      const { store } = opened();
      const { providerId, holder } = await withToken(store);
      await free(store, providerId);
      expect(await store.forgetEndedTokens(ACT.atMs)).toBe(false);
      expect(await store.forgetEndedTokens(ACT.atMs + 1)).toBe(true);
      expect(await store.findEndedToken(holder.tokenHash)).toBeNull();
    });
  },

  findWaiting(opened) {
    test('finds one message, whole, at a place of the token alone', async () => {
      const { store } = opened();
      const { providerId, a } = await addInbox(store);
      const payload = JSON.stringify({ body: 'x'.repeat(100_000) });
      const id = await deliver(store, providerId, { payload });
      expect(await store.findWaiting(a, id, NOW_MS)).toMatchObject({
        id,
        payload: JSON.parse(payload),
      });
      await knock(store, 'b');
      const toB = await deliver(store, providerId, to('b'));
      expect(await store.findWaiting(a, toB, NOW_MS)).toBeNull();
      const wrong = { ...a, tokenHash: tokenHash('another') };
      expect(await store.findWaiting(wrong, id, NOW_MS)).toBeNull();
      expect(await store.findWaiting(a, id, Number.MAX_SAFE_INTEGER)).toBeNull();
      await store.acknowledge(a, [{ id, state: 'received', detail: null }], NOW_MS);
      expect(await store.findWaiting(a, id, NOW_MS)).toBeNull();
    });
  },
};

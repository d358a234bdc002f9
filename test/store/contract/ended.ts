import { expect, test } from 'bun:test';
import { type EndedStore, readEnded } from '../../../src/core/port/ended.ts';
import type { Store } from '../../../src/core/port/store.ts';
import { ACT } from '../../support/actor.ts';
import {
  addDoor,
  addLink,
  CODE,
  knock,
  NOW_MS,
  OTHER_CODE,
  removeProvider,
  type Suite,
} from './fixture.ts';
import {
  addInbox,
  deliver,
  onBinding,
  onLink,
  register,
  to,
  tokenHash,
} from './message-fixture.ts';

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
    test('a device with a slot on another link there learns that its own got another code', async () => {
      const { store } = opened();
      const { providerId, installId, holder } = await withToken(store);
      await addLink(store, providerId, { installCode: OTHER_CODE });
      await knock(store, 'a', OTHER_CODE);
      await store.revokeLink(providerId, installId, 'LinkCode0003', ACT);
      expect(await store.findDeviceByToken(holder.tokenHash)).toBeNull();
      expect(await store.findEndedToken(holder.tokenHash)).toEqual({
        ...ENDED,
        why: 'link_replaced',
      });
    });

    test('a link that is enabled again withdraws its own end alone', async () => {
      const { store } = opened();
      const { providerId, installId, holder } = await withToken(store);
      const second = await addDoor(store, 'Provide2', OTHER_CODE);
      const both = await register(store, 'a', onLink(OTHER_CODE), holder);
      const ended = async () => {
        const found = await store.findDeviceByToken(both.tokenHash);
        return found?.ended ? readEnded(found.ended).map(({ why }) => why) : [];
      };
      const turn = (owner: number, id: number, status: 5 | 10) =>
        store.updateLink(owner, id, { status }, ACT);
      await turn(second.providerId, second.installId, 5);
      const found = await store.findDeviceByToken(both.tokenHash);
      await store.noteNotified(found?.tokenId ?? 0, found?.ended ?? '');
      await turn(providerId, installId, 5);
      await turn(second.providerId, second.installId, 10);
      expect(await ended()).toEqual(['link_disabled']);
      await turn(second.providerId, second.installId, 5);
      expect(await ended()).toEqual(['link_disabled', 'link_disabled']);
      await turn(providerId, installId, 10);
      await turn(second.providerId, second.installId, 10);
      expect(await ended()).toEqual([]);
    });

    test('who knows a HWID notifies its device of nothing by a slot of another link', async () => {
      const { store } = opened();
      const { providerId } = await addDoor(store);
      await addLink(store, providerId, { installCode: OTHER_CODE });
      // The device came by the binding alone, and has a slot; the stranger's link gets its HWID.
      const { tokenHash: token } = await register(store, 'a', onBinding());
      await knock(store, 'a');
      await knock(store, 'a', OTHER_CODE);
      const other = { installCode: OTHER_CODE, installId: null };
      await store.freeSlot(providerId, other, 'a', ACT);
      expect(await store.findDeviceByToken(token)).toMatchObject({ ended: null });
      await free(store, providerId);
      const found = await store.findDeviceByToken(token);
      expect(readEnded(found?.ended ?? '')).toEqual([ENDED]);
    });

    test('who knows a HWID ends no token of a binding that is disabled for a while', async () => {
      const { store } = opened();
      const { providerId, domainId } = await addDoor(store);
      const { tokenHash: token } = await register(store, 'a', onBinding());
      await knock(store, 'a');
      await store.disableDomain(providerId, domainId, ACT);
      await free(store, providerId);
      expect(await store.findDeviceByToken(token)).not.toBeNull();
    });

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

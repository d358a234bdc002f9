import { expect, test } from 'bun:test';
import { DAY_MS } from '../../../src/core/calendar.ts';
import type { Store } from '../../../src/core/port/store.ts';
import { subscriptionKeyHash } from '../../../src/core/secret.ts';
import { NO_TERMS } from '../../../src/core/slot.ts';
import { ACT } from '../../support/actor.ts';
import { auditEntries } from '../../support/audit.ts';
import {
  addDoor,
  addLink,
  CODE,
  FACTS,
  HASH,
  heard,
  knock,
  linkDraft,
  NOW_MS,
  OTHER_CODE,
  provider,
  removeProvider,
  type Suite,
} from './fixture.ts';
import { listening } from './happening.ts';
import { onBinding, onLink, register } from './message-fixture.ts';

type Method = 'freeSlots' | 'revokeLink' | 'removeLink' | 'findEnded' | 'forgetTombstones';

const KEY = subscriptionKeyHash('panel-key');
const NEW_CODE = 'NewCode00001';
const STAYING = 'StaysHere001';
const NOT_FOUND = 'install_not_found';

/** A door with a key and two devices, one of which is on another link too. */
async function addFull(store: Store) {
  const door = await addDoor(store);
  await store.updateLink(door.providerId, door.installId, { subscriptionKeyHash: KEY }, ACT);
  const otherId = await addLink(store, door.providerId, { installCode: STAYING });
  for (const hwid of ['a', 'b']) await knock(store, hwid);
  await knock(store, 'b', STAYING);
  return { ...door, otherId };
}

/** Asks with a key for which a link would be made. */
async function knockWithKey(store: Store, providerId: number, installCode = OTHER_CODE) {
  const key = { subscriptionKeyHash: KEY, providerCode: 'Provide1', domainHash: HASH, hwid: 'n' };
  const draft = linkDraft(providerId, { installCode, subscriptionKeyHash: KEY });
  return heard(await store.addLinkWithSlot(draft, key, FACTS, ACT));
}

function moveIn(store: Store, providerId: number, installCode: string, key: string | null = null) {
  const facts = { id: null, installCode, installLimit: 2, status: 10, note: null };
  const install = { ...facts, createdAtMs: NOW_MS, slots: [] };
  return store.importLink(
    providerId,
    { ...install, terms: { ...NO_TERMS, subscriptionKeyHash: key } },
    { installCountMax: 100, updates: true },
    ACT,
  );
}

async function countsOf(store: Store, installCode: string) {
  const link = await store.findLink(installCode);
  return link && { deviceCount: link.deviceCount, hasKey: link.hasSubscriptionKey };
}

const entriesOf = async (store: Store) =>
  (await auditEntries({ store })).slice(-1).map(({ action, object }) => ({ action, object }));

export const linkEndContract: Record<Method & keyof Store, Suite> = {
  freeSlots(opened) {
    test('frees all slots of the link and no other, once', async () => {
      const { store } = opened();
      const { providerId, installId, otherId } = await addFull(store);
      expect(await store.freeSlots(providerId, installId, ACT)).toEqual({ freedCount: 2 });
      expect(await entriesOf(store)).toEqual([
        { action: 'install.free', object: { id: installId, hwids: 2 } },
      ]);
      expect(await store.freeSlots(providerId, installId, ACT)).toEqual({ freedCount: 0 });
      expect(
        (await auditEntries({ store })).filter(({ action }) => action === 'install.free').length,
      ).toBe(1);
      expect(await countsOf(store, CODE)).toEqual({ deviceCount: 0, hasKey: true });
      expect(await countsOf(store, STAYING)).toEqual({ deviceCount: 1, hasKey: false });
      const { ends } = await store.readLinkStory(installId);
      expect(ends.map(({ hwid, why, actor }) => `${hwid} ${why} ${actor}`)).toEqual([
        ...['b deleted tester', 'a deleted tester'],
      ]);
      expect(heard(await knock(store, 'c'))).toMatchObject({ deviceCount: 1 });
      expect(await store.freeSlots(providerId, otherId + 9, ACT)).toBe(NOT_FOUND);
    });

    test('frees those that were taken since a time, and no earlier one', async () => {
      const { store } = opened();
      const { providerId, installId } = await addDoor(store);
      await knock(store, 'a');
      await knock(store, 'b', CODE, FACTS, NOW_MS + 1_000);
      const since = (ms: number) => store.freeSlots(providerId, installId, ACT, NOW_MS + ms);
      expect(await since(1_001)).toEqual({ freedCount: 0 });
      expect(await since(1_000)).toEqual({ freedCount: 1 });
      const { ends } = await store.readLinkStory(installId);
      expect(ends.map(({ hwid }) => hwid)).toEqual(['b']);
      expect(await countsOf(store, CODE)).toMatchObject({ deviceCount: 1 });
    });

    test('not of another provider', async () => {
      const { store } = opened();
      const { installId } = await addFull(store);
      const other = await addDoor(store, 'Provide2', OTHER_CODE);
      expect(await store.freeSlots(other.providerId, installId, ACT)).toBe(NOT_FOUND);
      expect(await store.revokeLink(other.providerId, installId, NEW_CODE, ACT)).toBe(NOT_FOUND);
      expect(await store.removeLink(other.providerId, installId, ACT)).toBe(NOT_FOUND);
      expect(await countsOf(store, CODE)).toEqual({ deviceCount: 2, hasKey: true });
    });
  },

  revokeLink(opened) {
    test('another code, no key, no slots; the old ones open and make nothing', async () => {
      const { store } = opened();
      const { providerId, installId } = await addFull(store);
      const revoked = await store.revokeLink(providerId, installId, NEW_CODE, ACT);
      expect(revoked).toMatchObject({ freedCount: 2, hadKey: true });
      const object = { id: installId, hwids: 2, subscription_key: 'removed' };
      expect(await entriesOf(store)).toEqual([{ action: 'install.revoke', object }]);
      expect(await countsOf(store, CODE)).toBeNull();
      expect(await store.findLink(NEW_CODE)).toMatchObject({ id: installId, deviceCount: 0 });
      expect(await knock(store, 'a')).toBe('link_not_found');
      expect(await knock(store, 'a', NEW_CODE)).toMatchObject({ deviceCount: 1 });
      expect(await knockWithKey(store, providerId)).toBe('link_not_found');
      expect(await store.findLink(OTHER_CODE)).toBeNull();
      const again = linkDraft(providerId);
      expect(await store.addLink(again, ACT)).toBe('install_code_ended');
      const keyed = { ...again, installCode: OTHER_CODE, subscriptionKeyHash: KEY };
      expect(await store.addLink(keyed, ACT)).toBe('subscription_key_ended');
      expect(await moveIn(store, providerId, CODE)).toBe('install_code_ended');
      expect(await moveIn(store, providerId, OTHER_CODE, KEY)).toMatchObject({ was: 'added' });
      expect(await countsOf(store, OTHER_CODE)).toEqual({ deviceCount: 0, hasKey: false });
    });

    test('the tokens that the link claimed die, also of a device that left it', async () => {
      const { store } = opened();
      const { providerId, installId } = await addFull(store);
      const a = await register(store, 'a', onLink());
      const former = await register(store, 'b', onLink());
      await store.freeSlot(providerId, { installCode: CODE, installId: null }, 'b', ACT);
      await store.forgetSlotEnds(NOW_MS + DAY_MS);
      await knock(store, 'c', STAYING);
      const stays = await register(store, 'c', onLink(STAYING));
      const bound = await register(store, 'd', onBinding());
      const revoked = await store.revokeLink(providerId, installId, NEW_CODE, ACT);
      const { deviceIds = [] } = typeof revoked === 'string' ? {} : revoked;
      expect(deviceIds.toSorted()).toEqual([a.id, former.id].toSorted());
      const isAlive = async ({ tokenHash }: typeof a) =>
        (await store.findDeviceByToken(tokenHash)) !== null;
      expect(await Promise.all([a, former, stays, bound].map(isAlive))).toEqual([
        ...[false, false, true, true],
      ]);
    });

    test('takes a turn after each piece of its search, and searches for own links alone', async () => {
      const { store } = opened();
      const { providerId, installId } = await addFull(store);
      await register(store, 'a', onLink());
      let turns = 0;
      const turn = async () => {
        turns += 1;
      };
      const revoke = (id: number) => store.revokeLink(providerId, id, NEW_CODE, ACT, turn);
      expect(await revoke(installId + 99)).toBe(NOT_FOUND);
      expect(turns).toBe(0);
      expect(await revoke(installId)).toMatchObject({ freedCount: 2 });
      expect(turns).toBe(1);
    });

    test('the events of both, after each device that lost its slot', async () => {
      const { store } = opened();
      const { installId, providerId, told } = await listening(store);
      for (const hwid of ['a', 'b']) await knock(store, hwid);
      await store.revokeLink(providerId, installId, 'NewCode00001', ACT);
      await store.removeLink(providerId, installId, ACT);
      const of = { install_id: installId, install_limit: 2, why: 'deleted' };
      expect((await told()).slice(3)).toEqual([
        ['device.removed', { ...of, install_count: 1, hwid: 'a' }],
        ['device.removed', { ...of, install_count: 0, hwid: 'b' }],
        ['link.revoked', { install_id: installId, freed: 2, had_subscription_key: false }],
        ['link.removed', { install_id: installId, freed: 0 }],
      ]);
    });

    test('refuses a code that a link has, or had', async () => {
      const { store } = opened();
      const { providerId, installId, otherId } = await addFull(store);
      const revoke = (code: string) => store.revokeLink(providerId, installId, code, ACT);
      for (const code of [CODE, STAYING]) expect(await revoke(code)).toBe('install_code_exists');
      await store.removeLink(providerId, otherId, ACT);
      expect(await revoke(STAYING)).toBe('install_code_exists');
      expect(await countsOf(store, CODE)).toEqual({ deviceCount: 2, hasKey: true });
    });

    test('a key may be set again by the provider', async () => {
      const { store } = opened();
      const { providerId, installId } = await addFull(store);
      await store.revokeLink(providerId, installId, NEW_CODE, ACT);
      const change = { subscriptionKeyHash: KEY };
      expect(await store.updateLink(providerId, installId, change, ACT)).toMatchObject({
        says: 'ok',
      });
      expect(await knockWithKey(store, providerId)).toMatchObject({ installId });
    });
  },

  removeLink(opened) {
    test('the link is gone with its slots, and nothing makes it again', async () => {
      const { store } = opened();
      const { providerId, installId } = await addFull(store);
      expect(await store.removeLink(providerId, installId, ACT)).toEqual({ freedCount: 2 });
      expect(await entriesOf(store)).toEqual([
        { action: 'install.remove', object: { id: installId, hwids: 2 } },
      ]);
      expect(await store.removeLink(providerId, installId, ACT)).toBe(NOT_FOUND);
      expect(await store.findLinkById(installId)).toBeNull();
      expect((await provider(store, 'Provide1')).installCount).toBe(1);
      expect(await countsOf(store, STAYING)).toEqual({ deviceCount: 1, hasKey: false });
      expect(await knock(store, 'a')).toBe('link_not_found');
      expect(await knockWithKey(store, providerId)).toBe('link_not_found');
      expect(await store.addLink(linkDraft(providerId), ACT)).toBe('install_code_ended');
      expect(await moveIn(store, providerId, CODE)).toBe('install_code_ended');
      expect((await store.findDevice('a'))?.installs).toEqual([]);
      expect((await store.findDevice('b'))?.installs.length).toBe(1);
    });

    test('registrations end as when a HWID is deleted', async () => {
      const { store } = opened();
      const { providerId, installId } = await addFull(store);
      const a = await register(store, 'a', onLink());
      await store.removeLink(providerId, installId, ACT);
      expect(await store.findDeviceByToken(a.tokenHash)).toBeNull();
      expect(await store.findEndedToken(a.tokenHash)).toMatchObject({ why: 'link_ended' });
    });

    test('another provider is told of a taken code alone, and may have the key', async () => {
      const { store } = opened();
      const { providerId, installId } = await addFull(store);
      await store.removeLink(providerId, installId, ACT);
      const { providerId: other } = await addDoor(store, 'Provide2', OTHER_CODE);
      expect(await store.addLink(linkDraft(other), ACT)).toBe('install_code_exists');
      expect(await moveIn(store, other, CODE)).toBe('install_code_exists');
      const keyed = linkDraft(other, { installCode: NEW_CODE, subscriptionKeyHash: KEY });
      expect(await store.addLink(keyed, ACT)).toMatchObject({ id: expect.any(Number) });
    });

    test('tombstones go with their provider', async () => {
      const { store } = opened();
      const { providerId, installId } = await addFull(store);
      await store.removeLink(providerId, installId, ACT);
      await removeProvider(store, 'Provide1');
      const { providerId: other } = await addDoor(store, 'Provide2', OTHER_CODE);
      expect(await store.addLink(linkDraft(other), ACT)).toMatchObject({
        id: expect.any(Number),
      });
    });
  },

  findEnded(opened) {
    test('of the provider alone, once the link has ended', async () => {
      const { store } = opened();
      const { providerId, installId } = await addFull(store);
      const { providerId: other } = await addDoor(store, 'Provide2', OTHER_CODE);
      const unknown = { subscriptionKeyHash: subscriptionKeyHash('other') };
      const ended = async () => [
        await store.findEnded(providerId, { subscriptionKeyHash: KEY }),
        await store.findEnded(other, { subscriptionKeyHash: KEY }),
        await store.findEnded(providerId, unknown),
        await store.findEnded(providerId, { installCode: CODE }),
        await store.findEnded(other, { installCode: CODE }),
        await store.findEnded(providerId, { installCode: NEW_CODE }),
      ];
      expect(await ended()).toEqual([null, null, null, null, null, null]);
      await store.removeLink(providerId, installId, ACT);
      expect(await ended()).toEqual([
        ...['subscription_key_ended', null, null],
        ...['install_code_ended', 'install_code_exists', null],
      ] as const);
    });
  },

  forgetTombstones(opened) {
    test('those from before a time, oldest first', async () => {
      const { store } = opened();
      const { providerId, installId, otherId } = await addFull(store);
      expect(await store.forgetTombstones(NOW_MS + DAY_MS)).toBe(false);
      await store.removeLink(providerId, installId, ACT);
      await store.removeLink(providerId, otherId, { ...ACT, atMs: ACT.atMs + 1 });
      expect(await store.forgetTombstones(ACT.atMs)).toBe(false);
      expect(await store.forgetTombstones(ACT.atMs + 1)).toBe(true);
      expect(await store.forgetTombstones(ACT.atMs + 1)).toBe(false);
      expect(await store.findEnded(providerId, { subscriptionKeyHash: KEY })).toBeNull();
      const draft = linkDraft(providerId);
      expect(await store.addLink(draft, ACT)).toMatchObject({ id: expect.any(Number) });
      const stays = { ...draft, installCode: STAYING };
      expect(await store.addLink(stays, ACT)).toBe('install_code_ended');
    });
  },
};

import { expect, test } from 'bun:test';
import { hwidOfHash } from '../../../src/core/formats.ts';
import type { Store } from '../../../src/core/port/store.ts';
import { hwidHash, subscriptionKeyHash } from '../../../src/core/secret.ts';
import { NO_TERMS } from '../../../src/core/slot.ts';
import { ACT } from '../../support/actor.ts';
import { auditEntries, deedOf } from '../../support/audit.ts';
import {
  ALL,
  addDoor,
  addLink,
  CODE,
  FACTS,
  HASH,
  heard,
  NOW_MS,
  OTHER_CODE,
  type Suite,
} from './fixture.ts';
import { listening } from './happening.ts';
import { onLink, registration } from './message-fixture.ts';
import type { Given, Race } from './race.ts';

const [FOLDED, WRITTEN] = ['u-folded', 'U-FOLDED'].map(subscriptionKeyHash) as [string, string];
const [OLD, NEW] = [CODE, OTHER_CODE];

const knockAt = (store: Store, subscriptionKeyHash: string, hwid: string) => {
  const key = { subscriptionKeyHash, providerCode: 'Provide1', domainHash: HASH, hwid };
  return store.takeSlot(key, FACTS, NOW_MS);
};

/** A link with the key as it was written, and a later one with the folded key. */
async function addBoth(
  store: Store,
  devices: [string[], string[]] = [
    ['a', 'b'],
    ['b', 'c'],
  ],
) {
  const { providerId, installId: oldId } = await addDoor(store);
  await store.updateLink(providerId, oldId, { subscriptionKeyHash: WRITTEN }, ACT);
  const more = { installCode: NEW, subscriptionKeyHash: FOLDED, createdAtMs: NOW_MS + 1 };
  const newId = await addLink(store, providerId, more);
  for (const hwid of devices[0]) await knockAt(store, WRITTEN, hwid);
  for (const hwid of devices[1]) await knockAt(store, FOLDED, hwid);
  return { providerId, oldId, newId };
}

async function hwidsOn(store: Store, providerId: number, installCode: string) {
  const listed = await store.listSlots(providerId, { installCode, installId: null }, null, 200);
  return typeof listed === 'string' ? listed : listed.map(({ hwid }) => hwid).sort();
}

const name = (store: Store, providerId: number, installId: number, hwids: string[]) =>
  store.nameHwids(providerId, { installCode: null, installId }, hwids, 100, ACT);

const deedsAfter = async (store: Store, count: number) =>
  (await auditEntries({ store })).slice(count).map(deedOf);

export const linkJoinContract: Record<'joinLinks', Suite> = {
  joinLinks(opened) {
    const join = (store: Store, ids: { providerId: number; installId: number }) =>
      store.joinLinks({ ...ids, keyHash: FOLDED }, ACT);

    test('the older link keeps its terms and gets the key and all devices', async () => {
      const { store } = opened();
      const { providerId, oldId } = await addBoth(store);
      const before = (await auditEntries({ store })).length;
      await join(store, { providerId, installId: oldId });
      expect(await hwidsOn(store, providerId, OLD)).toEqual(['a', 'b', 'c']);
      expect(await store.findLink(NEW)).toBeNull();
      expect(await store.findLink(OLD)).toMatchObject({ deviceCount: 3, installLimit: 2 });
      for (const hwid of ['a', 'b', 'c']) {
        expect(heard(await knockAt(store, FOLDED, hwid))).toMatchObject({ installId: oldId });
      }
      expect(heard(await knockAt(store, FOLDED, 'd'))).toBe('link_limit_reached');
      expect(heard(await knockAt(store, WRITTEN, 'a'))).toBe('link_not_found');
      expect(await deedsAfter(store, before)).toEqual([
        `install.remove {"id":${oldId + 1},"hwids":0}`,
        `install.update {"id":${oldId}} {"subscription_key":"changed"}`,
      ]);
    });

    test('over its limit until they leave: no slot of them is filled again', async () => {
      const { store } = opened();
      const { providerId, oldId } = await addBoth(store);
      await join(store, { providerId, installId: oldId });
      const selector = { installCode: OLD, installId: null };
      await store.freeSlot(providerId, selector, 'a', ACT);
      expect(heard(await knockAt(store, FOLDED, 'd'))).toBe('link_limit_reached');
      await store.freeSlot(providerId, selector, 'b', ACT);
      expect(heard(await knockAt(store, FOLDED, 'd'))).toMatchObject({ deviceCount: 2 });
      expect(heard(await knockAt(store, FOLDED, 'e'))).toBe('link_limit_reached');
    });

    test('a later link gives its devices to the one that has the key', async () => {
      const { store } = opened();
      const { providerId, newId } = await addBoth(store);
      await store.joinLinks({ providerId, installId: newId, keyHash: WRITTEN }, ACT);
      expect(await hwidsOn(store, providerId, OLD)).toEqual(['a', 'b', 'c']);
      expect(heard(await knockAt(store, WRITTEN, 'c'))).toMatchObject({ deviceCount: 3 });
      expect(heard(await knockAt(store, FOLDED, 'c'))).toBe('link_not_found');
    });

    test('a link whose key no other has takes it, once', async () => {
      const { store } = opened();
      const { providerId, installId } = await addDoor(store);
      await store.updateLink(providerId, installId, { subscriptionKeyHash: WRITTEN }, ACT);
      await knockAt(store, WRITTEN, 'a');
      const before = (await auditEntries({ store })).length;
      await join(store, { providerId, installId });
      await join(store, { providerId, installId });
      expect(heard(await knockAt(store, FOLDED, 'a'))).toMatchObject({ installId, deviceCount: 1 });
      expect(await deedsAfter(store, before)).toHaveLength(1);
    });

    test('slots keep their times, registrations their tokens, devices their home', async () => {
      const { store } = opened();
      const { providerId, oldId } = await addBoth(store, [['a'], []]);
      const register = { shown: onLink(NEW) };
      const registered = await store.registerDevice(registration('c', register));
      expect(registered).toHaveProperty('deviceId');
      const before = (await store.findDevice('c'))?.installs;
      await join(store, { providerId, installId: oldId });
      const after = (await store.findDevice('c'))?.installs;
      expect(before).toMatchObject([{ installCode: NEW }]);
      const times = (slots: typeof after) =>
        slots?.map(({ registeredAtMs, lastSeenAtMs }) => [registeredAtMs, lastSeenAtMs]);
      expect(after).toMatchObject([{ installCode: OLD }]);
      expect(times(after)).toEqual(times(before));
      const key = { installCode: OLD, domainHash: HASH, hwid: 'c' };
      expect(await store.findSlot(key)).toMatchObject({ device: { isRegistered: true } });
    });

    test('a slot of a hash is still taken over', async () => {
      const { store } = opened();
      const { providerId, oldId } = await addBoth(store, [[], []]);
      const slot = {
        ...FACTS,
        hwid: hwidOfHash(hwidHash('x')),
        firstSeenAtMs: 5,
        registeredAtMs: 5,
        lastSeenAtMs: 5,
      };
      const facts = { id: null, installCode: NEW, installLimit: 2, status: 10, note: null };
      const install = { ...facts, createdAtMs: NOW_MS, slots: [slot], terms: NO_TERMS };
      const rules = { installCountMax: 100, updates: false };
      expect(await store.importLink(providerId, install, rules, ACT)).toMatchObject({
        slotsAdded: 1,
      });
      await join(store, { providerId, installId: oldId });
      for (const hwid of ['a', 'x']) await knockAt(store, FOLDED, hwid);
      expect(await hwidsOn(store, providerId, OLD)).toEqual(['a', 'x']);
    });

    test('named HWIDs come too, over the limit like devices, and one place holds each', async () => {
      const { store } = opened();
      const { providerId, oldId, newId } = await addBoth(store, [[], ['a', 'c']]);
      await store.updateLink(providerId, newId, { installLimit: 5 }, ACT);
      await name(store, providerId, oldId, ['a', 'b']);
      await name(store, providerId, newId, ['b', 'd', 'e']);
      await join(store, { providerId, installId: oldId });
      expect(await hwidsOn(store, providerId, OLD)).toEqual(['a', 'b', 'c', 'd', 'e']);
      expect(await store.findLink(OLD)).toMatchObject({ deviceCount: 5, installLimit: 2 });
      expect((await store.listNamed(oldId)).map(({ hwid }) => hwid).sort()).toEqual([
        'b',
        'd',
        'e',
      ]);
      expect(heard(await knockAt(store, FOLDED, 'd'))).toMatchObject({ deviceCount: 5 });
      expect(heard(await knockAt(store, FOLDED, 'f'))).toBe('link_limit_reached');
    });

    test('a named HWID and a slot of its hash, on two links, become one place', async () => {
      const { store } = opened();
      const hashed = ['a', 'b'].map((hwid) => hwidOfHash(hwidHash(hwid)));
      const [a, b] = hashed as [string, string];
      const { providerId, oldId, newId } = await addBoth(store, [[a], [b]]);
      await name(store, providerId, oldId, ['b']);
      await name(store, providerId, newId, ['a']);
      await join(store, { providerId, installId: oldId });
      expect(await hwidsOn(store, providerId, OLD)).toEqual(hashed.toSorted());
      expect(await store.findLink(OLD)).toMatchObject({ deviceCount: 2 });
    });

    test('at most 100 devices, those that were seen last; the others end', async () => {
      const { store } = opened();
      const { providerId, oldId, newId } = await addBoth(store, [[], []]);
      for (const id of [oldId, newId]) {
        await store.updateLink(providerId, id, { installLimit: 100 }, ACT);
      }
      for (let n = 0; n < 60; n++) await knockAt(store, WRITTEN, `old-${n}`);
      for (let n = 0; n < 60; n++) await knockAt(store, FOLDED, `new-${n}`);
      await join(store, { providerId, installId: oldId });
      const hwids = await hwidsOn(store, providerId, OLD);
      expect(hwids).toHaveLength(100);
      expect(Array.from(hwids).filter((hwid) => hwid.startsWith('old-'))).toHaveLength(60);
    });

    test('nothing happens without the link, or with a key that ended', async () => {
      const { store } = opened();
      const { providerId, oldId, newId } = await addBoth(store);
      await store.removeLink(providerId, newId, ACT);
      const before = (await auditEntries({ store })).length;
      await join(store, { providerId, installId: oldId });
      await join(store, { providerId, installId: newId });
      expect(heard(await knockAt(store, WRITTEN, 'a'))).toMatchObject({ deviceCount: 2 });
      expect(await deedsAfter(store, before)).toEqual([]);
      const other = await addDoor(store, 'Provide2', 'LinkCode0009');
      await join(store, { providerId: other.providerId, installId: oldId });
      expect(await deedsAfter(store, before + 2)).not.toContain('install.remove');
      expect(heard(await knockAt(store, WRITTEN, 'a'))).toMatchObject({ deviceCount: 2 });
    });

    test('events: one link changed, the other is gone, and no device was freed', async () => {
      const { store } = opened();
      const { providerId, installId, told } = await listening(store);
      await store.updateLink(providerId, installId, { subscriptionKeyHash: WRITTEN }, ACT);
      const more = { installCode: NEW, subscriptionKeyHash: FOLDED, createdAtMs: NOW_MS + 1 };
      const newId = await addLink(store, providerId, more);
      await knockAt(store, FOLDED, 'c');
      await told();
      await join(store, { providerId, installId });
      const all = await told();
      const kinds = all.map(([kind]) => kind);
      expect(kinds.slice(-2)).toEqual(['link.removed', 'link.updated']);
      expect(all.at(-2)?.[1]).toEqual({ install_id: newId, freed: 0 });
      expect(kinds).not.toContain('device.freed');
    });
  },
};

/** Devices that come by either spelling while the links are joined: none loses its slot. */
const race: Race = {
  callCount: 120,
  atOnce: 20,
  given: (store) => addBoth(store),
  call: (store, given, n) => {
    const ids = { providerId: given['providerId'] ?? 0, installId: given['oldId'] ?? 0 };
    if (n % 6 === 5) return store.joinLinks({ ...ids, keyHash: FOLDED }, ACT);
    return knockAt(store, n % 2 === 0 ? FOLDED : WRITTEN, ['a', 'b', 'c', `x-${n}`][n % 4] ?? '');
  },
  async check(store, given: Given, answers) {
    const { providerId = 0 } = given;
    const hwids = await hwidsOn(store, providerId, OLD);
    const admitted = answers.flatMap((answer, n) => {
      const isIn = typeof answer === 'object' && answer !== null && !('says' in answer);
      return isIn ? [['a', 'b', 'c', `x-${n}`][n % 4] ?? ''] : [];
    });
    expect(hwids).toEqual([...new Set(['a', 'b', 'c', ...admitted])].sort());
    expect(await store.listLinksOf(providerId, ALL)).toMatchObject([
      { installCode: OLD, deviceCount: hwids.length },
    ]);
  },
};

export const JOIN_RACES: Readonly<Record<string, Race>> = {
  'for the slots of two links that become one': race,
};

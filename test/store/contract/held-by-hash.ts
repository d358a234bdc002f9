/** Slots that a panel's hash of a HWID holds, until the device with that HWID comes. */

import { expect, test } from 'bun:test';
import { hwidOfHash } from '../../../src/core/formats.ts';
import type { ImportedSlot } from '../../../src/core/port/moving.ts';
import type { Store } from '../../../src/core/port/store.ts';
import { hwidHash } from '../../../src/core/secret.ts';
import { NO_TERMS } from '../../../src/core/slot.ts';
import { ACT } from '../../support/actor.ts';
import {
  ALL,
  addDoor,
  addLink,
  addProvider,
  bind,
  CODE,
  HASH,
  heard,
  knock,
  NOW_MS,
  type OpenedStore,
  OTHER_CODE,
  SILENCE,
} from './fixture.ts';
import { onLink, registration } from './message-fixture.ts';
import type { Given, Race } from './race.ts';

const EARLIER_MS = NOW_MS - 86_400_000;
const RULES = { installCountMax: 100, domainCountMax: 100, updates: true };

/** What holds the slot of a HWID that the panel knows by its hash. */
const hashed = (hwid: string) => hwidOfHash(hwidHash(hwid));

const slot = (hwid: string, more: Partial<ImportedSlot> = {}): ImportedSlot => ({
  hwid,
  ...SILENCE,
  deviceName: 'Pixel',
  os: 'android',
  registeredAtMs: EARLIER_MS,
  firstSeenAtMs: EARLIER_MS,
  lastSeenAtMs: EARLIER_MS,
  ...more,
});

const moving = (slots: ImportedSlot[], installLimit = 2, installCode = CODE) => ({
  id: null,
  installCode,
  installLimit,
  status: 10,
  note: null,
  createdAtMs: EARLIER_MS,
  slots,
});

/** A provider with a link that moved in with these HWIDs, and a binding. */
async function moveIn(store: Store, hwids: string[], installLimit = 2) {
  const { id: providerId } = await addProvider(store, 'Provide1');
  await bind(store, providerId);
  const slots = hwids.map((hwid) => slot(hwid));
  const added = await store.importLink(providerId, moving(slots, installLimit), RULES, ACT);
  if (typeof added === 'string') throw new Error(added);
  return { providerId, installId: added.id };
}

async function slotsOn(store: Store, providerId: number, installCode = CODE) {
  const slots = await store.listSlots(providerId, { installCode, installId: null }, null, 100);
  return typeof slots === 'string' ? [] : slots;
}

const hwidsOn = async (store: Store, providerId: number, installCode = CODE) =>
  (await slotsOn(store, providerId, installCode)).map(({ hwid }) => hwid).sort();

const keyOf = (hwid: string) => ({ installCode: CODE, domainHash: HASH, hwid });

export function heldByHashContract(opened: () => OpenedStore): void {
  test('is counted, and is its device at the door, which takes it over as old as it was', async () => {
    const { store } = opened();
    const { providerId, installId } = await moveIn(store, [hashed('a'), hashed('b')]);
    expect(await hwidsOn(store, providerId)).toEqual([hashed('a'), hashed('b')].sort());
    expect(await store.listLinksOf(providerId, ALL)).toMatchObject([{ deviceCount: 2 }]);
    const told = { deviceName: 'Pixel', os: 'android' };
    expect(await store.findSlot(keyOf('a'))).toMatchObject({
      device: told,
      byHash: { registeredAtMs: EARLIER_MS },
      full: null,
    });
    expect(await store.findSlot(keyOf('c'))).toMatchObject({ device: null });
    expect(await knock(store, 'c')).toBe('link_limit_reached');

    const reported = { ...SILENCE, osVersion: '15', userAgent: 'Happ/1' };
    expect(await knock(store, 'a', CODE, reported)).toMatchObject({ deviceCount: 2 });
    expect(await hwidsOn(store, providerId)).toEqual(['a', hashed('b')]);
    const [own] = (await slotsOn(store, providerId)).filter(({ hwid }) => hwid === 'a');
    expect(own).toMatchObject({ registeredAtMs: EARLIER_MS, lastSeenAtMs: NOW_MS });
    const known = await store.findSlot(keyOf('a'));
    expect(known).toMatchObject({ device: { ...told, osVersion: '15', userAgent: 'Happ/1' } });
    expect(known).not.toHaveProperty('byHash');
    expect((await store.readLinkStory(installId)).ends).toEqual([]);
    expect(await knock(store, 'b')).toMatchObject({ deviceCount: 2 });
    expect(await hwidsOn(store, providerId)).toEqual(['a', 'b']);
    expect(await knock(store, 'c')).toBe('link_limit_reached');
  });

  test('leaves no device behind that a hash alone named', async () => {
    const { store } = opened();
    await moveIn(store, [hashed('a')]);
    await knock(store, 'a');
    const bounds = { seenBeforeMs: NOW_MS - 2 * 86_400_000, countMax: 1_000 };
    for (let at = await store.forgetStrangers(bounds, null); at !== null; ) {
      at = await store.forgetStrangers(bounds, at);
    }
    expect(await store.findDevice(hashed('a'))).toBeNull();
    expect(await store.findDevice('a')).toMatchObject({ installs: [{ installCode: CODE }] });
  });

  test('beside a free slot, on a link with a key, and for a device known elsewhere', async () => {
    const { store } = opened();
    await addDoor(store, 'Provide2', OTHER_CODE);
    await knock(store, 'a', OTHER_CODE);
    const { providerId, installId } = await moveIn(store, [hashed('a'), 'b'], 5);
    const subscriptionKeyHash = 'c'.repeat(64);
    await store.updateLink(providerId, installId, { subscriptionKeyHash }, ACT);
    const key = { subscriptionKeyHash, providerCode: 'Provide1', domainHash: HASH };
    const took = await store.takeSlot({ ...key, hwid: 'a' }, SILENCE, NOW_MS);
    expect(heard(took)).toMatchObject({ deviceCount: 2 });
    expect(await knock(store, 'c')).toMatchObject({ deviceCount: 3 });
    expect(await hwidsOn(store, providerId)).toEqual(['a', 'b', 'c']);
  });

  test('the exact HWID comes first', async () => {
    const { store } = opened();
    const { providerId } = await moveIn(store, [hashed('b')]);
    await knock(store, 'a');
    // Another panel knows it by its hash: it is that device.
    const again = await store.importLink(providerId, moving([slot(hashed('a'))]), RULES, ACT);
    expect(again).toMatchObject({ slotsAdded: 0, slotsPresent: 1, slotsWithoutRoom: 0 });
    // And the one that a hash holds is there under its HWID too.
    const whole = await store.importLink(providerId, moving([slot('b')]), RULES, ACT);
    expect(whole).toMatchObject({ slotsAdded: 0, slotsPresent: 1, slotsWithoutRoom: 0 });
    expect(await hwidsOn(store, providerId)).toEqual(['a', hashed('b')]);
    expect(await store.findSlot(keyOf('a'))).not.toHaveProperty('byHash');
  });

  test('a link above its limit loses nobody', async () => {
    const { store } = opened();
    const { id: providerId } = await addProvider(store, 'Provide1');
    await bind(store, providerId);
    const slots = ['a', 'b', 'c'].map((hwid) => slot(hashed(hwid)));
    const link = { ...moving(slots, 2), overMax: 3, terms: NO_TERMS };
    expect(await store.importLink(providerId, link, RULES, ACT)).toMatchObject({
      slotsAdded: 3,
    });
    for (const hwid of ['a', 'b', 'c']) {
      expect(await knock(store, hwid)).toMatchObject({ deviceCount: 3 });
    }
    expect(await knock(store, 'd')).toBe('link_limit_reached');
    expect(await hwidsOn(store, providerId)).toEqual(['a', 'b', 'c']);
  });

  test('on two links of a device, each until the device comes there', async () => {
    const { store } = opened();
    const { providerId } = await moveIn(store, [hashed('a')]);
    const other = moving([slot(hashed('a'))], 1, OTHER_CODE);
    await store.importLink(providerId, other, RULES, ACT);
    await knock(store, 'a');
    expect(await hwidsOn(store, providerId)).toEqual(['a']);
    expect(await hwidsOn(store, providerId, OTHER_CODE)).toEqual([hashed('a')]);
    expect(await knock(store, 'b', OTHER_CODE)).toBe('link_limit_reached');
    expect(await knock(store, 'a', OTHER_CODE)).toMatchObject({ deviceCount: 1 });
    expect(await hwidsOn(store, providerId, OTHER_CODE)).toEqual(['a']);
  });

  test('a registration takes it too; one that was deleted holds nothing', async () => {
    const { store } = opened();
    const { providerId } = await moveIn(store, [hashed('a'), hashed('b')]);
    const wanted = { shown: onLink(), facts: { ...SILENCE, os: 'android' } };
    const registered = await store.registerDevice(registration('a', wanted));
    expect(registered).toHaveProperty('deviceId');
    expect(await store.findSlot(keyOf('a'))).toMatchObject({ device: { deviceName: 'Pixel' } });
    const selector = { installCode: CODE, installId: null };
    expect(await store.freeSlot(providerId, selector, hashed('b'), ACT)).toMatchObject({
      deviceCount: 1,
    });
    expect(await knock(store, 'c')).toMatchObject({ deviceCount: 2 });
    expect(await knock(store, 'b')).toBe('link_limit_reached');
    expect(await hwidsOn(store, providerId)).toEqual(['a', 'c']);
  });

  test('moves out and in again', async () => {
    const { store } = opened();
    const { providerId } = await moveIn(store, [hashed('a')]);
    const records = await Array.fromAsync(store.exportProvider('Provide1'));
    const link = records.flatMap((record) => (record.kind === 'install' ? record.install : []))[0];
    if (link === undefined) throw new Error('no link');
    const { id: otherId } = await addProvider(store, 'Provide2');
    await bind(store, otherId);
    await addLink(store, providerId, { installCode: 'LinkCode0009' });
    const moved = { ...link, id: null, installCode: OTHER_CODE };
    expect(await store.importLink(otherId, moved, RULES, ACT)).toMatchObject({ slotsAdded: 1 });
    expect(await knock(store, 'a', OTHER_CODE)).toMatchObject({ deviceCount: 1 });
    expect(await hwidsOn(store, otherId, OTHER_CODE)).toEqual(['a']);
  });
}

const HELD = ['hwid-20', 'hwid-90', 'hwid-150'];
const LIMIT = 5;

/** Devices whose hashes hold slots among strangers: all of the former enter, however late. */
const race = (atOnce: number): Race => ({
  callCount: 200,
  atOnce,
  async given(store) {
    return moveIn(store, HELD.map(hashed), LIMIT);
  },
  call: (store: Store, _given: Given, n: number) => knock(store, `hwid-${n}`),
  async check(store, given, answers) {
    const hwids = await hwidsOn(store, given['providerId'] ?? 0);
    const admitted = answers.flatMap((answer, n) =>
      typeof answer === 'object' ? [`hwid-${n}`] : [],
    );
    expect(hwids).toEqual(admitted.sort());
    expect(hwids).toHaveLength(LIMIT);
    for (const hwid of HELD) expect(hwids).toContain(hwid);
    expect(await store.listLinksOf(given['providerId'] ?? 0, ALL)).toMatchObject([
      { deviceCount: LIMIT },
    ]);
  },
});

export const HASH_RACES: Readonly<Record<string, Race>> = {
  'for the free slots of a link where hashes hold some': race(20),
};

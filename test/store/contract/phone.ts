/** Several phones that send one HWID of a link. */

import { expect, test } from 'bun:test';
import { DAY_MS, HOUR_MS } from '../../../src/core/calendar.ts';
import { tidyFacts } from '../../../src/core/device.ts';
import { PHONE_KEPT_MS } from '../../../src/core/phones.ts';
import type { DeviceFacts } from '../../../src/core/port/device.ts';
import type { Policy, SlotKey } from '../../../src/core/port/slot.ts';
import type { Store } from '../../../src/core/port/store.ts';
import { isAdmitted, judge } from '../../../src/core/slot.ts';
import { ACT } from '../../support/actor.ts';
import {
  addDoor,
  addLink,
  CODE,
  HASH,
  heard,
  NOW_MS,
  type OpenedStore,
  OTHER_CODE,
  SILENCE,
  type Suite,
} from './fixture.ts';
import { listening } from './happening.ts';

type Method = 'listPhones' | 'ignorePhones' | 'seePhone' | 'forgetPhones';

/** The facts of phones as one app reports them. */
const phone = (os: string, deviceName: string, userAgent = 'Happ/3.2.1'): DeviceFacts => ({
  ...SILENCE,
  os,
  deviceName,
  userAgent,
});
const PIXEL = phone('Android', 'Pixel 9');
const IPHONE = phone('iOS', 'iPhone17,1');
const GALAXY = phone('Android', 'SM-S921B');

const keyOf = (hwid: string, facts: DeviceFacts, nowMs: number, installCode = CODE): SlotKey => ({
  ...{ installCode, domainHash: HASH, hwid },
  reported: facts,
  sight: { door: 'subscription', facts, isShared: false, nowMs },
});

/** Asks as a phone does; returns the HWID that it has, or the refusal. */
async function ask(
  store: Store,
  facts: DeviceFacts,
  nowMs: number,
  hwid = 'x',
  installCode = CODE,
): Promise<string> {
  const key = keyOf(hwid, facts, nowMs, installCode);
  const door = await store.findSlot(key);
  if (typeof door === 'string') return door;
  const verdict = judge(door, nowMs);
  if (!isAdmitted(verdict)) return verdict;
  const taken = heard(await store.takeSlot(key, tidyFacts(facts), nowMs));
  return typeof taken === 'string' ? taken : (door.phone?.hwid ?? hwid);
}

/** A link on which a first phone, a second one, and the first one again have asked with `x`. */
async function copied(
  { store }: OpenedStore,
  copiedHwid: Policy['copiedHwid'],
  { installLimit = 2 } = {},
) {
  const door = await addDoor(store);
  const { providerId, installId } = door;
  await store.updateLink(providerId, installId, { copiedHwid, installLimit }, ACT);
  expect(await ask(store, PIXEL, NOW_MS)).toBe('x');
  expect(await ask(store, IPHONE, NOW_MS + HOUR_MS)).toBe('x');
  expect(await ask(store, PIXEL, NOW_MS + 2 * HOUR_MS)).toBe('x');
  return { ...door, laterMs: NOW_MS + 3 * HOUR_MS };
}

async function hwidsOn(store: Store, providerId: number, installCode = CODE): Promise<string[]> {
  const selector = { installCode, installId: null };
  const slots = await store.listSlots(providerId, selector, null, 100);
  return typeof slots === 'string' ? [] : slots.map(({ hwid }) => hwid).sort();
}

export const phoneContract: Record<Method & keyof Store, Suite> = {
  listPhones(opened) {
    test('a slot has phones from the second one on', async () => {
      const { store } = opened();
      const { installId } = await addDoor(store);
      await ask(store, PIXEL, NOW_MS);
      await ask(store, { ...PIXEL, osVersion: '16', userAgent: 'Happ/4.0' }, NOW_MS + HOUR_MS);
      expect(await store.listPhones(installId)).toEqual([]);
      const { installId: copiedId } = await copiedOn(opened());
      expect(await store.listPhones(copiedId)).toEqual([]);
    });

    test('with their systems, apps and sights, and the model of the one that came last', async () => {
      const { store } = opened();
      const { installId, laterMs } = await copied(opened(), 'tell');
      await ask(store, IPHONE, laterMs);
      await ask(store, PIXEL, laterMs + HOUR_MS);
      const of = { hwid: 'x', door: 'subscription', app: 'Happ', ownHwid: null } as const;
      expect(await store.listPhones(installId)).toMatchObject([
        {
          ...of,
          number: 1,
          family: 'android',
          state: 'first',
          model: 'Pixel 9',
        },
        {
          ...of,
          number: 2,
          family: 'ios',
          state: 'certain',
          firstSeenAtMs: NOW_MS + HOUR_MS,
          model: '',
        },
      ]);
    });

    test('off and tell change no slot, and tell is told once a week', async () => {
      const { store } = opened();
      const { own, told, providerId, installId } = await listening(store);
      const isTold = async () => (await told()).filter(([kind]) => kind === 'hwid.copied');
      const takeTurns = async (fromMs: number) => {
        for (const [n, facts] of [PIXEL, IPHONE, PIXEL, IPHONE, PIXEL].entries()) {
          expect(await ask(store, facts, fromMs + n * HOUR_MS)).toBe('x');
        }
      };
      expect(own).toBeGreaterThan(0);
      await store.updateLink(providerId, installId, { copiedHwid: 'off' }, ACT);
      await takeTurns(NOW_MS);
      expect(await store.listPhones(installId)).toEqual([]);
      expect(await isTold()).toEqual([]);
      await store.updateLink(providerId, installId, { copiedHwid: null }, ACT);
      await takeTurns(NOW_MS + DAY_MS);
      const facts = { install_id: installId, hwid: 'x' };
      const systems = 'android Happ, ios Happ';
      expect(await isTold()).toEqual([['hwid.copied', { ...facts, copies: 2, systems }]]);
      await takeTurns(NOW_MS + 9 * DAY_MS);
      expect(await isTold()).toHaveLength(1);
      expect(await hwidsOn(store, providerId)).toEqual(['x']);
    });
  },

  ignorePhones(opened) {
    test('the further phones of a slot are one person', async () => {
      const { store } = opened();
      const { providerId, installId, laterMs } = await copied(opened(), 'refuse');
      expect(await ask(store, IPHONE, laterMs)).toBe('copied_hwid');
      const link = { providerId, installId };
      expect(await store.ignorePhones(link, 'y', ACT)).toBe(false);
      expect(await store.ignorePhones(link, 'x', ACT)).toBe(true);
      expect(await store.ignorePhones(link, 'x', ACT)).toBe(false);
      expect(await ask(store, IPHONE, laterMs)).toBe('x');
    });
  },

  seePhone(opened) {
    test('a copy that is refused stays known', async () => {
      const { store } = opened();
      const { installId, laterMs } = await copied(opened(), 'refuse');
      const weeksMs = 20 * DAY_MS;
      await ask(store, PIXEL, laterMs + weeksMs);
      const seen = async () => (await store.listPhones(installId))[1]?.lastSeenAtMs;
      const atMs = laterMs + weeksMs + HOUR_MS;
      const key = keyOf('x', IPHONE, atMs);
      expect(await store.seePhone(key, atMs)).toBe(true);
      expect(await seen()).toBe(atMs);
      expect(await store.seePhone(keyOf('x', IPHONE, atMs + 1), atMs + 1)).toBe(false);
      expect(await ask(store, IPHONE, laterMs + PHONE_KEPT_MS + DAY_MS)).toBe('copied_hwid');
      // It is no copy that may be noted.
      expect(await store.seePhone(keyOf('x', PIXEL, atMs), atMs)).toBe(false);
    });
  },

  forgetPhones(opened) {
    test('phones go when they were not seen for long, and the link is like others', async () => {
      const { store } = opened();
      const { installId, laterMs } = await copied(opened(), 'tell');
      const isMarked = async () => {
        const door = await store.findSlot({ installCode: CODE, domainHash: HASH, hwid: 'x' });
        return typeof door !== 'string' && door.hasPhones === true;
      };
      expect(await store.forgetPhones(NOW_MS)).toBe(false);
      expect(await isMarked()).toBe(true);
      expect(await store.forgetPhones(laterMs)).toBe(true);
      expect(await store.forgetPhones(laterMs)).toBe(false);
      expect(await store.listPhones(installId)).toEqual([]);
      expect(await isMarked()).toBe(false);
    });
  },
};

/** A further link of the provider on which the device of `x` has a slot. */
async function copiedOn({ store }: OpenedStore) {
  const { id: providerId } = (await store.findProvider('Provide1')) ?? { id: 0 };
  const installId = await addLink(store, providerId, { installCode: OTHER_CODE });
  await ask(store, PIXEL, NOW_MS, 'y', OTHER_CODE);
  return { installId, providerId };
}

/** The rules `count` and `refuse`, beside the methods. */
export function copiedHwidContract(opened: () => OpenedStore): void {
  test('count gives each further phone a slot of its own, as far as there are slots', async () => {
    const { store } = opened();
    const { providerId, laterMs } = await copied(opened(), 'count', { installLimit: 2 });
    expect(await hwidsOn(store, providerId)).toEqual(['x']);
    expect(await ask(store, IPHONE, laterMs)).toBe('x~2');
    expect(await ask(store, PIXEL, laterMs + 1)).toBe('x');
    expect(await ask(store, IPHONE, laterMs + 2)).toBe('x~2');
    expect(await hwidsOn(store, providerId)).toEqual(['x', 'x~2']);
    expect(await ask(store, GALAXY, laterMs + 3)).toBe('x');
    expect(await ask(store, PIXEL, laterMs + 4)).toBe('x');
    expect(await ask(store, GALAXY, laterMs + 5)).toBe('link_limit_reached');
    expect(await hwidsOn(store, providerId)).toEqual(['x', 'x~2']);
  });

  test('refuse keeps the slot for the phone that came first', async () => {
    const { store } = opened();
    const { providerId, laterMs } = await copied(opened(), 'refuse');
    expect(await ask(store, IPHONE, laterMs)).toBe('copied_hwid');
    expect(await ask(store, PIXEL, laterMs)).toBe('x');
    expect(await hwidsOn(store, providerId)).toEqual(['x']);
  });
}

/** Several phones that send one HWID of a link. */

import { expect, test } from 'bun:test';
import { DAY_MS, HOUR_MS } from '../../../src/core/calendar.ts';
import { tidyFacts } from '../../../src/core/device.ts';
import { hwidOfHash } from '../../../src/core/formats.ts';
import { PHONE_KEPT_MS } from '../../../src/core/phones.ts';
import type { DeviceFacts } from '../../../src/core/port/device.ts';
import type { PhoneDoor } from '../../../src/core/port/phone.ts';
import type { Policy, SlotKey } from '../../../src/core/port/slot.ts';
import type { Store } from '../../../src/core/port/store.ts';
import { hwidHash, subscriptionKeyHash } from '../../../src/core/secret.ts';
import { isAdmitted, judge, NO_TERMS } from '../../../src/core/slot.ts';
import { ACT } from '../../support/actor.ts';
import {
  addDoor,
  addLink,
  addProvider,
  bind,
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

type Method =
  | 'findPhone'
  | 'forgetBarredPhones'
  | 'listDerived'
  | 'listPhones'
  | 'isDerivedHwid'
  | 'ignorePhones'
  | 'seePhone'
  | 'endCopied'
  | 'forgetPhones';

/** The facts of phones as one app reports them. */
export const phone = (os: string, deviceName: string, userAgent = 'Happ/3.2.1'): DeviceFacts => ({
  ...SILENCE,
  os,
  deviceName,
  userAgent,
});
export const PIXEL = phone('Android', 'Pixel 9');
export const IPHONE = phone('iOS', 'iPhone17,1');
export const GALAXY = phone('Android', 'SM-S921B');

export const keyOf = (
  hwid: string,
  facts: DeviceFacts,
  nowMs: number,
  installCode = CODE,
  door: PhoneDoor = 'subscription',
): SlotKey => ({
  installCode,
  domainHash: HASH,
  hwid,
  reported: facts,
  sight: { door, facts, isShared: false, isUnproved: false, nowMs },
});

/** Asks as a phone does; returns the HWID that it has, or the refusal. */
export async function ask(
  store: Store,
  facts: DeviceFacts,
  nowMs: number,
  hwid = 'x',
  installCode = CODE,
  at: PhoneDoor = 'subscription',
): Promise<string> {
  const key = keyOf(hwid, facts, nowMs, installCode, at);
  const door = await store.findSlot(key);
  if (typeof door === 'string') return door;
  const verdict = judge(door, nowMs);
  if (!isAdmitted(verdict)) return verdict;
  const taken = heard(await store.takeSlot(key, tidyFacts(facts), nowMs));
  return typeof taken === 'string' ? taken : (door.phone?.hwid ?? hwid);
}

/** A link on which a first phone, a second one, and the first one again have asked with `x`. */
export async function copied(
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

export async function hwidsOn(
  store: Store,
  providerId: number,
  installCode = CODE,
): Promise<string[]> {
  const selector = { installCode, installId: null };
  const slots = await store.listSlots(providerId, selector, null, 100);
  return typeof slots === 'string' ? [] : slots.map(({ hwid }) => hwid).sort();
}

/** Cuts a HWID off, whose panel is not asked. */
export const barred = (store: Store, providerId: number, installId: number, hwid: string) => {
  const none = { keyHash: null, host: null, why: 'none', isByUser: false };
  return store.askCut(providerId, { installId, hwid, ...none }, ACT);
};

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

  findPhone(opened) {
    test('the door of the phone that asks, by that of its HWID', async () => {
      const { store } = opened();
      const { laterMs } = await copied(opened(), 'refuse');
      const { sight, ...plain } = keyOf('x', IPHONE, laterMs);
      const door = await store.findSlot(plain);
      if (typeof door === 'string' || sight === undefined) throw new Error('there is no door');
      expect(judge(door, laterMs)).toBe('known');
      const its = await store.findPhone(door, { ...plain, sight });
      expect(its).toEqual(await store.findSlot({ ...plain, sight }));
      expect(its).toMatchObject({ phone: { isRefused: true } });
    });
  },

  forgetBarredPhones(opened) {
    test('a bar without its phone lets that in when it is forgotten', async () => {
      const { store } = opened();
      expect(await store.forgetBarredPhones()).toBe(false);
      const { installId, providerId, laterMs } = await copied(opened(), 'count');
      expect(await ask(store, IPHONE, laterMs)).toBe('x~2');
      await barred(store, providerId, installId, 'x~2');
      await store.forgetPhones(laterMs + PHONE_KEPT_MS);
      expect(await ask(store, IPHONE, laterMs + DAY_MS)).toBe('barred');
      expect(await store.forgetBarredPhones()).toBe(true);
      expect(await store.forgetBarredPhones()).toBe(false);
      expect(await ask(store, IPHONE, laterMs + DAY_MS)).toBe('x');
    });
  },

  isDerivedHwid(opened) {
    test('a HWID is derived from the time at which its phone has a slot', async () => {
      const { store } = opened();
      const { laterMs } = await copied(opened(), 'count');
      expect(await store.isDerivedHwid('x~2')).toBe(false);
      await ask(store, IPHONE, laterMs);
      expect(await store.isDerivedHwid('x~2')).toBe(true);
      expect(await store.isDerivedHwid('x')).toBe(false);
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

  listDerived(opened) {
    test('the HWIDs of further phones, on every link', async () => {
      const { store } = opened();
      const { laterMs } = await copied(opened(), 'count');
      expect(await store.listDerived('x')).toEqual([]);
      expect(await ask(store, IPHONE, laterMs)).toBe('x~2');
      expect(await store.listDerived('x')).toEqual(['x~2']);
      expect(await store.listDerived('x~2')).toEqual([]);
      expect(await store.listDerived('y')).toEqual([]);
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

  endCopied(opened) {
    test('nothing was copied', async () => {
      expect(await opened().store.endCopied(1, NOW_MS)).toBe(false);
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

  test('a further phone has one slot at all doors, and its bar holds at all, under each rule', async () => {
    const { store } = opened();
    const { installId, providerId, laterMs } = await copied(opened(), 'count', { installLimit: 5 });
    expect(await ask(store, IPHONE, laterMs)).toBe('x~2');
    const other = ['install', 'device'] as const;
    const takeTurns = async (fromMs: number) => {
      const heardIt: string[] = [];
      for (const [n, at] of other.entries()) {
        for (let turn = 0; turn < 3; turn++) {
          const nowMs = fromMs + (3 * n + turn) * HOUR_MS;
          expect(await ask(store, PIXEL, nowMs, 'x', CODE, at)).toBe('x');
          heardIt.push(await ask(store, IPHONE, nowMs + HOUR_MS / 2, 'x', CODE, at));
        }
      }
      return [...new Set(heardIt)];
    };
    expect(await takeTurns(laterMs + HOUR_MS)).toEqual(['x~2']);
    expect(await hwidsOn(store, providerId)).toEqual(['x', 'x~2']);
    await barred(store, providerId, installId, 'x~2');
    for (const copiedHwid of ['count', 'tell', 'off', 'refuse'] as const) {
      await store.updateLink(providerId, installId, { copiedHwid }, ACT);
      expect(await takeTurns(laterMs + 8 * HOUR_MS)).toEqual(['barred']);
      expect(await ask(store, IPHONE, laterMs + 15 * HOUR_MS)).toBe('barred');
    }
    expect(await hwidsOn(store, providerId)).toEqual(['x']);
  });

  test('a further phone that was forgotten has the slot that it had when it comes back', async () => {
    const { store } = opened();
    const { providerId, laterMs } = await copied(opened(), 'count', { installLimit: 5 });
    expect(await ask(store, IPHONE, laterMs)).toBe('x~2');
    for (let day = 1; day <= 31; day++) await ask(store, PIXEL, laterMs + day * DAY_MS);
    const backMs = laterMs + 32 * DAY_MS;
    await store.forgetPhones(backMs - PHONE_KEPT_MS);
    for (const [n, facts] of [IPHONE, PIXEL, GALAXY, PIXEL].entries()) {
      expect(await ask(store, facts, backMs + n * HOUR_MS)).toBe('x');
    }
    expect(await ask(store, GALAXY, backMs + 4 * HOUR_MS)).toBe('x~3');
    expect(await ask(store, IPHONE, backMs + 5 * HOUR_MS)).toBe('x~2');
    expect(await hwidsOn(store, providerId)).toEqual(['x', 'x~2', 'x~3']);
  });

  test('refuse keeps the slot for the phone that came first', async () => {
    const { store } = opened();
    const { providerId, laterMs } = await copied(opened(), 'refuse');
    expect(await ask(store, IPHONE, laterMs)).toBe('copied_hwid');
    expect(await ask(store, PIXEL, laterMs)).toBe('x');
    expect(await hwidsOn(store, providerId)).toEqual(['x']);
  });

  test('a link that takes over another one gets its phones', async () => {
    const { store } = opened();
    const { providerId, installId, laterMs } = await copied(opened(), 'count', { installLimit: 3 });
    expect(await ask(store, IPHONE, laterMs)).toBe('x~2');
    const [kept, ending] = [subscriptionKeyHash('kept'), subscriptionKeyHash('ending')];
    const toId = await addLink(store, providerId, {
      installCode: OTHER_CODE,
      subscriptionKeyHash: kept,
      createdAtMs: NOW_MS - 1,
      installLimit: 3,
      copiedHwid: 'count',
    });
    const { installCode } = (await store.findLink(OTHER_CODE)) ?? { installCode: '' };
    await store.updateLink(providerId, installId, { subscriptionKeyHash: ending }, ACT);
    await store.joinLinks({ providerId, installId: toId, keyHash: ending }, ACT);
    expect(await store.listPhones(toId)).toMatchObject([
      { hwid: 'x', number: 1, ownHwid: null },
      { hwid: 'x', number: 2, ownHwid: 'x~2' },
    ]);
    expect(await ask(store, IPHONE, laterMs + HOUR_MS, 'x', installCode)).toBe('x~2');
    expect(await ask(store, PIXEL, laterMs + HOUR_MS, 'x', installCode)).toBe('x');
    expect(await hwidsOn(store, providerId, installCode)).toEqual(['x', 'x~2']);
  });

  test('the first phone of a slot that a hash holds is that of the panel', async () => {
    const { store } = opened();
    const { id: providerId } = await addProvider(store, 'Provide1');
    await bind(store, providerId);
    const times = { registeredAtMs: NOW_MS, firstSeenAtMs: NOW_MS, lastSeenAtMs: NOW_MS };
    const slot = { ...tidyFacts(PIXEL), hwid: hwidOfHash(hwidHash('x')), ...times };
    const link = {
      id: null,
      installCode: CODE,
      installLimit: 2,
      status: 10,
      note: null,
      createdAtMs: NOW_MS,
      slots: [slot],
      terms: { ...NO_TERMS, copiedHwid: 'refuse' as const },
    };
    const rules = { installCountMax: 100, domainCountMax: 100, updates: true };
    await store.importLink(providerId, link, rules, ACT);
    expect(await ask(store, IPHONE, NOW_MS + HOUR_MS)).toBe('x');
    expect(await ask(store, PIXEL, NOW_MS + 2 * HOUR_MS)).toBe('x');
    expect(await ask(store, IPHONE, NOW_MS + 3 * HOUR_MS)).toBe('copied_hwid');
    expect(await ask(store, PIXEL, NOW_MS + 4 * HOUR_MS)).toBe('x');
  });

  test('refuse begins a month after facts that a call without a link may have changed', async () => {
    const { store } = opened();
    const { providerId, installId } = await addDoor(store);
    await store.updateLink(providerId, installId, { copiedHwid: 'refuse' }, ACT);
    expect(await ask(store, PIXEL, NOW_MS)).toBe('x');
    // Whoever knows the HWID may say that it is another phone.
    const call = { providerCode: 'Provide1', domainHash: null, hwid: 'x' };
    await store.recordCheckIn(call, tidyFacts(IPHONE), NOW_MS + 1);
    const turns = [PIXEL, IPHONE, PIXEL, IPHONE];
    for (const days of [1, 8, 15, 22, 29]) {
      for (const [n, facts] of turns.entries()) {
        expect(await ask(store, facts, NOW_MS + days * DAY_MS + n * HOUR_MS)).toBe('x');
      }
    }
    const answers = [];
    for (const [n, facts] of turns.entries()) {
      answers.push(await ask(store, facts, NOW_MS + 31 * DAY_MS + n * HOUR_MS));
    }
    expect(new Set(answers)).toEqual(new Set(['x', 'copied_hwid']));
  });

  test('a provider gets 20 events a day, and then the number of the others', async () => {
    const { store } = opened();
    const { told, providerId } = await listening(store, { installLimit: 100 });
    const hwids = Array.from({ length: 24 }, (_, n) => `x${n}`);
    for (const [n, facts] of [PIXEL, IPHONE, PIXEL, IPHONE].entries()) {
      for (const hwid of hwids) await ask(store, facts, NOW_MS + n * HOUR_MS, hwid);
    }
    const copies = async () =>
      (await told()).filter(([kind]) => kind === 'hwid.copied').map(([, data]) => data);
    expect(await copies()).toHaveLength(20);
    const day = new Date(NOW_MS).toISOString().slice(0, 10);
    expect(await store.endCopied(Math.floor(NOW_MS / DAY_MS), NOW_MS)).toBe(false);
    const nextMs = NOW_MS + DAY_MS;
    expect(await store.endCopied(Math.floor(nextMs / DAY_MS), nextMs)).toBe(true);
    expect(await store.endCopied(Math.floor(nextMs / DAY_MS), nextMs)).toBe(false);
    expect((await copies()).slice(20)).toEqual([{ more: 4, day }]);
    expect(await hwidsOn(store, providerId)).toHaveLength(24);
  });

  test('many phones at once never take more slots than there are', async () => {
    const { store, openBeside } = opened();
    const { providerId, laterMs } = await copied(opened(), 'count', { installLimit: 3 });
    const beside = await openBeside();
    const phones = Array.from({ length: 6 }, (_, n) => phone('Android', `SM-S9${n}1B`));
    for (const facts of phones) await ask(store, facts, laterMs);
    await ask(store, PIXEL, laterMs + HOUR_MS);
    const all = [PIXEL, IPHONE, ...phones];
    for (let round = 2; round < 6; round++) {
      const atMs = laterMs + round * HOUR_MS;
      await Promise.all(
        all.flatMap((facts) => [ask(store, facts, atMs), ask(beside, facts, atMs)]),
      );
      expect((await hwidsOn(store, providerId)).length).toBeLessThanOrEqual(3);
    }
    const hwids = await hwidsOn(store, providerId);
    expect(hwids).toHaveLength(3);
    expect(new Set(hwids.map((hwid) => hwid.replace(/~\d+$/, '')))).toEqual(new Set(['x']));
  });
}

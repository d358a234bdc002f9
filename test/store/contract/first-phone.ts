/** One HWID on several links of a provider, whose slots share the facts of its device. */

import { expect, test } from 'bun:test';
import { DAY_MS, HOUR_MS } from '../../../src/core/calendar.ts';
import { tidyFacts } from '../../../src/core/device.ts';
import { PHONE_KEPT_MS } from '../../../src/core/phones.ts';
import type { DeviceFacts } from '../../../src/core/port/device.ts';
import type { Policy } from '../../../src/core/port/slot.ts';
import type { Store } from '../../../src/core/port/store.ts';
import { ACT } from '../../support/actor.ts';
import {
  addDoor,
  addLink,
  CODE,
  HASH,
  NOW_MS,
  type OpenedStore,
  OTHER_CODE,
  SILENCE,
} from './fixture.ts';
import { ask, barred, copied, GALAXY, hwidsOn, IPHONE, keyOf, PIXEL, phone } from './phone.ts';

const DESKTOP = phone('Windows', 'DESKTOP-4F2A');
const MAC = phone('macOS', 'Mac14,2');
const FIVE = [PIXEL, IPHONE, DESKTOP, MAC, GALAXY];
/** An app that names neither system nor model. */
const NG: DeviceFacts = { ...SILENCE, userAgent: 'v2rayNG/1.9.3' };

/** Two links of a provider, with a rule. */
async function twoLinks(store: Store, copiedHwid: Policy['copiedHwid'], installLimit = 2) {
  const { providerId, installId } = await addDoor(store);
  const otherId = await addLink(store, providerId, { installCode: OTHER_CODE });
  for (const id of [installId, otherId]) {
    await store.updateLink(providerId, id, { copiedHwid, installLimit }, ACT);
  }
  return { providerId, installId, otherId };
}

/** Has phones ask in turns at both links, each in rounds; returns what each heard last. */
async function takeTurns(
  store: Store,
  phones: readonly DeviceFacts[],
  { rounds = 3, fromMs = NOW_MS, isTogether = false } = {},
): Promise<string[][]> {
  let atMs = fromMs;
  const last: string[][] = [[], []];
  for (let round = 0; round < rounds; round++) {
    const order = isTogether
      ? phones.flatMap((_, n) => [CODE, OTHER_CODE].map((code) => [n, code] as const))
      : [CODE, OTHER_CODE].flatMap((code) => phones.map((_, n) => [n, code] as const));
    for (const [n, code] of order) {
      atMs += HOUR_MS / 4;
      const answer = await ask(store, phones[n] as DeviceFacts, atMs, 'x', code);
      (last[code === CODE ? 0 : 1] as string[])[n] = answer;
    }
  }
  return last;
}

export function firstPhoneContract(opened: () => OpenedStore): void {
  test.each([false, true])('five phones on two links: refuse, together %p', async (isTogether) => {
    const { store } = opened();
    await twoLinks(store, 'refuse');
    const [one, other] = await takeTurns(store, FIVE, { isTogether });
    const refused = Array(4).fill('copied_hwid');
    expect(one).toEqual(['x', ...refused]);
    expect(other).toEqual(['x', ...refused]);
  });

  test.each([false, true])('five phones on two links: count, together %p', async (isTogether) => {
    const { store } = opened();
    const { providerId } = await twoLinks(store, 'count');
    for (const answers of await takeTurns(store, FIVE, { isTogether })) {
      expect(answers[0]).toBe('x');
      expect(answers.filter((answer) => /^x~\d$/.test(answer))).toHaveLength(1);
      expect(answers.filter((answer) => answer === 'link_limit_reached')).toHaveLength(3);
    }
    for (const code of [CODE, OTHER_CODE]) {
      expect(await hwidsOn(store, providerId, code)).toEqual(['x', expect.stringMatching(/~/)]);
    }
  });

  test.each([false, true])('five phones on two links: tell, together %p', async (isTogether) => {
    const { store } = opened();
    const { installId, otherId } = await twoLinks(store, 'tell');
    await takeTurns(store, FIVE, { isTogether });
    for (const id of [installId, otherId]) {
      const states = (await store.listPhones(id)).map(({ state }) => state);
      expect(states.filter((state) => state === 'certain')).toHaveLength(4);
      expect(states.filter((state) => state === 'first')).toHaveLength(1);
    }
  });

  test('each link has its own first phone, that by which its slot began', async () => {
    const { store } = opened();
    await twoLinks(store, 'refuse');
    expect(await ask(store, PIXEL, NOW_MS)).toBe('x');
    expect(await ask(store, IPHONE, NOW_MS + 1, 'x', OTHER_CODE)).toBe('x');
    for (let n = 1; n < 5; n++) {
      const atMs = NOW_MS + n * HOUR_MS;
      expect(await ask(store, PIXEL, atMs)).toBe('x');
      expect(await ask(store, IPHONE, atMs, 'x', OTHER_CODE)).toBe('x');
      await ask(store, IPHONE, atMs + HOUR_MS / 2);
      await ask(store, PIXEL, atMs + HOUR_MS / 2, 'x', OTHER_CODE);
    }
    const atMs = NOW_MS + 5 * HOUR_MS;
    expect(await ask(store, IPHONE, atMs)).toBe('copied_hwid');
    expect(await ask(store, PIXEL, atMs, 'x', OTHER_CODE)).toBe('copied_hwid');
  });

  test('an app that says little has its own link too', async () => {
    const { store } = opened();
    await twoLinks(store, 'refuse');
    expect(await ask(store, IPHONE, NOW_MS)).toBe('x');
    expect(await ask(store, NG, NOW_MS + 1, 'x', OTHER_CODE)).toBe('x');
    for (let n = 1; n < 5; n++) {
      const atMs = NOW_MS + n * HOUR_MS;
      await ask(store, IPHONE, atMs, 'x', OTHER_CODE);
      expect(await ask(store, NG, atMs + HOUR_MS / 2, 'x', OTHER_CODE)).toBe('x');
      expect(await ask(store, IPHONE, atMs + HOUR_MS / 2)).toBe('x');
    }
    const atMs = NOW_MS + 5 * HOUR_MS;
    expect(await ask(store, IPHONE, atMs, 'x', OTHER_CODE)).toBe('copied_hwid');
  });

  test('one phone on two links has no phones, whatever it updates', async () => {
    const { store } = opened();
    const { installId, otherId } = await twoLinks(store, 'refuse');
    for (const [n, facts] of [
      PIXEL,
      { ...PIXEL, osVersion: '16' },
      { ...PIXEL, userAgent: 'Happ/4.0' },
      { ...PIXEL, deviceName: 'Google Pixel 9' },
      { ...PIXEL, userAgent: 'INCY/1.2' },
    ].entries()) {
      for (const [m, code] of [CODE, OTHER_CODE].entries()) {
        const atMs = NOW_MS + n * DAY_MS + m * HOUR_MS;
        expect(await ask(store, facts, atMs, 'x', code)).toBe('x');
      }
    }
    for (const id of [installId, otherId]) expect(await store.listPhones(id)).toEqual([]);
    const door = await store.findSlot({ installCode: CODE, domainHash: HASH, hwid: 'x' });
    expect(door).not.toHaveProperty('mayBeDerived');
  });

  test('a link whose rule is off keeps none, and begins anew when it is switched on', async () => {
    const { store } = opened();
    const { providerId, installId, otherId } = await twoLinks(store, 'refuse');
    await store.updateLink(providerId, otherId, { copiedHwid: 'off' }, ACT);
    await takeTurns(store, [PIXEL, IPHONE]);
    expect(await store.listPhones(installId)).toHaveLength(2);
    expect(await store.listPhones(otherId)).toEqual([]);
    expect(await ask(store, PIXEL, NOW_MS + DAY_MS)).toBe('x');
    await store.updateLink(providerId, otherId, { copiedHwid: 'refuse' }, ACT);
    const turns = [IPHONE, PIXEL, IPHONE, PIXEL, IPHONE];
    for (const day of [2, 20]) {
      for (const [n, facts] of turns.entries()) {
        const atMs = NOW_MS + day * DAY_MS + n * HOUR_MS;
        expect(await ask(store, facts, atMs, 'x', OTHER_CODE)).toBe('x');
        expect(await ask(store, PIXEL, atMs)).toBe('x');
      }
    }
    const monthMs = NOW_MS + 33 * DAY_MS;
    expect(await ask(store, IPHONE, monthMs, 'x', OTHER_CODE)).toBe('x');
    expect(await ask(store, PIXEL, monthMs + HOUR_MS, 'x', OTHER_CODE)).toBe('copied_hwid');
  });

  test('one call keeps a bounded number of first phones; the other slots begin anew', async () => {
    const { store } = opened();
    const { providerId } = await addDoor(store);
    const codes = Array.from(
      { length: 40 },
      (_, n) => `shared-links-${String(n).padStart(4, '0')}`,
    );
    const ids: number[] = [];
    for (const installCode of codes) {
      ids.push(await addLink(store, providerId, { installCode, copiedHwid: 'refuse' }));
      expect(await ask(store, PIXEL, NOW_MS, 'x', installCode)).toBe('x');
    }
    expect(await ask(store, IPHONE, NOW_MS + HOUR_MS, 'x', codes[0])).toBe('x');
    const kept = await Promise.all(ids.map(async (id) => (await store.listPhones(id)).length));
    expect(kept.slice(1).filter((count) => count === 1)).toHaveLength(32);
    expect(kept.slice(1).filter((count) => count === 0)).toHaveLength(7);
    // On one of the seven nobody is the first yet: 30 days pass before one is refused.
    const last = codes[39];
    for (const [n, facts] of [GALAXY, IPHONE, GALAXY, IPHONE, GALAXY, IPHONE].entries()) {
      expect(await ask(store, facts, NOW_MS + (n + 2) * HOUR_MS, 'x', last)).toBe('x');
    }
  });

  test('phones of one HWID on two links at once: each link has one first, and no slot too many', async () => {
    const { store, openBeside } = opened();
    const { providerId, installId, otherId } = await twoLinks(store, 'count');
    const beside = await openBeside();
    for (let round = 0; round < 6; round++) {
      const atMs = NOW_MS + round * HOUR_MS;
      await Promise.all(
        FIVE.flatMap((facts, n) =>
          [CODE, OTHER_CODE].map((code) =>
            ask(n % 2 === 0 ? store : beside, facts, atMs, 'x', code),
          ),
        ),
      );
    }
    for (const [id, code] of [
      [installId, CODE],
      [otherId, OTHER_CODE],
    ] as const) {
      const firsts = (await store.listPhones(id)).filter(({ state }) => state === 'first');
      expect(firsts).toHaveLength(1);
      expect(await hwidsOn(store, providerId, code)).toHaveLength(2);
    }
  });

  test('a barred phone is kept out for as long as its bar, however long it was silent', async () => {
    const { store } = opened();
    const { installId, providerId, laterMs } = await copied(opened(), 'count', { installLimit: 5 });
    expect(await ask(store, IPHONE, laterMs)).toBe('x~2');
    await barred(store, providerId, installId, 'x~2');
    for (let day = 1; day <= 60; day += 10) await ask(store, PIXEL, laterMs + day * DAY_MS);
    const backMs = laterMs + 62 * DAY_MS;
    await store.forgetPhones(backMs - PHONE_KEPT_MS);
    const states = (await store.listPhones(installId)).map(({ state }) => state);
    expect(states).toEqual(['first']);
    for (const rule of ['count', 'tell', 'off', 'refuse'] as const) {
      await store.updateLink(providerId, installId, { copiedHwid: rule }, ACT);
      for (const at of ['subscription', 'install', 'device'] as const) {
        expect(await ask(store, IPHONE, backMs, 'x', CODE, at)).toBe('barred');
      }
      expect(await ask(store, PIXEL, backMs)).toBe('x');
    }
    // Not with another HWID, and not when the bar ended.
    expect(await ask(store, IPHONE, backMs, 'other')).toBe('other');
    await store.freeSlot(providerId, { installCode: CODE, installId: null }, 'x', ACT);
    expect(await ask(store, IPHONE, backMs)).toBe('barred');
    expect(await ask(store, IPHONE, laterMs + 91 * DAY_MS)).toBe('x');
  });

  test('a HWID that is forgotten takes the bars of its phones with it', async () => {
    const { store } = opened();
    const { installId, providerId, laterMs } = await copied(opened(), 'count', { installLimit: 5 });
    expect(await ask(store, IPHONE, laterMs)).toBe('x~2');
    await barred(store, providerId, installId, 'x~2');
    for (const hwid of ['x~2', 'x']) await store.forgetDevice(hwid, ACT);
    expect(await store.listBars(installId, laterMs)).toEqual([]);
    expect(await ask(store, IPHONE, laterMs)).toBe('x');
  });

  test('refuse keeps the first place for an owner who is away for long', async () => {
    const { store } = opened();
    const { laterMs } = await copied(opened(), 'refuse');
    for (let day = 0; day < 45; day += 3) {
      const atMs = laterMs + day * DAY_MS;
      expect(await ask(store, IPHONE, atMs)).toBe('copied_hwid');
      await store.seePhone(keyOf('x', IPHONE, atMs), atMs);
      await store.forgetPhones(atMs - PHONE_KEPT_MS);
    }
    const backMs = laterMs + 45 * DAY_MS;
    expect(await ask(store, PIXEL, backMs)).toBe('x');
    expect(await ask(store, IPHONE, backMs + HOUR_MS)).toBe('copied_hwid');
    expect(await ask(store, PIXEL, backMs + 2 * HOUR_MS)).toBe('x');
  });

  test('a call without a link changes nothing that was kept', async () => {
    const { store } = opened();
    await twoLinks(store, 'refuse');
    await takeTurns(store, [PIXEL, IPHONE], { rounds: 1 });
    const call = { providerCode: 'Provide1', domainHash: null, hwid: 'x' };
    await store.recordCheckIn(call, tidyFacts(GALAXY), NOW_MS + 5 * HOUR_MS);
    const later = { fromMs: NOW_MS + 6 * HOUR_MS };
    expect(await takeTurns(store, [PIXEL, IPHONE], later)).toEqual([
      ['x', 'copied_hwid'],
      ['x', 'copied_hwid'],
    ]);
  });
}

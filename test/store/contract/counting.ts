/** Links that only count: what they admit, and what holds from the moment when they enforce. */

import { expect, test } from 'bun:test';
import { DAY_MS } from '../../../src/core/calendar.ts';
import type { LinkChange } from '../../../src/core/port/link.ts';
import type { Store } from '../../../src/core/port/store.ts';
import { ACT } from '../../support/actor.ts';
import { ALL, addDoor, CODE, FACTS, HASH, heard, knock, NOW_MS, type Suite } from './fixture.ts';
import { listening } from './happening.ts';

const NAME = { installCode: CODE, installId: null };

async function hwidsOn(store: Store, providerId: number): Promise<string[]> {
  const slots = await store.listSlots(providerId, NAME, null, 200);
  const hwids = typeof slots === 'string' ? [] : slots.map(({ hwid }) => hwid);
  const [link] = await store.listLinksOf(providerId, ALL);
  expect(link?.deviceCount).toBe(hwids.length);
  return hwids.sort();
}

const isIn = (answer: unknown) => typeof answer === 'object';

/** How a link with a limit of 2 is made to count, and to enforce again. */
const SWITCHES: Record<string, (store: Store, enforce: 0 | 1) => Promise<unknown>> = {
  'the link': async (store, enforce) => {
    const link = await store.findLink(CODE);
    return store.updateLink(link?.providerId ?? 0, link?.id ?? 0, { enforce }, ACT);
  },
  'its provider': (store, enforce) => store.updateProvider('Provide1', { enforce }, ACT),
};

export const counting: Suite = (opened) => {
  test.each(Object.entries(SWITCHES))('%s only counts, then enforces', async (_, turn) => {
    const { store } = opened();
    const { providerId } = await addDoor(store);
    await turn(store, 0);
    for (const [n, hwid] of ['a', 'b', 'c', 'd'].entries()) {
      expect(await knock(store, hwid)).toMatchObject({ installLimit: 2, deviceCount: n + 1 });
    }
    await store.saveFigures();
    const day = Math.floor(NOW_MS / DAY_MS);
    const figures = await store.listFigures(providerId, day, day);
    expect(figures).toMatchObject([{ admitted: 4, admitted_over: 2, refused_full: 0 }]);

    // So many it may hold, and no more.
    const records = await Array.fromAsync(store.exportProvider('Provide1'));
    expect(records.at(-1)).toMatchObject({ install: { installLimit: 2, overMax: 4 } });

    await turn(store, 1);
    expect(await knock(store, 'e')).toBe('link_limit_reached');
    expect(await knock(store, 'c')).toMatchObject({ deviceCount: 4 });
    // Each slot that ends is gone for good, down to the limit.
    for (const hwid of ['a', 'b']) {
      await store.freeSlot(providerId, NAME, hwid, ACT);
      expect(await knock(store, 'e')).toBe('link_limit_reached');
    }
    expect(await hwidsOn(store, providerId)).toEqual(['c', 'd']);
    await store.freeSlot(providerId, NAME, 'c', ACT);
    expect(await knock(store, 'e')).toMatchObject({ deviceCount: 2 });
    expect(await knock(store, 'f')).toBe('link_limit_reached');
  });

  test("the link's own word goes before its provider's, and that before the caller's", async () => {
    const { store } = opened();
    const { providerId, installId } = await addDoor(store);
    const set = (change: LinkChange) => store.updateLink(providerId, installId, change, ACT);
    let next = 0;
    const isAdmitted = async (enforces?: boolean) => {
      const key = { installCode: CODE, domainHash: HASH, hwid: `device ${next++}` };
      const asked = enforces === undefined ? key : { ...key, enforces };
      return isIn(heard(await store.takeSlot(asked, FACTS, NOW_MS)));
    };
    expect([await isAdmitted(), await isAdmitted(), await isAdmitted()]).toEqual([
      true,
      true,
      false,
    ]);
    expect([await isAdmitted(false), await isAdmitted(true)]).toEqual([true, false]);
    await store.updateProvider('Provide1', { enforce: 1 }, ACT);
    expect(await isAdmitted(false)).toBe(false);
    await set({ enforce: 0 });
    expect([await isAdmitted(), await isAdmitted(true)]).toEqual([true, true]);
    await store.updateProvider('Provide1', { enforce: 0 }, ACT);
    await set({ enforce: 1 });
    expect([await isAdmitted(), await isAdmitted(false)]).toEqual([false, false]);
    await set({ enforce: null });
    expect(await isAdmitted(true)).toBe(true);
  });

  test('each device over the limit is an event', async () => {
    const { store } = opened();
    const { installId: install_id, told } = await listening(store, { installLimit: 1 });
    await store.updateProvider('Provide1', { enforce: 0 }, ACT);
    for (const hwid of ['a', 'b', 'b']) await knock(store, hwid);
    const [one, two] = [1, 2].map((install_count) => ({
      install_id,
      install_count,
      install_limit: 1,
    }));
    expect(await told()).toEqual([
      ['device.admitted', { ...one, hwid: 'a' }],
      ['link.full', { ...one }],
      ['device.admitted', { ...two, hwid: 'b' }],
      ['link.over_limit', { ...two, hwid: 'b' }],
    ]);
  });

  test('no policy frees a slot while it counts, nor a slot for a slot above its limit', async () => {
    const { store } = opened();
    const { providerId, installId } = await addDoor(store);
    const frees = { inactiveDays: 1, whenFull: 'replace-oldest', coolDownHours: 1 } as const;
    await store.updateLink(providerId, installId, { ...frees, enforce: 0 }, ACT);
    const laterMs = NOW_MS + 9 * DAY_MS;
    for (const hwid of ['a', 'b', 'c']) await knock(store, hwid, CODE, FACTS, NOW_MS);
    expect(await knock(store, 'd', CODE, FACTS, laterMs)).toMatchObject({ deviceCount: 4 });
    await store.updateLink(providerId, installId, { enforce: 1 }, ACT);
    expect(await knock(store, 'e', CODE, FACTS, laterMs)).toBe('link_limit_reached');
    expect(await hwidsOn(store, providerId)).toEqual(['a', 'b', 'c', 'd']);
    for (const hwid of ['c', 'd']) await store.freeSlot(providerId, NAME, hwid, ACT);
    expect(await knock(store, 'e', CODE, FACTS, laterMs)).toMatchObject({ deviceCount: 2 });
    expect(await hwidsOn(store, providerId)).toEqual(['b', 'e']);
  });

  test('it takes 100 devices, and no limit that is lower than they are', async () => {
    const { store } = opened();
    const { providerId, installId } = await addDoor(store);
    const set = (change: LinkChange) => store.updateLink(providerId, installId, change, ACT);
    await set({ enforce: 0 });
    for (let n = 0; n < 100; n++) expect(isIn(await knock(store, `device ${n}`))).toBe(true);
    expect(await knock(store, 'one more')).toBe('link_limit_reached');
    expect(await set({ installLimit: 2, note: 'unchanged' })).toMatchObject({ says: 'ok' });
    expect(await set({ installLimit: 3 })).toBe('install_limit_below_count');
    expect(await set({ installLimit: 1 })).toBe('install_limit_below_count');
    expect(await set({ installLimit: 100 })).toMatchObject({ says: 'ok' });
  });

  test.each(Object.entries(SWITCHES))(
    '200 devices at once over three connections, %s enforces in the middle: none comes in after',
    async (_, turn) => {
      const { store, openBeside } = opened();
      const stores = [store, await openBeside(), await openBeside()];
      const { providerId } = await addDoor(store);
      await turn(store, 0);
      const knocks: Promise<unknown>[] = [];
      const come = (from: number, count: number) => {
        for (let n = from; n < from + count; n++) {
          knocks.push(knock(stores[n % 3] as Store, `device ${n}`));
        }
      };
      come(0, 40);
      await Promise.race(knocks);
      come(40, 60);
      const turned = turn(stores[1] as Store, 1);
      come(100, 60);
      await turned;
      const atOnce = await hwidsOn(store, providerId);
      come(160, 40);
      const answers = await Promise.all(knocks);
      expect(await hwidsOn(store, providerId)).toEqual(atOnce);
      const admitted = answers.flatMap((answer, n) => (isIn(answer) ? [`device ${n}`] : []));
      expect(admitted.sort()).toEqual(atOnce);
      expect(atOnce.length).toBeGreaterThanOrEqual(2);
      expect(answers.slice(160).filter(isIn)).toEqual([]);
      expect(await knock(store, atOnce[0] ?? '')).toMatchObject({ deviceCount: atOnce.length });
    },
  );
};

import { expect, test } from 'bun:test';
import type { LinkFilter } from '../../../src/core/port/link.ts';
import type { Store } from '../../../src/core/port/store.ts';
import { ACT } from '../../support/actor.ts';
import {
  addDoor,
  addLink,
  addProvider,
  CODE,
  knock,
  NOW_MS,
  OTHER_CODE,
  type Suite,
} from './fixture.ts';

type Method = 'findLink' | 'listLinks' | 'countLinks';

const EVERY: LinkFilter = { providerCode: null, isFull: false, status: null };

/** Two providers: of the first a link with both slots taken and one that is disabled. */
async function addLinks(store: Store): Promise<void> {
  const { providerId } = await addDoor(store);
  await knock(store, 'a');
  await knock(store, 'b');
  const id = await addLink(store, providerId, { installCode: OTHER_CODE });
  await store.updateInstall(providerId, id, { status: 5 }, ACT);
  const { id: other } = await addProvider(store, 'Provide2');
  await addLink(store, other, { installCode: 'LinkCode0003', note: null });
}

/** Filters with the codes that each lets through. */
const FILTERED: readonly (readonly [LinkFilter, readonly string[]])[] = [
  [EVERY, ['LinkCode0003', OTHER_CODE, CODE]],
  [{ ...EVERY, providerCode: 'Provide1' }, [OTHER_CODE, CODE]],
  [{ ...EVERY, providerCode: 'provide1' }, []],
  [{ ...EVERY, isFull: true }, [CODE]],
  [{ ...EVERY, status: 5 }, [OTHER_CODE]],
  [{ ...EVERY, status: 10 }, ['LinkCode0003', CODE]],
  [{ providerCode: 'Provide1', isFull: true, status: 5 }, []],
];

export const linkContract: Record<Method & keyof Store, Suite> = {
  findLink(opened) {
    test('by its code alone, with its provider', async () => {
      const { store } = opened();
      await addLinks(store);
      const [first] = await store.listProviders();
      expect(await store.findLink(CODE)).toEqual({
        id: expect.any(Number),
        installCode: CODE,
        installLimit: 2,
        deviceCount: 2,
        status: 10,
        note: 'note',
        createdAtMs: NOW_MS,
        providerId: first?.id ?? 0,
        providerCode: 'Provide1',
      });
      expect(await store.findLink('LinkCode0003')).toMatchObject({ providerCode: 'Provide2' });
      expect(await store.findLink('linkcode0003')).toBeNull();
    });
  },

  listLinks(opened) {
    test('of all providers or those that fit, newest first, no more than asked for', async () => {
      const { store } = opened();
      await addLinks(store);
      for (const [filter, codes] of FILTERED) {
        const listed = await store.listLinks({ ...filter, countMax: 10 });
        expect(listed.map(({ installCode }) => installCode)).toEqual([...codes]);
      }
      const [last, ...rest] = await store.listLinks({ ...EVERY, countMax: 1 });
      expect(rest).toEqual([]);
      expect(last).toEqual((await store.findLink('LinkCode0003')) ?? undefined);
    });
  },

  countLinks(opened) {
    test('as many as the list without a limit has', async () => {
      const { store } = opened();
      await addLinks(store);
      for (const [filter, codes] of FILTERED) {
        expect(await store.countLinks(filter)).toBe(codes.length);
      }
    });
  },
};

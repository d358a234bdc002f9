import { expect, test } from 'bun:test';
import type { TargetCursor, TargetStep } from '../../../src/core/port/distribution.ts';
import type { Store } from '../../../src/core/port/store.ts';
import { ACT } from '../../support/actor.ts';
import {
  addDoor,
  addProvider,
  bind,
  CODE,
  FACTS,
  knock,
  OTHER_CODE,
  type Suite,
} from './fixture.ts';
import { checkIn, fillBinding, NOTHING_SHOWN, onLink, register } from './message-fixture.ts';

type Method = 'findTargets' | 'scanTargets';

/** Searches to the end or to the first match. */
async function search(store: Store, providerId: number, os: readonly string[]) {
  let cursor: TargetCursor | null = null;
  for (let steps = 1; steps < 1_000; steps++) {
    const { count, next }: TargetStep = await store.scanTargets(providerId, os, cursor);
    const hasMatch = count > 0;
    if (hasMatch || next === null) return { hasMatch, steps };
    cursor = next;
  }
  throw new Error('the search does not end');
}

export const targetContract: Record<Method & keyof Store, Suite> = {
  findTargets(opened) {
    const linkedOf = async (providerId: number, ...hwids: string[]) => {
      const found = await opened().store.findTargets(providerId, hwids);
      return found.map((device) => device?.isLinked ?? null);
    };

    test('says in the order asked who is known, and who is linked to the provider', async () => {
      const { store } = opened();
      const one = await addDoor(store);
      const two = await addDoor(store, 'Provide2', OTHER_CODE);
      await knock(store, 'on-link');
      await knock(store, 'on-foreign-link', OTHER_CODE);
      await checkIn(store, 'by-binding');
      await checkIn(store, 'by-foreign-binding', { providerCode: 'Provide2' });
      await checkIn(store, 'seen', { domainHash: null });
      const hwids = ['seen', 'on-link', 'nobody', 'by-binding', 'on-foreign-link', 'On-Link'];
      expect(await linkedOf(one.providerId, ...hwids)).toEqual([
        false,
        true,
        null,
        true,
        false,
        null,
      ]);
      expect(await linkedOf(two.providerId, 'on-foreign-link', 'by-foreign-binding')).toEqual([
        true,
        true,
      ]);
      expect(await linkedOf(one.providerId, 'by-foreign-binding')).toEqual([false]);
      const [first] = await store.findTargets(one.providerId, ['on-link']);
      const [same] = await store.findTargets(two.providerId, ['on-link']);
      expect(same).toEqual({
        id: first?.id ?? 0,
        isLinked: false,
        isReachable: false,
        gateway: null,
        hasStream: false,
        userAgent: '',
        hasSlot: false,
        isAtHome: false,
      });
      expect(first).toMatchObject({ hasSlot: true, isAtHome: true });
      expect(await linkedOf(one.providerId)).toEqual([]);
    });

    test('a link links while the device is on it, a binding while it is active', async () => {
      const { store } = opened();
      const { providerId, installId, domainId } = await addDoor(store);
      await knock(store, 'on-link');
      await checkIn(store, 'by-binding');
      await store.updateLink(providerId, installId, { status: 5 }, ACT);
      await store.disableDomain(providerId, domainId, ACT);
      expect(await linkedOf(providerId, 'on-link', 'by-binding')).toEqual([true, false]);
      await store.activateDomain(providerId, domainId, null, ACT);
      await store.freeSlot(providerId, { installCode: CODE, installId: null }, 'on-link', ACT);
      expect(await linkedOf(providerId, 'on-link', 'by-binding')).toEqual([false, true]);
    });

    test('which of them an app registered: here if it is linked, else without evidence', async () => {
      const { store } = opened();
      const one = await addDoor(store);
      const two = await addDoor(store, 'Provide2', OTHER_CODE);
      await store.updateLink(one.providerId, one.installId, { installLimit: 3 }, ACT);
      for (const hwid of ['silent', 'here']) await knock(store, hwid);
      for (const hwid of ['there', 'both']) await knock(store, hwid, OTHER_CODE);
      await knock(store, 'both');
      await register(store, 'here', onLink());
      await register(store, 'there', onLink(OTHER_CODE));
      await register(store, 'both', onLink(OTHER_CODE));
      await register(store, 'alone', NOTHING_SHOWN);
      const reachableOf = async (providerId: number, ...hwids: string[]) => {
        const found = await store.findTargets(providerId, hwids);
        return hwids.filter((_, n) => found[n]?.isReachable);
      };
      const hwids = ['silent', 'here', 'there', 'both', 'alone'];
      // A registration at another provider reaches no device that is linked here.
      expect(await reachableOf(one.providerId, ...hwids)).toEqual(['here', 'there', 'alone']);
      expect(await reachableOf(two.providerId, ...hwids)).toEqual([
        'here',
        'there',
        'both',
        'alone',
      ]);
    });
  },

  scanTargets(opened) {
    const hasMatch = async (providerId: number, ...os: string[]) =>
      (await search(opened().store, providerId, os)).hasMatch;

    test('finds devices with one of the systems, on links and by bindings', async () => {
      const { store } = opened();
      const { providerId } = await addDoor(store);
      expect(await hasMatch(providerId, 'ios', 'android')).toBe(false);
      await knock(store, 'a', CODE, { ...FACTS, os: 'ios' });
      expect(await hasMatch(providerId, 'ios')).toBe(true);
      expect(await hasMatch(providerId, 'android')).toBe(false);
      expect(await hasMatch(providerId, 'android', 'ios')).toBe(true);
      await checkIn(store, 'b');
      expect(await hasMatch(providerId, 'android')).toBe(true);
    });

    test('not those of others, merely seen, freed, or of a disabled binding', async () => {
      const { store } = opened();
      const { providerId, domainId } = await addDoor(store);
      await addDoor(store, 'Provide2', OTHER_CODE);
      await knock(store, 'a', OTHER_CODE);
      await checkIn(store, 'b', { providerCode: 'Provide2' });
      await checkIn(store, 'c', { domainHash: null });
      await checkIn(store, 'd');
      await store.disableDomain(providerId, domainId, ACT);
      await knock(store, 'e').then(() => checkIn(store, 'e', { domainHash: null }));
      await store.freeSlot(providerId, { installCode: CODE, installId: null }, 'e', ACT);
      expect(await hasMatch(providerId, 'android')).toBe(false);
      await store.activateDomain(providerId, domainId, null, ACT);
      expect(await hasMatch(providerId, 'android')).toBe(true);
    });

    test('counts them, and those that an app registered with the provider', async () => {
      const { store } = opened();
      const { providerId, installId } = await addDoor(store);
      await addDoor(store, 'Provide2', OTHER_CODE);
      await store.updateLink(providerId, installId, { installLimit: 3 }, ACT);
      for (const hwid of ['a', 'b', 'c']) await knock(store, hwid);
      await knock(store, 'b', OTHER_CODE);
      await register(store, 'a', onLink());
      await register(store, 'b', onLink(OTHER_CODE));
      await checkIn(store, 'seen', { domainHash: null });
      const step = await store.scanTargets(providerId, ['android'], null);
      expect(step).toMatchObject({ count: 3, reachableCount: 1 });
    });

    test('nothing to look at: one step', async () => {
      const { store } = opened();
      const { id } = await addProvider(store, 'Provide1');
      const step = await store.scanTargets(id, ['ios'], null);
      expect(step).toEqual({ count: 0, reachableCount: 0, groups: [], next: null });
    });

    test('goes through many devices in several steps, and misses none', async () => {
      const { store } = opened();
      const { providerId, domainId } = await addDoor(store);
      await fillBinding(store);
      await store.disableDomain(providerId, domainId, ACT);
      const fruitless = await search(store, providerId, ['android', 'ios']);
      expect(fruitless.hasMatch).toBe(false);
      expect(fruitless.steps).toBeGreaterThan(2);
      await store.activateDomain(providerId, domainId, null, ACT);
      expect(await search(store, providerId, ['ios', 'android'])).toEqual({
        hasMatch: true,
        steps: 1,
      });
      await knock(store, 'the-last');
      await store.disableDomain(providerId, domainId, ACT);
      const last = await search(store, providerId, ['android']);
      expect(last.hasMatch).toBe(true);
      expect(last.steps).toBeGreaterThan(1);
      expect((await search(store, providerId, ['ios'])).hasMatch).toBe(false);
    });

    test('looks at no more than a step’s rows of those that are tied to much', async () => {
      const { store } = opened();
      const { providerId } = await addDoor(store);
      for (let n = 0; n < 16; n++) {
        const hash = n.toString(16).repeat(64);
        const domainId = await bind(store, providerId, hash);
        await store.disableDomain(providerId, domainId, ACT);
        await store.activateDomain(providerId, domainId, null, ACT);
        await Promise.all(
          Array.from({ length: 400 }, (_, i) => checkIn(store, `tied-${i}`, { domainHash: hash })),
        );
        await store.disableDomain(providerId, domainId, ACT);
      }
      const fruitless = await search(store, providerId, ['android']);
      expect(fruitless.hasMatch).toBe(false);
      expect(fruitless.steps).toBeGreaterThan(3);
    });

    test('asks of many bindings the latest sixteen that the device came in by', async () => {
      const { store } = opened();
      const { providerId } = await addDoor(store);
      const domains: number[] = [];
      for (let n = 0; n < 17; n++) {
        const hash = `${n % 10}`.repeat(63) + (n < 10 ? 'a' : 'b');
        domains.push(await bind(store, providerId, hash));
        await checkIn(store, 'a', { domainHash: hash });
      }
      expect((await store.findDevice('a'))?.domains).toHaveLength(16);
      for (const id of domains.slice(1)) await store.disableDomain(providerId, id, ACT);
      expect(await hasMatch(providerId, 'android')).toBe(false);
      await checkIn(store, 'a', { domainHash: `${'0'.repeat(63)}a` });
      expect(await hasMatch(providerId, 'android')).toBe(true);
    });
  },
};

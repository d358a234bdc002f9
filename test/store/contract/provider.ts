import { expect, test } from 'bun:test';
import type { Store } from '../../../src/core/port/store.ts';
import { hashKey } from '../../../src/core/secret.ts';
import { ACT } from '../../support/actor.ts';
import { addAccount, secretDraft, sessionDraft } from './account-fixture.ts';
import {
  ALL,
  addDoor,
  addProvider,
  FACTS,
  HASH,
  knock,
  NOW_MS,
  provider,
  providerDraft,
  removeProvider,
  type Suite,
} from './fixture.ts';
import { fillBinding } from './message-fixture.ts';
import { rideTermsSuite } from './ride-terms.ts';

type Method =
  | 'addProvider'
  | 'findProvider'
  | 'listProviders'
  | 'pageProviders'
  | 'updateProvider'
  | 'rotateKey'
  | 'closeProvider'
  | 'removeProvider';

export const providerContract: Record<Method & keyof Store, Suite> = {
  addProvider(opened) {
    rideTermsSuite(opened);

    test('keeps everything it is given', async () => {
      const { store } = opened();
      const draft = providerDraft('Provide1', {
        plan: 'enterprise',
        activeUntilMs: NOW_MS + 1,
        installCountMax: 7,
      });
      expect(await store.addProvider(draft, ACT)).toBe('ok');
      const { keyHash, ...rest } = draft;
      expect(await store.findProvider('Provide1')).toMatchObject({
        ...rest,
        installCount: 0,
        suspendedAtMs: null,
        previousKeyHash: null,
        previousKeyUntilMs: null,
      });
      const kept = await provider(store, 'Provide1');
      expect(Buffer.from(kept.keyHash)).toEqual(Buffer.from(keyHash));
    });

    test('refuses a taken code and leaves its owner alone', async () => {
      const { store } = opened();
      await addProvider(store, 'Provide1');
      const before = await provider(store, 'Provide1');
      const again = providerDraft('Provide1', { name: 'other', keyHash: hashKey('other') });
      expect(await store.addProvider(again, ACT)).toBe('provider_code_exists');
      expect(await provider(store, 'Provide1')).toEqual(before);
      expect(await store.listProviders()).toHaveLength(1);
    });
  },

  findProvider(opened) {
    test('finds by the exact code', async () => {
      const { store } = opened();
      await addProvider(store, 'Provide1');
      expect((await store.findProvider('Provide1'))?.code).toBe('Provide1');
      expect(await store.findProvider('provide1')).toBeNull();
      expect(await store.findProvider('Provide2')).toBeNull();
      expect(await store.findProvider('')).toBeNull();
    });
  },

  listProviders(opened) {
    test('has all of them, in the order in which they came', async () => {
      const { store } = opened();
      expect(await store.listProviders()).toEqual([]);
      const one = await addProvider(store, 'Zebra001');
      const two = await addProvider(store, 'Alpha001');
      expect(await store.listProviders()).toEqual([one, two]);
    });
  },

  pageProviders(opened) {
    test('has those after an id, in the order in which they came, and no more than asked', async () => {
      const { store } = opened();
      const one = await addProvider(store, 'Zebra001');
      const two = await addProvider(store, 'Alpha001');
      const three = await addProvider(store, 'Middle01');
      expect(await store.pageProviders(0, 2)).toEqual([one, two]);
      expect(await store.pageProviders(two.id, 2)).toEqual([three]);
      expect(await store.pageProviders(three.id, 2)).toEqual([]);
    });
  },

  updateProvider(opened) {
    test('changes what it is given and nothing else, of one provider alone', async () => {
      const { store } = opened();
      const one = await addProvider(store, 'Provide1');
      const two = await addProvider(store, 'Provide2');
      expect(await store.updateProvider('Provide1', { plan: 'pro' }, ACT)).toBe('ok');
      expect(await provider(store, 'Provide1')).toEqual({ ...one, plan: 'pro' });
      const change = {
        name: 'new',
        plan: 'enterprise' as const,
        activeUntilMs: 5,
        installCountMax: 0,
        suspendedAtMs: NOW_MS,
      };
      expect(await store.updateProvider('Provide1', change, ACT)).toBe('ok');
      expect(await provider(store, 'Provide1')).toEqual({ ...one, ...change });
      const cleared = { activeUntilMs: null, installCountMax: null, suspendedAtMs: null };
      expect(await store.updateProvider('Provide1', cleared, ACT)).toBe('ok');
      expect(await provider(store, 'Provide1')).toEqual({ ...one, ...change, ...cleared });
      expect(await provider(store, 'Provide2')).toEqual(two);
    });

    test('with nothing to change succeeds', async () => {
      const { store } = opened();
      const one = await addProvider(store, 'Provide1');
      expect(await store.updateProvider('Provide1', {}, ACT)).toBe('ok');
      expect(await provider(store, 'Provide1')).toEqual(one);
    });

    test('refuses an unknown code', async () => {
      expect(await opened().store.updateProvider('Provide1', {}, ACT)).toBe('provider_not_found');
    });
  },

  rotateKey(opened) {
    test('the key until now becomes the previous one, an older one is gone', async () => {
      const { store } = opened();
      const one = await addProvider(store, 'Provide1');
      const [second, third] = [hashKey('second'), hashKey('third')];
      const none = { sessionCount: 0, invitationCount: 0 };
      expect(await store.rotateKey('Provide1', second, NOW_MS + 5, ACT)).toEqual(none);
      const once = await provider(store, 'Provide1');
      expect(Buffer.from(once.keyHash)).toEqual(Buffer.from(second));
      expect(once.previousKeyHash).toEqual(one.keyHash);
      expect(once.previousKeyUntilMs).toBe(NOW_MS + 5);
      expect(await store.rotateKey('Provide1', third, NOW_MS, ACT)).toEqual(none);
      const twice = await provider(store, 'Provide1');
      expect(Buffer.from(twice.keyHash)).toEqual(Buffer.from(third));
      expect(twice.previousKeyHash).toEqual(once.keyHash);
      expect(twice.previousKeyUntilMs).toBe(NOW_MS);
    });

    test('ends the sessions of the key and the invitations, and counts them', async () => {
      const { store } = opened();
      const [one, two] = [
        await addProvider(store, 'Provide1'),
        await addProvider(store, 'Provide2'),
      ];
      const grant = { providerId: one.id, role: 'owner' } as const;
      const anna = await addAccount(store, 'anna', grant);
      await store.openSession(sessionDraft('of anna', anna), ACT);
      for (const [n, { id: providerId, keyHash }] of [one, two].entries()) {
        const owner = { accountId: null, providerId, keyHash };
        await store.openSession({ ...sessionDraft(`by key ${n}`, 0), owner }, ACT);
        const invited = { kind: 'invitation', role: 'owner', providerId } as const;
        await store.addOneTime(secretDraft(`invitation ${n}`, invited), ACT);
      }
      const ended = await store.rotateKey('Provide1', hashKey('second'), NOW_MS + 5, ACT);
      expect(ended).toEqual({ sessionCount: 1, invitationCount: 1 });
      const open = [
        await store.findSession(hashKey('of anna')),
        await store.findSession(hashKey('by key 0')),
        await store.findSession(hashKey('by key 1')),
        await store.findOneTime('invitation', hashKey('invitation 0'), NOW_MS),
        await store.findOneTime('invitation', hashKey('invitation 1'), NOW_MS),
      ];
      expect(open.map((found) => found !== null)).toEqual([true, false, true, false, true]);
    });

    test('refuses an unknown code', async () => {
      const { store } = opened();
      expect(await store.rotateKey('Provide1', hashKey('x'), 0, ACT)).toBe('provider_not_found');
    });
  },

  closeProvider(opened) {
    test('no key opens anything from then on, the previous one neither, and no subscription is active', async () => {
      const { store } = opened();
      await addDoor(store);
      await store.rotateKey('Provide1', hashKey('new'), NOW_MS + 1_000_000, ACT);
      const before = await provider(store, 'Provide1');
      expect(before.previousKeyHash).not.toBeNull();
      expect(await store.closeProvider('Provide1', ACT)).toEqual({ id: before.id });
      const closed = await provider(store, 'Provide1');
      expect(closed).toMatchObject({ previousKeyHash: null, activeUntilMs: 0, installCount: 1 });
      expect(Buffer.from(closed.keyHash).equals(before.keyHash)).toBe(false);
    });

    test('refuses an unknown code', async () => {
      expect(await opened().store.closeProvider('Provide1', ACT)).toBe('provider_not_found');
    });
  },

  removeProvider(opened) {
    test('takes its links, slots, bindings and sightings along; devices stay known', async () => {
      const { store } = opened();
      const { providerId } = await addDoor(store);
      const other = await addDoor(store, 'Provide2', 'OtherCode001');
      for (const code of ['LinkCode0001', 'OtherCode001']) await knock(store, 'a', code);
      const key = { providerCode: 'Provide1', domainHash: HASH, hwid: 'a' };
      await store.recordCheckIn(key, FACTS, NOW_MS);

      await removeProvider(store, 'Provide1');
      expect(await store.findProvider('Provide1')).toBeNull();
      expect(await store.listLinksOf(providerId, ALL)).toEqual([]);
      expect(await store.listDomains(providerId, ALL)).toEqual([]);
      const detail = await store.findDevice('a');
      expect(detail?.installs.map(({ installCode }) => installCode)).toEqual(['OtherCode001']);
      expect(detail?.domains).toEqual([]);
      expect(detail?.seenBy.map(({ providerCode }) => providerCode)).toEqual(['Provide2']);
      expect(await store.listLinksOf(other.providerId, ALL)).toMatchObject([{ deviceCount: 1 }]);
    });

    test('goes in steps, is there until the last, and goes on where it was interrupted', async () => {
      const { store, openBeside } = opened();
      const { providerId } = await addDoor(store);
      await fillBinding(store);
      await store.closeProvider('Provide1', ACT);
      expect(await store.removeProvider(providerId)).toBe('more');
      expect((await provider(store, 'Provide1')).id).toBe(providerId);
      // Another process does it again, from the beginning.
      expect(await removeProvider(await openBeside(), 'Provide1')).toBeGreaterThan(1);
      expect(await store.findProvider('Provide1')).toBeNull();
    });

    test('its slots end before their link, whatever their ids are', async () => {
      const { store } = opened();
      await addDoor(store, 'Provide2', 'OtherCode001');
      for (const hwid of ['a', 'b']) await knock(store, hwid, 'OtherCode001');
      const { providerId } = await addDoor(store);
      await knock(store, 'a');
      await store.closeProvider('Provide1', ACT);
      const deviceCounts: number[] = [];
      while ((await store.removeProvider(providerId)) === 'more') {
        const links = await store.listLinksOf(providerId, ALL);
        deviceCounts.push(...links.map(({ deviceCount }) => deviceCount));
      }
      expect(deviceCounts).toContain(0);
    });

    test('its code can be given again, to one who inherits nothing', async () => {
      const { store } = opened();
      const { providerId } = await addDoor(store);
      await removeProvider(store, 'Provide1');
      const again = await addProvider(store, 'Provide1');
      expect(again.id).not.toBe(providerId);
      expect(again.installCount).toBe(0);
      expect(await store.removeProvider(providerId)).toBe('provider_not_found');
      expect((await provider(store, 'Provide1')).id).toBe(again.id);
    });
  },
};

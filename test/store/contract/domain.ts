import { expect, test } from 'bun:test';
import type { NewDomain } from '../../../src/core/port/domain.ts';
import type { Store } from '../../../src/core/port/store.ts';
import { ACT } from '../../support/actor.ts';
import { ALL, addProvider, bind, FACTS, HASH, NOW_MS, OTHER_HASH, type Suite } from './fixture.ts';

type Method = 'addDomain' | 'activateDomain' | 'findDomain' | 'disableDomain' | 'listDomains';

const record = (id: number, more: object = {}) => ({
  id,
  domainName: 'shop',
  domainHash: HASH,
  status: 10,
  createdAtMs: NOW_MS,
  ...more,
});

export const domainContract: Record<Method & keyof Store, Suite> = {
  addDomain(opened) {
    const draft = { domainHash: HASH, domainName: 'shop', createdAtMs: NOW_MS, domainCountMax: 9 };
    const add = async (store: Store, providerId: number, more: Partial<NewDomain> = {}) => {
      const added = await store.addDomain({ providerId, ...draft, ...more }, ACT);
      return typeof added === 'string' ? { outcome: added, id: 0 } : added;
    };

    test('adds an active binding, once for each provider', async () => {
      const { store } = opened();
      const one = await addProvider(store, 'Provide1');
      const two = await addProvider(store, 'Provide2');
      const first = await add(store, one.id);
      const second = await add(store, two.id);
      expect([first.outcome, second.outcome]).toEqual(['added', 'added']);
      expect(second.id).not.toBe(first.id);
      expect(await store.listDomains(one.id, ALL)).toEqual([record(first.id)]);
      expect(await store.listDomains(two.id, ALL)).toEqual([record(second.id)]);
    });

    test('a hash that is there, active or not, changes nothing', async () => {
      const { store } = opened();
      const { id: providerId } = await addProvider(store, 'Provide1');
      const id = await bind(store, providerId);
      const again = { providerId, ...draft, domainName: 'new', createdAtMs: NOW_MS + 1 };
      expect(await store.addDomain(again, ACT)).toEqual({ outcome: 'exists', id });
      expect(await store.listDomains(providerId, ALL)).toEqual([record(id)]);
      await store.disableDomain(providerId, id, ACT);
      expect(await store.addDomain(again, ACT)).toEqual({ outcome: 'exists', id });
      expect(await store.listDomains(providerId, ALL)).toEqual([record(id, { status: 5 })]);
    });

    test('no more than the cap, disabled ones included; one that is there is told first', async () => {
      const { store } = opened();
      const { id: providerId } = await addProvider(store, 'Provide1');
      const { id: other } = await addProvider(store, 'Provide2');
      const hash = (n: number) => n.toString(16).padStart(64, '0');
      const all = await Promise.all(
        Array.from({ length: 12 }, (_, n) => add(store, providerId, { domainHash: hash(n) })),
      );
      const added = all.filter(({ outcome }) => outcome === 'added');
      expect(added).toHaveLength(9);
      expect(all.filter(({ outcome }) => outcome === 'domain_limit_reached')).toHaveLength(3);
      await store.disableDomain(providerId, added[0]?.id ?? 0, ACT);
      expect((await add(store, providerId, { domainHash: HASH })).outcome).toBe(
        'domain_limit_reached',
      );
      const known = all.findIndex(({ outcome }) => outcome === 'added');
      expect((await add(store, providerId, { domainHash: hash(known) })).outcome).toBe('exists');
      expect((await add(store, other, { domainHash: HASH })).outcome).toBe('added');
    });
  },

  activateDomain(opened) {
    test('activates a disabled one and renames it if a name is given', async () => {
      const { store } = opened();
      const { id: providerId } = await addProvider(store, 'Provide1');
      const id = await bind(store, providerId);
      expect(await store.activateDomain(providerId, id, null, ACT)).toBe('was_active');
      expect(await store.listDomains(providerId, ALL)).toEqual([record(id)]);
      expect(await store.activateDomain(providerId, id, 'new', ACT)).toBe('was_active');
      expect(await store.listDomains(providerId, ALL)).toEqual([record(id, { domainName: 'new' })]);
      await store.disableDomain(providerId, id, ACT);
      expect(await store.activateDomain(providerId, id, null, ACT)).toBe('activated');
      expect(await store.listDomains(providerId, ALL)).toEqual([record(id, { domainName: 'new' })]);
      await store.disableDomain(providerId, id, ACT);
      expect(await store.activateDomain(providerId, id, 'newer', ACT)).toBe('activated');
      expect(await store.listDomains(providerId, ALL)).toEqual([
        record(id, { domainName: 'newer' }),
      ]);
    });

    test("never another provider's", async () => {
      const { store } = opened();
      const { id: providerId } = await addProvider(store, 'Provide1');
      const stranger = await addProvider(store, 'Provide2');
      const id = await bind(store, providerId);
      await store.disableDomain(providerId, id, ACT);
      await store.activateDomain(stranger.id, id, 'stolen', ACT);
      expect(await store.listDomains(providerId, ALL)).toEqual([record(id, { status: 5 })]);
    });
  },

  disableDomain(opened) {
    test('disables it, and again without complaint; links of devices are kept', async () => {
      const { store } = opened();
      const { id: providerId } = await addProvider(store, 'Provide1');
      const id = await bind(store, providerId);
      const otherId = await bind(store, providerId, OTHER_HASH);
      const key = { providerCode: 'Provide1', domainHash: HASH, hwid: 'a' };
      await store.recordCheckIn(key, FACTS, NOW_MS);
      for (const _ of [1, 2]) {
        expect(await store.disableDomain(providerId, id, ACT)).toBe('ok');
        expect(await store.listDomains(providerId, ALL)).toEqual([
          record(otherId, { domainHash: OTHER_HASH }),
          record(id, { status: 5 }),
        ]);
      }
      expect((await store.findDevice('a'))?.domains).toMatchObject([{ status: 5 }]);
    });

    test("refuses an unknown id and another provider's", async () => {
      const { store } = opened();
      const { id: providerId } = await addProvider(store, 'Provide1');
      const stranger = await addProvider(store, 'Provide2');
      const id = await bind(store, providerId);
      expect(await store.disableDomain(stranger.id, id, ACT)).toBe('domain_not_found');
      expect(await store.disableDomain(providerId, 999, ACT)).toBe('domain_not_found');
      expect(await store.listDomains(providerId, ALL)).toEqual([record(id)]);
    });
  },

  findDomain(opened) {
    test("the provider's own, active or not", async () => {
      const { store } = opened();
      const { id: providerId } = await addProvider(store, 'Provide1');
      const stranger = await addProvider(store, 'Provide2');
      const id = await bind(store, providerId);
      expect(await store.findDomain(providerId, HASH)).toEqual(record(id));
      expect(await store.findDomain(stranger.id, HASH)).toBeNull();
      expect(await store.findDomain(providerId, OTHER_HASH)).toBeNull();
      await store.disableDomain(providerId, id, ACT);
      expect(await store.findDomain(providerId, HASH)).toEqual(record(id, { status: 5 }));
    });
  },

  listDomains(opened) {
    test('newest first, page after page, of one provider alone', async () => {
      const { store } = opened();
      const { id } = await addProvider(store, 'Provide1');
      const { id: otherId } = await addProvider(store, 'Provide2');
      const ids: number[] = [];
      for (const digit of ['1', '2', '3']) {
        ids.unshift(await bind(store, id, digit.repeat(64)));
        await bind(store, otherId, digit.repeat(64));
      }
      const list = async (page: object) =>
        (await store.listDomains(id, { ...ALL, ...page })).map((domain) => domain.id);
      const [newest = 0, middle = 0, oldest = 0] = ids;
      expect(await list({})).toEqual(ids);
      expect(await list({ countMax: 1 })).toEqual([newest]);
      expect(await list({ countMax: 5, beforeId: newest })).toEqual([middle, oldest]);
      expect(await list({ beforeId: oldest })).toEqual([]);
      expect(await list({ id: middle })).toEqual([middle]);
      expect(await list({ id: middle, beforeId: middle })).toEqual([]);
      expect(await list({ id: middle + 1 })).toEqual([]);
    });
  },
};

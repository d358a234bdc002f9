import { expect, test } from 'bun:test';
import type { KeyedCall } from '../../../src/core/port/idempotency.ts';
import type { Store } from '../../../src/core/port/store.ts';
import { ACT } from '../../support/actor.ts';
import { auditEntries } from '../../support/audit.ts';
import {
  ALL,
  addLink,
  addProvider,
  CODE,
  linkDraft,
  NOW_MS,
  OTHER_CODE,
  removeProvider,
  type Suite,
} from './fixture.ts';
import { draft, UNGUARDED } from './message-fixture.ts';

const DAY_MS = 86_400_000;

export const keyed = (more: Partial<KeyedCall> = {}): KeyedCall => ({
  key: 'order-1',
  call: 'add-install',
  paramsHash: 'd'.repeat(64),
  afterMs: NOW_MS - DAY_MS,
  countMax: 10,
  ...more,
});

const OTHERS = [
  ['parameters', { paramsHash: 'e'.repeat(64) }],
  ['call', { call: 'command' }],
] as const;

export const idempotencyContract: Record<'findMade' | 'forgetMade', Suite> = {
  findMade(opened) {
    const add = (store: Store, providerId: number, call: KeyedCall, more = {}, act = ACT) =>
      store.addLink(linkDraft(providerId, more), act, call);
    const send = (store: Store, providerId: number, call: KeyedCall, more = {}) =>
      store.addDistribution(draft(providerId), { ...UNGUARDED, keyed: call, ...more }, ACT);

    test('a repeat gets the link of the first call, and adds nothing', async () => {
      const { store } = opened();
      const { id: providerId } = await addProvider(store, 'Provide1');
      expect(await store.findMade(providerId, keyed())).toBeNull();
      const made = { id: 1, installCode: CODE };
      expect(await add(store, providerId, keyed())).toEqual(made);
      const entries = await auditEntries({ store });
      const repeat = { ...made, isRepeat: true } as const;
      // The code of a repeat was drawn anew.
      expect(await add(store, providerId, keyed(), { installCode: OTHER_CODE })).toEqual(repeat);
      expect(await store.findMade(providerId, keyed())).toEqual(repeat);
      expect(await store.listLinksOf(providerId, ALL)).toHaveLength(1);
      expect(await auditEntries({ store })).toEqual(entries);
    });

    test('a repeated send is accepted although another would be refused', async () => {
      const { store } = opened();
      const { id: providerId } = await addProvider(store, 'Provide1');
      const call = keyed({ call: 'notification' });
      const guards = { generalIntervalMs: 300_000 };
      expect(await send(store, providerId, call, guards)).toEqual({ id: 1 });
      expect(await send(store, providerId, call, guards)).toEqual({ id: 1, isRepeat: true });
      const other = keyed({ ...call, key: 'order-2' });
      expect(await send(store, providerId, other, guards)).toBe('general_too_soon');
      expect(await store.listDistributions(providerId, ALL)).toHaveLength(1);
    });

    test.each(OTHERS)('a key of another %s is refused', async (_, more) => {
      const { store } = opened();
      const { id: providerId } = await addProvider(store, 'Provide1');
      await add(store, providerId, keyed());
      const call = keyed(more);
      expect(await add(store, providerId, call, { installCode: OTHER_CODE })).toBe(
        'idempotency_key_reused',
      );
      expect(await send(store, providerId, call)).toBe('idempotency_key_reused');
      expect(await store.findMade(providerId, call)).toBe('idempotency_key_reused');
      expect(await store.listLinksOf(providerId, ALL)).toHaveLength(1);
    });

    test('each provider has keys of its own', async () => {
      const { store } = opened();
      const { id: one } = await addProvider(store, 'Provide1');
      const { id: two } = await addProvider(store, 'Provide2');
      await add(store, one, keyed());
      expect(await store.findMade(two, keyed())).toBeNull();
      expect(await add(store, two, keyed(), { installCode: OTHER_CODE })).toMatchObject({ id: 2 });
    });

    test('a refusal is not kept: the same key succeeds later', async () => {
      const { store } = opened();
      const { id: providerId } = await addProvider(store, 'Provide1');
      const other = await addProvider(store, 'Provide2');
      await addLink(store, other.id);
      expect(await add(store, providerId, keyed())).toBe('install_code_exists');
      expect(await store.findMade(providerId, keyed())).toBeNull();
      await removeProvider(store, 'Provide2');
      expect(await add(store, providerId, keyed())).toMatchObject({ installCode: CODE });
    });

    test('an answer that is too old makes room for another', async () => {
      const { store } = opened();
      const { id: providerId } = await addProvider(store, 'Provide1');
      await add(store, providerId, keyed());
      const later = keyed({ afterMs: NOW_MS, paramsHash: 'f'.repeat(64), countMax: 2 });
      const act = { ...ACT, atMs: NOW_MS + DAY_MS };
      expect(await store.findMade(providerId, later)).toBeNull();
      const more = { installCode: OTHER_CODE };
      expect(await add(store, providerId, later, more, act)).toEqual({ id: 2, ...more });
      expect(await store.findMade(providerId, later)).toMatchObject({ id: 2 });
      // It is counted once.
      const third = keyed({ key: 'order-3', countMax: 2 });
      expect(await send(store, providerId, third)).toMatchObject({ id: 1 });
    });

    test('so many are kept for a provider; a repeat is answered all the same', async () => {
      const { store } = opened();
      const { id: providerId } = await addProvider(store, 'Provide1');
      await add(store, providerId, keyed({ countMax: 1 }));
      const second = keyed({ key: 'order-2', countMax: 1 });
      expect(await add(store, providerId, second, { installCode: OTHER_CODE })).toBe(
        'idempotency_keys_full',
      );
      expect(await send(store, providerId, second)).toBe('idempotency_keys_full');
      expect(await add(store, providerId, keyed({ countMax: 1 }))).toMatchObject({ id: 1 });
      expect(await addLink(store, providerId, { installCode: OTHER_CODE })).toBe(2);
    });
  },

  forgetMade(opened) {
    test('deletes answers of a time and before, and counts them no more', async () => {
      const { store } = opened();
      const { id: providerId } = await addProvider(store, 'Provide1');
      const guards = (key: string) => ({ ...UNGUARDED, keyed: keyed({ key, countMax: 2 }) });
      const addAt = (key: string, atMs: number) =>
        store.addDistribution(draft(providerId), guards(key), { ...ACT, atMs });
      await addAt('a', NOW_MS);
      await addAt('b', NOW_MS + 1);
      expect(await store.forgetMade(NOW_MS - 1)).toBe(false);
      expect(await store.forgetMade(NOW_MS)).toBe(true);
      expect(await store.forgetMade(NOW_MS)).toBe(false);
      expect(await store.findMade(providerId, keyed({ key: 'a' }))).toBeNull();
      expect(await store.findMade(providerId, keyed({ key: 'b' }))).toMatchObject({ id: 2 });
      expect(await addAt('c', NOW_MS + 2)).toEqual({ id: 3 });
      expect(await addAt('d', NOW_MS + 2)).toBe('idempotency_keys_full');
    });

    test('a provider that is removed leaves none', async () => {
      const { store } = opened();
      const { id: providerId } = await addProvider(store, 'Provide1');
      await store.addLink(linkDraft(providerId), ACT, keyed());
      await removeProvider(store, 'Provide1');
      expect(await store.forgetMade(Number.MAX_SAFE_INTEGER)).toBe(false);
    });
  },
};

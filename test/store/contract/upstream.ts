import { expect, test } from 'bun:test';
import type { UpstreamStore } from '../../../src/core/port/upstream.ts';
import { ACT } from '../../support/actor.ts';
import { auditEntries } from '../../support/audit.ts';
import type { Suite } from './fixture.ts';

const KEYS = { host: 'sub.example.com', url: 'http://127.0.0.1:8000', provider: 'Provide1' };
const OTHER = { ...KEYS, host: 'a.example.com', default_limit: 3 };
const kept = (keys: typeof KEYS) => ({
  host: keys.host,
  settings: JSON.stringify(keys),
  updatedAtMs: ACT.atMs,
  updatedBy: 'tester',
});

export const upstreamContract: Record<keyof UpstreamStore, Suite> = {
  listUpstreams(opened) {
    test('lists them in the order of their hosts', async () => {
      const { store } = opened();
      expect(await store.listUpstreams()).toEqual([]);
      for (const keys of [KEYS, OTHER]) await store.addUpstream(keys.host, keys, 9, ACT);
      expect(await store.listUpstreams()).toEqual([kept(OTHER), kept(KEYS)]);
    });
  },
  addUpstream(opened) {
    test('adds a host once, with an entry, up to so many, also at once', async () => {
      const { store } = opened();
      const add = (keys: typeof KEYS) => store.addUpstream(keys.host, keys, 3, ACT);
      expect(await add(KEYS)).toBe('ok');
      expect(await add({ ...KEYS, provider: 'Provide2' })).toBe('upstream_exists');
      const outcomes = await Promise.all(
        Array.from({ length: 9 }, async (_, n) => add({ ...KEYS, host: `${n}.example.com` })),
      );
      expect(outcomes.filter((outcome) => outcome === 'ok')).toHaveLength(2);
      expect(outcomes.filter((one) => one === 'upstream_limit_reached')).toHaveLength(7);
      const deeds = await auditEntries({ store });
      expect(deeds).toHaveLength(3);
      expect(deeds.find(({ object }) => object['host'] === KEYS.host)).toMatchObject({
        action: 'upstream.add',
        object: KEYS,
      });
    });
  },
  changeUpstream(opened) {
    test('replaces the keys, with an entry of what differs', async () => {
      const { store } = opened();
      const { host } = OTHER;
      expect(await store.changeUpstream(host, OTHER, ACT)).toBe('upstream_not_found');
      await store.addUpstream(host, OTHER, 9, ACT);
      // The same keys are no change: time and actor stay.
      const later = { ...ACT, atMs: ACT.atMs + 1 };
      expect(await store.changeUpstream(host, OTHER, later)).toBe('ok');
      expect(await store.listUpstreams()).toEqual([kept(OTHER)]);
      const { default_limit: _, ...fewer } = OTHER;
      const after = { ...fewer, key_path: ['/a/{key}', '/b/{key}'] };
      expect(await store.changeUpstream(host, after, ACT)).toBe('ok');
      expect(await store.listUpstreams()).toEqual([kept(after)]);
      expect((await auditEntries({ store })).slice(1)).toEqual([
        expect.objectContaining({
          action: 'upstream.update',
          object: { host },
          change: { default_limit: [3, null], key_path: [null, '/a/{key},/b/{key}'] },
        }),
      ]);
    });
  },
  removeUpstream(opened) {
    test('removes one, with an entry', async () => {
      const { store } = opened();
      for (const keys of [KEYS, OTHER]) await store.addUpstream(keys.host, keys, 9, ACT);
      expect(await store.removeUpstream(KEYS.host, ACT)).toBe('ok');
      expect(await store.removeUpstream(KEYS.host, ACT)).toBe('upstream_not_found');
      expect(await store.listUpstreams()).toEqual([kept(OTHER)]);
      expect((await auditEntries({ store })).at(-1)).toMatchObject({ action: 'upstream.remove' });
    });
  },
};

import { expect, test } from 'bun:test';
import type { Glance } from '../../../src/core/port/inbox.ts';
import type { Store } from '../../../src/core/port/store.ts';
import { knock, NOW_MS, type Suite } from './fixture.ts';
import { addInbox, deliver, glanceOf, holderOf, to } from './message-fixture.ts';

/** That glances find what lists find: see `inboxOf`. */
export const glanceContract: Record<'glanceInboxes' & keyof Store, Suite> = {
  glanceInboxes(opened) {
    test('finds as many as eight, and that there are more', async () => {
      const { store } = opened();
      const { providerId, a } = await addInbox(store);
      const ids: number[] = [];
      for (let n = 1; n <= 9; n += 1) {
        const glance = await glanceOf(store, a);
        expect(Array.isArray(glance) && glance.map(({ id }) => id)).toEqual(ids);
        ids.push(await deliver(store, providerId));
      }
      expect(await glanceOf(store, a)).toBe('more');
      await store.acknowledge(a, [{ id: 9, state: 'received', detail: null }], NOW_MS);
      expect(await glanceOf(store, a)).toHaveLength(8);
    });

    test('leaves long messages to the list, and takes none of them for gone', async () => {
      const { store } = opened();
      const { providerId, a } = await addInbox(store);
      const payload = (length: number) => JSON.stringify({ body: 'x'.repeat(length - 11) });
      const id = await deliver(store, providerId, { payload: payload(8192) });
      expect(await glanceOf(store, a)).toMatchObject([{ id, bytes: 8192 }]);
      await deliver(store, providerId, { payload: payload(8193) });
      expect(await glanceOf(store, a)).toBe('more');
    });

    test('looks into many inboxes at once, in their order, and reads a message once', async () => {
      const { store } = opened();
      const { providerId, a } = await addInbox(store);
      await knock(store, 'b');
      const b = await holderOf(store, 'b');
      const toBoth = await deliver(store, providerId);
      const toB = await deliver(store, providerId, to('b'));
      const tokens = [];
      for (const holder of [b, a]) {
        const tokenId = (await store.findDeviceByToken(holder.tokenHash))?.tokenId ?? 0;
        tokens.push({ ...holder, tokenId });
      }
      const [first = tokens[0]] = tokens;
      const gone = { ...first, id: a.id, tokenHash: b.tokenHash, tokenId: first?.tokenId ?? 0 };
      const found = await store.glanceInboxes([...tokens, gone, ...tokens], NOW_MS);
      const idsOf = (glance: Glance) =>
        typeof glance === 'string' ? glance : glance.map(({ id }) => id);
      const both = [[toBoth, toB], [toBoth]];
      expect(found.map(idsOf)).toEqual([...both, 'revoked', ...both]);
      expect(found[1]?.[0]).toBe(found[0]?.[0] as never);
    });
  },
};

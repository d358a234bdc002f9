/** Registrations by a slot, and the hosts at which a token is known. */

import { expect, test } from 'bun:test';
import type { TokenHolder } from '../../../src/core/port/inbox.ts';
import type { Store } from '../../../src/core/port/store.ts';
import { ACT } from '../../support/actor.ts';
import { addDoor, bind, CODE, HASH, knock, OTHER_CODE, OTHER_HASH, type Suite } from './fixture.ts';
import { deliver, onLink, register, registration, to, tokenHash } from './message-fixture.ts';

export const discoveryContract: Record<'isDiscoveredAt', Suite> = {
  isDiscoveredAt(opened) {
    const knownAt = (store: Store, { tokenHash: hash }: TokenHolder, domainHash = HASH) =>
      store.isDiscoveredAt(hash, domainHash);
    const set = (store: Store, code: string, discovery: 0 | 1) =>
      store.updateProvider(code, { discovery }, ACT);

    test('a token is known at the active bindings of a provider that switched it on', async () => {
      const { store } = opened();
      const { providerId } = await addDoor(store);
      const other = await addDoor(store, 'Provide2', OTHER_CODE);
      const domainId = await bind(store, providerId, OTHER_HASH);
      await bind(store, other.providerId, 'c'.repeat(64));
      const a = await register(store, 'a', onLink());
      expect(await knownAt(store, a)).toBe(false);
      await set(store, 'Provide2', 1);
      expect(await knownAt(store, a)).toBe(false);
      await set(store, 'Provide1', 1);
      expect([await knownAt(store, a), await knownAt(store, a, OTHER_HASH)]).toEqual([true, true]);
      expect(await knownAt(store, a, 'c'.repeat(64))).toBe(false);
      expect(await store.isDiscoveredAt(tokenHash('none'), HASH)).toBe(false);
      await store.disableDomain(providerId, domainId, ACT);
      expect([await knownAt(store, a), await knownAt(store, a, OTHER_HASH)]).toEqual([true, false]);
      await set(store, 'Provide1', 0);
      expect(await knownAt(store, a)).toBe(false);
    });

    test('a registration by a slot needs it, and takes no place from another token', async () => {
      const { store } = opened();
      const { providerId } = await addDoor(store);
      const shown = { kind: 'slot', installCode: CODE, domainHash: HASH } as const;
      const attempt = (name: string, more = {}) =>
        store.registerDevice(registration('a', { shown, tokenHash: tokenHash(name), ...more }));
      expect(await attempt('first')).toBe('link_not_found');
      expect(await store.findDevice('a')).toBeNull();
      await knock(store, 'a');
      await deliver(store, providerId, to('a'));
      expect(await attempt('first')).toHaveProperty('deviceId');
      expect(await attempt('second')).toBe('registration_refused');
      expect(await attempt('renewed', { heldTokenHash: tokenHash('first') })).toHaveProperty(
        'deviceId',
      );
      expect(await store.findDeviceByToken(tokenHash('first'))).toBeNull();
      expect(await attempt('third')).toBe('registration_refused');
      // The code of the link takes the place over, as always.
      await register(store, 'a', onLink());
      expect(await store.findDeviceByToken(tokenHash('renewed'))).toBeNull();
      expect(await attempt('fourth')).toBe('registration_refused');
    });
  },
};

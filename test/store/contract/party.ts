import { expect, test } from 'bun:test';
import { ALL, addDoor, addLink, type Suite } from './fixture.ts';

export const partyContract: Record<'continueAs' | 'onBehalfOf', Suite> = {
  onBehalfOf(opened) {
    test('gives what the work gives, and its faults', async () => {
      const { store } = opened();
      expect(store.onBehalfOf('a', String, () => 7)).toBe(7);
      const fail = () => {
        throw new Error('its own');
      };
      expect(() => store.onBehalfOf('a', String, fail)).toThrow('its own');
    });

    test('changes nothing about what is saved, whoever calls at once', async () => {
      const { store } = opened();
      const { providerId } = await addDoor(store);
      const codes = Array.from({ length: 40 }, (_, n) => `LinkCode${1000 + n}`);
      await Promise.all(
        codes.map((installCode, n) =>
          store.onBehalfOf(`party ${n % 3}`, String, () =>
            addLink(store, providerId, { installCode }),
          ),
        ),
      );
      const links = await store.listLinksOf(providerId, ALL);
      expect(links.filter(({ installCode }) => codes.includes(installCode))).toHaveLength(40);
    });
  },

  continueAs(opened) {
    test('changes nothing about what is saved, within a call and outside', async () => {
      const { store } = opened();
      const { providerId } = await addDoor(store);
      store.continueAs('link 1');
      await store.onBehalfOf('a', String, async () => {
        await addLink(store, providerId, { installCode: 'LinkCode1001' });
        store.continueAs('link 1');
        await addLink(store, providerId, { installCode: 'LinkCode1002' });
      });
      const links = await store.listLinksOf(providerId, ALL);
      const codes = links.map(({ installCode }) => installCode);
      expect(codes).toEqual(expect.arrayContaining(['LinkCode1001', 'LinkCode1002']));
    });
  },
};

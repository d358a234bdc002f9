/** Links that come from the users of a panel, again and again. */

import { expect, test } from 'bun:test';
import type { PanelLink } from '../../../src/core/port/moving.ts';
import { ACT } from '../../support/actor.ts';
import { ALL, addLink, addProvider, NOW_MS, type Suite } from './fixture.ts';
import { bring, device, hwidsOf, keyOf, PAGE, user } from './panel-fixture.ts';

export const panelContract: Suite = (opened) => {
  test('a user is one link, whatever code the next import draws', async () => {
    const { store } = opened();
    const { id } = await addProvider(store, 'Provide1');
    expect(await bring(store, id, user('anna'))).toMatchObject({ was: 'added' });
    expect(await bring(store, id, user('anna'))).toMatchObject({ was: 'present' });
    expect(await store.listLinksOf(id, ALL)).toMatchObject([{ note: 'anna', installLimit: 3 }]);
  });

  test('what changed in the panel comes, what was changed here stays', async () => {
    const { store } = opened();
    const { id } = await addProvider(store, 'Provide1');
    await bring(store, id, user('anna'));
    const link = (await store.listLinksOf(id, ALL))[0]?.id ?? 0;
    await store.updateLink(id, link, { note: 'mine' }, ACT);
    const next = { installLimit: 5, note: 'theirs' };
    expect(await bring(store, id, user('anna', next))).toMatchObject({ was: 'updated' });
    expect(await store.listLinksOf(id, ALL)).toMatchObject([{ installLimit: 5, note: 'mine' }]);
    expect(await bring(store, id, user('anna', next))).toMatchObject({ was: 'different' });
    expect(await bring(store, id, user('anna', next), true)).toMatchObject({ was: 'updated' });
    expect(await store.listLinksOf(id, ALL)).toMatchObject([{ installLimit: 5, note: 'theirs' }]);
  });

  test('no import sets a greeting, and none takes that of the provider away', async () => {
    const { store } = opened();
    const { id } = await addProvider(store, 'Provide1');
    await bring(store, id, user('anna'));
    const link = (await store.listLinksOf(id, ALL))[0]?.id ?? 0;
    const greeting = async () => (await store.findLinkFacts(link))?.greeting;
    expect(await greeting()).toBeNull();
    await store.updateLink(id, link, { greeting: 'Anna' }, ACT);
    await bring(store, id, user('anna', { installLimit: 5, note: 'theirs' }), true);
    expect(await greeting()).toBe('Anna');
  });

  test('a link that has the key already is adopted with its terms', async () => {
    const { store } = opened();
    const { id } = await addProvider(store, 'Provide1');
    const link = await addLink(store, id);
    await store.updateLink(id, link, { subscriptionKeyHash: keyOf('anna'), note: 'x' }, ACT);
    expect(await bring(store, id, user('anna'))).toMatchObject({ id: link, was: 'different' });
    const next = user('anna', { note: 'x', installLimit: 4 });
    expect(await bring(store, id, next)).toMatchObject({ id: link, was: 'different' });
    expect(await store.listPanelLinks(id, 'remnawave', PAGE)).toMatchObject([
      { id: link, panelUser: 'remnawave:anna', facts: { installLimit: 4, note: 'x' } },
    ]);
  });

  test('a new key of a user replaces the old one; the key of another user is refused', async () => {
    const { store } = opened();
    const { id } = await addProvider(store, 'Provide1');
    await bring(store, id, user('anna'));
    expect(await bring(store, id, user('boris', {}, 'anna'))).toBe('install_code_exists');
    expect(await bring(store, id, user('anna', {}, 'anna-2'))).toMatchObject({ was: 'updated' });
    expect(await bring(store, id, user('boris', {}, 'anna'))).toMatchObject({ was: 'added' });
  });

  test('a device that was released here does not come back; one that is new comes', async () => {
    const { store } = opened();
    const { id } = await addProvider(store, 'Provide1');
    const slots = [device('a', NOW_MS - 9), device('b', NOW_MS - 8)];
    const added = await bring(store, id, user('anna', { slots }));
    const link = typeof added === 'object' ? added.id : 0;
    await store.freeSlot(id, { installCode: null, installId: link }, 'a', ACT);
    const later = { slots: [...slots, device('c', NOW_MS - 7)] };
    expect(await bring(store, id, user('anna', later))).toMatchObject({ slotsAdded: 1 });
    expect(await hwidsOf(store, id, link)).toEqual(['b', 'c']);
  });

  test('devices beyond the limit stay; one without room comes when there is room', async () => {
    const { store } = opened();
    const { id } = await addProvider(store, 'Provide1');
    const slots = [device('a', NOW_MS - 9), device('b', NOW_MS - 8)];
    const over = { installLimit: 1, overMax: 2, slots };
    await bring(store, id, user('anna', over));
    expect(await store.listLinksOf(id, ALL)).toMatchObject([{ installLimit: 1, deviceCount: 2 }]);
    const more = { ...over, slots: [...slots, device('c', NOW_MS - 7)] };
    expect(await bring(store, id, user('anna', more))).toMatchObject({
      was: 'present',
      slotsWithoutRoom: 1,
    });
    const wider = { ...more, installLimit: 3 };
    expect(await bring(store, id, user('anna', wider))).toMatchObject({ slotsAdded: 1 });
    const lower = { ...more, installLimit: 1 };
    await bring(store, id, user('anna', lower));
    expect(await store.listLinksOf(id, ALL)).toMatchObject([{ installLimit: 3, deviceCount: 3 }]);
    expect(await bring(store, id, user('anna', lower))).toMatchObject({ was: 'present' });
  });

  test('a link that was removed here is not made again', async () => {
    const { store } = opened();
    const { id } = await addProvider(store, 'Provide1');
    const added = await bring(store, id, user('anna'));
    const link = typeof added === 'object' ? added.id : 0;
    await store.removeLink(id, link, ACT);
    expect(await bring(store, id, user('anna'))).toBe('install_code_ended');
  });

  test('links of a panel are listed in pages, by user', async () => {
    const { store } = opened();
    const { id } = await addProvider(store, 'Provide1');
    await Promise.all(['c', 'a', 'b'].map((name) => bring(store, id, user(name))));
    await bring(store, id, user('z', { panelUser: 'remnawave2:z' }));
    const read = async (afterUser: string, countMax: number) =>
      (await store.listPanelLinks(id, 'remnawave', { afterUser, countMax })).map(
        ({ panelUser }: PanelLink) => panelUser,
      );
    expect(await read('', 2)).toEqual(['remnawave:a', 'remnawave:b']);
    expect(await read('remnawave:b', 2)).toEqual(['remnawave:c']);
  });
};

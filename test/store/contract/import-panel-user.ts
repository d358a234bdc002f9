/** Facts of a panel's users beside the terms of their links. */

import { expect, test } from 'bun:test';
import { ACT } from '../../support/actor.ts';
import { ALL, addLink, addProvider, NOW_MS, type Suite } from './fixture.ts';
import { bring, device, keyOf, PAGE, user } from './panel-fixture.ts';

const FACTS = { isPanelLimit: false, panelCreatedAtMs: NOW_MS - 99, view: 'reseller' };

export const panelUserContract: Suite = (opened) => {
  test('facts are found by the key of the link; a link of no import has none', async () => {
    const { store } = opened();
    const { id } = await addProvider(store, 'Provide1');
    const other = await addProvider(store, 'Provide2');
    await bring(store, id, user('anna', { panel: FACTS }));
    await bring(store, id, user('boris'));
    const link = await addLink(store, id);
    await store.updateLink(id, link, { subscriptionKeyHash: keyOf('clara') }, ACT);
    expect(await store.findPanelFacts(id, keyOf('anna'))).toEqual({
      installLimit: 3,
      status: 10,
      note: 'anna',
      subscriptionKeyHash: keyOf('anna'),
      devicesUntilMs: 0,
      ...FACTS,
    });
    expect(await store.findPanelFacts(id, keyOf('boris'))).toEqual({
      installLimit: 3,
      status: 10,
      note: 'boris',
      subscriptionKeyHash: keyOf('boris'),
      devicesUntilMs: 0,
    });
    expect(await store.findPanelFacts(id, keyOf('clara'))).toBeNull();
    expect(await store.findPanelFacts(other.id, keyOf('anna'))).toBeNull();
  });

  test('a user under a new id keeps the link of the former one; no second link', async () => {
    const { store } = opened();
    const { id } = await addProvider(store, 'Provide1');
    const slots = [device('a')];
    const first = await bring(store, id, user('hash', { slots }));
    const link = typeof first === 'object' ? first.id : 0;
    const now = { panelUser: 'remnawave:7', note: 'hash', slots };
    expect(await bring(store, id, user('7', now, 'hash'))).toBe('install_code_exists');
    const named = user('7', { ...now, panel: { formerUser: 'remnawave:hash' } }, 'hash');
    expect(await bring(store, id, named)).toMatchObject({ id: link, was: 'present' });
    expect(await store.listPanelLinks(id, 'remnawave', PAGE)).toMatchObject([
      { id: link, panelUser: 'remnawave:7', deviceCount: 1, status: 10, installLimit: 3 },
    ]);
    // The number stays while the key changes.
    expect(await bring(store, id, user('7', now, 'new'))).toMatchObject({ id: link });
    expect(await store.findPanelFacts(id, keyOf('new'))).toMatchObject({ installLimit: 3 });
    expect(await store.listLinksOf(id, ALL)).toHaveLength(1);
  });

  test('a link that keeps its state is disabled by an import only while it is disabled', async () => {
    const { store } = opened();
    const { id } = await addProvider(store, 'Provide1');
    const kept = { status: 10, panel: { keepsStatus: true } };
    const stateOf = async (name: string) => ({
      link: (await store.listPanelLinks(id, 'remnawave', PAGE)).find(
        ({ panelUser }) => panelUser === `remnawave:${name}`,
      )?.status,
      facts: (await store.findPanelFacts(id, keyOf(name)))?.status,
    });
    for (const name of ['imported', 'enabled']) {
      await bring(store, id, user(name, { status: 5 }));
      expect(await stateOf(name)).toEqual({ link: 5, facts: 5 });
    }
    await bring(store, id, user('own'));
    const links = await store.listLinksOf(id, ALL);
    const idOf = (note: string) => links.find((link) => link.note === note)?.id ?? 0;
    await store.updateLink(id, idOf('enabled'), { status: 10 }, ACT);
    await store.updateLink(id, idOf('own'), { status: 5 }, ACT);
    for (const updates of [false, true]) {
      for (const name of ['imported', 'enabled', 'own']) {
        await bring(store, id, user(name, kept), updates);
      }
      expect(await stateOf('imported')).toEqual({ link: 5, facts: 5 });
      expect(await stateOf('enabled')).toEqual({ link: 10, facts: 10 });
      expect(await stateOf('own')).toEqual({ link: 5, facts: 10 });
    }
    // The panel has enabled the users: the import takes back what an import did.
    for (const name of ['imported', 'own']) await bring(store, id, user(name));
    expect(await stateOf('imported')).toEqual({ link: 10, facts: 10 });
    expect(await stateOf('own')).toEqual({ link: 5, facts: 10 });
  });

  test('a link is removed with its code alone: the next one may have its key', async () => {
    const { store } = opened();
    const { id } = await addProvider(store, 'Provide1');
    const first = user('anna', { slots: [device('a')] });
    const added = await bring(store, id, first);
    const link = typeof added === 'object' ? added.id : 0;
    expect(await store.removeLink(id, link, ACT, true)).toEqual({ freedCount: 1 });
    expect(await store.findEnded(id, { subscriptionKeyHash: keyOf('anna') })).toBeNull();
    const { installCode } = first;
    expect(await store.findEnded(id, { installCode })).toBe('install_code_ended');
    expect(await bring(store, id, user('anna'))).toMatchObject({ was: 'added' });
    expect(await store.listLinksOf(id, ALL)).toMatchObject([{ note: 'anna', deviceCount: 0 }]);
  });
};

/** The users of panels : proved keys, and links that an import disabled. */

import { expect, test } from 'bun:test';
import type { ImportedLink } from '../../../src/core/port/moving.ts';
import type { Store } from '../../../src/core/port/store.ts';
import { hashKey } from '../../../src/core/secret.ts';
import { NO_TERMS } from '../../../src/core/slot.ts';
import { ACT } from '../../support/actor.ts';
import { auditEntries } from '../../support/audit.ts';
import { ALL, addLink, addProvider, NOW_MS, type Suite } from './fixture.ts';

const hashOf = (key: string) => Buffer.from(hashKey(key)).toString('hex');
const RULES = { installCountMax: 100, updates: false };

function user(name: string, status: number, more: Partial<ImportedLink> = {}): ImportedLink {
  return {
    id: null,
    installCode: `Code${name.padStart(8, '0')}`,
    installLimit: 3,
    status,
    note: `"status":5,${name}`,
    createdAtMs: NOW_MS - 99,
    panelUser: `marzban:${name}`,
    terms: { ...NO_TERMS, subscriptionKeyHash: hashOf(name) },
    slots: [],
    ...more,
  };
}

async function imported(store: Store, providerId: number, name: string, status: number) {
  const added = await store.importLink(providerId, user(name, status), RULES, ACT);
  return typeof added === 'object' ? added.id : 0;
}

async function keyed(store: Store, providerId: number, key: string): Promise<number> {
  const id = await addLink(store, providerId, { installCode: `Keyed${key.padStart(7, '0')}` });
  await store.updateLink(providerId, id, { subscriptionKeyHash: hashOf(key) }, ACT);
  return id;
}

const tieOf = async (store: Store, providerId: number, key: string) =>
  (await store.findTiedLink(providerId, hashOf(key)))?.panelUser;

const codesDisabled = async (store: Store) => {
  const filter = { providerCode: null, isFull: false, status: null, isDisabledByImport: true };
  const links = await store.listLinks({ ...filter, countMax: 10 });
  expect(await store.countLinks(filter)).toBe(links.length);
  return links.map(({ id }) => id);
};

const findTiedLink: Suite = (opened) => {
  test('is found by its key, with the facts of the last import, within its provider', async () => {
    const { store } = opened();
    const { id } = await addProvider(store, 'Provide1');
    const other = await addProvider(store, 'Provide2');
    const link = await imported(store, id, 'anna', 5);
    expect(await store.findTiedLink(id, hashOf('anna'))).toMatchObject({
      id: link,
      status: 5,
      installLimit: 3,
      deviceCount: 0,
      panelUser: 'marzban:anna',
      subscriptionKeyHash: hashOf('anna'),
      facts: { status: 5, installLimit: 3 },
    });
    expect(await store.findTiedLink(other.id, hashOf('anna'))).toBeNull();
    expect(await store.findTiedLink(id, hashOf('boris'))).toBeNull();
  });
};

const findTieOf: Suite = (opened) => {
  test('is found by its link, with its provider', async () => {
    const { store } = opened();
    const { id } = await addProvider(store, 'Provide1');
    const link = await imported(store, id, 'anna', 10);
    expect(await store.findTieOf(link)).toMatchObject({
      ...(await store.findTiedLink(id, hashOf('anna'))),
      providerId: id,
      providerCode: 'Provide1',
    });
    expect(await store.findTieOf(link + 1)).toBeNull();
  });
};

const listTiedLinks: Suite = (opened) => {
  test('the links of some keys, within their provider', async () => {
    const { store } = opened();
    const { id } = await addProvider(store, 'Provide1');
    const other = await addProvider(store, 'Provide2');
    await imported(store, id, 'anna', 5);
    await keyed(store, id, 'boris');
    await imported(store, id, 'clara', 5);
    const found = await store.listTiedLinks(id, ['boris', 'nobody', 'anna'].map(hashOf));
    const tied = await store.findTiedLink(id, hashOf('anna'));
    expect(found.toSorted((one, two) => one.id - two.id)).toEqual([
      { ...tied, installCode: 'Code0000anna', note: '"status":5,anna' } as (typeof found)[0],
      expect.objectContaining({ installCode: 'Keyed00boris', panelUser: null, facts: null }),
    ]);
    expect(await store.listTiedLinks(other.id, [hashOf('anna')])).toEqual([]);
    expect(await store.listTiedLinks(id, [])).toEqual([]);
  });
};

const notePanelUser: Suite = (opened) => {
  test('a link takes the user for whom the panel proved its key, and no import counts it', async () => {
    const { store } = opened();
    const { id } = await addProvider(store, 'Provide1');
    await keyed(store, id, 'anna');
    expect(await tieOf(store, id, 'anna')).toBeNull();
    expect(await store.notePanelUser(id, hashOf('anna'), 'marzban:anna')).toBe(true);
    expect(await store.notePanelUser(id, hashOf('anna'), 'marzban:anna')).toBe(false);
    expect(await store.notePanelUser(id, hashOf('nobody'), 'marzban:nobody')).toBe(false);
    expect(await tieOf(store, id, 'anna')).toBe('marzban:anna');
    const page = { afterUser: '', countMax: 10 };
    expect(await store.listPanelLinks(id, 'marzban', page)).toEqual([]);
    // The import finds the link by its user, also with another key, and makes no second one.
    const next = user('anna', 10, {
      terms: { ...NO_TERMS, subscriptionKeyHash: hashOf('anna-2') },
    });
    expect(await store.importLink(id, next, RULES, ACT)).toMatchObject({ was: 'different' });
    expect(await store.listLinksOf(id, ALL)).toHaveLength(1);
    expect(await store.listPanelLinks(id, 'marzban', page)).toHaveLength(1);
  });

  test('another key ends the proof, other changes keep it', async () => {
    const { store } = opened();
    const { id } = await addProvider(store, 'Provide1');
    const link = await keyed(store, id, 'anna');
    await store.notePanelUser(id, hashOf('anna'), 'marzban:anna');
    await store.updateLink(id, link, { note: 'x', installLimit: 4, status: 5 }, ACT);
    expect(await tieOf(store, id, 'anna')).toBe('marzban:anna');
    await store.updateLink(id, link, { subscriptionKeyHash: hashOf('boris') }, ACT);
    expect(await tieOf(store, id, 'boris')).toBeNull();
  });

  test('an imported link keeps its user; one whose key was changed since takes the new one', async () => {
    const { store } = opened();
    const { id } = await addProvider(store, 'Provide1');
    const link = await imported(store, id, 'anna', 10);
    expect(await store.notePanelUser(id, hashOf('anna'), 'marzban:other')).toBe(false);
    await store.updateLink(id, link, { subscriptionKeyHash: hashOf('boris') }, ACT);
    expect(await store.notePanelUser(id, hashOf('boris'), 'marzban:boris')).toBe(true);
    expect(await store.findTiedLink(id, hashOf('boris'))).toMatchObject({
      id: link,
      panelUser: 'marzban:boris',
      facts: null,
    });
  });

  test('a user with a new key leaves the link of the old one, unless an import made that', async () => {
    const { store } = opened();
    const { id } = await addProvider(store, 'Provide1');
    await keyed(store, id, 'one');
    await keyed(store, id, 'two');
    await imported(store, id, 'anna', 10);
    await store.notePanelUser(id, hashOf('one'), 'marzban:7');
    expect(await store.notePanelUser(id, hashOf('two'), 'marzban:7')).toBe(true);
    expect([await tieOf(store, id, 'one'), await tieOf(store, id, 'two')]).toEqual([
      ...[null, 'marzban:7'],
    ]);
    expect(await store.notePanelUser(id, hashOf('one'), 'marzban:anna')).toBe(false);
    expect(await tieOf(store, id, 'anna')).toBe('marzban:anna');
  });
};

const enableImported: Suite = (opened) => {
  test('a link that an import disabled is enabled once, with its entry in the audit log', async () => {
    const { store } = opened();
    const { id } = await addProvider(store, 'Provide1');
    const [link, active] = [
      await imported(store, id, 'anna', 5),
      await imported(store, id, 'boris', 10),
    ];
    expect(await codesDisabled(store)).toEqual([link]);
    const act = { ...ACT, actor: { kind: 'system', name: 'panel', from: 'local' } } as const;
    expect(await store.enableImported(id, link, act)).toBe(true);
    expect(await store.enableImported(id, link, act)).toBe(false);
    expect(await store.enableImported(id, active, act)).toBe(false);
    expect(await store.enableImported(id + 1, link, act)).toBe(false);
    expect(await store.findTiedLink(id, hashOf('anna'))).toMatchObject({
      status: 10,
      panelUser: 'marzban:anna',
      facts: { status: 10 },
    });
    expect(await codesDisabled(store)).toEqual([]);
    const entries = await auditEntries({ store });
    expect(entries.filter(({ name }) => name === 'panel')).toMatchObject([
      { action: 'install.update', object: { id: link } },
    ]);
  });

  test('a link whose provider changed its state is not the import’s any more', async () => {
    const { store } = opened();
    const { id } = await addProvider(store, 'Provide1');
    const link = await imported(store, id, 'anna', 10);
    await store.updateLink(id, link, { status: 5 }, ACT);
    expect(await codesDisabled(store)).toEqual([]);
    expect(await store.enableImported(id, link, ACT)).toBe(false);
    expect(await store.listLinksOf(id, ALL)).toMatchObject([{ status: 5 }]);
    const other = await imported(store, id, 'boris', 5);
    await store.updateLink(id, other, { status: 10 }, ACT);
    expect(await store.enableImported(id, other, ACT)).toBe(false);
  });
};

export const panelTieContract = {
  findTiedLink,
  findTieOf,
  listTiedLinks,
  notePanelUser,
  enableImported,
};

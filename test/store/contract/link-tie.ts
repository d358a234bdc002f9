import { expect, test } from 'bun:test';
import { DAY_MS, HOUR_MS } from '../../../src/core/calendar.ts';
import { TIES_PER_HOUR_MAX } from '../../../src/core/link-tie.ts';
import { INSTALL_DISABLED } from '../../../src/core/port/link.ts';
import type { LinkTieStore, TieState } from '../../../src/core/port/link-tie.ts';
import type { Store } from '../../../src/core/port/store.ts';
import { subscriptionKeyHash } from '../../../src/core/secret.ts';
import { ACT } from '../../support/actor.ts';
import { auditEntries, deedOf } from '../../support/audit.ts';
import {
  addDoor,
  addLink,
  CODE,
  FACTS,
  HASH,
  heard,
  linkDraft,
  NOW_MS,
  OTHER_CODE,
  type Suite,
} from './fixture.ts';
import { listening } from './happening.ts';

export const KEY = subscriptionKeyHash('a key');
const MADE = 'MadeByGate01';

const selector = (installCode: string) => ({ installCode, installId: null });

/** The HWIDs on a link; null: it is gone. */
export async function hwidsOn(store: Store, providerId: number, installCode: string) {
  const listed = await store.listSlots(providerId, selector(installCode), null, 200);
  return typeof listed === 'string' ? null : listed.map(({ hwid }) => hwid).sort();
}

/** A link with a code, and one that the proxy made for a key; each with devices. */
export async function addBoth(
  store: Store,
  onCode: string[] = [],
  onKey: string[] = ['a'],
  limit = 2,
) {
  const { providerId, installId } = await addDoor(store);
  await store.updateLink(providerId, installId, { installLimit: limit }, ACT);
  for (const hwid of onCode) {
    await store.takeSlot({ installCode: CODE, domainHash: HASH, hwid }, FACTS, NOW_MS);
  }
  const more = { installCode: MADE, subscriptionKeyHash: KEY, installLimit: 5, note: 'made' };
  for (const hwid of onKey) {
    const key = { subscriptionKeyHash: KEY, providerCode: 'Provide1', domainHash: HASH, hwid };
    await store.addLinkWithSlot(linkDraft(providerId, more), key, FACTS, ACT);
  }
  const fetch = (hwid: string, installCode = CODE) => ({
    providerId,
    keyHash: KEY,
    installCode,
    hwid,
  });
  const ties = (state: TieState) =>
    store.listTies(providerId, state, { afterId: 0, countMax: 100 });
  return { providerId, installId, fetch, ties };
}

const deedsAfter = async (store: Store, count: number) =>
  (await auditEntries({ store })).slice(count).map(deedOf);

const knockByKey = async (store: Store, hwid: string) =>
  heard(
    await store.takeSlot(
      { subscriptionKeyHash: KEY, providerCode: 'Provide1', domainHash: HASH, hwid },
      FACTS,
      NOW_MS,
    ),
  );

export const linkTieContract: Record<keyof LinkTieStore, Suite> = {
  findTieFacts(opened) {
    test('what a fetch would tie, and what stands in its way', async () => {
      const { store } = opened();
      const { providerId, installId, fetch } = await addBoth(store, ['a'], ['a', 'b']);
      expect(await store.findTieFacts(fetch('b'), NOW_MS)).toMatchObject({
        isOn: true,
        tie: null,
        link: { installLimit: 2, deviceCount: 1, hasKey: false },
        former: { isOfGate: true, deviceCount: 2, outsideCount: 1, hasCaller: true },
        isEnded: false,
        hourCount: 0,
      });
      expect(await store.findTieFacts(fetch('c'), NOW_MS)).toMatchObject({
        former: { hasCaller: false },
      });
      expect(await store.findTieFacts(fetch('b', OTHER_CODE), NOW_MS)).toBeNull();
      // Once a key.
      await store.updateLink(
        providerId,
        installId,
        { subscriptionKeyHash: subscriptionKeyHash('x') },
        ACT,
      );
      expect(await store.findTieFacts(fetch('b'), NOW_MS)).toBeNull();
    });

    test('a key whose link was removed is tied to none', async () => {
      const { store } = opened();
      const { fetch, providerId } = await addBoth(store);
      const made = await store.findLink(MADE);
      await store.removeLink(providerId, made?.id ?? 0, ACT);
      expect(await store.findTieFacts(fetch('a'), NOW_MS)).toMatchObject({ isEnded: true });
      expect(await store.tieByFetch(fetch('a'), ACT)).toBe(false);
    });
  },

  tieByFetch(opened) {
    test('a key that no link has becomes that of the link', async () => {
      const { store } = opened();
      const { fetch, installId, ties } = await addBoth(store, ['a'], []);
      const before = (await auditEntries({ store })).length;
      expect(await store.tieByFetch(fetch('a'), ACT)).toBe(true);
      expect(await store.tieByFetch(fetch('a'), ACT)).toBe(false);
      expect(await knockByKey(store, 'a')).toMatchObject({ installId });
      expect(await ties('tied')).toMatchObject([{ installId, formerId: null, leftCount: 0 }]);
      expect(await deedsAfter(store, before)).toEqual([
        `install.update {"id":${installId}} {"subscription_key":"changed"}`,
        `install.tie {"id":${installId}}`,
      ]);
    });

    test('the link that the proxy made ends, with an event and an entry', async () => {
      const { store } = opened();
      const heardOf = await listening(store);
      const { providerId, installId, told } = heardOf;
      const more = { installCode: MADE, subscriptionKeyHash: KEY, installLimit: 5 };
      const name = { subscriptionKeyHash: KEY, providerCode: 'Provide1', domainHash: HASH };
      const draft = linkDraft(providerId, more);
      await store.addLinkWithSlot(draft, { ...name, hwid: 'c' }, FACTS, ACT);
      const count = (await told()).length;
      const fetch = { providerId, keyHash: KEY, installCode: CODE, hwid: 'c' };
      expect(await store.tieByFetch(fetch, ACT)).toBe(true);
      const events = (await told()).slice(count);
      expect(events.map(([kind]) => kind)).toEqual(['link.removed', 'link.updated', 'link.tie']);
      expect(events.at(-1)?.[1]).toMatchObject({
        install_id: installId,
        state: 'tied',
        moved: 1,
        left_out: 0,
      });
      expect(await store.findLink(MADE)).toBeNull();
      expect(await knockByKey(store, 'c')).toMatchObject({ installId });
    });

    test('devices of others wait: one event, however often it is asked', async () => {
      const { store } = opened();
      const { providerId, installId, told } = await listening(store);
      const more = { installCode: MADE, subscriptionKeyHash: KEY, installLimit: 5 };
      const name = { subscriptionKeyHash: KEY, providerCode: 'Provide1', domainHash: HASH };
      for (const hwid of ['c', 'd']) {
        await store.addLinkWithSlot(linkDraft(providerId, more), { ...name, hwid }, FACTS, ACT);
      }
      const count = (await told()).length;
      const fetch = { providerId, keyHash: KEY, installCode: CODE, hwid: 'c' };
      for (let n = 0; n < 3; n++) expect(await store.tieByFetch(fetch, ACT)).toBe(false);
      const later = { ...ACT, atMs: NOW_MS + 2 * DAY_MS };
      expect(await store.tieByFetch(fetch, later)).toBe(false);
      const events = (await told()).slice(count);
      expect(events.map(([kind, data]) => [kind, data['state'], data['left_out']])).toEqual([
        ['link.tie', 'waits', 0],
      ]);
      const page = { afterId: 0, countMax: 9 };
      expect(await store.listTies(providerId, 'waits', page)).toMatchObject([
        { installId, movingCount: 2, leftCount: 0, atMs: later.atMs },
      ]);
    });

    test('a link that lost its tied key waits for it again, and can have it', async () => {
      const { store } = opened();
      const { fetch, installId, providerId, ties } = await addBoth(store, [], ['a']);
      expect(await store.tieByFetch(fetch('a'), ACT)).toBe(true);
      await store.updateLink(providerId, installId, { subscriptionKeyHash: null }, ACT);
      const more = { installCode: OTHER_CODE, subscriptionKeyHash: KEY, installLimit: 5 };
      const name = { subscriptionKeyHash: KEY, providerCode: 'Provide1', domainHash: HASH };
      for (const hwid of ['c', 'd']) {
        await store.addLinkWithSlot(linkDraft(providerId, more), { ...name, hwid }, FACTS, ACT);
      }
      expect(await store.tieByFetch(fetch('c'), ACT)).toBe(false);
      expect(await ties('tied')).toEqual([]);
      const [waiting] = await ties('waits');
      expect(await store.agreeTie(providerId, waiting?.id ?? 0, ACT)).toMatchObject({
        done: 'tied',
      });
    });

    test('only to an active link, and not to that of another provider', async () => {
      const { store } = opened();
      const { fetch, installId, providerId } = await addBoth(store);
      const other = await addDoor(store, 'Provide2', OTHER_CODE);
      expect(await store.tieByFetch(fetch('a', OTHER_CODE), ACT)).toBe(false);
      await store.updateLink(providerId, installId, { status: INSTALL_DISABLED }, ACT);
      expect(await store.tieByFetch(fetch('a'), ACT)).toBe(false);
      expect(await store.listTies(other.providerId, 'waits', { afterId: 0, countMax: 9 })).toEqual(
        [],
      );
    });

    test('a link that the provider made keeps its key', async () => {
      const { store } = opened();
      const { fetch, providerId } = await addBoth(store, [], []);
      await addLink(store, providerId, { installCode: OTHER_CODE, subscriptionKeyHash: KEY });
      expect(await store.tieByFetch(fetch('a'), ACT)).toBe(false);
      expect(await knockByKey(store, 'a')).toMatchObject({ deviceCount: 1 });
      expect(await store.findLink(CODE)).toMatchObject({ hasSubscriptionKey: false });
    });
  },

  agreeTie(opened) {
    test('devices move within the limit, those seen last first; the others lose their slot', async () => {
      const { store } = opened();
      const { fetch, providerId, ties } = await addBoth(store, ['x'], ['a', 'b', 'c']);
      const key = { subscriptionKeyHash: KEY, providerCode: 'Provide1', domainHash: HASH };
      await store.takeSlot({ ...key, hwid: 'b' }, FACTS, NOW_MS + 2 * DAY_MS);
      await store.tieByFetch(fetch('a'), ACT);
      const [waiting] = await ties('waits');
      expect(waiting).toMatchObject({ movingCount: 1, leftCount: 2 });
      const agreed = await store.agreeTie(providerId, waiting?.id ?? 0, ACT);
      expect(agreed).toEqual({ done: 'tied', movedCount: 1, leftCount: 2 });
      expect(await hwidsOn(store, providerId, CODE)).toEqual(['b', 'x']);
      expect(await hwidsOn(store, providerId, MADE)).toBeNull();
      expect(await ties('tied')).toMatchObject([{ movingCount: 1, leftCount: 2 }]);
      expect(await store.agreeTie(providerId, waiting?.id ?? 0, ACT)).toBe('tie_not_found');
    });

    test('not of another provider, nor when the link has got a key', async () => {
      const { store } = opened();
      const { fetch, installId, providerId, ties } = await addBoth(store, [], ['a', 'b']);
      await store.tieByFetch(fetch('a'), ACT);
      const [waiting] = await ties('waits');
      const id = waiting?.id ?? 0;
      expect(await store.agreeTie(providerId + 1, id, ACT)).toBe('tie_not_found');
      const subscriptionKey = subscriptionKeyHash('x');
      await store.updateLink(providerId, installId, { subscriptionKeyHash: subscriptionKey }, ACT);
      expect(await store.agreeTie(providerId, id, ACT)).toBe('link_has_key');
      expect(await hwidsOn(store, providerId, MADE)).toEqual(['a', 'b']);
    });
  },

  giveKey(opened) {
    test('a key that no link has; again it is the same', async () => {
      const { store } = opened();
      const { providerId } = await addBoth(store, [], []);
      const give = (code: string) => store.giveKey(providerId, selector(code), KEY, ACT);
      expect(await give(CODE)).toEqual({ done: 'given' });
      expect(await give(CODE)).toEqual({ done: 'same' });
      expect(await give('NoSuchCode01')).toBe('install_not_found');
      await addLink(store, providerId, { installCode: OTHER_CODE });
      expect(await give(OTHER_CODE)).toBe('subscription_key_exists');
      const other = subscriptionKeyHash('other');
      expect(await store.giveKey(providerId, selector(CODE), other, ACT)).toBe('link_has_key');
    });

    test('the link that the proxy made for it is joined', async () => {
      const { store } = opened();
      const { installId, providerId, ties } = await addBoth(store, ['x'], ['a', 'b']);
      const given = await store.giveKey(providerId, { installCode: null, installId }, KEY, ACT);
      expect(given).toEqual({ done: 'tied', movedCount: 1, leftCount: 1 });
      expect(await store.findLink(MADE)).toBeNull();
      expect(await ties('tied')).toHaveLength(1);
    });
  },

  undoTie(opened) {
    test('the link comes back as it was, with the devices that moved and those that were left', async () => {
      const { store } = opened();
      const { installId, providerId, ties } = await addBoth(store, ['a', 'x'], ['a', 'b', 'c'], 3);
      const before = await store.findLink(MADE);
      await store.giveKey(providerId, selector(CODE), KEY, ACT);
      expect(await hwidsOn(store, providerId, CODE)).toEqual(['a', 'c', 'x']);
      const [tied] = await ties('tied');
      const id = tied?.id ?? 0;
      expect(await store.undoTie(providerId, id, ACT)).toEqual({ done: 'undone' });
      expect(await hwidsOn(store, providerId, CODE)).toEqual(['a', 'x']);
      expect(await hwidsOn(store, providerId, MADE)).toEqual(['a', 'b', 'c']);
      const after = await store.findLink(MADE);
      expect({ ...after, id: 0 }).toEqual({ ...before, id: 0 } as never);
      expect(await store.findLinkById(installId)).toMatchObject({ hasSubscriptionKey: false });
      expect(await knockByKey(store, 'b')).toMatchObject({ installId: after?.id ?? 0 });
      expect(await store.undoTie(providerId, id, ACT)).toBe('tie_not_found');
    });

    test('devices that left since do not come back; new ones stay', async () => {
      const { store } = opened();
      const { providerId, ties } = await addBoth(store, [], ['a', 'b']);
      await store.giveKey(providerId, selector(CODE), KEY, ACT);
      await store.freeSlot(providerId, selector(CODE), 'b', ACT);
      await knockByKey(store, 'n');
      const [tied] = await ties('tied');
      await store.undoTie(providerId, tied?.id ?? 0, ACT);
      expect(await hwidsOn(store, providerId, CODE)).toEqual(['n']);
      expect(await hwidsOn(store, providerId, MADE)).toEqual(['a']);
    });

    test('what was undone is tied by no fetch, but by the provider', async () => {
      const { store } = opened();
      const { fetch, providerId, ties } = await addBoth(store, ['a'], []);
      await store.tieByFetch(fetch('a'), ACT);
      const [tied] = await ties('tied');
      const id = tied?.id ?? 0;
      await store.undoTie(providerId, id, ACT);
      expect(await store.findLink(CODE)).toMatchObject({ hasSubscriptionKey: false });
      expect(await store.tieByFetch(fetch('a'), { ...ACT, atMs: NOW_MS + 2 * DAY_MS })).toBe(false);
      expect(await ties('undone')).toHaveLength(1);
      expect(await store.agreeTie(providerId, id, ACT)).toMatchObject({ done: 'tied' });
    });

    test('a limit that waits for devices to leave falls with those that go back', async () => {
      const { store } = opened();
      const { installId, providerId, ties } = await addBoth(store, ['x'], ['a', 'b'], 5);
      const made = await store.findLink(MADE);
      const lower = { installLimit: 1, asTheyLeave: true };
      await store.updateLink(providerId, made?.id ?? 0, lower, ACT);
      await store.giveKey(providerId, selector(CODE), KEY, ACT);
      await store.updateLink(providerId, installId, lower, ACT);
      await store.freeSlot(providerId, selector(CODE), 'a', ACT);
      const [tied] = await ties('tied');
      await store.undoTie(providerId, tied?.id ?? 0, ACT);
      const reached = { deviceCount: 1, installLimit: 1, limitWanted: null };
      expect(await store.findLink(CODE)).toMatchObject(reached);
      expect(await store.findLink(MADE)).toMatchObject(reached);
      expect(await knockByKey(store, 'n')).toBe('link_limit_reached');
    });

    test('the user that the panel named since goes back with the key', async () => {
      const { store } = opened();
      const { providerId, ties } = await addBoth(store);
      await store.giveKey(providerId, selector(CODE), KEY, ACT);
      expect(await store.notePanelUser(providerId, KEY, 'marzban:anna')).toBe(true);
      const [tied] = await ties('tied');
      await store.undoTie(providerId, tied?.id ?? 0, ACT);
      const made = await store.findLink(MADE);
      expect(await store.findTiedLink(providerId, KEY)).toMatchObject({
        id: made?.id as never,
        panelUser: 'marzban:anna',
      });
    });

    test('a fetch ties what was undone at no later time either', async () => {
      const { store } = opened();
      const { fetch, providerId, ties } = await addBoth(store, ['a'], []);
      await store.tieByFetch(fetch('a'), ACT);
      const [tied] = await ties('tied');
      await store.undoTie(providerId, tied?.id ?? 0, ACT);
      const later = { ...ACT, atMs: NOW_MS + 400 * DAY_MS };
      while (await store.forgetTies(later.atMs));
      expect(await store.tieByFetch(fetch('a'), later)).toBe(false);
      expect(await store.findLink(CODE)).toMatchObject({ hasSubscriptionKey: false });
    });

    test('a tie of which the link has another key since is not undone', async () => {
      const { store } = opened();
      const { installId, providerId, ties } = await addBoth(store);
      await store.giveKey(providerId, selector(CODE), KEY, ACT);
      const subscriptionKey = subscriptionKeyHash('x');
      await store.updateLink(providerId, installId, { subscriptionKeyHash: subscriptionKey }, ACT);
      const [tied] = await ties('tied');
      expect(await store.undoTie(providerId, tied?.id ?? 0, ACT)).toBe('tie_changed');
      expect(await store.findLink(MADE)).toBeNull();
    });
  },

  listTies(opened) {
    test('in pages, since a time, those of the provider', async () => {
      const { store } = opened();
      const { providerId } = await addBoth(store, [], []);
      for (let n = 0; n < 3; n++) {
        await addLink(store, providerId, { installCode: `LinkCode001${n}` });
        const hash = subscriptionKeyHash(`key ${n}`);
        const fetch = { providerId, keyHash: hash, installCode: `LinkCode001${n}`, hwid: 'a' };
        await store.tieByFetch(fetch, { ...ACT, atMs: NOW_MS + n });
      }
      const list = async (page: { afterId: number; sinceMs?: number }) =>
        (await store.listTies(providerId, 'tied', { countMax: 2, ...page })).map(({ id }) => id);
      expect(await list({ afterId: 0 })).toEqual([1, 2]);
      expect(await list({ afterId: 2 })).toEqual([3]);
      expect(await list({ afterId: 0, sinceMs: NOW_MS + 2 })).toEqual([3]);
      expect(await store.listTies(99, 'tied', { afterId: 0, countMax: 2 })).toEqual([]);
    });
  },

  findTiesSwitch(opened) {
    test('a new provider has them on', async () => {
      const { store } = opened();
      const { providerId } = await addDoor(store);
      expect(await store.findTiesSwitch(providerId)).toBe(true);
      expect(await store.findTiesSwitch(99)).toBeNull();
    });
  },

  switchTies(opened) {
    test('while they are off each waits; an entry for each change', async () => {
      const { store } = opened();
      const { fetch, providerId, ties } = await addBoth(store, ['a'], []);
      const before = (await auditEntries({ store })).length;
      await store.switchTies(providerId, false, ACT);
      await store.switchTies(providerId, false, ACT);
      expect(await store.tieByFetch(fetch('a'), ACT)).toBe(false);
      expect(await ties('waits')).toHaveLength(1);
      await store.switchTies(providerId, true, ACT);
      expect(await store.tieByFetch(fetch('a'), ACT)).toBe(true);
      expect((await deedsAfter(store, before)).slice(0, 2)).toEqual([
        'provider.ties {"ties":"off"}',
        'provider.ties {"ties":"on"}',
      ]);
    });

    test('never more than a thousand an hour, by whom they may be', async () => {
      const { store } = opened();
      const { providerId } = await addBoth(store, [], []);
      await store.updateProvider('Provide1', { installCountMax: 10_000 }, ACT);
      const tie = async (n: number, atMs = NOW_MS) => {
        const installCode = `Many${String(n).padStart(8, '0')}`;
        await addLink(store, providerId, { installCode, installCountMax: 10_000 });
        const fetch = { providerId, keyHash: subscriptionKeyHash(`${n}`), installCode, hwid: 'a' };
        return store.tieByFetch(fetch, { ...ACT, atMs });
      };
      for (let n = 0; n < TIES_PER_HOUR_MAX; n++) expect(await tie(n)).toBe(true);
      expect(await tie(TIES_PER_HOUR_MAX)).toBe(false);
      const other = await addDoor(store, 'Provide2', OTHER_CODE);
      const fetch = { keyHash: KEY, installCode: OTHER_CODE, hwid: 'a' };
      expect(await store.tieByFetch({ ...fetch, providerId: other.providerId }, ACT)).toBe(true);
      expect(await tie(TIES_PER_HOUR_MAX + 1, NOW_MS + HOUR_MS + 1)).toBe(true);
    });
  },

  forgetTies(opened) {
    test('those from before a time', async () => {
      const { store } = opened();
      const { fetch, ties } = await addBoth(store, ['a'], []);
      await store.tieByFetch(fetch('a'), ACT);
      expect(await store.forgetTies(NOW_MS)).toBe(false);
      expect(await ties('tied')).toHaveLength(1);
      expect(await store.forgetTies(NOW_MS + 1)).toBe(true);
      expect(await ties('tied')).toEqual([]);
      // The key stays.
      expect(await store.findLink(CODE)).toMatchObject({ hasSubscriptionKey: true });
    });
  },
};

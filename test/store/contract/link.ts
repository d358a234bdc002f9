import { expect, test } from 'bun:test';
import { DAY_MS } from '../../../src/core/calendar.ts';
import type { LinkChange, NewLink } from '../../../src/core/port/link.ts';
import type { Store } from '../../../src/core/port/store.ts';
import { ACT } from '../../support/actor.ts';
import {
  ALL,
  addDoor,
  addLink,
  addProvider,
  bind,
  CODE,
  FACTS,
  HASH,
  heard,
  knock,
  linkDraft,
  NOW_MS,
  OTHER_CODE,
  OTHER_HASH,
  provider,
  removeProvider,
  type Suite,
} from './fixture.ts';

type Method =
  | 'addLink'
  | 'addLinkWithSlot'
  | 'updateLink'
  | 'listLinksOf'
  | 'findLinkByKey'
  | 'listSlots'
  | 'freeSlot';

const KEY_HASH = 'c'.repeat(64);

export const linkContract: Record<Method & keyof Store, Suite> = {
  addLink(opened) {
    test('keeps an active link without devices and counts it', async () => {
      const { store } = opened();
      const { id: providerId } = await addProvider(store, 'Provide1');
      const id = await addLink(store, providerId, { note: null, installLimit: 100 });
      expect(await store.listLinksOf(providerId, ALL)).toEqual([
        {
          id,
          installCode: CODE,
          installLimit: 100,
          deviceCount: 0,
          status: 10,
          note: null,
          createdAtMs: NOW_MS,
        },
      ]);
      expect((await provider(store, 'Provide1')).installCount).toBe(1);
    });

    test('refuses a code that any provider has, before the cap', async () => {
      const { store } = opened();
      const one = await addProvider(store, 'Provide1');
      const two = await addProvider(store, 'Provide2');
      await addLink(store, one.id);
      for (const { id } of [one, two]) {
        const draft = linkDraft(id, { installCountMax: 0 });
        expect(await store.addLink(draft, ACT)).toBe('install_code_exists');
      }
      expect(await store.listLinksOf(two.id, ALL)).toEqual([]);
    });

    test('codes differ by case', async () => {
      const { store } = opened();
      const { id } = await addProvider(store, 'Provide1');
      await addLink(store, id, { installCode: 'aaaaaaaaaaaa' });
      expect(await addLink(store, id, { installCode: 'AAAAAAAAAAAA' })).toBeGreaterThan(0);
    });

    test('refuses one link more than the cap, also to many at once', async () => {
      const { store, openBeside } = opened();
      const { id } = await addProvider(store, 'Provide1');
      const beside = await openBeside();
      const all = Array.from({ length: 12 }, (_, i) => {
        const installCode = `LinkCode${String(i).padStart(4, '0')}`;
        const draft = linkDraft(id, { installCode, installCountMax: 5 });
        return (i % 2 === 0 ? store : beside).addLink(draft, ACT);
      });
      const refused = (await Promise.all(all)).filter((added) => typeof added === 'string');
      expect(refused).toEqual(Array(7).fill('install_code_limit_reached'));
      expect(await store.listLinksOf(id, ALL)).toHaveLength(5);
      expect((await provider(store, 'Provide1')).installCount).toBe(5);
    });

    test('a provider that is gone gets none', async () => {
      const { store } = opened();
      const { id } = await addProvider(store, 'Provide1');
      await removeProvider(store, 'Provide1');
      expect(store.addLink(linkDraft(id), ACT)).rejects.toThrow();
    });
  },

  addLinkWithSlot(opened) {
    const draftOf = (providerId: number, more = {}) =>
      linkDraft(providerId, { subscriptionKeyHash: KEY_HASH, ...more });
    const keyOf = (hwid: string, domainHash = HASH) => ({
      subscriptionKeyHash: KEY_HASH,
      providerCode: 'Provide1',
      domainHash,
      hwid,
    });

    test('makes the link and the slot of the first; the others are let in there', async () => {
      const { store, openBeside } = opened();
      const { id } = await addProvider(store, 'Provide1');
      await bind(store, id);
      const beside = await openBeside();
      const all = Array.from({ length: 12 }, (_, i) => {
        const draft = draftOf(id, { installCode: `LinkCode${String(i).padStart(4, '0')}` });
        const at = i % 2 === 0 ? store : beside;
        return at.addLinkWithSlot(draft, keyOf(`hwid-${i % 4}`), FACTS, ACT);
      });
      const entered = await Promise.all(all);
      // Of those who were let in, one had the link made.
      expect(entered.filter((one) => typeof one === 'object' && 'isNew' in one)).toHaveLength(1);
      const answers = entered.map(heard);
      const refused = answers.filter((answer) => answer === 'link_limit_reached');
      expect(refused).toHaveLength(6);
      expect(await store.listLinksOf(id, ALL)).toMatchObject([{ deviceCount: 2, status: 10 }]);
      expect(await store.findLinkByKey(id, KEY_HASH)).toMatchObject({ deviceCount: 2 });
    });

    test('a refusal leaves neither link nor slot', async () => {
      const { store } = opened();
      const { providerId: id } = await addDoor(store);
      const ask = (draft: NewLink, domainHash = HASH) =>
        store.addLinkWithSlot(draft, keyOf('a', domainHash), FACTS, ACT);
      expect(await ask(draftOf(id))).toBe('install_code_exists');
      const other = { installCode: OTHER_CODE };
      expect(await ask(draftOf(id, other), OTHER_HASH)).toBe('link_domain_not_bound');
      const full = draftOf(id, { ...other, installCountMax: 1 });
      expect(await ask(full)).toBe('install_code_limit_reached');
      expect(await store.findDevice('a')).toBeNull();
      expect(await store.listLinksOf(id, ALL)).toHaveLength(1);
      expect(heard(await ask(draftOf(id, other)))).toMatchObject({ deviceCount: 1 });
    });
  },

  findLinkByKey(opened) {
    test('finds the link of the provider alone; a key that is cleared finds none', async () => {
      const { store } = opened();
      const { id: foreign } = await addProvider(store, 'Provide2');
      const { providerId, installId } = await addDoor(store);
      const withKey = { subscriptionKeyHash: KEY_HASH };
      await store.updateLink(providerId, installId, withKey, ACT);
      const [link] = await store.listLinksOf(providerId, ALL);
      expect(await store.findLinkByKey(providerId, KEY_HASH)).toEqual(link ?? null);
      expect(await store.findLinkByKey(foreign, KEY_HASH)).toBeNull();
      await addLink(store, foreign, { installCode: OTHER_CODE, ...withKey });
      expect(await store.findLinkByKey(foreign, KEY_HASH)).toMatchObject({
        installCode: OTHER_CODE,
      });
      await store.updateLink(providerId, installId, { subscriptionKeyHash: null }, ACT);
      expect(await store.findLinkByKey(providerId, KEY_HASH)).toBeNull();
    });
  },

  updateLink(opened) {
    test('a key of another link of the provider is refused, its own is not', async () => {
      const { store } = opened();
      const { providerId, installId } = await addDoor(store);
      const withKey = { subscriptionKeyHash: KEY_HASH };
      const otherId = await addLink(store, providerId, { installCode: OTHER_CODE, ...withKey });
      const change = { ...withKey, installLimit: 9 };
      const update = (id: number) => store.updateLink(providerId, id, change, ACT);
      expect(await update(installId)).toBe('subscription_key_exists');
      expect(await store.listLinksOf(providerId, { ...ALL, id: installId })).toMatchObject([
        { installLimit: 2 },
      ]);
      expect(await update(otherId)).toMatchObject({ says: 'ok' });
      const third = linkDraft(providerId, { installCode: 'LinkCode0003', ...withKey });
      expect(await store.addLink(third, ACT)).toBe('subscription_key_exists');
    });

    test('changes what it is given and nothing else', async () => {
      const { store } = opened();
      const { id: providerId } = await addProvider(store, 'Provide1');
      const id = await addLink(store, providerId);
      const otherId = await addLink(store, providerId, { installCode: OTHER_CODE });
      const links = () => store.listLinksOf(providerId, ALL);
      const [other, one] = await links();
      for (const change of [
        {},
        { installLimit: 50 },
        { note: 'new' },
        { note: null },
        { status: 5 },
        { installLimit: 1, note: 'all', status: 10 },
      ]) {
        const updated = await store.updateLink(providerId, id, change, ACT);
        expect(updated).toEqual({ says: 'ok', installCode: CODE });
        Object.assign(one ?? {}, change);
        expect(await links()).toEqual([other, one] as never);
      }
      expect(otherId).toBeGreaterThan(id);
    });

    test('a limit may come down to the devices on the link, not below; then nothing changes', async () => {
      const { store } = opened();
      const { providerId, installId } = await addDoor(store);
      for (const hwid of ['a', 'b']) await knock(store, hwid);
      const before = await store.listLinksOf(providerId, ALL);
      const below = { installLimit: 1, note: 'new', status: 5 };
      expect(await store.updateLink(providerId, installId, below, ACT)).toBe(
        'install_limit_below_count',
      );
      expect(await store.listLinksOf(providerId, ALL)).toEqual(before);
      const exact = await store.updateLink(providerId, installId, { installLimit: 2 }, ACT);
      expect(exact).toMatchObject({ says: 'ok' });
    });

    test('a limit below the devices falls as they leave, and admits none until then', async () => {
      const { store } = opened();
      const { providerId, installId } = await addDoor(store);
      const update = (change: LinkChange) => store.updateLink(providerId, installId, change, ACT);
      const free = (hwid: string) =>
        store.freeSlot(providerId, { installCode: CODE, installId: null }, hwid, ACT);
      const limits = async () => {
        const { deviceCount, installLimit, limitWanted } = (await store.findLink(CODE)) ?? {};
        return [deviceCount, installLimit, limitWanted];
      };
      const frees = { whenFull: 'replace-oldest', coolDownHours: 0, inactiveDays: 1 } as const;
      await update({ installLimit: 5, ...frees });
      for (const hwid of ['a', 'b', 'c', 'd']) await knock(store, hwid);

      expect(await update({ installLimit: 2, asTheyLeave: true })).toMatchObject({ says: 'ok' });
      expect(await limits()).toEqual([4, 4, 2]);
      const late = NOW_MS + 30 * DAY_MS;
      expect(await knock(store, 'e', CODE, FACTS, late)).toBe('link_limit_reached');
      expect(await knock(store, 'a', CODE, FACTS, NOW_MS)).toMatchObject({ deviceCount: 4 });
      // The limit that was set may be given again, and other fields may change.
      expect(await update({ installLimit: 2, note: 'new' })).toMatchObject({ says: 'ok' });
      expect(await update({ installLimit: 1 })).toBe('install_limit_below_count');
      expect(await limits()).toEqual([4, 4, 2]);

      expect(await free('a')).toEqual({ deviceCount: 3 });
      expect(await limits()).toEqual([3, 3, 2]);
      expect(await knock(store, 'e', CODE, FACTS, late)).toBe('link_limit_reached');
      await free('b');
      expect(await limits()).toEqual([2, 2, null]);
      // From here on it is a full link as others are.
      expect(await knock(store, 'e', CODE, FACTS, late)).toMatchObject({ deviceCount: 2 });
      expect(await limits()).toEqual([2, 2, null]);
    });

    test('another limit ends the one that is wanted; a link with room takes it at once', async () => {
      const { store } = opened();
      const { providerId, installId } = await addDoor(store);
      const update = (change: LinkChange) => store.updateLink(providerId, installId, change, ACT);
      for (const hwid of ['a', 'b']) await knock(store, hwid);
      await update({ installLimit: 1, asTheyLeave: true });
      await update({ installLimit: 3 });
      expect(await store.findLink(CODE)).toMatchObject({ installLimit: 3, limitWanted: null });
      await update({ installLimit: 2, asTheyLeave: true });
      expect(await store.findLink(CODE)).toMatchObject({ installLimit: 2, limitWanted: null });
    });

    test('devices over the limit of a link that counted leave first', async () => {
      const { store } = opened();
      const { providerId, installId } = await addDoor(store);
      const update = (change: LinkChange) => store.updateLink(providerId, installId, change, ACT);
      await update({ enforce: 0 });
      for (const hwid of ['a', 'b', 'c', 'd']) await knock(store, hwid);
      await update({ enforce: 1, installLimit: 1, asTheyLeave: true });
      const seen: unknown[] = [];
      for (const hwid of ['a', 'b', 'c']) {
        const { deviceCount, installLimit, limitWanted } = (await store.findLink(CODE)) ?? {};
        seen.push([deviceCount, installLimit, limitWanted]);
        await store.freeSlot(providerId, { installCode: CODE, installId: null }, hwid, ACT);
      }
      expect(seen).toEqual([
        [4, 2, 1],
        [3, 2, 1],
        [2, 2, 1],
      ]);
      expect(await store.findLink(CODE)).toMatchObject({ installLimit: 1, limitWanted: null });
    });

    test("refuses an unknown id and another provider's", async () => {
      const { store } = opened();
      const { installId } = await addDoor(store);
      const { id } = await addProvider(store, 'Provide2');
      const change = { status: 5 };
      expect(await store.updateLink(id, installId, change, ACT)).toBe('install_not_found');
      expect(await store.updateLink(id, 999, change, ACT)).toBe('install_not_found');
    });
  },

  listLinksOf(opened) {
    test('newest first, page after page, of one provider alone', async () => {
      const { store } = opened();
      const { id } = await addProvider(store, 'Provide1');
      const { id: otherId } = await addProvider(store, 'Provide2');
      const ids: number[] = [];
      for (let i = 0; i < 5; i += 1) {
        ids.unshift(await addLink(store, id, { installCode: `LinkCode000${i}` }));
        await addLink(store, otherId, { installCode: `OtherLink00${i}` });
      }
      const list = async (page: object) =>
        (await store.listLinksOf(id, { ...ALL, ...page })).map((link) => link.id);
      const [newest = 0, second = 0, third = 0, fourth = 0] = ids;
      expect(await list({})).toEqual(ids);
      expect(await list({ countMax: 2 })).toEqual([newest, second]);
      expect(await list({ countMax: 2, beforeId: second })).toEqual([third, fourth]);
      expect(await list({ beforeId: ids[4] })).toEqual([]);
      expect(await list({ id: third })).toEqual([third]);
      expect(await list({ id: third, beforeId: third + 1 })).toEqual([third]);
      expect(await list({ id: third, beforeId: third })).toEqual([]);
      expect(await list({ id: third + 1 })).toEqual([]);
      expect(await list({ id: 999 })).toEqual([]);
    });
  },

  listSlots(opened) {
    test('by code, by id or by both; latest registration first', async () => {
      const { store } = opened();
      const { providerId, installId } = await addDoor(store);
      await knock(store, 'a');
      await knock(store, 'b', CODE, undefined, NOW_MS + 1);
      const slots = [
        { hwid: 'b', registeredAtMs: NOW_MS + 1, lastSeenAtMs: NOW_MS + 1 },
        { hwid: 'a', registeredAtMs: NOW_MS, lastSeenAtMs: NOW_MS },
      ].map((slot) => ({ ...slot, deviceName: 'Pixel 9' }));
      for (const selector of [
        { installCode: CODE, installId: null },
        { installCode: null, installId },
        { installCode: CODE, installId },
      ]) {
        expect(await store.listSlots(providerId, selector, null, 5000)).toEqual(slots);
        expect(await store.listSlots(providerId, selector, null, 1)).toEqual([slots[0]] as never);
        expect(await store.listSlots(providerId, selector, 'a', 5000)).toEqual([slots[1]] as never);
        expect(await store.listSlots(providerId, selector, 'A', 5000)).toEqual([]);
      }
    });

    test('a device that comes back does not move up', async () => {
      const { store } = opened();
      const { providerId, installId } = await addDoor(store);
      await knock(store, 'a');
      await knock(store, 'b');
      await knock(store, 'a', CODE, undefined, NOW_MS + 9);
      const selector = { installCode: null, installId };
      const slots = await store.listSlots(providerId, selector, null, 5000);
      expect(slots).toMatchObject([{ hwid: 'b' }, { hwid: 'a', registeredAtMs: NOW_MS }]);
    });

    test("refuses what is unknown, another provider's or contradicts itself", async () => {
      const { store } = opened();
      const { providerId, installId } = await addDoor(store);
      const otherId = await addLink(store, providerId, { installCode: OTHER_CODE });
      const stranger = await addProvider(store, 'Provide2');
      const ask = (id: number, installCode: string | null, linkId: number | null) =>
        store.listSlots(id, { installCode, installId: linkId }, null, 5000);
      expect(await ask(providerId, CODE, otherId)).toBe('install_code_error');
      expect(await ask(providerId, CODE, 999)).toBe('install_code_error');
      expect(await ask(providerId, 'NoSuchCode00', null)).toBe('install_code_error');
      expect(await ask(providerId, 'NoSuchCode00', installId)).toBe('install_code_error');
      expect(await ask(providerId, null, 999)).toBe('install_code_error');
      expect(await ask(stranger.id, CODE, null)).toBe('install_code_error');
      expect(await ask(stranger.id, null, installId)).toBe('install_code_error');
    });
  },

  freeSlot(opened) {
    const byCode = { installCode: CODE, installId: null };

    test('frees the slot on that link alone; the device stays known', async () => {
      const { store } = opened();
      const { providerId } = await addDoor(store);
      await addLink(store, providerId, { installCode: OTHER_CODE });
      await knock(store, 'a');
      await knock(store, 'b');
      await knock(store, 'a', OTHER_CODE);
      expect(await store.freeSlot(providerId, byCode, 'a', ACT)).toEqual({ deviceCount: 1 });
      const links = await store.listLinksOf(providerId, ALL);
      expect(links.map(({ deviceCount }) => deviceCount)).toEqual([1, 1]);
      expect((await store.findDevice('a'))?.installs).toHaveLength(1);
    });

    test('a HWID that is not there changes nothing', async () => {
      const { store } = opened();
      const { providerId } = await addDoor(store);
      await knock(store, 'a');
      for (const hwid of ['A', 'unknown', 'a', 'a']) {
        const expected = hwid === 'a' ? 0 : 1;
        expect(await store.freeSlot(providerId, byCode, hwid, ACT)).toEqual({
          deviceCount: expected,
        });
      }
    });

    test("refuses what is unknown, another provider's or contradicts itself", async () => {
      const { store } = opened();
      const { providerId, installId } = await addDoor(store);
      const stranger = await addProvider(store, 'Provide2');
      await bind(store, stranger.id);
      const otherId = await addLink(store, providerId, { installCode: OTHER_CODE });
      await knock(store, 'a');
      const wrong = { installCode: CODE, installId: otherId };
      expect(await store.freeSlot(providerId, wrong, 'a', ACT)).toBe('install_code_error');
      expect(await store.freeSlot(stranger.id, byCode, 'a', ACT)).toBe('install_code_error');
      const byId = { installCode: null, installId };
      expect(await store.freeSlot(stranger.id, byId, 'a', ACT)).toBe('install_code_error');
      expect(await store.listLinksOf(providerId, { ...ALL, id: installId })).toMatchObject([
        { deviceCount: 1 },
      ]);
    });
  },
};

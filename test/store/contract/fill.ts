import { expect, test } from 'bun:test';
import type { FillStore } from '../../../src/core/port/fill.ts';
import type { Store } from '../../../src/core/port/store.ts';
import { ACT } from '../../support/actor.ts';
import {
  addDoor,
  addLink,
  CODE,
  HASH,
  knock,
  NOW_MS,
  type OpenedStore,
  OTHER_CODE,
  provider,
  type Suite,
} from './fixture.ts';
import { register } from './message-fixture.ts';

const DAY_MS = 86_400_000;
const READ = { endsAtMs: NOW_MS + 3 * DAY_MS, totalBytes: 2 ** 36, usedBytes: 2 ** 35 };
const FIGURES = { ...READ, readAtMs: NOW_MS };
const NO_FIGURES = { endsAtMs: null, totalBytes: null, usedBytes: null, readAtMs: null };

/** A link with figures and a greeting, on which `phone` registered. */
async function withPhone({ store }: OpenedStore) {
  const door = await addDoor(store);
  const { installId, providerId } = door;
  await store.updateProvider('Provide1', { subscriptionFigures: 1, my: 1 }, ACT);
  await store.updateLink(providerId, installId, { greeting: 'Anna' }, ACT);
  await store.keepSubscriptionFigures(installId, READ, 'proxy', NOW_MS);
  await knock(store, 'phone');
  const shown = { kind: 'slot', installCode: CODE, domainHash: HASH } as const;
  await register(store, 'phone', shown);
  return door;
}

const idOf = async (store: Store, hwid: string, code = 'Provide1') => {
  const [target] = await store.findTargets((await provider(store, code)).id, [hwid]);
  return target?.id ?? 0;
};

export const fillContract: Record<keyof FillStore, Suite> = {
  findFillFacts(opened) {
    test('finds the link of each device, in their order, and null for others', async () => {
      const { store } = opened();
      const { providerId } = await withPhone(opened());
      const other = await addDoor(store, 'Provide2', OTHER_CODE);
      const phone = await idOf(store, 'phone');
      const here = { deviceId: phone, providerId };
      const facts = { ...FIGURES, deviceCount: 1, installLimit: 2, greeting: 'Anna' };
      const found = await store.findFillFacts([
        { deviceId: phone, providerId: other.providerId },
        here,
        { deviceId: phone + 99, providerId },
        here,
      ]);
      expect(found).toMatchObject([null, facts, null, facts]);
      expect(await store.findFillFacts([])).toEqual([]);
    });

    test('shows nothing of a link to a device that did not register by it', async () => {
      const { store } = opened();
      const { providerId } = await addDoor(store);
      await store.updateProvider('Provide1', { subscriptionFigures: 1 }, ACT);
      // A stranger registers a HWID by the binding, before the phone takes its slot.
      const shown = { kind: 'binding', providerCode: 'Provide1', domainHash: HASH } as const;
      await register(store, 'phone', shown);
      await knock(store, 'phone');
      const deviceId = await idOf(store, 'phone');
      expect(await store.findFillFacts([{ deviceId, providerId }])).toEqual([null]);
    });

    test('shows nothing once the slot is gone', async () => {
      const { store } = opened();
      const { installId, providerId } = await withPhone(opened());
      const deviceId = await idOf(store, 'phone');
      await knock(store, 'tablet');
      await store.freeSlot(providerId, { installCode: CODE, installId }, 'phone', ACT);
      expect(await store.findFillFacts([{ deviceId, providerId }])).toEqual([null]);
    });

    test('shows the browser of a link no figures', async () => {
      const { store } = opened();
      const { installId, providerId } = await withPhone(opened());
      const facts = { os: 'android', osVersion: '', deviceName: '', appVersion: '', userAgent: '' };
      const push = { gateway: 'fcm', token: 'push-token-push-token' } as const;
      const browser = { installId, hwid: 'web-1', facts, locale: null, push, countMax: 5 };
      const tokenHash = new Uint8Array(32).fill(7);
      const given = { ...browser, tokenHash, heldTokenHash: null, nowMs: NOW_MS };
      expect(await store.registerBrowser(given)).toBe('ok');
      const deviceId = await idOf(store, 'web-1');
      expect(await store.findFillFacts([{ deviceId, providerId }])).toMatchObject([
        { ...NO_FIGURES, deviceCount: 1, installLimit: 2, greeting: 'Anna' },
      ]);
    });

    test('a limit that waits is the limit', async () => {
      const { store } = opened();
      const { installId, providerId } = await withPhone(opened());
      await knock(store, 'tablet');
      const change = { installLimit: 1, asTheyLeave: true };
      expect(await store.updateLink(providerId, installId, change, ACT)).toMatchObject({
        says: 'ok',
      });
      const deviceId = await idOf(store, 'phone');
      const [facts] = await store.findFillFacts([{ deviceId, providerId }]);
      expect(facts).toMatchObject({ deviceCount: 2, installLimit: 1 });
    });
  },

  findLinkFacts(opened) {
    test('finds the facts of a link, with figures or without', async () => {
      const { store } = opened();
      const { installId, providerId } = await withPhone(opened());
      const bare = await addLink(store, providerId, { installCode: OTHER_CODE });
      expect(await store.findLinkFacts(installId)).toMatchObject({ ...FIGURES, greeting: 'Anna' });
      expect(await store.findLinkFacts(bare)).toMatchObject({ ...NO_FIGURES, greeting: null });
      expect(await store.findLinkFacts(bare + 99)).toBeNull();
    });
  },

  listFillExamples(opened) {
    test('lists links that end next, then the newest, of that provider alone', async () => {
      const { store } = opened();
      const { installId, providerId } = await withPhone(opened());
      await addDoor(store, 'Provide2', OTHER_CODE);
      const more: number[] = [];
      for (const installCode of ['LinkCode0003', 'LinkCode0004', 'LinkCode0005']) {
        more.push(await addLink(store, providerId, { installCode }));
      }
      const [soonest = 0, , newest] = more;
      const soon = { ...READ, endsAtMs: NOW_MS + DAY_MS };
      await store.keepSubscriptionFigures(soonest, soon, 'proxy', NOW_MS);
      const ids = async (nowMs: number, countMax: number) =>
        (await store.listFillExamples(providerId, nowMs, countMax)).map((one) => one.installId);
      expect(await ids(NOW_MS, 3)).toEqual([soonest, installId, newest ?? 0]);
      expect(await ids(NOW_MS, 1)).toEqual([soonest]);
      expect((await ids(NOW_MS + 9 * DAY_MS, 2)).length).toBe(2);
    });
  },
};

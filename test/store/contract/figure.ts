import { expect, test } from 'bun:test';
import { utcDay } from '../../../src/core/calendar.ts';
import { sumOf } from '../../../src/core/figures.ts';
import type { FigureStore, Figures, RefusalReason } from '../../../src/core/port/figure.ts';
import type { TokenHolder } from '../../../src/core/port/inbox.ts';
import type { Store } from '../../../src/core/port/store.ts';
import { until } from '../../support/until.ts';
import {
  addDoor,
  addLink,
  addProvider,
  CODE,
  FACTS,
  knock,
  NOW_MS,
  OTHER_CODE,
  removeProvider,
  type Suite,
} from './fixture.ts';
import { bringTo, deliver, EXPIRES_MS, holderOf, lease, send, to } from './message-fixture.ts';
import { addWebhook, waitingFor } from './webhook.ts';

const TODAY = utcDay(NOW_MS);
const DAY_MS = 86_400_000;

/** The figures that are not 0, of all days together. */
export async function figuresOf(
  store: Store,
  providerId: number | null,
): Promise<Partial<Figures>> {
  await store.saveFigures();
  const sum = sumOf(await store.listFigures(providerId, 0, TODAY + 1_000));
  return Object.fromEntries(Object.entries(sum).filter(([, count]) => count > 0));
}

async function expireAll(store: Store, nowMs: number): Promise<void> {
  for (let steps = 0; (await store.expireRecipients(nowMs)) !== null; steps++) {
    if (steps > 100) throw new Error('there is always something left');
  }
}

const REASONS: readonly RefusalReason[] = [
  'hwid_required',
  'link_domain_not_bound',
  'link_disabled',
  'link_limit_reached',
];

export const figureContract: Record<keyof FigureStore, Suite> = {
  countRefusal(opened) {
    test('by its reason for the provider, with the last of them for the link', async () => {
      const { store } = opened();
      const link = await addDoor(store);
      REASONS.forEach((reason, n) => {
        for (let i = 0; i <= n; i++) store.countRefusal(link, reason, NOW_MS + n);
      });
      expect(await figuresOf(store, link.providerId)).toMatchObject({
        refused_hwid: 1,
        refused_domain: 2,
        refused_disabled: 3,
        refused_full: 4,
      });
      expect(await store.listRefusals(link.providerId, 0, 9)).toEqual([
        {
          installId: link.installId,
          installCode: CODE,
          refusedCount: 10,
          refusedAtMs: NOW_MS + 3,
          reason: 'link_limit_reached',
        },
      ]);
    });

    test('a late report of an earlier one does not change which was the last', async () => {
      const { store } = opened();
      const link = await addDoor(store);
      store.countRefusal(link, 'link_disabled', NOW_MS);
      store.countRefusal(link, 'hwid_required', NOW_MS - 1);
      await store.saveFigures();
      store.countRefusal(link, 'hwid_required', NOW_MS - 2);
      await store.saveFigures();
      expect(await store.listRefusals(link.providerId, 0, 9)).toMatchObject([
        { refusedCount: 3, refusedAtMs: NOW_MS, reason: 'link_disabled' },
      ]);
    });

    test('one that is an event is told at once, others with the next save', async () => {
      const { store } = opened();
      const link = await addDoor(store);
      const webhookId = await addWebhook(store, link.providerId, { events: ['link.refused'] });
      const refuse = (count: number) => {
        for (let n = 0; n < count; n++) store.countRefusal(link, 'link_limit_reached', NOW_MS);
      };
      const told = (count: number) =>
        until(`told ${count} times`, async () => {
          return (await waitingFor(store, webhookId)).length === count;
        });
      refuse(1);
      await told(1);
      refuse(8);
      const saved = await store.listRefusals(link.providerId, 0, 9);
      expect(saved).toMatchObject([{ refusedCount: 1 }]);
      refuse(1);
      await told(2);
      // Many at once go past a number: it is told all the same.
      refuse(140);
      await told(3);
    });

    test('of a provider who was removed meanwhile: it hinders nobody', async () => {
      const { store } = opened();
      const gone = await addDoor(store);
      const { id: stays } = await addProvider(store, 'Provide2');
      store.countRefusal(gone, 'link_disabled', NOW_MS);
      await removeProvider(store, 'Provide1');
      store.countRefusal(gone, 'link_disabled', NOW_MS);
      await send(store, stays);
      expect(await figuresOf(store, null)).toEqual({ sends: 1 });
    });
  },

  saveFigures(opened) {
    test('several processes add to the same figures', async () => {
      const { store, openBeside } = opened();
      const beside = await openBeside();
      const link = await addDoor(store);
      for (const one of [store, beside, beside]) {
        await send(one, link.providerId);
        one.countRefusal(link, 'link_disabled', NOW_MS);
        await one.saveFigures();
      }
      expect(await figuresOf(store, link.providerId)).toMatchObject({
        sends: 3,
        refused_disabled: 3,
      });
      expect(await store.listRefusals(link.providerId, 0, 9)).toMatchObject([{ refusedCount: 3 }]);
    });

    test('nothing twice, however often it is asked for', async () => {
      const { store } = opened();
      const { id } = await addProvider(store, 'Provide1');
      await send(store, id);
      await Promise.all([store.saveFigures(), store.saveFigures(), store.saveFigures()]);
      expect(await figuresOf(store, id)).toEqual({ sends: 1 });
    });

    test('more than are saved in one step', async () => {
      const { store } = opened();
      const { id: providerId } = await addProvider(store, 'Provide1');
      const codes = Array.from({ length: 600 }, (_, n) => `Link${String(n).padStart(8, '0')}`);
      const ids = await Promise.all(
        codes.map((installCode) =>
          addLink(store, providerId, { installCode, installCountMax: 999 }),
        ),
      );
      for (const installId of ids) {
        store.countRefusal({ installId, providerId }, 'link_disabled', NOW_MS);
      }
      await store.saveFigures();
      expect(await store.listRefusals(providerId, 0, 9_999)).toHaveLength(600);
      expect(await figuresOf(store, providerId)).toMatchObject({ refused_disabled: 600 });
    });
  },

  listFigures(opened) {
    test('messages count as they go: sent, reached, said of', async () => {
      const { store } = opened();
      const { providerId } = await addDoor(store);
      for (const hwid of ['a', 'b']) await knock(store, hwid);
      const holders = [await holderOf(store, 'a'), await holderOf(store, 'b')];
      const all = await deliver(store, providerId, { targetOs: FACTS.os });
      const named = await deliver(store, providerId, to('a', 'nobody'));
      for (const [holder, id, state] of [
        [holders[0], all, 'received'],
        [holders[0], all, 'opened'],
        [holders[0], all, 'opened'],
        [holders[1], all, 'executed'],
        [holders[1], all, 'failed'],
        [holders[0], named, 'failed'],
      ] as const) {
        await store.acknowledge(holder as TokenHolder, [{ id, state, detail: null }], NOW_MS);
      }
      expect(await figuresOf(store, providerId)).toMatchObject({
        sends: 2,
        recipients: 4,
        delivered: 3,
        received: 3,
        opened: 1,
        executed: 1,
        // One that nobody knows, and one of which its device said so.
        failed: 2,
      });
    });

    test('messages that nobody fetched in time expire, whether they were sent or late', async () => {
      const { store } = opened();
      const { providerId } = await addDoor(store);
      await knock(store, 'a');
      await deliver(store, providerId, to('a'));
      await expireAll(store, EXPIRES_MS);
      await deliver(store, providerId, { ...to('a'), createdAtMs: EXPIRES_MS });
      await expireAll(store, EXPIRES_MS);
      const figures = await figuresOf(store, providerId);
      expect(figures).toMatchObject({ sends: 2, recipients: 2, delivered: 1, expired: 2 });
      expect(figures.failed).toBeUndefined();
    });

    test('a message that waits for too many others fails', async () => {
      const { store } = opened();
      const { providerId } = await addDoor(store);
      await knock(store, 'a');
      await deliver(store, providerId, to('a'));
      const id = await send(store, providerId, to('a'));
      await bringTo(store, id, 40);
      await store.sendRecipients(lease(id), 1, []);
      expect(await figuresOf(store, providerId)).toMatchObject({ delivered: 1, failed: 1 });
    });

    test('by UTC day, of one provider or of all together', async () => {
      const { store } = opened();
      const { id: one } = await addProvider(store, 'Provide1');
      const { id: two } = await addProvider(store, 'Provide2');
      const midnightMs = (TODAY + 1) * DAY_MS;
      for (const createdAtMs of [midnightMs - 1, midnightMs])
        await send(store, one, { createdAtMs });
      await send(store, two, { createdAtMs: midnightMs });
      await store.saveFigures();
      const sendsIn = async (providerId: number | null, from: number, to: number) =>
        (await store.listFigures(providerId, from, to)).map(({ day, sends }) => [day, sends]);
      expect(await sendsIn(one, TODAY, TODAY + 1)).toEqual([
        [TODAY, 1],
        [TODAY + 1, 1],
      ]);
      expect(await sendsIn(one, TODAY + 1, TODAY + 1)).toEqual([[TODAY + 1, 1]]);
      expect(await sendsIn(one, TODAY - 9, TODAY - 1)).toEqual([]);
      expect(await sendsIn(null, TODAY, TODAY + 1)).toEqual([
        [TODAY, 1],
        [TODAY + 1, 2],
      ]);
    });
  },

  sumFigures(opened) {
    test('a sum for each provider that has figures of these days', async () => {
      const { store } = opened();
      const { id: one } = await addProvider(store, 'Provide1');
      const { id: two } = await addProvider(store, 'Provide2');
      await addProvider(store, 'Provide3');
      for (const createdAtMs of [NOW_MS, NOW_MS + DAY_MS]) await send(store, one, { createdAtMs });
      await send(store, two, { createdAtMs: NOW_MS + 2 * DAY_MS });
      await store.saveFigures();
      const sends = async (toDay: number) =>
        (await store.sumFigures(TODAY, toDay)).map((row) => [row.providerCode, row.sends]);
      expect(await sends(TODAY + 1)).toEqual([['Provide1', 2]]);
      expect(await sends(TODAY + 2)).toEqual([
        ['Provide1', 2],
        ['Provide2', 1],
      ]);
    });
  },

  listRefusals(opened) {
    test('of one provider, since then, those that refused most first', async () => {
      const { store } = opened();
      const { providerId, installId } = await addDoor(store);
      const busy = await addLink(store, providerId, { installCode: OTHER_CODE });
      const foreign = await addDoor(store, 'Provide2', 'LinkCode0003');
      store.countRefusal({ providerId, installId }, 'link_disabled', NOW_MS);
      for (const ms of [NOW_MS, NOW_MS + 5]) {
        store.countRefusal({ providerId, installId: busy }, 'hwid_required', ms);
      }
      store.countRefusal(foreign, 'link_disabled', NOW_MS + 9);
      await store.saveFigures();
      const codes = async (sinceMs: number, countMax: number) =>
        (await store.listRefusals(providerId, sinceMs, countMax)).map((row) => row.installCode);
      expect(await codes(NOW_MS, 9)).toEqual([OTHER_CODE, CODE]);
      expect(await codes(NOW_MS, 1)).toEqual([OTHER_CODE]);
      expect(await codes(NOW_MS + 1, 9)).toEqual([OTHER_CODE]);
      expect(await codes(NOW_MS + 6, 9)).toEqual([]);
    });
  },

  forgetFigures(opened) {
    test('the days before, of everybody, until none is left', async () => {
      const { store } = opened();
      const { id: one } = await addProvider(store, 'Provide1');
      const { id: two } = await addProvider(store, 'Provide2');
      for (let day = 0; day < 3; day++) {
        for (const id of [one, two]) {
          await send(store, id, { createdAtMs: NOW_MS + day * DAY_MS });
        }
      }
      await store.saveFigures();
      let steps = 0;
      while (await store.forgetFigures(TODAY + 2)) steps += 1;
      expect(steps).toBeGreaterThan(0);
      const left = await store.listFigures(null, TODAY, TODAY + 9);
      expect(left.map(({ day, sends }) => [day, sends])).toEqual([[TODAY + 2, 2]]);
      expect(await store.forgetFigures(TODAY + 2)).toBe(false);
    });
  },
};

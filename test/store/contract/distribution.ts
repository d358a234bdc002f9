import { expect, test } from 'bun:test';
import type {
  Distribution,
  DistributionGuards,
  NewDistribution,
} from '../../../src/core/port/distribution.ts';
import type { Store } from '../../../src/core/port/store.ts';
import { ACT } from '../../support/actor.ts';
import { ALL, addProvider, NOW_MS, removeProvider, type Suite } from './fixture.ts';
import {
  at,
  bringTo,
  claim,
  detailOf,
  draft,
  EXPIRES_MS,
  HOUR_MS,
  lease,
  send,
  sentAt,
  statusOf,
  to,
  UNGUARDED,
} from './message-fixture.ts';
import { replacingSuite } from './replacing.ts';
import { sendBoundsSuite } from './send-bounds.ts';

type Method =
  | 'addDistribution'
  | 'checkDistribution'
  | 'readSendUsage'
  | 'listDistributions'
  | 'cancelDistribution';

const INTERVAL_MS = 300_000;
const GENERAL = { ...UNGUARDED, generalIntervalMs: INTERVAL_MS };

export const distributionContract: Record<Method & keyof Store, Suite> = {
  addDistribution(opened) {
    sendBoundsSuite(opened);
    replacingSuite(opened);

    test('keeps everything it is given, as 10 Created', async () => {
      const { store } = opened();
      const { id: providerId } = await addProvider(store, 'Provide1');
      const wanted = draft(providerId, {
        notificationType: 20,
        ...to('a', 'b'),
        ...at(EXPIRES_MS),
      });
      const added = await store.addDistribution(wanted, UNGUARDED, ACT);
      const id = typeof added === 'string' ? 0 : added.id;
      const { distribution, totals, missing } = await detailOf(store, id);
      expect(distribution).toEqual({
        id,
        providerCode: 'Provide1',
        notificationType: 20,
        status: 10,
        targetOs: null,
        targetHwid: 'a,b',
        payload: wanted.payload,
        createdAtMs: NOW_MS,
        dueAtMs: EXPIRES_MS,
        sentAtMs: EXPIRES_MS,
        expiresAtMs: EXPIRES_MS,
        beganAtMs: null,
        finishedAtMs: null,
        recipientCount: 0,
        sentCount: 0,
        failedCount: 0,
        handedOverAtMs: null,
        replacesId: null,
        segment: null,
        isPruned: false,
      });
      const { atGateway, ...inboxes } = totals;
      const counts = [...Object.values(inboxes), ...Object.values(atGateway)];
      expect(new Set(counts)).toEqual(new Set([0]));
      expect(missing).toEqual([]);
    });

    test('a general one only after the interval; a refusal keeps nothing', async () => {
      const { store } = opened();
      const { id: one } = await addProvider(store, 'Provide1');
      const { id: two } = await addProvider(store, 'Provide2');
      const general = (providerId: number, createdAtMs: number) =>
        store.addDistribution(draft(providerId, { createdAtMs }), GENERAL, ACT);
      expect(await general(one, NOW_MS)).toHaveProperty('id');
      expect(await general(two, NOW_MS + 1)).toHaveProperty('id');
      expect(await general(one, NOW_MS + INTERVAL_MS - 1)).toBe('general_too_soon');
      expect(await store.listDistributions(one, ALL)).toHaveLength(1);
      // Counted from the last one that was accepted.
      expect(await general(one, NOW_MS + INTERVAL_MS)).toHaveProperty('id');
      expect(await general(one, NOW_MS + 2 * INTERVAL_MS - 1)).toBe('general_too_soon');
    });

    test('of general ones at once, over two connections, one', async () => {
      const { store, openBeside } = opened();
      const stores = [store, await openBeside()];
      const { id } = await addProvider(store, 'Provide1');
      const added = await Promise.all(
        Array.from({ length: 16 }, (_, n) =>
          stores[n % 2]?.addDistribution(draft(id), GENERAL, ACT),
        ),
      );
      expect(added.filter((one) => one === 'general_too_soon')).toHaveLength(15);
      expect(await store.listDistributions(id, ALL)).toHaveLength(1);
    });

    test('one that is not general neither waits for the interval nor begins it', async () => {
      const { store } = opened();
      const { id } = await addProvider(store, 'Provide1');
      await send(store, id);
      expect(await store.addDistribution(draft(id), GENERAL, ACT)).toHaveProperty('id');
      expect(await store.addDistribution(draft(id), UNGUARDED, ACT)).toHaveProperty('id');
    });

    test('one that could not be added begins no interval', async () => {
      const { store } = opened();
      const { id } = await addProvider(store, 'Provide1');
      const broken = draft(id, { notificationType: 30 as never });
      await expect(store.addDistribution(broken, GENERAL, ACT)).rejects.toThrow();
      expect(await store.addDistribution(draft(id), GENERAL, ACT)).toHaveProperty('id');
    });

    test('the interval also follows one that was cancelled', async () => {
      const { store } = opened();
      const { id: providerId } = await addProvider(store, 'Provide1');
      const added = await store.addDistribution(draft(providerId, at(EXPIRES_MS)), GENERAL, ACT);
      const guard = { from: [10], dueFromMs: NOW_MS, nowMs: NOW_MS };
      const id = typeof added === 'string' ? 0 : added.id;
      expect(await store.cancelDistribution(providerId, id, guard, ACT)).toBe('ok');
      expect(await store.addDistribution(draft(providerId), GENERAL, ACT)).toBe('general_too_soon');
    });

    test('a clock set back holds a provider up for no longer than the interval', async () => {
      const { store } = opened();
      const { id } = await addProvider(store, 'Provide1');
      const general = (createdAtMs: number) =>
        store.addDistribution(draft(id, { createdAtMs }), GENERAL, ACT);
      await general(NOW_MS);
      expect(await general(NOW_MS - INTERVAL_MS + 1)).toBe('general_too_soon');
      expect(await general(NOW_MS - INTERVAL_MS)).toHaveProperty('id');
    });

    test('no more unbound recipients than the quota, in its time', async () => {
      const { store } = opened();
      const { id: one } = await addProvider(store, 'Provide1');
      const { id: two } = await addProvider(store, 'Provide2');
      const add = (providerId: number, unboundCount: number, more: Partial<NewDistribution> = {}) =>
        store.addDistribution(
          draft(providerId, { unboundCount, ...more }),
          {
            ...UNGUARDED,
            unboundQuota: { sinceMs: NOW_MS, countMax: 10 },
          },
          ACT,
        );
      // At the very beginning of the time: not in it any more.
      expect(await add(one, 5)).toHaveProperty('id');
      const createdAtMs = NOW_MS + 1;
      expect(await add(one, 5, { createdAtMs })).toHaveProperty('id');
      expect(await add(one, 4, { createdAtMs })).toHaveProperty('id');
      expect(await add(one, 2, { createdAtMs })).toBe('unbound_quota_exceeded');
      expect(await store.listDistributions(one, ALL)).toHaveLength(3);
      expect(await add(one, 1, { createdAtMs })).toHaveProperty('id');
      expect(await add(one, 1, { createdAtMs })).toBe('unbound_quota_exceeded');
      expect(await add(two, 5, { createdAtMs })).toHaveProperty('id');
    });

    test('what a clock ahead let through is no quota used up until then', async () => {
      const { store } = opened();
      const { id } = await addProvider(store, 'Provide1');
      const add = (createdAtMs: number) =>
        store.addDistribution(
          draft(id, { unboundCount: 1, createdAtMs }),
          { ...UNGUARDED, unboundQuota: { sinceMs: createdAtMs - HOUR_MS, countMax: 1 } },
          ACT,
        );
      expect(await add(NOW_MS + HOUR_MS)).toHaveProperty('id');
      expect(await add(NOW_MS)).toHaveProperty('id');
      // Held back on their way, they are counted all the same.
      expect(await add(NOW_MS - 1)).toBe('unbound_quota_exceeded');
      expect(await add(NOW_MS + 1)).toBe('unbound_quota_exceeded');
    });

    test('ids are never given twice; a provider that is gone gets none', async () => {
      const { store } = opened();
      const { id: gone } = await addProvider(store, 'Provide1');
      const first = await send(store, gone);
      await removeProvider(store, 'Provide1');
      expect(await store.findDistribution(first, 1)).toBeNull();
      await expect(send(store, gone)).rejects.toThrow();
      const { id } = await addProvider(store, 'Provide1');
      expect(await send(store, id)).toBeGreaterThan(first);
    });
  },

  checkDistribution(opened) {
    test('says what a send would meet, and sends nothing', async () => {
      const { store } = opened();
      const { id } = await addProvider(store, 'Provide1');
      const check = (createdAtMs: number, guards: DistributionGuards = GENERAL) =>
        store.checkDistribution(draft(id, { createdAtMs }), guards);
      expect([await check(NOW_MS), await check(NOW_MS)]).toEqual([null, null]);
      expect(await store.listDistributions(id, ALL)).toEqual([]);
      await store.addDistribution(draft(id), GENERAL, ACT);
      expect(await check(NOW_MS + INTERVAL_MS - 1)).toBe('general_too_soon');
      expect(await check(NOW_MS + INTERVAL_MS)).toBeNull();
      expect(await check(NOW_MS, UNGUARDED)).toBeNull();
      const full = { ...UNGUARDED, bounds: { ...UNGUARDED.bounds, keptBytesMax: 1 } };
      expect(await check(NOW_MS, full)).toBe('kept_bytes_full');
      const few = { ...UNGUARDED, bounds: { ...UNGUARDED.bounds, sendsPerMinuteMax: 1 } };
      expect(await check(NOW_MS, few)).toBe('too_many_sends');
      expect(await store.listDistributions(id, ALL)).toHaveLength(1);
    });
  },

  readSendUsage(opened) {
    test('what the provider sent in the window, and keeps', async () => {
      const { store } = opened();
      const { id } = await addProvider(store, 'Provide1');
      const none = { lastGeneralAtMs: null, sendCount: 0, keptBytes: 0, ledgerCount: 0 };
      expect(await store.readSendUsage(id)).toMatchObject(none);
      const sent = draft(id);
      await store.addDistribution(sent, UNGUARDED, ACT);
      expect(await store.readSendUsage(id)).toMatchObject({
        sendsFromMs: sent.createdAtMs,
        sendCount: 1,
        ledgerCount: 0,
        keptBytes: Buffer.byteLength(sent.payload) + sent.targetHwid.length + 200,
      });
      expect(await store.readSendUsage(id + 1)).toBeNull();
    });
  },

  listDistributions(opened) {
    test('the own ones, newest first, in parts', async () => {
      const { store } = opened();
      const { id: one } = await addProvider(store, 'Provide1');
      const { id: two } = await addProvider(store, 'Provide2');
      const ids: number[] = [];
      for (let i = 0; i < 3; i++) {
        ids.unshift(await send(store, one));
        await send(store, two);
      }
      const [last = 0, middle = 0, first = 0] = ids;
      const list = async (page: Partial<typeof ALL>) =>
        (await store.listDistributions(one, { ...ALL, ...page })).map(({ id }) => id);
      expect(await list({})).toEqual([last, middle, first]);
      expect(await list({ countMax: 2 })).toEqual([last, middle]);
      expect(await list({ beforeId: middle })).toEqual([first]);
      expect(await list({ beforeId: first })).toEqual([]);
      expect(await list({ id: middle })).toEqual([middle]);
      expect(await list({ id: middle, beforeId: last })).toEqual([middle]);
      expect(await list({ id: middle, beforeId: middle })).toEqual([]);
      expect(await list({ id: last + 1 })).toEqual([]);
      expect(await store.listDistributions(two, { ...ALL, id: first })).toEqual([]);
    });

    test('the time is the planned one until delivery begins', async () => {
      const { store } = opened();
      const { id: providerId } = await addProvider(store, 'Provide1');
      const dueAtMs = NOW_MS + HOUR_MS;
      const id = await send(store, providerId, { targetOs: 'ios,android', ...at(dueAtMs) });
      const shown: Distribution = {
        id,
        notificationType: 10,
        status: 10,
        targetOs: 'ios,android',
        targetHwid: '',
        createdAtMs: NOW_MS,
        sentAtMs: dueAtMs,
      };
      expect(await store.listDistributions(providerId, ALL)).toEqual([shown]);
      const nowMs = dueAtMs + 7;
      await bringTo(store, id, 5, { nowMs });
      await store.moveDistribution(lease(id, 'one', nowMs + 1), 5, 6);
      await store.moveDistribution(lease(id, 'one', nowMs + 2), 6, 40);
      expect(await store.listDistributions(providerId, ALL)).toEqual([
        { ...shown, status: 40, sentAtMs: nowMs },
      ]);
    });
  },

  cancelDistribution(opened) {
    const guard = { from: [10, 20, 30], dueFromMs: NOW_MS + HOUR_MS, nowMs: NOW_MS };
    const planned = at(NOW_MS + HOUR_MS);

    test('cancels from each status that it may, and then it is nobody’s work', async () => {
      const { store } = opened();
      const { id: providerId } = await addProvider(store, 'Provide1');
      for (const status of [10, 20, 30]) {
        const id = await send(store, providerId, planned);
        if (status !== 10) await bringTo(store, id, 20);
        if (status === 30) await store.moveDistribution(lease(id), 20, 30);
        expect(await statusOf(store, id)).toBe(status);
        expect(await store.cancelDistribution(providerId, id, guard, ACT)).toBe('ok');
        const { distribution } = await detailOf(store, id);
        expect(distribution).toMatchObject({ status: 130, finishedAtMs: NOW_MS });
        expect(await store.moveDistribution(lease(id), status, 20)).toBe(false);
        expect(await store.cancelDistribution(providerId, id, guard, ACT)).toBe(130);
      }
      expect(await claim(store, 'one', EXPIRES_MS)).toEqual([]);
      expect(await store.findNextDueMs()).toBeNull();
    });

    test('refuses one millisecond too late, and what was not scheduled', async () => {
      const { store } = opened();
      const { id: providerId } = await addProvider(store, 'Provide1');
      const late = await send(store, providerId, at(NOW_MS + HOUR_MS - 1));
      const now = await send(store, providerId, sentAt(NOW_MS + HOUR_MS));
      for (const id of [late, now]) {
        expect(await store.cancelDistribution(providerId, id, guard, ACT)).toBe(10);
        expect(await statusOf(store, id)).toBe(10);
      }
      const inTime = await send(store, providerId, planned);
      expect(await store.cancelDistribution(providerId, inTime, guard, ACT)).toBe('ok');
    });

    test('refuses a status that it may not be cancelled from', async () => {
      const { store } = opened();
      const { id: providerId } = await addProvider(store, 'Provide1');
      const id = await send(store, providerId, planned);
      const only = { ...guard, from: [20, 30] };
      expect(await store.cancelDistribution(providerId, id, only, ACT)).toBe(10);
      for (const status of [5, 6, 40, 100]) {
        const nowMs = NOW_MS + HOUR_MS;
        if (status === 6) await store.moveDistribution(lease(id, 'one', nowMs), 5, 6);
        else await bringTo(store, id, status, { nowMs });
        expect(await store.cancelDistribution(providerId, id, guard, ACT)).toBe(status);
      }
    });

    test('knows no distribution of another provider', async () => {
      const { store } = opened();
      const { id: one } = await addProvider(store, 'Provide1');
      const { id: two } = await addProvider(store, 'Provide2');
      const id = await send(store, one, planned);
      expect(await store.cancelDistribution(two, id, guard, ACT)).toBe('notification_not_found');
      expect(await store.cancelDistribution(one, id + 1, guard, ACT)).toBe(
        'notification_not_found',
      );
      expect(await statusOf(store, id)).toBe(10);
    });
  },
};

import { expect, test } from 'bun:test';
import { TRANSITIONS } from '../../../src/core/message/status.ts';
import type { Store } from '../../../src/core/port/store.ts';
import { ACT } from '../../support/actor.ts';
import { addProvider, NOW_MS, removeProvider, type Suite } from './fixture.ts';
import {
  at,
  bringTo,
  claim,
  claimedIds,
  detailOf,
  LEASE_MS,
  lease,
  send,
  sentAt,
  statusOf,
} from './message-fixture.ts';

type Method = 'moveDistribution';

const UNTIL_MS = NOW_MS + LEASE_MS;

/** How each status is reached from 10, by the moves of a worker. */
const PATHS: Readonly<Record<number, readonly number[]>> = {
  10: [],
  20: [20],
  30: [20, 30],
  5: [20, 5],
  6: [20, 5, 6],
  40: [20, 5, 40],
  100: [20, 5, 40, 100],
  110: [20, 5, 40, 110],
  120: [20, 5, 40, 120],
  130: [20, 130],
  140: [20, 140],
};

/** Scheduled for a time after {@link EARLIER_MS} and before all that is sent at {@link NOW_MS}. */
const SCHEDULED_BEFORE = { ...sentAt(NOW_MS - 20), ...at(NOW_MS - 5) };
const EARLIER_MS = NOW_MS - 10;

export const deliveryContract: Record<Method & keyof Store, Suite> = {
  moveDistribution(opened) {
    /** A provider of its own for each, so that none waits for another. */
    async function reach(store: Store, status: number): Promise<number> {
      const { id: providerId } = await addProvider(store, 'Provide1');
      const id = await send(store, providerId, at(NOW_MS));
      await claim(store);
      let from = 10;
      for (const next of PATHS[status] ?? []) {
        expect(await store.moveDistribution(lease(id), from, next)).toBe(true);
        from = next;
      }
      if (status === 30) expect(await claimedIds(store, 'one', UNTIL_MS)).toEqual([id]);
      return id;
    }

    for (const from of Object.keys(TRANSITIONS).map(Number)) {
      test(`from ${from} only where the law allows it`, async () => {
        const { store } = opened();
        for (const wanted of Object.keys(TRANSITIONS).map(Number)) {
          if (wanted === from) continue;
          const isAllowed = TRANSITIONS[from]?.includes(wanted) ?? false;
          const id = await reach(store, from);
          const hold = lease(id, 'one', UNTIL_MS);
          const move = store.moveDistribution(hold, from, wanted).catch(() => false);
          expect([wanted, await move]).toEqual([wanted, isAllowed]);
          expect(await statusOf(store, id)).toBe(isAllowed ? wanted : from);
          await removeProvider(store, 'Provide1');
        }
      });
    }

    test('only for the worker that holds it, and only from the status it saw', async () => {
      const { store } = opened();
      const { id: providerId } = await addProvider(store, 'Provide1');
      const id = await send(store, providerId);
      expect(await store.moveDistribution(lease(id), 10, 20)).toBe(false);
      await claim(store);
      expect(await store.moveDistribution(lease(id, 'another'), 10, 20)).toBe(false);
      expect(await store.moveDistribution(lease(id), 20, 5)).toBe(false);
      expect(await store.moveDistribution(lease(id + 1), 10, 20)).toBe(false);
      expect(await statusOf(store, id)).toBe(10);
      expect(await store.moveDistribution(lease(id), 10, 20)).toBe(true);
      expect(await store.moveDistribution(lease(id), 10, 20)).toBe(false);
    });

    test('not to 5 while another one of the provider is in delivery', async () => {
      const { store } = opened();
      const { id: providerId } = await addProvider(store, 'Provide1');
      const { id: otherId } = await addProvider(store, 'Provide2');

      const first = await send(store, providerId);
      await bringTo(store, first, 20, { nowMs: EARLIER_MS });
      const second = await send(store, providerId, SCHEDULED_BEFORE);
      await bringTo(store, second, 5, { owner: 'another' });
      expect(await store.moveDistribution(lease(first), 20, 5)).toBe(false);
      await bringTo(store, await send(store, otherId), 5);
      await store.blockDistribution(second, [5], NOW_MS, ACT);
      expect(await store.moveDistribution(lease(first), 20, 5)).toBe(true);
    });

    test('of two of a provider that begin at once, over two connections, one does', async () => {
      const { store, openBeside } = opened();
      const beside = await openBeside();
      for (let n = 0; n < 8; n++) {
        const { id: providerId } = await addProvider(store, `Provide${n}`);
        const later = await send(store, providerId);
        await bringTo(store, later, 20, { nowMs: EARLIER_MS });
        const first = await send(store, providerId, SCHEDULED_BEFORE);
        await bringTo(beside, first, 20, { owner: 'another' });
        const began = await Promise.all([
          store.moveDistribution(lease(later), 20, 5),
          beside.moveDistribution(lease(first, 'another'), 20, 5),
        ]);
        expect(began.sort()).toEqual([false, true]);
      }
    });

    test('begun or cancelled, over two connections, never both', async () => {
      const { store, openBeside } = opened();
      const beside = await openBeside();
      for (let n = 0; n < 8; n++) {
        const { id: providerId } = await addProvider(store, `Provide${n}`);
        const id = await send(store, providerId, at(NOW_MS + 1));
        await bringTo(store, id, 20);
        const guard = { from: [10, 20, 30], dueFromMs: NOW_MS, nowMs: NOW_MS };
        const [hasBegun, cancelled] = await Promise.all([
          store.moveDistribution(lease(id), 20, 5),
          beside.cancelDistribution(providerId, id, guard, ACT),
        ]);
        expect([hasBegun, cancelled, await statusOf(store, id)]).toEqual(
          hasBegun ? [true, 5, 5] : [false, 'ok', 130],
        );
      }
    });

    test('notes when delivery began, once, and when it ended', async () => {
      const { store } = opened();
      const { id: providerId } = await addProvider(store, 'Provide1');
      const id = await send(store, providerId);
      await claim(store);
      const timesAfter = async (from: number, next: number, nowMs: number) => {
        expect(await store.moveDistribution(lease(id, 'one', nowMs), from, next)).toBe(true);
        const { beganAtMs, finishedAtMs } = (await detailOf(store, id)).distribution;
        return [beganAtMs, finishedAtMs];
      };
      expect(await timesAfter(10, 20, NOW_MS + 1)).toEqual([null, null]);
      expect(await timesAfter(20, 5, NOW_MS + 2)).toEqual([NOW_MS + 2, null]);
      expect(await timesAfter(5, 6, NOW_MS + 3)).toEqual([NOW_MS + 2, null]);
      expect(await timesAfter(6, 40, NOW_MS + 4)).toEqual([NOW_MS + 2, null]);
      expect(await timesAfter(40, 110, NOW_MS + 5)).toEqual([NOW_MS + 2, NOW_MS + 5]);
    });
  },
};

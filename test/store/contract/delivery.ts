import { expect, test } from 'bun:test';
import { TRANSITIONS } from '../../../src/core/distribution.ts';
import type { Store } from '../../../src/core/store.ts';
import { addDoor, addProvider, knock, NOW_MS, type Suite } from './fixture.ts';
import {
  at,
  bringTo,
  claim,
  claimedIds,
  deliver,
  detailOf,
  EXPIRES_MS,
  HOUR_MS,
  LEASE_MS,
  lease,
  send,
  statusOf,
} from './message-fixture.ts';

type Method = 'claimWork' | 'nextDueMs' | 'moveDistribution' | 'foreignChanges';

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

export const deliveryContract: Record<Method & keyof Store, Suite> = {
  claimWork(opened) {
    test('gets hold of what is new, also long before it is due', async () => {
      const { store } = opened();
      const { id: providerId } = await addProvider(store, 'Provide1');
      expect(await claim(store)).toEqual([]);
      const now = await send(store, providerId);
      const later = await send(store, providerId, { notificationType: 20, ...at(EXPIRES_MS) });
      const work = { providerCode: 'Provide1', status: 10 };
      expect(await claim(store)).toMatchObject([
        { ...work, id: now, notificationType: 10, dueAtMs: NOW_MS },
        { ...work, id: later, notificationType: 20, dueAtMs: EXPIRES_MS },
      ]);
    });

    test.failing('what nobody held before is not taken over', async () => {
      const { store } = opened();
      const { id: providerId } = await addProvider(store, 'Provide1');
      const id = await send(store, providerId);
      expect(await claim(store)).toMatchObject([{ id, isTakenOver: false }]);
    });

    test('what is pending only when it is due, to the millisecond, for any worker', async () => {
      const { store } = opened();
      const { id: providerId } = await addProvider(store, 'Provide1');
      const dueAtMs = NOW_MS + HOUR_MS;
      const id = await send(store, providerId, at(dueAtMs));
      await bringTo(store, id, 20);
      await store.moveDistribution(lease(id), 20, 30);
      expect(await claim(store, 'one', dueAtMs - 1)).toEqual([]);
      expect(await claimedIds(store, 'another', dueAtMs)).toEqual([id]);
    });

    test.failing('what is pending also when it is due sooner than a lease ends', async () => {
      const { store } = opened();
      const { id: providerId } = await addProvider(store, 'Provide1');
      const id = await send(store, providerId, at(NOW_MS + 1));
      await bringTo(store, id, 20);
      await store.moveDistribution(lease(id), 20, 30);
      expect(await claim(store)).toEqual([]);
      expect(await claimedIds(store, 'one', NOW_MS + 1)).toEqual([id]);
    });

    test('not what another worker holds, until its lease ends; the own again', async () => {
      const { store, openBeside } = opened();
      const { id: providerId } = await addProvider(store, 'Provide1');
      const id = await send(store, providerId);
      expect(await claimedIds(store)).toEqual([id]);
      const beside = openBeside();
      expect(await claim(beside, 'another', UNTIL_MS - 1)).toEqual([]);
      expect(await claim(store, 'one', NOW_MS + 1)).toMatchObject([{ id, isTakenOver: false }]);
      // That renewed it.
      expect(await claim(beside, 'another', UNTIL_MS)).toEqual([]);
      const taken = await claim(beside, 'another', UNTIL_MS + 1);
      expect(taken).toMatchObject([{ id, isTakenOver: true }]);
      expect(await claim(store, 'one', UNTIL_MS + 1)).toEqual([]);
      expect(await store.moveDistribution(lease(id, 'one', UNTIL_MS + 1), 10, 20)).toBe(false);
      expect(await beside.moveDistribution(lease(id, 'another', UNTIL_MS + 1), 10, 20)).toBe(true);
    });

    test('takes over a lease from further ahead than any lasts: the clock was set back', async () => {
      const { store } = opened();
      const { id: providerId } = await addProvider(store, 'Provide1');
      const id = await send(store, providerId, { dueAtMs: NOW_MS - HOUR_MS });
      await claim(store);
      expect(await claim(store, 'another', NOW_MS)).toEqual([]);
      expect(await claim(store, 'another', NOW_MS - 1)).toMatchObject([{ id, isTakenOver: true }]);
    });

    test('every step renews the lease', async () => {
      const { store } = opened();
      const { providerId } = await addDoor(store);
      await knock(store, 'a');
      const id = await send(store, providerId);
      let nowMs = NOW_MS;
      const renewed = async (step: (hold: ReturnType<typeof lease>) => Promise<unknown>) => {
        nowMs += LEASE_MS - 1;
        expect(await step(lease(id, 'one', nowMs))).toBeTruthy();
        expect(await claim(store, 'another', nowMs + LEASE_MS - 1)).toEqual([]);
      };
      await renewed((hold) => store.claimWork(hold));
      await renewed((hold) => store.moveDistribution(hold, 10, 20));
      await renewed((hold) => store.moveDistribution(hold, 20, 5));
      await renewed((hold) => store.loadRecipients(hold));
      await renewed((hold) => store.moveDistribution(hold, 5, 40));
      await renewed((hold) => store.sendRecipients(hold));
      expect(await claimedIds(store, 'another', nowMs + LEASE_MS)).toEqual([id]);
    });

    test('of what is due only the first of each provider, begun before due before id', async () => {
      const { store } = opened();
      const { id: one } = await addProvider(store, 'Provide1');
      const { id: two } = await addProvider(store, 'Provide2');
      const begun = await send(store, one);
      const foreign = await send(store, two);
      const tied = await send(store, one, { dueAtMs: NOW_MS - 1 });
      const earliest = await send(store, one, { dueAtMs: NOW_MS - 2 });
      const alsoTied = await send(store, one, { dueAtMs: NOW_MS - 1 });
      const block = (id: number) => store.blockDistribution(id, [10, 20, 5], NOW_MS);
      const lane = async (owner = 'one') => {
        const ids = await claimedIds(store, owner);
        return ids.filter((id) => id !== foreign);
      };
      expect((await claimedIds(store)).sort()).toEqual([foreign, earliest]);
      for (const id of [earliest, tied, alsoTied]) {
        expect(await lane()).toEqual([id]);
        await block(id);
      }
      expect(await lane()).toEqual([begun]);
      await bringTo(store, begun, 5);
      const overtaking = await send(store, one, { dueAtMs: NOW_MS - 9 });
      expect(await lane()).toEqual([begun]);
      // In other hands the first still goes before the next.
      expect(await lane('another')).toEqual([]);
      await block(begun);
      expect(await lane('another')).toEqual([overtaking]);
    });

    test('what is not due yet is looked at without waiting for its turn', async () => {
      const { store } = opened();
      const { id: providerId } = await addProvider(store, 'Provide1');
      const due = await send(store, providerId);
      const later = [];
      for (let i = 0; i < 5; i++) later.push(await send(store, providerId, at(EXPIRES_MS)));
      expect((await claimedIds(store)).sort()).toEqual([due, ...later].sort());
    });

    test.failing('a long queue of one provider holds nobody else up', async () => {
      const { store } = opened();
      const { id: busy } = await addProvider(store, 'Provide1');
      const { id: other } = await addProvider(store, 'Provide2');
      await Promise.all(
        Array.from({ length: 600 }, () => send(store, busy, { dueAtMs: NOW_MS - 1 })),
      );
      const id = await send(store, other);
      expect(await claimedIds(store)).toContain(id);
    });

    test('two workers at once share the work out, and nobody gets what another has', async () => {
      const { store, openBeside } = opened();
      const beside = openBeside();
      const ids: number[] = [];
      for (let i = 0; i < 6; i++) {
        const { id } = await addProvider(store, `Provide${i}`);
        ids.push(await send(store, id));
      }
      const claims = await Promise.all(
        [store, beside, store, beside].map((by, i) => claimedIds(by, `worker ${i}`)),
      );
      expect(claims.flat().sort()).toEqual(ids.sort());
    });

    test('never what has ended', async () => {
      const { store } = opened();
      const { providerId } = await addDoor(store);
      await knock(store, 'a');
      await deliver(store, providerId);
      expect(await claim(store, 'one', EXPIRES_MS)).toEqual([]);
    });
  },

  nextDueMs(opened) {
    test('the earliest of what has not ended', async () => {
      const { store } = opened();
      const { id: providerId } = await addProvider(store, 'Provide1');
      expect(await store.nextDueMs()).toBeNull();
      const second = await send(store, providerId, at(NOW_MS + 2 * HOUR_MS));
      const first = await send(store, providerId, at(NOW_MS + HOUR_MS));
      expect(await store.nextDueMs()).toBe(NOW_MS + HOUR_MS);
      const guard = { from: [10], dueFromMs: NOW_MS, nowMs: NOW_MS };
      await store.cancelDistribution(providerId, first, guard);
      expect(await store.nextDueMs()).toBe(NOW_MS + 2 * HOUR_MS);
      await store.blockDistribution(second, [10], NOW_MS);
      expect(await store.nextDueMs()).toBeNull();
    });
  },

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
          await store.removeProvider('Provide1');
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

  foreignChanges(opened) {
    test('changes when and only when another connection has changed something', async () => {
      const { store, openBeside } = opened();
      const beside = openBeside();
      const { id: providerId } = await addProvider(store, 'Provide1');
      let before = await store.foreignChanges();
      const hasChanged = async () => {
        const now = await store.foreignChanges();
        const isOther = now !== before;
        before = now;
        return isOther;
      };
      expect(await hasChanged()).toBe(false);
      await send(store, providerId);
      expect(await hasChanged()).toBe(false);
      await beside.findProvider('Provide1');
      expect(await beside.updateProvider('Provide9', {})).toBe('provider_not_found');
      expect(await hasChanged()).toBe(false);
      await send(beside, providerId);
      expect(await hasChanged()).toBe(true);
      expect(await hasChanged()).toBe(false);
      // A read in the same turn does not hide it for longer than that turn.
      await Promise.all([store.nextDueMs(), send(beside, providerId)]);
      expect(await hasChanged()).toBe(true);
    });
  },
};

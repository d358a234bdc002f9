import { expect, test } from 'bun:test';
import type { Store } from '../../../src/core/port/store.ts';
import { ACT } from '../../support/actor.ts';
import { addDoor, addProvider, CLOCK, knock, NOW_MS, type Suite } from './fixture.ts';
import {
  at,
  bringTo,
  claim,
  claimedIds,
  deliver,
  EXPIRES_MS,
  HOUR_MS,
  LEASE_MS,
  LEDGER_MAX,
  lease,
  send,
  sentAt,
  to,
  WAITING_MAX,
} from './message-fixture.ts';

type Method = 'claimWork' | 'releaseWork' | 'findNextDueMs';

const UNTIL_MS = NOW_MS + LEASE_MS;

/** Looked at, and waits for its time. */
async function pending(store: Store, providerId: number, dueAtMs: number): Promise<number> {
  const id = await send(store, providerId, at(dueAtMs));
  await bringTo(store, id, 20);
  await store.moveDistribution(lease(id), 20, 30);
  return id;
}

export const laneContract: Record<Method & keyof Store, Suite> = {
  claimWork(opened) {
    test('gets hold of what is new, also long before it is due', async () => {
      const { store } = opened();
      const { id: providerId } = await addProvider(store, 'Provide1');
      expect(await claim(store)).toEqual([]);
      const now = await send(store, providerId);
      const later = await send(store, providerId, { notificationType: 20, ...at(EXPIRES_MS) });
      const work = { providerCode: 'Provide1', status: 10, isBulky: false };
      expect(await claim(store)).toMatchObject([
        { ...work, id: now, notificationType: 10, isDue: true },
        { ...work, id: later, notificationType: 20, isDue: false },
      ]);
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

    test('what is pending also when it is due sooner than a lease ends', async () => {
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
      const beside = await openBeside();
      expect(await claim(beside, 'another', UNTIL_MS - 1)).toEqual([]);
      const [own] = await claim(store, 'one', UNTIL_MS - 1);
      expect(own).toMatchObject({ id, isTakenOver: false });
      // That renewed it.
      expect(await claim(beside, 'another', UNTIL_MS)).toEqual([]);
      const endMs = UNTIL_MS - 1 + LEASE_MS;
      const [taken] = await claim(beside, 'another', endMs);
      expect(taken).toMatchObject({ id, isTakenOver: true });
      expect(await claim(store, 'one', endMs)).toEqual([]);
      expect(await store.moveDistribution(lease(id, 'one', endMs), 10, 20)).toBe(false);
      expect(await beside.moveDistribution(lease(id, 'another', endMs), 10, 20)).toBe(true);
    });

    test('of many workers that look at once, over two connections, each gets others', async () => {
      const { store, openBeside } = opened();
      const beside = await openBeside();
      const ids: number[] = [];
      for (let n = 0; n < 20; n++) {
        const { id: providerId } = await addProvider(store, `Provid${10 + n}`);
        ids.push(await send(store, providerId));
      }
      const owners = ['one', 'two', 'three', 'four', 'five', 'six'];
      const got = await Promise.all(
        owners.map((owner, n) => claimedIds(n % 2 === 0 ? store : beside, owner)),
      );
      got.push(await claimedIds(store, 'late'));
      expect(got.flat().sort()).toEqual(ids.sort());
    });

    test('a lease lasts by the clock of the store, wherever the workers’ clocks stand', async () => {
      const { store, openBeside } = opened();
      const { id: providerId } = await addProvider(store, 'Provide1');
      const id = await send(store, providerId);
      const beside = await openBeside();
      const taken = async (nowMs: number) =>
        (await beside.claimWork({ owner: 'another', nowMs, leaseMs: LEASE_MS })).length > 0;
      expect(await claimedIds(store)).toEqual([id]);
      expect(await taken(NOW_MS + HOUR_MS)).toBe(false);
      CLOCK.advance(LEASE_MS - 1);
      const slow = { id, owner: 'one', nowMs: NOW_MS - HOUR_MS, leaseMs: LEASE_MS };
      expect(await store.moveDistribution(slow, 10, 20)).toBe(true);
      CLOCK.advance(LEASE_MS - 1);
      expect(await taken(NOW_MS + HOUR_MS)).toBe(false);
      CLOCK.advance(1);
      expect(await taken(NOW_MS)).toBe(true);
    });

    test('the turn goes round: those first that were served longest ago', async () => {
      const { store } = opened();
      const ids: number[] = [];
      for (let i = 0; i < 40; i++) {
        const { id } = await addProvider(store, `Provid${10 + i}`);
        ids.push(await send(store, id));
      }
      const served = new Set<number>();
      for (let nowMs = NOW_MS; served.size < ids.length; nowMs += LEASE_MS - 1) {
        const before = served.size;
        for (const id of await claimedIds(store, 'one', nowMs)) served.add(id);
        expect(served.size).toBeGreaterThan(before);
      }
    });

    test('says what may take long: loading and sending to an operating system', async () => {
      const { store } = opened();
      const { providerId } = await addDoor(store);
      await knock(store, 'a');
      for (const [target, isBulky] of [
        [{}, true],
        [to('a'), false],
      ] as const) {
        const id = await send(store, providerId, target);
        await bringTo(store, id, 5);
        expect(await claim(store)).toMatchObject([{ id, status: 5, isDue: true, isBulky }]);
        await bringTo(store, id, 40);
        expect(await claim(store)).toMatchObject([{ id, status: 40, isDue: true, isBulky }]);
        await bringTo(store, id, 100);
      }
    });

    test('takes over a lease from further ahead than any lasts: the clock was set back', async () => {
      const { store } = opened();
      const { id: providerId } = await addProvider(store, 'Provide1');
      const id = await send(store, providerId, sentAt(NOW_MS - HOUR_MS));
      await claim(store);
      expect(await claim(store, 'another', NOW_MS)).toEqual([]);
      // The clock of another node is a little behind, or its claim waited for this one.
      for (const behindMs of [1, 2_000, 10_000]) {
        expect(await claim(store, 'another', NOW_MS - behindMs)).toEqual([]);
      }
      const backMs = NOW_MS - 10_001;
      expect(await claim(store, 'another', backMs)).toMatchObject([{ id, isTakenOver: true }]);
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
      await renewed((hold) => store.loadRecipients(hold, LEDGER_MAX));
      await renewed((hold) => store.moveDistribution(hold, 5, 40));
      await renewed((hold) => store.sendRecipients(hold, WAITING_MAX, []));
      expect(await claimedIds(store, 'another', nowMs + LEASE_MS)).toEqual([id]);
    });

    test('of each provider only the first: the one begun, then by id, whatever clocks said', async () => {
      const { store } = opened();
      const { id: one } = await addProvider(store, 'Provide1');
      const { id: two } = await addProvider(store, 'Provide2');
      const begun = await send(store, one);
      const foreign = await send(store, two);
      const behind = await send(store, one, sentAt(NOW_MS - 1));
      const ahead = await send(store, one, sentAt(NOW_MS + 2));
      const last = await send(store, one, sentAt(NOW_MS - HOUR_MS));
      const lane = async (owner = 'one') => {
        const ids = await claimedIds(store, owner);
        return ids.filter((id) => id !== foreign);
      };
      expect((await claimedIds(store)).sort()).toEqual([begun, foreign].sort());
      await bringTo(store, begun, 5);
      expect(await lane()).toEqual([begun]);
      // In other hands the first still goes before the next.
      expect(await lane('another')).toEqual([]);
      for (const id of [begun, behind, ahead, last]) {
        expect(await lane()).toEqual([id]);
        await store.blockDistribution(id, [10, 20, 5], NOW_MS, ACT);
      }
      expect(await lane()).toEqual([]);
    });

    test('what was scheduled goes by its time before what was sent after that', async () => {
      const { store } = opened();
      const { id: providerId } = await addProvider(store, 'Provide1');
      const later = await pending(store, providerId, NOW_MS + 20);
      const sooner = await pending(store, providerId, NOW_MS + 10);
      const before = await send(store, providerId);
      const after = await send(store, providerId, sentAt(NOW_MS + 15));
      const atLast = await send(store, providerId, sentAt(NOW_MS + 30));
      for (const id of [before, sooner, after, later, atLast]) {
        const nowMs = NOW_MS + 40;
        expect(await claimedIds(store, 'one', nowMs)).toEqual([id]);
        await bringTo(store, id, 100, { nowMs });
      }
    });

    test('what waits for its time never goes before a send for now, whatever the clock said', async () => {
      const { store } = opened();
      const { id: providerId } = await addProvider(store, 'Provide1');
      const waits = await pending(store, providerId, NOW_MS + HOUR_MS);
      // Sent while the clock was two hours ahead.
      const ahead = await send(store, providerId, sentAt(NOW_MS + 2 * HOUR_MS));
      const now = await send(store, providerId);
      expect(await claimedIds(store)).toEqual([ahead]);
      await bringTo(store, ahead, 100);
      expect(await claimedIds(store)).toEqual([now]);
      await bringTo(store, now, 100);
      expect(await claimedIds(store)).toEqual([]);
      expect(await claimedIds(store, 'one', NOW_MS + HOUR_MS)).toEqual([waits]);
    });

    test('a lease from before the clock was set back is no reason to come last', async () => {
      const { store } = opened();
      const ids: number[] = [];
      for (let i = 0; i < 40; i++) {
        const { id } = await addProvider(store, `Provid${10 + i}`);
        ids.push(await send(store, id, sentAt(NOW_MS - HOUR_MS)));
      }
      // Some are held by a clock that is ahead; then it is set back.
      expect((await claim(store, 'one', NOW_MS)).length).toBe(32);
      const held = new Set(await claimedIds(store, 'another', NOW_MS - HOUR_MS));
      for (const id of await claimedIds(store, 'another', NOW_MS - HOUR_MS + 1)) held.add(id);
      expect([...held].sort()).toEqual(ids.sort());
    });

    test('what is not due yet is looked at without waiting for its turn', async () => {
      const { store } = opened();
      const { id: providerId } = await addProvider(store, 'Provide1');
      const due = await send(store, providerId);
      const later = [];
      for (let i = 0; i < 5; i++) later.push(await send(store, providerId, at(EXPIRES_MS)));
      expect((await claimedIds(store)).sort()).toEqual([due, ...later].sort());
    });

    test('a long queue of one provider holds nobody else up', async () => {
      const { store } = opened();
      const { id: busy } = await addProvider(store, 'Provide1');
      const { id: other } = await addProvider(store, 'Provide2');
      await Promise.all(Array.from({ length: 600 }, () => send(store, busy, sentAt(NOW_MS - 1))));
      const id = await send(store, other);
      expect(await claimedIds(store)).toContain(id);
    });

    test('of large ones in delivery four at a time, beside all the small ones', async () => {
      const { store } = opened();
      for (let n = 1; n <= 6; n++) {
        const { id: providerId } = await addProvider(store, `Provide${n}`);
        await bringTo(store, await send(store, providerId), 5);
      }
      const { id: providerId } = await addProvider(store, 'Provide7');
      const small = await send(store, providerId, to('a'));
      const claimed = await claim(store);
      expect(claimed.filter(({ isBulky }) => isBulky)).toHaveLength(4);
      expect(claimed.filter(({ isBulky }) => !isBulky).map(({ id }) => id)).toEqual([small]);
    });

    test('never what has ended', async () => {
      const { store } = opened();
      const { providerId } = await addDoor(store);
      await knock(store, 'a');
      await deliver(store, providerId);
      expect(await claim(store, 'one', EXPIRES_MS)).toEqual([]);
    });
  },

  releaseWork(opened) {
    test('gives back what this worker holds, and nothing else', async () => {
      const { store, openBeside } = opened();
      const { id: one } = await addProvider(store, 'Provide1');
      const { id: two } = await addProvider(store, 'Provide2');
      const mine = await send(store, one);
      expect(await claimedIds(store)).toEqual([mine]);
      const foreign = await send(store, two);
      expect(await claimedIds(store, 'another')).toEqual([foreign]);
      await store.releaseWork('nobody');
      expect(await claimedIds(await openBeside(), 'third')).toEqual([]);
      await store.releaseWork('one');
      expect(await store.moveDistribution(lease(mine), 10, 20)).toBe(false);
      expect(await claimedIds(store, 'third')).toEqual([mine]);
    });
  },

  findNextDueMs(opened) {
    test('the earliest of what has not ended', async () => {
      const { store } = opened();
      const { id: providerId } = await addProvider(store, 'Provide1');
      expect(await store.findNextDueMs()).toBeNull();
      const second = await pending(store, providerId, NOW_MS + 2 * HOUR_MS);
      const first = await pending(store, providerId, NOW_MS + HOUR_MS);
      expect(await store.findNextDueMs()).toBe(NOW_MS + HOUR_MS);
      const guard = { from: [30], dueFromMs: NOW_MS, nowMs: NOW_MS };
      await store.cancelDistribution(providerId, first, guard, ACT);
      expect(await store.findNextDueMs()).toBe(NOW_MS + 2 * HOUR_MS);
      await store.blockDistribution(second, [30], NOW_MS, ACT);
      expect(await store.findNextDueMs()).toBeNull();
    });

    test('at once for what nobody has looked at, and for a send for now, whatever waits', async () => {
      const { store } = opened();
      const { id: one } = await addProvider(store, 'Provide1');
      const { id: two } = await addProvider(store, 'Provide2');
      await pending(store, one, NOW_MS + HOUR_MS);
      const unseen = await send(store, two, at(NOW_MS + 2 * HOUR_MS));
      expect(await store.findNextDueMs()).toBe(0);
      await bringTo(store, unseen, 20);
      await store.moveDistribution(lease(unseen), 20, 30);
      expect(await store.findNextDueMs()).toBe(NOW_MS + HOUR_MS);
      await send(store, one, sentAt(NOW_MS + 3 * HOUR_MS));
      expect(await store.findNextDueMs()).toBe(0);
    });
  },
};

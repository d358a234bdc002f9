import { expect, test } from 'bun:test';
import { type OutboxStore, STOPPED_MS, WAIT_MAX_MS } from '../../../src/core/port/outbox.ts';
import { PUSH_GATEWAYS } from '../../../src/core/port/registration.ts';
import { ACT } from '../../support/actor.ts';
import { addDoor, addLink, CODE, NOW_MS, OTHER_CODE, type Suite } from './fixture.ts';
import { draft, send, to } from './message-fixture.ts';
import {
  ACCEPTED,
  apns,
  claimGateways,
  claimOne,
  dueAt,
  fcm,
  hold,
  OUTBOX_LEASE_MS,
  pushesAt,
  registerAt,
  retryAt,
  serve,
  settle,
  WELL,
  webpush,
} from './outbox-fixture.ts';
import { settlementContract } from './settlement.ts';

const SECOND_MS = 1_000;

export const outboxContract: Record<keyof OutboxStore, Suite> = {
  ...settlementContract,

  claimDestinations(opened) {
    async function given() {
      const { store } = opened();
      const { providerId } = await addDoor(store);
      await addLink(store, providerId, { installCode: OTHER_CODE });
      await registerAt(store, 'a', fcm('token a'));
      await registerAt(store, 'b', apns('token b'));
      return { store, providerId };
    }

    test('those with something due, each once, until the lease ends', async () => {
      const { store, providerId } = await given();
      expect(await claimGateways(store)).toEqual([]);
      await serve(store, providerId);
      const found = await claimGateways(store);
      expect(found.map(({ kind }) => kind).sort()).toEqual(['apns', 'fcm']);
      expect(found[0]).toMatchObject({ origin: '', webhookId: null, waitingCount: 1, ...WELL });
      for (const owner of ['one', 'another']) {
        expect(await claimGateways(store, owner, NOW_MS + OUTBOX_LEASE_MS - 1)).toEqual([]);
      }
      expect(await claimGateways(store, 'another', NOW_MS + OUTBOX_LEASE_MS)).toHaveLength(2);
    });

    test('of the kinds that are asked for alone, and no more than asked for', async () => {
      const { store, providerId } = await given();
      await serve(store, providerId);
      expect(await store.claimDestinations(hold(), ['webpush', 'webhook'], 9, 9, [])).toEqual([]);
      const one = await store.claimDestinations(hold(), PUSH_GATEWAYS, 1, 9, []);
      expect(one).toHaveLength(1);
      const left = await store.claimDestinations(hold(), PUSH_GATEWAYS, 9, 9, []);
      expect([...one, ...left].map(({ kind }) => kind).sort()).toEqual(['apns', 'fcm']);
    });

    test('none of those that are not wanted now', async () => {
      const { store, providerId } = await given();
      await serve(store, providerId);
      const [first] = await store.listDestinations(PUSH_GATEWAYS, 1);
      const found = await store.claimDestinations(hold(), PUSH_GATEWAYS, 9, 9, [first?.id ?? 0]);
      expect(found).toHaveLength(1);
      expect(found[0]?.id).not.toBe(first?.id);
    });

    test('looking alone writes nothing', async () => {
      const { store } = await given();
      const before = await store.readStorageFacts();
      await claimGateways(store);
      await store.resumeDestinations(PUSH_GATEWAYS);
      await store.forgetDestinations();
      await store.endHandedOver(NOW_MS);
      expect((await store.readStorageFacts()).logBytes).toBe(before.logBytes);
    });

    test('not one that was stopped, or waits for its time', async () => {
      const { store, providerId } = await given();
      await serve(store, providerId, to('a'));
      const { id } = await claimOne(store);
      const stopped = { ...WELL, stoppedAtMs: NOW_MS, problem: 'wrong key' };
      await settle(store, id, [], ACCEPTED, { health: stopped });
      await store.releaseDestinations('one', null);
      expect(await claimGateways(store)).toEqual([]);
      expect(await store.findNextDispatchMs(PUSH_GATEWAYS)).toBe(NOW_MS + STOPPED_MS);
      expect(await store.resumeDestinations(PUSH_GATEWAYS)).toBe(1);
      expect((await claimOne(store)).problem).toBe('wrong key');

      const retryAtMs = NOW_MS + SECOND_MS;
      await settle(store, id, [], ACCEPTED, { health: { ...WELL, failureCount: 9, retryAtMs } });
      await store.releaseDestinations('one', id);
      expect(await store.findNextDispatchMs(PUSH_GATEWAYS)).toBe(retryAtMs);
      expect(await claimGateways(store, 'one', retryAtMs - 1)).toEqual([]);
      expect(await claimGateways(store, 'one', retryAtMs)).toHaveLength(1);
    });

    test('of those that fail, no more than asked for', async () => {
      const { store, providerId } = await given();
      await registerAt(store, 'a', webpush('https://one.example/1'));
      await registerAt(store, 'b', webpush('https://two.example/2'));
      await addThird(store);
      await serve(store, providerId);
      // A push service that is new has to prove itself.
      const first = await store.claimDestinations(hold(), PUSH_GATEWAYS, 9, 1, []);
      // Those that were made at once have no order among them.
      expect(first.map(({ origin }) => origin).sort()).toEqual(['', 'https://one.example']);
      const one = first.find(({ origin }) => origin !== '');
      await settle(store, one?.id ?? 0, [], ACCEPTED);
      await store.releaseDestinations('one', null);
      const second = await store.claimDestinations(hold(), PUSH_GATEWAYS, 9, 1, []);
      const [next, ...others] = second.map(({ origin }) => origin);
      expect(next).toBe('https://two.example');
      expect(others.sort()).toEqual(['', 'https://one.example']);
      await store.releaseDestinations('one', null);
      const few = await store.claimDestinations(hold(), PUSH_GATEWAYS, 2, 1, []);
      expect(few).toHaveLength(2);
    });

    const addThird = async (store: Awaited<ReturnType<typeof given>>['store']) => {
      await registerAt(store, 'c', fcm('token c'), {
        shown: { kind: 'link', installCode: OTHER_CODE, domainHash: 'a'.repeat(64) },
      });
    };

    test('first the one that was served longest ago', async () => {
      const { store, providerId } = await given();
      await serve(store, providerId);
      const [first] = await store.claimDestinations(hold(), PUSH_GATEWAYS, 1, 9, []);
      await store.releaseDestinations('one', null);
      const [second] = await store.claimDestinations(hold(), PUSH_GATEWAYS, 1, 9, []);
      expect(second?.kind).not.toBe(first?.kind);
      await store.releaseDestinations('one', null);
      const later = hold('one', NOW_MS + SECOND_MS);
      const [third] = await store.claimDestinations(later, PUSH_GATEWAYS, 1, 9, []);
      expect(third?.kind).toBe(first?.kind);
    });

    test('a clock that is set back holds up nothing', async () => {
      const { store, providerId } = await given();
      const aheadMs = NOW_MS + 86_400_000;
      await serve(store, providerId, {
        ...to('a'),
        createdAtMs: aheadMs,
        expiresAtMs: 2 * aheadMs,
      });
      const { id } = await claimOne(store, 'one', aheadMs);
      const [due] = await dueAt(store, id, aheadMs);
      const later = retryAt(aheadMs + WAIT_MAX_MS.fcm);
      const health = { ...WELL, failureCount: 9, retryAtMs: aheadMs + WAIT_MAX_MS.fcm };
      await settle(store, id, [due as { id: number }], later, { nowMs: aheadMs, health });
      expect((await claimOne(store, 'another')).id).toBe(id);
      expect(await dueAt(store, id)).toMatchObject([{ id: due?.id, attemptCount: 1 }]);
      expect(await store.findNextDispatchMs(PUSH_GATEWAYS)).toBe(0);
    });

    test('a worker whose clock is a little behind takes no lease', async () => {
      const { store, providerId } = await given();
      await serve(store, providerId, { ...to('a'), createdAtMs: NOW_MS - 86_400_000 });
      const { id } = await claimOne(store, 'one');
      for (const behindMs of [1, 2_000, 10_000]) {
        expect(await claimGateways(store, 'another', NOW_MS - behindMs)).toEqual([]);
      }
      expect((await claimOne(store, 'another', NOW_MS - 10_001)).id).toBe(id);
    });

    test('two at once never get the same', async () => {
      const { store, providerId } = await given();
      await serve(store, providerId);
      const beside = await opened().openBeside();
      const found = await Promise.all([
        claimGateways(store, 'one'),
        claimGateways(beside, 'another'),
      ]);
      expect(
        found
          .flat()
          .map(({ id }) => id)
          .sort(),
      ).toEqual([1, 2]);
    });
  },

  listDispatches(opened) {
    test('what is due, with the token that reads the message as it is now', async () => {
      const { store } = opened();
      const { providerId } = await addDoor(store);
      const { id: deviceId } = await registerAt(store, 'a', fcm('token a'), { locale: 'ru' });
      const { id: distributionId } = await serve(store, providerId);
      const { id } = await claimOne(store);
      expect(await dueAt(store, id)).toEqual([
        {
          kind: 'push',
          id: 1,
          nextAtMs: 0,
          queuedAtMs: NOW_MS,
          attemptCount: 0,
          distributionId,
          deviceId,
          token: { id: 1, push: fcm('token a'), pushAtMs: NOW_MS, locale: 'ru' },
          moot: null,
        },
      ]);
      expect(await dueAt(store, 999)).toEqual([]);
    });

    test('first what was tried already; each once, behind the last', async () => {
      const { store } = opened();
      const { providerId } = await addDoor(store);
      await registerAt(store, 'a', fcm('token a'));
      for (let n = 0; n < 4; n++) await serve(store, providerId);
      const { id } = await claimOne(store);
      const [first, second] = await dueAt(store, id);
      await settle(store, id, [first as { id: number }], retryAt(NOW_MS + 2 * SECOND_MS));
      await settle(store, id, [second as { id: number }], retryAt(NOW_MS + SECOND_MS));
      const idsAt = async (nowMs: number) => (await dueAt(store, id, nowMs)).map((due) => due.id);
      expect(await idsAt(NOW_MS)).toEqual([3, 4]);
      expect(await idsAt(NOW_MS + SECOND_MS)).toEqual([2, 3, 4]);
      expect(await idsAt(NOW_MS + 2 * SECOND_MS)).toEqual([2, 1, 3, 4]);
      const paged: number[] = [];
      for (let after = null; ; ) {
        const [next] = await store.listDispatches(id, NOW_MS + 2 * SECOND_MS, 1, after);
        if (next === undefined) break;
        paged.push(next.id);
        after = { nextAtMs: next.nextAtMs, id: next.id };
      }
      expect(paged).toEqual([2, 1, 3, 4]);
    });

    test('says why no push is needed', async () => {
      const { store } = opened();
      const { providerId, installId } = await addDoor(store);
      await registerAt(store, 'a', fcm('token a'));
      await registerAt(store, 'b', fcm('token b'));
      const { id: blocked } = await serve(store, providerId);
      const { id: expiring } = await serve(store, providerId, { expiresAtMs: NOW_MS + SECOND_MS });
      const { id } = await claimOne(store);
      const mootOf = async (distributionId: number, nowMs = NOW_MS) =>
        (await pushesAt(store, id, nowMs))
          .filter((due) => due.distributionId === distributionId)
          .map(({ moot }) => moot);
      await store.blockDistribution(blocked, [40], NOW_MS, ACT);
      expect(await mootOf(blocked)).toEqual(['blocked', 'blocked']);
      expect(await mootOf(expiring)).toEqual([null, null]);
      expect(await mootOf(expiring, NOW_MS + SECOND_MS)).toEqual(['expired', 'expired']);
      await store.freeSlot(providerId, { installCode: CODE, installId }, 'a', ACT);
      expect(await mootOf(expiring)).toEqual(['moved', null]);
    });
  },

  findPushMessage(opened) {
    test('the message of a distribution, and nothing of one that is not there', async () => {
      const { store } = opened();
      const { providerId } = await addDoor(store);
      const id = await send(store, providerId);
      const { notificationType, createdAtMs, expiresAtMs } = draft(providerId);
      expect(await store.findPushMessage(id)).toEqual({
        id,
        providerId,
        notificationType,
        createdAtMs,
        expiresAtMs,
        payload: { body: 'hello' },
      });
      expect(await store.findPushMessage(id + 1)).toBeNull();
    });
  },

  releaseDestinations(opened) {
    test('what an owner holds, one or all, and nobody else’s', async () => {
      const { store } = opened();
      const { providerId } = await addDoor(store);
      await registerAt(store, 'a', fcm('token a'));
      await registerAt(store, 'b', apns('token b'));
      await serve(store, providerId);
      const [first, second] = await claimGateways(store);
      await store.releaseDestinations('another', null);
      expect(await claimGateways(store, 'another')).toEqual([]);
      await store.releaseDestinations('one', first?.id ?? 0);
      expect((await claimOne(store, 'another')).id).toBe(first?.id as number);
      await store.releaseDestinations('one', null);
      expect((await claimOne(store, 'another')).id).toBe(second?.id as number);
    });
  },

  hastenDispatches(opened) {
    test('what was put off is due at once, in the order in which it was put in', async () => {
      const { store } = opened();
      const { providerId } = await addDoor(store);
      await registerAt(store, 'a', fcm('token a'));
      for (let n = 0; n < 3; n++) await serve(store, providerId);
      const { id } = await claimOne(store);
      const [first, second, third] = await dueAt(store, id);
      await settle(store, id, [first as { id: number }], retryAt(NOW_MS + 3 * SECOND_MS));
      await settle(store, id, [second as { id: number }], retryAt(NOW_MS + SECOND_MS));
      await settle(store, id, [third as { id: number }], retryAt(NOW_MS + 2 * SECOND_MS));
      const idsNow = async () => (await dueAt(store, id)).map((due) => due.id);
      expect(await idsNow()).toEqual([]);
      expect(await store.hastenDispatches(id + 1, 9)).toBe(0);
      expect(await store.hastenDispatches(id, 2)).toBe(2);
      expect(await idsNow()).toEqual([2, 3]);
      expect(await store.hastenDispatches(id, 2)).toBe(1);
      expect(await store.hastenDispatches(id, 2)).toBe(0);
      expect(await dueAt(store, id)).toMatchObject(
        [1, 2, 3].map((n) => ({ id: n, attemptCount: 1 })),
      );
    });
  },

  findNextDispatchMs(opened) {
    test('what was stopped is tried again after an hour, by one', async () => {
      const { store } = opened();
      const { providerId } = await addDoor(store);
      await registerAt(store, 'a', fcm('token a'));
      await serve(store, providerId);
      const { id } = await claimOne(store);
      await settle(store, id, [], ACCEPTED, { health: { ...WELL, stoppedAtMs: NOW_MS } });
      await store.releaseDestinations('one', null);
      const againMs = NOW_MS + STOPPED_MS;
      expect(await store.findNextDispatchMs(PUSH_GATEWAYS)).toBe(againMs);
      expect(await claimGateways(store, 'one', againMs - 1)).toEqual([]);
      const claimed = await claimGateways(store, 'one', againMs);
      expect(claimed).toMatchObject([{ id, stoppedAtMs: NOW_MS }]);
      expect(await claimGateways(store, 'another', againMs)).toEqual([]);
      // Refused again: it is an hour more, and no event of its own.
      const health = { ...WELL, stoppedAtMs: againMs };
      await settle(store, id, [], ACCEPTED, { health, nowMs: againMs });
      expect(await store.findNextDispatchMs(PUSH_GATEWAYS)).toBe(againMs + STOPPED_MS);
    });

    test('the first time at which something may be tried', async () => {
      const { store } = opened();
      const { providerId } = await addDoor(store);
      await registerAt(store, 'a', fcm('token a'));
      expect(await store.findNextDispatchMs(PUSH_GATEWAYS)).toBeNull();
      await serve(store, providerId);
      expect(await store.findNextDispatchMs(PUSH_GATEWAYS)).toBe(0);
      expect(await store.findNextDispatchMs(['apns'])).toBeNull();
      const { id } = await claimOne(store);
      await settle(store, id, await dueAt(store, id), retryAt(NOW_MS + SECOND_MS));
      expect(await store.findNextDispatchMs(PUSH_GATEWAYS)).toBe(NOW_MS + SECOND_MS);
      await settle(store, id, await dueAt(store, id, NOW_MS + SECOND_MS), ACCEPTED);
      expect(await store.findNextDispatchMs(PUSH_GATEWAYS)).toBeNull();
    });
  },

  resumeDestinations(opened) {
    test('of these kinds alone, and how many', async () => {
      const { store } = opened();
      const { providerId } = await addDoor(store);
      await registerAt(store, 'a', fcm('token a'));
      await serve(store, providerId);
      const { id } = await claimOne(store);
      expect(await store.resumeDestinations(PUSH_GATEWAYS)).toBe(0);
      const health = { ...WELL, stoppedAtMs: NOW_MS, retryAtMs: NOW_MS + SECOND_MS };
      await settle(store, id, [], ACCEPTED, { health });
      expect(await store.resumeDestinations(['apns', 'webpush'])).toBe(0);
      expect(await store.resumeDestinations(['fcm'])).toBe(1);
      expect(await store.resumeDestinations(['fcm'])).toBe(0);
      expect(await store.findNextDispatchMs(PUSH_GATEWAYS)).toBe(0);
    });
  },

  listDestinations(opened) {
    test('those with something waiting or a problem, most first', async () => {
      const { store } = opened();
      const { providerId } = await addDoor(store);
      await registerAt(store, 'a', fcm('token a'));
      await registerAt(store, 'b', apns('token b'));
      await serve(store, providerId);
      await serve(store, providerId, to('b'));
      const list = async (countMax = 9) =>
        (await store.listDestinations(PUSH_GATEWAYS, countMax)).map((found) => found.kind);
      expect(await list()).toEqual(['apns', 'fcm']);
      expect(await list(1)).toEqual(['apns']);
      const [first] = await claimGateways(store);
      const id = first?.id ?? 0;
      await settle(store, id, await dueAt(store, id), ACCEPTED);
      expect(await list()).toHaveLength(1);
      await settle(store, id, [], ACCEPTED, { health: { ...WELL, problem: 'no answer' } });
      expect(await list()).toHaveLength(2);
    });
  },

  readOutboxTotals(opened) {
    test('by kind, with the time of what waits longest', async () => {
      const { store } = opened();
      const { providerId } = await addDoor(store);
      await registerAt(store, 'a', webpush('https://one.example/a'));
      await registerAt(store, 'b', webpush('https://two.example/b'));
      expect(await store.readOutboxTotals()).toEqual([]);
      await serve(store, providerId, { createdAtMs: NOW_MS - SECOND_MS });
      await serve(store, providerId);
      const [total, ...more] = await store.readOutboxTotals();
      expect(more).toEqual([]);
      expect(total).toEqual({
        kind: 'webpush',
        destinationCount: 2,
        waitingCount: 4,
        oldestQueuedAtMs: NOW_MS - SECOND_MS,
        failingCount: 0,
        stoppedCount: 0,
      });
      const [first] = await claimGateways(store);
      const health = { ...WELL, failureCount: 1, failingSinceMs: NOW_MS, stoppedAtMs: NOW_MS };
      await settle(store, first?.id ?? 0, [], ACCEPTED, { health });
      expect(await store.readOutboxTotals()).toMatchObject([{ failingCount: 1, stoppedCount: 1 }]);
    });
  },

  forgetDestinations(opened) {
    test('push services for which nothing waits, once nobody holds them', async () => {
      const { store } = opened();
      const { providerId } = await addDoor(store);
      await registerAt(store, 'a', webpush('https://one.example/a'));
      await registerAt(store, 'b', fcm('token b'));
      await serve(store, providerId);
      expect(await store.forgetDestinations()).toBe(false);
      for (const { id } of await claimGateways(store)) {
        await settle(store, id, await dueAt(store, id), ACCEPTED);
      }
      await store.releaseDestinations('one', null);
      // One that took its push stays known for a week: others that are made up do not keep it out.
      expect(await store.forgetDestinations()).toBe(false);
      hold('one', NOW_MS + 8 * 86_400_000);
      expect(await store.forgetDestinations()).toBe(true);
      expect(await store.forgetDestinations()).toBe(false);
      expect(await store.readOutboxTotals()).toMatchObject([{ kind: 'fcm', destinationCount: 1 }]);
    });
  },
};

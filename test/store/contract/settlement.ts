/** What follows from the outcomes of attempts. */

import { expect, test } from 'bun:test';
import { type OutboxStore, WAIT_MAX_MS } from '../../../src/core/port/outbox.ts';
import { ACT } from '../../support/actor.ts';
import { addDoor, NOW_MS, type Suite } from './fixture.ts';
import { detailOf, EXPIRES_MS, inboxOf, statusOf } from './message-fixture.ts';
import {
  ACCEPTED,
  apns,
  claimGateways,
  claimOne,
  countsOf,
  dueAt,
  failedFor,
  fcm,
  MOOT,
  pushesAt,
  registerAt,
  retryAt,
  serve,
  settle,
  WELL,
  webpush,
} from './outbox-fixture.ts';

type Method = 'settleDispatches' | 'endHandedOver';

export const settlementContract: Record<Method & keyof OutboxStore, Suite> = {
  settleDispatches(opened) {
    /** Two devices with addresses of one gateway, and a message that waits for both. */
    async function given() {
      const { store } = opened();
      const { providerId } = await addDoor(store);
      const a = await registerAt(store, 'a', fcm('token a'));
      const b = await registerAt(store, 'b', fcm('token b'));
      const { id } = await serve(store, providerId);
      const { id: destinationId } = await claimOne(store);
      const [first, second] = await pushesAt(store, destinationId);
      if (first === undefined || second === undefined) throw new Error('not two pushes');
      return { store, providerId, a, b, id, destinationId, first, second };
    }

    test('the distribution ends with the last push, by the counts', async () => {
      const { store, id, destinationId, first, second } = await given();
      expect(await countsOf(store, id)).toEqual([40, 2, 0, 0]);
      expect(await settle(store, destinationId, [first], ACCEPTED)).toBe(true);
      expect(await countsOf(store, id)).toEqual([40, 2, 1, 0]);
      await settle(store, destinationId, [second], ACCEPTED, { nowMs: NOW_MS + 1 });
      expect(await countsOf(store, id)).toEqual([100, 2, 2, 0]);
      expect((await detailOf(store, id)).distribution.finishedAtMs).toBe(NOW_MS + 1);
      expect(await store.readOutboxTotals()).toMatchObject([{ waitingCount: 0 }]);
    });

    test('some failed: sent with errors; all did: failed; the inbox has it all the same', async () => {
      const { store, providerId, a, id, destinationId, first, second } = await given();
      await settle(store, destinationId, [first], failedFor('no such topic'));
      await settle(store, destinationId, [second], ACCEPTED);
      expect(await countsOf(store, id)).toEqual([110, 2, 1, 1]);
      expect(await inboxOf(store, a)).toEqual([id]);
      const { id: next } = await serve(store, providerId);
      const both = await dueAt(store, destinationId);
      await settle(store, destinationId, both, failedFor('too large'));
      expect(await countsOf(store, next)).toEqual([120, 2, 0, 2]);
      expect(await inboxOf(store, a)).toEqual([id, next]);
    });

    test('tried again later, with the attempt counted', async () => {
      const { store, id, destinationId, first } = await given();
      await settle(store, destinationId, [first], retryAt(NOW_MS + 5));
      expect(await dueAt(store, destinationId)).toHaveLength(1);
      const [again] = await dueAt(store, destinationId, NOW_MS + 5);
      expect(again).toMatchObject({ id: first.id, attemptCount: 1, nextAtMs: NOW_MS + 5 });
      expect(await countsOf(store, id)).toEqual([40, 2, 0, 0]);
    });

    test('tried again after the longest wait at the latest', async () => {
      const { store, destinationId, first, second } = await given();
      const latestMs = NOW_MS + WAIT_MAX_MS.fcm;
      const wait = { outcome: 'wait', nextAtMs: latestMs + 1, problem: 'too many' } as const;
      await settle(store, destinationId, [first], wait);
      await settle(store, destinationId, [second], retryAt(3 * latestMs));
      expect(await dueAt(store, destinationId)).toEqual([]);
      const again = await dueAt(store, destinationId, latestMs);
      expect(again.map(({ nextAtMs }) => nextAtMs)).toEqual([latestMs, latestMs]);
    });

    test('a push service that failed is forgotten once nothing waits for it', async () => {
      const { store } = opened();
      const { providerId } = await addDoor(store);
      await registerAt(store, 'a', webpush('https://failing.example/a'));
      await serve(store, providerId);
      const { id } = await claimOne(store);
      const health = { ...WELL, failureCount: 2 };
      await settle(store, id, await dueAt(store, id), failedFor('gone'), { health });
      await store.releaseDestinations('one', null);
      expect(await store.forgetDestinations()).toBe(true);
      expect(await store.readOutboxTotals()).toEqual([]);
    });

    test('put off as it was asked for, which is no attempt', async () => {
      const { store, id, destinationId, first, second } = await given();
      const wait = { outcome: 'wait', nextAtMs: NOW_MS + 5, problem: 'too many' } as const;
      await settle(store, destinationId, [first], wait);
      await settle(store, destinationId, [second], retryAt(NOW_MS + 5));
      expect(await dueAt(store, destinationId)).toEqual([]);
      const again = await dueAt(store, destinationId, NOW_MS + 5);
      expect(again.map(({ attemptCount }) => attemptCount)).toEqual([0, 1]);
      expect(await countsOf(store, id)).toEqual([40, 2, 0, 0]);
    });

    test('a dead address is dropped, unless another has come since', async () => {
      const { store, a, b, id, destinationId, first, second } = await given();
      const dead = (push: typeof first) => ({
        outcome: 'dead' as const,
        problem: 'UNREGISTERED',
        tokenId: push.token?.id ?? 0,
        push: push.token?.push ?? fcm(''),
        asOfMs: null,
      });
      await registerAt(store, 'a', fcm('new'), { heldTokenHash: a.tokenHash });
      await settle(store, destinationId, [first], dead(first));
      await settle(store, destinationId, [second], dead(second));
      expect(await countsOf(store, id)).toEqual([120, 2, 0, 2]);
      const tokens = async (hwid: string) => (await store.findDevice(hwid))?.tokens;
      expect(await tokens('a')).toMatchObject([{ gateway: 'fcm', dropped: null }]);
      expect(await tokens('b')).toMatchObject([
        { gateway: null, dropped: { atMs: NOW_MS, why: 'UNREGISTERED' } },
      ]);
      await registerAt(store, 'b', fcm('next'), { heldTokenHash: b.tokenHash });
      expect(await tokens('b')).toMatchObject([{ gateway: 'fcm', dropped: null }]);
    });

    test('an address that was dead before it was registered again stays', async () => {
      const { store, destinationId, first, second } = await given();
      const deadAt = (push: typeof first, asOfMs: number) => ({
        outcome: 'dead' as const,
        problem: 'Unregistered',
        asOfMs,
        tokenId: push.token?.id ?? 0,
        push: push.token?.push ?? fcm(''),
      });
      await settle(store, destinationId, [first], deadAt(first, NOW_MS - 1));
      await settle(store, destinationId, [second], deadAt(second, NOW_MS));
      const tokens = async (hwid: string) => (await store.findDevice(hwid))?.tokens;
      expect(await tokens('a')).toMatchObject([{ gateway: 'fcm', dropped: null }]);
      expect(await tokens('b')).toMatchObject([
        { gateway: null, dropped: { why: 'Unregistered' } },
      ]);
    });

    test('what was settled already, or went away, is passed over', async () => {
      const { store, id, destinationId, first, second } = await given();
      await settle(store, destinationId, [first, first], ACCEPTED);
      await settle(store, destinationId, [first], failedFor('late'));
      await store.forgetDevice('b', ACT);
      await settle(store, destinationId, [second, { id: 999 }], ACCEPTED);
      expect(await countsOf(store, id)).toEqual([40, 2, 1, 0]);
      expect(await store.endHandedOver(NOW_MS)).toBe(true);
      expect(await countsOf(store, id)).toEqual([110, 2, 1, 1]);
    });

    test('who lost the lease settles what it did, and says nothing of the destination', async () => {
      const { store, id, destinationId, first, second } = await given();
      await store.releaseDestinations('one', null);
      await claimOne(store, 'another');
      const health = { ...WELL, failureCount: 3, problem: 'mine' };
      expect(await settle(store, destinationId, [first, second], ACCEPTED, { health })).toBe(false);
      expect(await countsOf(store, id)).toEqual([100, 2, 2, 0]);
      expect(await store.listDestinations(['fcm'], 9)).toEqual([]);
    });

    test('each step renews the lease', async () => {
      const { store, destinationId } = await given();
      const laterMs = NOW_MS + 20_000;
      expect(await settle(store, destinationId, [], ACCEPTED, { nowMs: laterMs })).toBe(true);
      expect(await claimGateways(store, 'another', NOW_MS + 30_000)).toEqual([]);
      expect(await claimGateways(store, 'another', laterMs + 30_000)).toHaveLength(1);
    });

    test('not needed: fetched by then counts as reached', async () => {
      const { store, a, b, id, destinationId, first, second } = await given();
      await store.acknowledge(a, [{ id, state: 'received', detail: null }], NOW_MS);
      expect(await dueAt(store, destinationId)).toHaveLength(1);
      expect(await countsOf(store, id)).toEqual([40, 2, 1, 0]);
      await settle(store, destinationId, [first], ACCEPTED);
      await store.acknowledge(b, [{ id, state: 'opened', detail: null }], NOW_MS);
      expect(await countsOf(store, id)).toEqual([100, 2, 2, 0]);
      await settle(store, destinationId, [second], failedFor('late'));
      expect(await countsOf(store, id)).toEqual([100, 2, 2, 0]);
    });

    test('not needed: several are fetched by several devices at once', async () => {
      const { store, providerId, a, b, id, destinationId } = await given();
      const other = await serve(store, providerId, { createdAtMs: NOW_MS + 1 });
      const items = [id, other.id].map((one) => {
        return { id: one, state: 'received', detail: null } as const;
      });
      const twice = [...items, { id, state: 'opened', detail: null } as const];
      const calls = [store.acknowledge(a, items, NOW_MS + 2), store.acknowledge(b, twice, NOW_MS)];
      expect(await Promise.all(calls)).toEqual([items, twice]);
      expect(await dueAt(store, destinationId, NOW_MS + 2)).toEqual([]);
      for (const one of [id, other.id]) expect(await countsOf(store, one)).toEqual([100, 2, 2, 0]);
      expect(await store.readOutboxTotals()).toMatchObject([{ waitingCount: 0 }]);
    });

    test('not needed: with another gateway it is tried there, without any it counts', async () => {
      const { store, a, b, id, destinationId, first, second } = await given();
      await registerAt(store, 'a', apns('now'), { heldTokenHash: a.tokenHash });
      await registerAt(store, 'b', null, { heldTokenHash: b.tokenHash });
      await settle(store, destinationId, [first, second], MOOT, { nowMs: NOW_MS + 1_000 });
      expect(await countsOf(store, id)).toEqual([40, 2, 1, 0]);
      const next = await claimOne(store);
      expect(next.kind).toBe('apns');
      const [moved] = await pushesAt(store, next.id);
      expect(moved).toMatchObject({ moot: null, token: { push: apns('now') }, attemptCount: 0 });
      // Moving makes it no younger: it is given up at the same age.
      expect(moved?.queuedAtMs).toBe(NOW_MS);
      await settle(store, next.id, [moved as { id: number }], ACCEPTED);
      expect(await countsOf(store, id)).toEqual([100, 2, 2, 0]);
    });

    test('not needed: over by then, with the reason of the last attempt', async () => {
      const { store, id, destinationId, first, second } = await given();
      await settle(store, destinationId, [first], retryAt(EXPIRES_MS, '503'));
      await settle(store, destinationId, [first, second], MOOT, { nowMs: EXPIRES_MS });
      expect(await countsOf(store, id)).toEqual([120, 2, 0, 2]);
      expect((await detailOf(store, id)).missing).toMatchObject([
        { push: { problem: 'expired before the gateway took it: 503' } },
        { push: { problem: 'expired before the gateway took it' } },
      ]);
    });

    test('not needed: blocked by then, and its counts stay whole', async () => {
      const { store, id, destinationId, first, second } = await given();
      await settle(store, destinationId, [first], ACCEPTED);
      await store.blockDistribution(id, [40], NOW_MS, ACT);
      await settle(store, destinationId, [second], MOOT);
      expect(await countsOf(store, id)).toEqual([140, 2, 1, 1]);
    });

    test('not needed: its address was found dead by another message', async () => {
      const { store, providerId, destinationId, first } = await given();
      const { id: later } = await serve(store, providerId);
      const { id: tokenId = 0, push } = first.token ?? {};
      const as = { outcome: 'dead', problem: 'gone', asOfMs: null } as const;
      const dead = { ...as, tokenId, push: push ?? fcm('') };
      await settle(store, destinationId, [first], dead);
      const ofA = (await pushesAt(store, destinationId)).filter((due) => due.moot === 'moved');
      expect(ofA).toMatchObject([{ distributionId: later }]);
      await settle(store, destinationId, ofA, MOOT);
      expect(await countsOf(store, later)).toEqual([40, 2, 0, 1]);
    });
  },

  endHandedOver(opened) {
    test('what is over while gateways have it fails there', async () => {
      const { store } = opened();
      const { providerId } = await addDoor(store);
      for (const hwid of ['a', 'b']) await registerAt(store, hwid, fcm(`token ${hwid}`));
      const { id } = await serve(store, providerId);
      const { id: destinationId } = await claimOne(store);
      const [first, second] = await dueAt(store, destinationId);
      await settle(store, destinationId, [first as { id: number }], ACCEPTED);
      await settle(store, destinationId, [second as { id: number }], retryAt(NOW_MS + 1, '503'));
      expect(await store.endHandedOver(EXPIRES_MS - 1)).toBe(false);
      expect(await store.endHandedOver(EXPIRES_MS)).toBe(true);
      expect(await store.endHandedOver(EXPIRES_MS)).toBe(false);
      expect(await countsOf(store, id)).toEqual([110, 2, 1, 1]);
      expect(await dueAt(store, destinationId, EXPIRES_MS)).toEqual([]);
      expect((await detailOf(store, id)).missing).toMatchObject([
        { hwid: 'a', push: { state: 'accepted', problem: null } },
        {
          hwid: 'b',
          push: { state: 'failed', problem: 'expired before the gateway took it: 503' },
        },
      ]);
    });

    test('what a gateway has lasts as long as the message', async () => {
      const { store } = opened();
      const { providerId } = await addDoor(store);
      await registerAt(store, 'a', fcm('token a'));
      const { id } = await serve(store, providerId);
      expect(await store.endHandedOver(EXPIRES_MS - 1)).toBe(false);
      expect(await statusOf(store, id)).toBe(40);
      expect(await store.expireRecipients(EXPIRES_MS)).toBeNull();
    });
  },
};

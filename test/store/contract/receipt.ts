import { expect, test } from 'bun:test';
import type { Receipt } from '../../../src/core/port/receipt.ts';
import type { Store } from '../../../src/core/port/store.ts';
import { ACT } from '../../support/actor.ts';
import { ALL, addDoor, knock, NOW_MS, OTHER_CODE, type Suite } from './fixture.ts';
import {
  deliver,
  detailOf,
  fillBinding,
  IMPORT_DATA,
  MANY,
  onLink,
  register,
  send,
  to,
} from './message-fixture.ts';
import { reachSuite } from './reach.ts';

type Method = 'listReaches' | 'countReach' | 'listReceipts' | 'countReceipts';

/** A provider with three devices on its link: one is silent, two are registered. */
async function shop(store: Store) {
  const door = await addDoor(store);
  await store.updateLink(door.providerId, door.installId, { installLimit: 9 }, ACT);
  for (const hwid of ['silent', 'idle', 'busy']) await knock(store, hwid);
  await register(store, 'idle', onLink());
  return { ...door, busy: await register(store, 'busy', onLink()) };
}

const received = (id: number) => [{ id, state: 'received', detail: null }] as const;

async function receiptsOf(store: Store, providerId: number, distributionId: number) {
  const found = await store.listReceipts({ providerId, distributionId }, null, 99);
  if (found === 'receipt_not_found') throw new Error(found);
  return found;
}

const hwids = (receipts: readonly Receipt[] | 'receipt_not_found') =>
  receipts === 'receipt_not_found' ? receipts : receipts.map(({ hwid }) => hwid);

export const receiptContract: Record<Method & keyof Store, Suite> = {
  countReach(opened) {
    reachSuite(opened);

    test('those that an app registered with the provider, and those that got it', async () => {
      const { store } = opened();
      const { providerId, installId, busy } = await shop(store);
      // A registration at another provider makes no device reachable for this one.
      await addDoor(store, 'Provide2', OTHER_CODE);
      await knock(store, 'silent', OTHER_CODE);
      await register(store, 'silent', onLink(OTHER_CODE));
      const id = await deliver(store, providerId);
      expect(await store.countReach(id, 9)).toEqual({
        reachable: 2,
        received: 0,
        carried: 0,
        isAtLeast: false,
        inbox: 2,
        stream: 0,
        push: 0,
        fetch: 0,
        unknown: 0,
        none: 1,
      });
      await store.acknowledge(busy, received(id), NOW_MS);
      expect(await store.countReach(id, 9)).toMatchObject({ reachable: 2, received: 1 });
      // The registrations end with the link; the one that got the message has got it.
      await store.revokeLink(providerId, installId, 'LinkCode0009', ACT);
      expect(await store.countReach(id, 9)).toMatchObject({ reachable: 1, received: 1 });
    });

    test('an unlinked device by the inbox that is of no provider', async () => {
      const { store } = opened();
      const { providerId } = await addDoor(store);
      await register(store, 'alone');
      const id = await deliver(store, providerId, {
        ...IMPORT_DATA,
        ...to('alone'),
        reachesUnbound: true,
      });
      expect(await store.countReach(id, 9)).toMatchObject({ reachable: 1 });
    });

    test('stops at a number of rows, and says so', async () => {
      const { store } = opened();
      const { providerId } = await shop(store);
      await fillBinding(store, { count: 20 });
      const id = await deliver(store, providerId);
      expect(await store.countReach(id, 2)).toMatchObject({ reachable: 1, isAtLeast: true });
      expect(await store.countReach(id, 23)).toMatchObject({ reachable: 2, isAtLeast: true });
      expect(await store.countReach(id, 24)).toMatchObject({ reachable: 2, isAtLeast: false });
    });
  },

  listReaches(opened) {
    test('the counts of own distributions, the newest first', async () => {
      const { store } = opened();
      const { providerId } = await shop(store);
      const other = await addDoor(store, 'Provide2', OTHER_CODE);
      const one = await deliver(store, providerId);
      const two = await deliver(store, providerId, to('idle', 'gone'));
      const foreign = await send(store, other.providerId);
      const waiting = await send(store, providerId);
      const all = await store.listReaches(providerId, ALL, 9);
      expect(all.map(({ id }) => id)).toEqual([waiting, two, one]);
      expect(all).toMatchObject([
        { recipientCount: 0, finishedAtMs: null, reach: null },
        { recipientCount: 2, sentCount: 1, failedCount: 1, reach: { reachable: 1 } },
        { recipientCount: 3, sentCount: 3, reach: { reachable: 2, received: 0 } },
      ]);
      const page = { ...ALL, beforeId: two };
      expect(await store.listReaches(providerId, page, 9)).toEqual(all.slice(2));
      expect(await store.listReaches(providerId, { ...ALL, id: two }, 9)).toEqual([
        all[1] as never,
      ]);
      expect(await store.listReaches(providerId, { ...ALL, id: foreign }, 9)).toEqual([]);
    });
  },

  countReceipts(opened) {
    test('slices together have each receipt once; nothing for others', async () => {
      const { store } = opened();
      const { providerId, busy } = await shop(store);
      const other = await addDoor(store, 'Provide2', OTHER_CODE);
      await fillBinding(store, { count: 7 });
      const distributionId = await deliver(store, providerId);
      await store.acknowledge(busy, received(distributionId), NOW_MS + 1);
      const of = { providerId, distributionId };
      const all = await store.countReceipts(of, null, 99);
      const whole = (await detailOf(store, distributionId)).totals;
      expect(all).toEqual({ totals: whole, inboxCount: 2, nextId: null });
      expect(whole).toMatchObject({ sent: 10, received: 1 });
      const sum = { sent: 0, received: 0, inbox: 0 };
      const slices = [];
      for (let after: { id: number } | null = null; ; ) {
        const slice = await store.countReceipts(of, after, 4);
        if (slice === 'receipt_not_found') throw new Error(slice);
        slices.push(slice.totals.sent);
        sum.sent += slice.totals.sent;
        sum.received += slice.totals.received;
        sum.inbox += slice.inboxCount;
        if (slice.nextId === null) break;
        after = { id: slice.nextId };
      }
      expect([slices, sum]).toEqual([[4, 4, 2], { sent: 10, received: 1, inbox: 2 }]);
      const foreign = { providerId: other.providerId, distributionId };
      expect(await store.countReceipts(foreign, null, 99)).toMatchObject({
        totals: { sent: 0, received: 0 },
        inboxCount: 0,
        nextId: null,
      });
      expect(await store.countReceipts(of, { id: 999 }, 4)).toBe('receipt_not_found');
    });
  },

  listReceipts(opened) {
    test('a row for each device, with its times; nothing for others', async () => {
      const { store } = opened();
      const { providerId, busy } = await shop(store);
      const other = await addDoor(store, 'Provide2', OTHER_CODE);
      const id = await deliver(store, providerId);
      await store.acknowledge(busy, received(id), NOW_MS + 1);
      const found = await receiptsOf(store, providerId, id);
      expect(found).toMatchObject([
        { hwid: 'busy', state: 'sent', isReachable: true, receivedAtMs: NOW_MS + 1 },
        { hwid: 'idle', state: 'sent', isReachable: true, receivedAtMs: null, push: null },
        { hwid: 'silent', state: 'sent', isReachable: false, sentAtMs: NOW_MS },
      ]);
      expect(await receiptsOf(store, other.providerId, id)).toEqual([]);
      expect(await receiptsOf(store, providerId, id + 1)).toEqual([]);
    });

    test('nothing that a device told another provider, nor that one what it told here', async () => {
      const { store } = opened();
      const { providerId } = await shop(store);
      const other = await addDoor(store, 'Provide2', OTHER_CODE);
      await knock(store, 'silent', OTHER_CODE);
      const there = await register(store, 'silent', onLink(OTHER_CODE));
      const here = await deliver(store, providerId);
      const id = await deliver(store, other.providerId);
      // Its app acknowledges both, and the one of this provider is not its message.
      await store.acknowledge(there, [...received(here), ...received(id)], NOW_MS);
      const [own] = (await receiptsOf(store, providerId, here)).filter((r) => r.hwid === 'silent');
      expect(own).toMatchObject({ isReachable: false, receivedAtMs: null });
      expect(await receiptsOf(store, other.providerId, id)).toMatchObject([
        { hwid: 'silent', isReachable: true, receivedAtMs: NOW_MS },
      ]);
    });

    test('pages by the last receipt, or by its place where it was deleted', async () => {
      const { store } = opened();
      const { providerId, domainId } = await addDoor(store);
      expect(domainId).toBeGreaterThan(0);
      await fillBinding(store, { count: 5 });
      const distributionId = await deliver(store, providerId);
      const of = { providerId, distributionId };
      const all = await receiptsOf(store, providerId, distributionId);
      const [, second] = all;
      if (second === undefined) throw new Error('there are too few');
      const after = { id: second.id };
      expect(await store.listReceipts(of, after, 2)).toEqual(all.slice(2, 4));
      expect(await store.listReceipts(of, { deviceId: second.deviceId }, 99)).toEqual(all.slice(2));
      await store.forgetDevice(second.hwid, ACT);
      expect(await store.listReceipts(of, after, 2)).toBe('receipt_not_found');
      expect(hwids(await store.listReceipts(of, { deviceId: second.deviceId }, 2))).toEqual(
        hwids(all.slice(2, 4)),
      );
      const otherId = await deliver(store, providerId);
      const [foreign] = await receiptsOf(store, providerId, otherId);
      expect(await store.listReceipts(of, { id: foreign?.id ?? 0 }, 2)).toBe('receipt_not_found');
    });

    test('a page of many is as quick as one of few', async () => {
      const { store } = opened();
      const { providerId } = await addDoor(store);
      await fillBinding(store);
      const distributionId = await deliver(store, providerId);
      const of = { providerId, distributionId };
      const seen = new Set<string>();
      for (let last: Receipt | null = null; ; ) {
        const after: { deviceId: number } | null = last && { deviceId: last.deviceId };
        const page = await store.listReceipts(of, after, 500);
        if (page === 'receipt_not_found' || page.length === 0) break;
        for (const { hwid } of page) seen.add(hwid);
        last = page.at(-1) ?? null;
      }
      expect(seen.size).toBe(MANY);
    });
  },
};

import { expect, test } from 'bun:test';
import { endOf } from '../../../src/core/message/status.ts';
import type { DeliveryRules } from '../../../src/core/port/distribution.ts';
import type { Store } from '../../../src/core/port/store.ts';
import { ACT } from '../../support/actor.ts';
import { addDoor, addProvider, CLOCK, knock, NOW_MS, type Suite } from './fixture.ts';
import {
  at,
  bringTo,
  checkIn,
  claim,
  detailOf,
  holderOf,
  IMPORT_DATA,
  inboxOf,
  LEASE_MS,
  LEDGER_MAX,
  ledgerOf,
  send,
  sentAt,
  statusOf,
  to,
  WAITING_MAX,
} from './message-fixture.ts';
import { apns, claimOne, pushesAt, registerAt } from './outbox-fixture.ts';

const RULES: DeliveryRules = {
  afterChecking: () => 5,
  ledgerRowsMax: LEDGER_MAX,
  waitingMax: WAITING_MAX,
  gateways: ['apns'],
};

async function deliverNamed(
  store: Store,
  {
    owner = 'one',
    nowMs = NOW_MS,
    ...rules
  }: Partial<DeliveryRules & { owner: string; nowMs: number }> = {},
) {
  CLOCK.set(nowMs);
  return store.deliverNamed({ owner, nowMs, leaseMs: LEASE_MS }, { ...RULES, ...rules });
}

/** Delivers until there is nothing more; the number of sends. */
async function deliverAll(store: Store, nowMs = NOW_MS): Promise<number> {
  for (let count = 0; ; ) {
    const done = await deliverNamed(store, { nowMs });
    if (done.count === 0) return count;
    count += done.count;
  }
}

export const namedContract: Record<'deliverNamed' & keyof Store, Suite> = {
  deliverNamed(opened) {
    test('from 10 to 100 in one step, into the inboxes, in the order of a lane', async () => {
      const { store } = opened();
      const { providerId } = await addDoor(store);
      await knock(store, 'a');
      const holder = await holderOf(store, 'a');
      const ids = [await send(store, providerId, to('a')), await send(store, providerId, to('a'))];
      expect(await deliverAll(store)).toBe(2);
      expect(await inboxOf(store, holder)).toEqual(ids);
      expect(await deliverNamed(store)).toEqual({ count: 0, deviceIds: [], failedCount: 0 });
    });

    test('says for which devices, and how many it failed for', async () => {
      const { store } = opened();
      const { providerId } = await addDoor(store);
      await knock(store, 'a');
      const { id } = await holderOf(store, 'a');
      await send(store, providerId, to('a', 'nobody'));
      expect(await deliverNamed(store)).toEqual({ count: 1, deviceIds: [id], failedCount: 1 });
    });

    test.each([
      { name: 'a linked device', more: to('a') },
      { name: 'one that left, and one that is unknown', more: to('a', 'b', 'nobody') },
      { name: 'none that is linked', more: to('b') },
      { name: 'one that is not linked, which it may reach', more: { ...to('b'), ...IMPORT_DATA } },
      { name: 'what has expired', more: { ...to('a'), expiresAtMs: NOW_MS } },
    ])('leaves the same as step by step: $name', async ({ more }) => {
      const { store } = opened();
      const { providerId } = await addDoor(store);
      await knock(store, 'a');
      await checkIn(store, 'b', { domainHash: null });
      const stepwise = await send(store, providerId, more);
      await bringTo(store, stepwise, 40);
      const served = await store.sendRecipients(
        { id: stepwise, owner: 'one', nowMs: NOW_MS, leaseMs: LEASE_MS },
        WAITING_MAX,
        ['apns'],
      );
      const { sentCount = 0, failedCount = 0 } = served?.outcome ?? {};
      const end = endOf(sentCount, failedCount);
      const hold = { id: stepwise, owner: 'one', nowMs: NOW_MS, leaseMs: LEASE_MS };
      expect(await store.moveDistribution(hold, 40, end)).toBe(true);
      const named = await send(store, providerId, more);
      await deliverNamed(store);
      const [one, other] = [await detailOf(store, stepwise), await detailOf(store, named)];
      expect(other).toEqual({ ...one, distribution: { ...one.distribution, id: named } });
    });

    test('a full inbox takes no more, of several of one write too', async () => {
      const { store } = opened();
      const { providerId } = await addDoor(store);
      await knock(store, 'a');
      const ids: number[] = [];
      for (let n = 0; n < 4; n++) ids.push(await send(store, providerId, to('a')));
      for (let n = 0; n < 4; n++) await deliverNamed(store, { waitingMax: 2 });
      const statuses = await Promise.all(ids.map((id) => statusOf(store, id)));
      expect(statuses).toEqual([100, 100, 120, 120]);
    });

    test('different ends in one step, each counted on top of those before it', async () => {
      const { store } = opened();
      const { providerId } = await addDoor(store);
      await knock(store, 'a');
      await registerAt(store, 'c', apns('c'));
      const ids = [
        await send(store, providerId, to('a', 'nobody')),
        await send(store, providerId, { ...to('other'), notificationType: 20 }),
        await send(store, providerId, to('c')),
        await send(store, providerId, to('unknown')),
        await send(store, providerId, to('a')),
      ];
      const counts = new Set<number>();
      const afterChecking: DeliveryRules['afterChecking'] = (_, work) => {
        counts.add(work.ledgerCount);
        return work.notificationType === 20 ? 140 : 5;
      };
      while ((await deliverNamed(store, { afterChecking })).count > 0);
      const statuses = await Promise.all(ids.map((id) => statusOf(store, id)));
      expect(statuses).toEqual([110, 140, 40, 120, 100]);
      expect([...counts]).toEqual([0, 2, 3, 4]);
      expect(await inboxOf(store, await holderOf(store, 'a'))).toEqual([
        ids[0],
        ids[4],
      ] as number[]);
    });

    test('nothing behind a large one that is between, though it has another device', async () => {
      const { store } = opened();
      const { providerId } = await addDoor(store);
      const ids = [
        await send(store, providerId, to('a')),
        await send(store, providerId),
        await send(store, providerId, to('b')),
      ];
      expect(await deliverAll(store)).toBe(1);
      const statuses = await Promise.all(ids.map((id) => statusOf(store, id)));
      expect(statuses).toEqual([120, 10, 10]);
    });

    test('nothing behind a large one that was scheduled for a time between', async () => {
      const { store } = opened();
      const { providerId } = await addDoor(store);
      const ids = [
        await send(store, providerId, { ...to('a'), ...sentAt(NOW_MS) }),
        await send(store, providerId, { ...sentAt(NOW_MS), ...at(NOW_MS + 5) }),
        await send(store, providerId, { ...to('b'), ...sentAt(NOW_MS + 6) }),
      ];
      expect(await deliverAll(store, NOW_MS + 10)).toBe(1);
      const statuses = await Promise.all(ids.map((id) => statusOf(store, id)));
      expect(statuses).toEqual([120, 10, 10]);
    });

    test('with a push it waits for its gateway, outside its lane', async () => {
      const { store } = opened();
      const { providerId } = await addDoor(store);
      await registerAt(store, 'a', apns('a'));
      const [first, second] = [
        await send(store, providerId, to('a')),
        await send(store, providerId, to('a')),
      ];
      await deliverAll(store);
      for (const id of [first, second]) {
        const { status, handedOverAtMs } = (await detailOf(store, id)).distribution;
        expect({ status, handedOverAtMs }).toEqual({ status: 40, handedOverAtMs: NOW_MS });
      }
      const { id } = await claimOne(store);
      expect(await pushesAt(store, id)).toHaveLength(2);
    });

    test('what may not be sent any more is blocked, by the rule that is handed in', async () => {
      const { store } = opened();
      const { providerId } = await addDoor(store);
      await knock(store, 'a');
      const id = await send(store, providerId, { ...to('a'), notificationType: 20 });
      const asked: unknown[] = [];
      await deliverNamed(store, {
        afterChecking: ({ code }, { notificationType, ledgerCount }) => {
          asked.push([code, notificationType, ledgerCount]);
          return 140;
        },
      });
      expect(asked).toContainEqual(['Provide1', 20, 0]);
      expect(await statusOf(store, id)).toBe(140);
      expect(await ledgerOf(store, id)).toEqual({});
    });

    test('what is scheduled once it is due, and never before', async () => {
      const { store } = opened();
      const { providerId } = await addDoor(store);
      await knock(store, 'a');
      const later = await send(store, providerId, { ...to('a'), ...at(NOW_MS + 1) });
      const pending = await send(store, providerId, { ...to('a'), ...at(NOW_MS + 2) });
      await bringTo(store, pending, 20);
      await store.moveDistribution(
        { id: pending, owner: 'one', nowMs: NOW_MS, leaseMs: LEASE_MS },
        20,
        30,
      );
      await store.releaseWork('one');
      expect(await deliverAll(store)).toBe(0);
      expect(await deliverAll(store, NOW_MS + 1)).toBe(1);
      expect([await statusOf(store, later), await statusOf(store, pending)]).toEqual([100, 30]);
      expect(await deliverAll(store, NOW_MS + 2)).toBe(1);
      expect(await statusOf(store, pending)).toBe(100);
    });

    test('not what another worker holds, and nothing behind it or behind a large one', async () => {
      const { store, openBeside } = opened();
      const { providerId } = await addDoor(store);
      const { id: other } = await addProvider(store, 'Provide2');
      await knock(store, 'a');
      const foreign = await send(store, providerId, to('a'));
      await claim(await openBeside(), 'another');
      const large = await send(store, other);
      for (const id of [providerId, other]) await send(store, id, to('a'));
      expect(await deliverAll(store)).toBe(0);
      expect(await deliverAll(store, NOW_MS + LEASE_MS)).toBe(2);
      expect([await statusOf(store, foreign), await statusOf(store, large)]).toEqual([100, 10]);
      await store.blockDistribution(large, [10], NOW_MS, ACT);
      expect(await deliverAll(store)).toBe(1);
    });

    test('lanes take turns: many sends of one provider hold up no other', async () => {
      const { store } = opened();
      const { id: busy } = await addProvider(store, 'Provide1');
      const { id: quiet } = await addProvider(store, 'Provide2');
      for (let n = 0; n < 40; n++) await send(store, busy, to('nobody'));
      const id = await send(store, quiet, to('nobody'));
      expect((await deliverNamed(store)).count).toBeLessThan(41);
      await deliverNamed(store);
      expect(await statusOf(store, id)).toBe(120);
    });

    test('of two that deliver at once, over two connections, each send has one', async () => {
      const { store, openBeside } = opened();
      const { providerId } = await addDoor(store);
      await knock(store, 'a');
      const holder = await holderOf(store, 'a');
      const beside = await openBeside();
      const ids: number[] = [];
      for (let n = 0; n < 40; n++) {
        ids.push(await send(store, providerId, { ...to('a'), ...sentAt(NOW_MS - n) }));
      }
      const work = async (by: Store, owner: string) => {
        for (let count = 0; ; ) {
          const done = await deliverNamed(by, { owner });
          count += done.count;
          if (done.count === 0 && (await inboxOf(store, holder)).length === ids.length)
            return count;
        }
      };
      const counts = await Promise.all([work(store, 'one'), work(beside, 'two')]);
      expect(counts.reduce((sum, count) => sum + count)).toBe(ids.length);
      expect(await inboxOf(store, holder)).toEqual(ids);
      const { recipientCount } = (await detailOf(store, ids[0] ?? 0)).distribution;
      expect(recipientCount).toBe(1);
    });
  },
};

/** Notifications that replace others, as `addDistribution` takes them. */

import { expect, test } from 'bun:test';
import type { DistributionGuards, NewDistribution } from '../../../src/core/port/distribution.ts';
import type { Store } from '../../../src/core/port/store.ts';
import { ACT } from '../../support/actor.ts';
import { ALL, addDoor, addProvider, knock, NOW_MS, type Suite } from './fixture.ts';
import {
  bringTo,
  claim,
  deliver,
  detailOf,
  draft,
  inboxOf,
  lease,
  ledgerOf,
  send,
  to,
  UNGUARDED,
} from './message-fixture.ts';
import { fcm, registerAt, serve } from './outbox-fixture.ts';

const INTERVAL_MS = 300_000;
const GENERAL = { ...UNGUARDED, generalIntervalMs: INTERVAL_MS };
const LATER_MS = NOW_MS + 1_000;

/** Sends a general notification that replaces another, a second later. */
function correct(
  store: Store,
  providerId: number,
  replacesId: number,
  more: Partial<NewDistribution> = {},
  guards: DistributionGuards = GENERAL,
) {
  const wanted = draft(providerId, { createdAtMs: LATER_MS, replacesId, ...more });
  return store.addDistribution(wanted, guards, ACT);
}

/** Sends a general notification as its provider does, and delivers it. */
async function general(store: Store, providerId: number): Promise<number> {
  const added = await store.addDistribution(draft(providerId), GENERAL, ACT);
  if (typeof added === 'string') throw new Error(added);
  await bringTo(store, added.id, 100);
  return added.id;
}

export const replacingSuite: Suite = (opened) => {
  test('a correction takes the place of the first text at once, and nobody is pushed to', async () => {
    const { store } = opened();
    const { providerId } = await addDoor(store);
    const phone = await registerAt(store, 'a', fcm('token a'));
    const first = await general(store, providerId);
    expect(await inboxOf(store, phone, LATER_MS)).toEqual([first]);
    const corrects = { createdAtMs: LATER_MS, replacesId: first };
    const { id: second, outcome } = await serve(store, providerId, corrects);
    expect(outcome).toEqual({ sentCount: 1, failedCount: 0, isHandedOver: false });
    expect(await inboxOf(store, phone, LATER_MS)).toEqual([second]);
    while ((await store.expireRecipients(LATER_MS)) !== null);
    expect(await ledgerOf(store, first)).toEqual({ a: 'expired' });
    const { distribution } = await detailOf(store, first);
    expect(distribution).toMatchObject({ status: 100, expiresAtMs: LATER_MS, replacesId: null });
    expect((await detailOf(store, second)).distribution).toMatchObject({ replacesId: first });
    const [row] = await store.listReaches(providerId, ALL, 9);
    expect(row).toMatchObject({ id: second, replacesId: first });
  });

  test('one correction is free of the interval, and begins none; the next is not free', async () => {
    const { store } = opened();
    const { id } = await addProvider(store, 'Provide1');
    const first = await general(store, id);
    const added = await correct(store, id, first);
    const second = typeof added === 'string' ? 0 : added.id;
    expect(second).toBeGreaterThan(first);
    await bringTo(store, second, 100, { nowMs: LATER_MS });
    const again = (createdAtMs: number) => correct(store, id, second, { createdAtMs });
    expect(await again(NOW_MS + INTERVAL_MS - 1)).toBe('general_too_soon');
    expect(await again(NOW_MS + INTERVAL_MS)).toHaveProperty('id');
  });

  test('nothing but a notification of its own to the same devices, that has begun and lasts', async () => {
    const { store } = opened();
    const { providerId } = await addDoor(store);
    const { id: other } = await addProvider(store, 'Provide2');
    await knock(store, 'a');
    await knock(store, 'b');
    const sent = await deliver(store, providerId);
    const theirs = await deliver(store, other);
    const command = await deliver(store, providerId, { notificationType: 20 });
    const named = await deliver(store, providerId, to('a', 'b'));
    const blocked = await deliver(store, providerId, to('b'));
    const waiting = await send(store, providerId);
    await store.blockDistribution(waiting, [10], NOW_MS, ACT);
    const unbegun = await send(store, providerId);
    const before = await store.listDistributions(providerId, ALL);
    const REFUSED: [number, Partial<NewDistribution>, string][] = [
      [999, {}, 'replaced_unknown'],
      [theirs, {}, 'replaced_unknown'],
      [command, {}, 'replaced_unknown'],
      [sent, { targetOs: 'ios' }, 'replaced_elsewhere'],
      [sent, to('a'), 'replaced_elsewhere'],
      [named, {}, 'replaced_elsewhere'],
      [named, to('b'), 'replaced_elsewhere'],
      [waiting, {}, 'replaced_ended'],
      [sent, { createdAtMs: draft(0).expiresAtMs }, 'replaced_ended'],
      [unbegun, {}, 'replaced_waits'],
    ];
    for (const [id, more, says] of REFUSED) {
      const wanted = draft(providerId, { createdAtMs: LATER_MS, replacesId: id, ...more });
      expect([says, await store.checkDistribution(wanted, UNGUARDED)]).toEqual([
        says,
        says as never,
      ]);
      expect(await correct(store, providerId, id, more, UNGUARDED)).toBe(says as never);
    }
    const few = { ...UNGUARDED, bounds: { ...UNGUARDED.bounds, keptBytesMax: 1 } };
    expect(await correct(store, providerId, sent, {}, few)).toBe('kept_bytes_full');
    expect(await store.listDistributions(providerId, ALL)).toEqual(before);
    const open = (await detailOf(store, sent)).distribution.expiresAtMs;
    expect(open).toBe(draft(0).expiresAtMs);
    expect(await correct(store, providerId, named, to('b', 'a'), UNGUARDED)).toHaveProperty('id');
    expect(await correct(store, providerId, blocked, to('b'), UNGUARDED)).toHaveProperty('id');
  });

  test('what rides of the first ends with it', async () => {
    const { store } = opened();
    const { id } = await addProvider(store, 'Provide1');
    const first = await send(store, id);
    await claim(store);
    for (const [from, to] of [
      [10, 20],
      [20, 5],
    ] as const) {
      await store.moveDistribution(lease(first), from, to, { level: 'on', hours: 9 });
    }
    const untilOf = async () => (await store.findRides(id)).rides.map((ride) => ride.untilMs);
    expect(await untilOf()).toEqual([NOW_MS + 9 * 3_600_000]);
    expect(await correct(store, id, first, {}, UNGUARDED)).toHaveProperty('id');
    expect(await untilOf()).toEqual([LATER_MS]);
  });

  test('of corrections of the same at once, over two connections, one', async () => {
    const { store, openBeside } = opened();
    const stores = [store, await openBeside()];
    const { id } = await addProvider(store, 'Provide1');
    const first = await general(store, id);
    const added = await Promise.all(
      Array.from({ length: 8 }, (_, n) => correct(stores[n % 2] as Store, id, first)),
    );
    expect(added.filter((one) => one === 'replaced_ended')).toHaveLength(7);
  });
};

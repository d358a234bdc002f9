import { expect, test } from 'bun:test';
import type { Store } from '../../../src/core/port/store.ts';
import { ACT } from '../../support/actor.ts';
import { addDoor, knock, NOW_MS, type Suite } from './fixture.ts';
import {
  bringTo,
  deliver,
  detailOf,
  EXPIRES_MS,
  fillBinding,
  holderOf,
  LEDGER_MAX,
  lease,
  ledgerOf,
  MANY,
  send,
  statusOf,
  to,
  WAITING_MAX,
} from './message-fixture.ts';

type Method = 'expireRecipients';

/** Repeats a step until it says that nothing is left; says how often something was. */
async function untilDone(step: () => Promise<boolean>): Promise<number> {
  for (let steps = 0; steps < 1_000; steps++) if (!(await step())) return steps;
  throw new Error('there is always something left');
}

export const ledgerContract: Record<Method & keyof Store, Suite> = {
  expireRecipients(opened) {
    const expire = (nowMs: number) =>
      untilDone(async () => (await opened().store.expireRecipients(nowMs)) !== null);

    test('what nobody fetched, from the moment on at which it expires', async () => {
      const { store } = opened();
      const { providerId } = await addDoor(store);
      await knock(store, 'fetched');
      await knock(store, 'silent');
      const id = await deliver(store, providerId, to('fetched', 'silent', 'nobody'));
      const lasting = await deliver(store, providerId, { expiresAtMs: EXPIRES_MS + 1 });
      const fetched = await holderOf(store, 'fetched');
      await store.acknowledge(fetched, [{ id, state: 'received', detail: null }], NOW_MS);
      expect(await expire(EXPIRES_MS - 1)).toBe(0);
      expect(await expire(EXPIRES_MS)).toBeGreaterThan(0);
      expect(await expire(EXPIRES_MS)).toBe(0);
      const { totals, missing } = await detailOf(store, id);
      expect(totals).toMatchObject({ sent: 1, expired: 1, received: 1, failed: 0 });
      expect(missing).toMatchObject([
        { hwid: 'silent', state: 'expired', sentAtMs: NOW_MS, expiredAtMs: EXPIRES_MS },
      ]);
      expect(await ledgerOf(store, lasting)).toEqual({ fetched: 'sent', silent: 'sent' });
    });

    test('what was blocked at once, whenever it would expire', async () => {
      const { store } = opened();
      const { providerId } = await addDoor(store);
      for (const hwid of ['a', 'b']) await knock(store, hwid);
      const id = await send(store, providerId);
      await bringTo(store, id, 40);
      await store.sendRecipients(lease(id), WAITING_MAX, []);
      const open = await send(store, providerId, {
        dueAtMs: NOW_MS + 1,
      });
      await store.blockDistribution(id, [40], NOW_MS, ACT);
      expect(await expire(NOW_MS)).toBe(1);
      expect((await detailOf(store, id)).totals).toMatchObject({ expired: 2, sent: 0 });
      expect(await statusOf(store, open)).toBe(10);
      expect(await expire(NOW_MS)).toBe(0);
    });

    test('leaves what failed, and what a worker still delivers', async () => {
      const { store } = opened();
      const { providerId } = await addDoor(store);
      await knock(store, 'a');
      await knock(store, 'freed');
      const failing = await send(store, providerId, to('freed'));
      const selector = { installCode: null, installId: null };
      const [link] = await store.listLinksOf(providerId, {
        id: null,
        beforeId: null,
        countMax: 1,
      });
      await store.freeSlot(providerId, { ...selector, installId: link?.id ?? 0 }, 'freed', ACT);
      await bringTo(store, failing, 100);
      const underWay = await send(store, providerId);
      await bringTo(store, underWay, 40);
      await expire(EXPIRES_MS);
      expect(await ledgerOf(store, failing)).toEqual({ freed: 'failed' });
      expect(await ledgerOf(store, underWay)).toEqual({ a: 'queued' });
      await bringTo(store, underWay, 100, { nowMs: EXPIRES_MS - 1 });
      await expire(EXPIRES_MS);
      expect(await ledgerOf(store, underWay)).toEqual({ a: 'expired' });
    });

    test('many in several steps', async () => {
      const { store } = opened();
      const { providerId } = await addDoor(store);
      await fillBinding(store);
      const id = await deliver(store, providerId);
      const expiredCount = await store.expireRecipients(EXPIRES_MS);
      const { totals } = await detailOf(store, id);
      expect(totals.expired).toBeGreaterThan(0);
      expect(totals.expired).toBe(expiredCount ?? 0);
      expect(totals.sent).toBe(MANY - totals.expired);
      expect(await expire(EXPIRES_MS)).toBeGreaterThan(0);
      expect((await detailOf(store, id)).totals).toMatchObject({ sent: 0, expired: MANY });
    });

    test('everybody of what was blocked half-way', async () => {
      const { store } = opened();
      const { providerId } = await addDoor(store);
      await fillBinding(store);
      const loading = await send(store, providerId);
      await bringTo(store, loading, 5);
      const isEmpty = async () => (await detailOf(store, loading)).totals.queued === 0;
      while (await isEmpty())
        expect(await store.loadRecipients(lease(loading), LEDGER_MAX)).not.toBeNull();
      expect(await store.blockDistribution(loading, [5], NOW_MS, ACT)).toBe('ok');
      const sending = await send(store, providerId);
      await bringTo(store, sending, 40);
      expect(await store.sendRecipients(lease(sending), WAITING_MAX, [])).toMatchObject({
        outcome: null,
      });
      expect(await store.blockDistribution(sending, [40], NOW_MS, ACT)).toBe('ok');
      await expire(EXPIRES_MS);
      for (const id of [loading, sending]) {
        const { totals, distribution } = await detailOf(store, id);
        expect(totals).toMatchObject({ queued: 0, sent: 0, expired: distribution.recipientCount });
      }
    });
  },
};

import { expect, test } from 'bun:test';
import type { Store } from '../../../src/core/port/store.ts';
import { ACT } from '../../support/actor.ts';
import { addDoor, addProvider, knock, NOW_MS, type Suite } from './fixture.ts';
import {
  at,
  bringTo,
  claim,
  deliver,
  detailOf,
  EXPIRES_MS,
  HOUR_MS,
  holderOf,
  inboxOf,
  LEDGER_MAX,
  lease,
  send,
  to,
  WAITING_MAX,
} from './message-fixture.ts';

type Method = 'listAllDistributions' | 'findDistribution' | 'blockDistribution';

export const operatorContract: Record<Method & keyof Store, Suite> = {
  listAllDistributions(opened) {
    test('everybody’s, or one provider’s, newest first, no more than asked for', async () => {
      const { store } = opened();
      const { id: one } = await addProvider(store, 'Provide1');
      const { id: two } = await addProvider(store, 'Provide2');
      const first = await send(store, one);
      const foreign = await send(store, two);
      const last = await send(store, one);
      const list = async (providerCode: string | null, countMax = 10) => {
        const found = await store.listAllDistributions({ providerCode, countMax });
        return found.map(({ id }) => id);
      };
      expect(await list(null)).toEqual([last, foreign, first]);
      expect(await list(null, 2)).toEqual([last, foreign]);
      expect(await list('Provide1')).toEqual([last, first]);
      expect(await list('Provide2')).toEqual([foreign]);
      expect(await list('provide1')).toEqual([]);
    });

    test('below an id, and those alone that have not ended', async () => {
      const { store } = opened();
      const { providerId } = await addDoor(store);
      await knock(store, 'a');
      const ended = await deliver(store, providerId);
      const first = await send(store, providerId);
      const last = await send(store, providerId);
      const list = async (more: { beforeId?: number; isUnfinished?: boolean }) => {
        const filter = { providerCode: null, countMax: 10, ...more };
        return (await store.listAllDistributions(filter)).map(({ id }) => id);
      };
      expect(await list({ beforeId: last })).toEqual([first, ended]);
      expect(await list({ isUnfinished: true })).toEqual([last, first]);
      expect(await list({ isUnfinished: true, beforeId: last })).toEqual([first]);
    });

    test('shows each as findDistribution does', async () => {
      const { store } = opened();
      const { providerId } = await addDoor(store);
      await knock(store, 'a');
      const id = await deliver(store, providerId);
      const filter = { providerCode: null, countMax: 10 };
      const { distribution } = await detailOf(store, id);
      expect(distribution).toMatchObject({ status: 100, isPruned: false });
      expect(await store.listAllDistributions(filter)).toEqual([distribution]);
      await store.pruneLedger(EXPIRES_MS, EXPIRES_MS, null);
      expect(await store.listAllDistributions(filter)).toEqual([
        { ...distribution, isPruned: true, payload: 'null' },
      ]);
    });
  },

  findDistribution(opened) {
    test('counts who is where, and lists who did not say that they received it', async () => {
      const { store } = opened();
      const { providerId, installId } = await addDoor(store);
      await store.updateLink(providerId, installId, { installLimit: 10 }, ACT);
      const hwids = ['opened', 'executed', 'refused', 'silent'];
      for (const hwid of hwids) await knock(store, hwid);
      const id = await send(store, providerId, to(...hwids, 'freed'));
      await knock(store, 'freed');
      await store.freeSlot(providerId, { installCode: null, installId }, 'freed', ACT);
      await bringTo(store, id, 100);
      for (const state of ['opened', 'executed', 'failed'] as const) {
        const hwid = state === 'failed' ? 'refused' : state;
        const holder = await holderOf(store, hwid);
        await store.acknowledge(holder, [{ id, state, detail: 'why' }], NOW_MS + 9);
      }
      const { distribution, totals, missing } = await detailOf(store, id);
      expect(distribution).toMatchObject({ recipientCount: 5, sentCount: 4, failedCount: 1 });
      expect(totals).toEqual({
        queued: 0,
        sent: 4,
        failed: 1,
        expired: 0,
        received: 3,
        opened: 1,
        executed: 1,
        refused: 1,
        carried: 0,
        atGateway: { queued: 0, accepted: 0, failed: 0 },
      });
      const never = {
        sentAtMs: null,
        failedAtMs: null,
        expiredAtMs: null,
        receivedAtMs: null,
        openedAtMs: null,
        executedAtMs: null,
        refusedAtMs: null,
        detail: null,
        carriedAtMs: null,
        carried: null,
        queuedAtMs: NOW_MS,
        push: null,
      };
      expect(missing).toEqual([
        { ...never, hwid: 'silent', state: 'sent', sentAtMs: NOW_MS },
        {
          ...never,
          hwid: 'freed',
          state: 'failed',
          failedAtMs: NOW_MS,
          detail: expect.any(String),
        },
      ]);
      expect((await detailOf(store, id, 1)).missing).toHaveLength(1);
    });

    test('nothing for an unknown id', async () => {
      expect(await opened().store.findDistribution(1, 10)).toBeNull();
    });
  },

  blockDistribution(opened) {
    const FROM = [10, 20, 30, 5, 6, 40];

    test('blocks from each status that it may; the worker has lost it', async () => {
      const { store } = opened();
      const { providerId } = await addDoor(store);
      await knock(store, 'a');
      for (const status of FROM) {
        const id = await send(store, providerId, status === 30 ? at(NOW_MS + HOUR_MS) : {});
        if (status === 30 || status === 6) await bringTo(store, id, status === 6 ? 5 : 20);
        else await bringTo(store, id, status);
        if (status === 30) await store.moveDistribution(lease(id), 20, 30);
        if (status === 6) await store.moveDistribution(lease(id), 5, 6);
        const others = FROM.filter((other) => other !== status);
        expect(await store.blockDistribution(id, others, NOW_MS, ACT)).toBe(status);
        expect(await store.blockDistribution(id, FROM, NOW_MS + 1, ACT)).toBe('ok');
        const { distribution } = await detailOf(store, id);
        expect(distribution).toMatchObject({ status: 140, finishedAtMs: NOW_MS + 1 });
        expect(await store.moveDistribution(lease(id), status, 20)).toBe(false);
        expect(await store.loadRecipients(lease(id), LEDGER_MAX)).toBeNull();
        expect(await store.sendRecipients(lease(id), WAITING_MAX, [])).toBeNull();
        expect(await store.blockDistribution(id, FROM, NOW_MS + 2, ACT)).toBe(140);
        expect(await claim(store, 'one', EXPIRES_MS)).toEqual([]);
      }
    });

    test('refuses what has ended, and an unknown id', async () => {
      const { store } = opened();
      const { providerId } = await addDoor(store);
      await knock(store, 'a');
      const id = await deliver(store, providerId);
      expect(await store.blockDistribution(id, FROM, NOW_MS, ACT)).toBe(100);
      expect(await store.blockDistribution(id + 1, FROM, NOW_MS, ACT)).toBe(
        'distribution_not_found',
      );
      expect(await inboxOf(store, await holderOf(store, 'a'))).toEqual([id]);
    });
  },
};

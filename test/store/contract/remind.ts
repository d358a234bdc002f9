/** Reminders as they are sent, end, and are listed by rounds. */

import { expect, test } from 'bun:test';
import type { RemindingStore } from '../../../src/core/port/reminding.ts';
import { subscriptionKeyHash as hashOf } from '../../../src/core/secret.ts';
import { ACT } from '../../support/actor.ts';
import { addLink, CLOCK, CODE, FACTS, knock, NOW_MS, type Suite } from './fixture.ts';
import { deviceId, holderOf, inboxOf } from './message-fixture.ts';
import { fcm, registerAt } from './outbox-fixture.ts';
import {
  addRule,
  DAY_MS,
  GB,
  HOUR_MS,
  howOf,
  READ,
  remindAll,
  roundsOf,
  shop,
} from './reminder-fixture.ts';

const LEASE = { owner: 'one', nowMs: NOW_MS, leaseMs: 60_000 };

export const remindContract = {
  listUnreminded(opened) {
    test('leaves out what every device has', async () => {
      const { store } = opened();
      const at = await shop(opened());
      const wanted = [{ installId: at.installId, reminderId: at.rule.id, period: NOW_MS }];
      const left = () => store.listUnreminded(at.providerId, wanted, NOW_MS);
      expect(await left()).toEqual(wanted);
      await remindAll(opened(), at);
      expect(await left()).toEqual([]);
      await knock(store, 'tablet');
      expect(await left()).toEqual(wanted);
    });
  },

  remind(opened) {
    test('puts one message into the inbox of each device at home on the link', async () => {
      const { store } = opened();
      const at = await shop(opened());
      const other = await addLink(store, at.providerId, { installCode: 'LinkCode0003' });
      await knock(store, 'guest', 'LinkCode0003');
      await knock(store, 'guest');
      const phone = await holderOf(store, 'phone');
      expect(await remindAll(opened(), at)).toEqual([phone.id]);
      expect(await remindAll(opened(), at)).toEqual([]);
      const [round] = await roundsOf(opened(), at);
      expect(await inboxOf(store, phone)).toEqual([round?.id ?? 0]);
      expect(other).toBeGreaterThan(at.installId);
    });

    test('rides to a device that joins the round of the day later', async () => {
      const { store } = opened();
      const at = await shop(opened());
      await remindAll(opened(), at);
      const nowMs = NOW_MS + 10 * 60_000;
      CLOCK.set(nowMs);
      await knock(store, 'tablet', CODE, FACTS, nowMs);
      await remindAll(opened(), at, nowMs + 60_000);
      const tablet = await deviceId(store, at.providerId, 'tablet');
      const [ride] = await store.findNamedRides(tablet, at.providerId);
      expect(ride?.createdAtMs).toBeGreaterThan(nowMs);
      expect(ride).toMatchObject({ part: 'message', fromMs: nowMs + 60_000 });
      expect(await roundsOf(opened(), at)).toMatchObject([{ recipientCount: 2 }]);
    });

    test('sends nothing by figures that changed since, without the plan, or when stopped', async () => {
      const { store } = opened();
      const at = await shop(opened());
      const wanted = [{ installId: at.installId, reminderId: at.rule.id, period: NOW_MS }];
      const send = async (nowMs: number) =>
        store.remind(at.providerId, wanted, nowMs, await howOf(store, nowMs));
      await store.updateProvider('Provide1', { plan: 'pro' }, ACT);
      expect(await send(NOW_MS)).toEqual({ deviceIds: [] });
      await store.updateProvider('Provide1', { plan: 'enterprise' }, ACT);
      // Read over two days ago.
      const later = { ...READ, endsAtMs: NOW_MS + 4 * DAY_MS };
      await store.keepSubscriptionFigures(at.installId, later, 'proxy', NOW_MS + 11 * 60_000);
      expect(await send(NOW_MS + 2 * DAY_MS + 12 * 60_000)).toEqual({ deviceIds: [] });
      const paid = { ...READ, endsAtMs: NOW_MS + 32 * DAY_MS };
      await store.keepSubscriptionFigures(at.installId, paid, 'proxy', NOW_MS + 25 * HOUR_MS);
      expect(await send(NOW_MS + 25 * HOUR_MS)).toEqual({ deviceIds: [] });
      await store.keepSubscriptionFigures(at.installId, later, 'proxy', NOW_MS + 26 * HOUR_MS);
      expect((await send(NOW_MS + 26 * HOUR_MS)).deviceIds).toHaveLength(1);
    });

    test('one of a reminder in seven days, and three of all, whatever the figures do', async () => {
      const { store } = opened();
      const at = await shop(opened());
      for (const amount of [48, 24, 12]) await addRule(store, at.providerId, { amount });
      const counts: number[] = [];
      let nowMs = NOW_MS;
      // A panel that renews and takes back, each time as two reads agree.
      for (let turn = 0; turn < 60; turn += 1) {
        const endsAtMs = nowMs + (turn % 2 === 0 ? 40 * DAY_MS : (8 + (turn % 70)) * HOUR_MS);
        for (let read = 0; read < 3; read += 1) {
          nowMs += HOUR_MS + 1;
          await store.keepSubscriptionFigures(at.installId, { ...READ, endsAtMs }, 'proxy', nowMs);
        }
        if (nowMs - NOW_MS > 6 * DAY_MS) break;
        counts.push((await remindAll(opened(), at, nowMs)).length);
      }
      expect(counts.reduce((sum, count) => sum + count, 0)).toBe(3);
    });

    test('the bounds go on for devices whose link is joined with another one', async () => {
      const { store } = opened();
      const at = await shop(opened());
      expect(await remindAll(opened(), at)).toHaveLength(1);
      const { installId, providerId } = at;
      const [keyHash, subscriptionKeyHash] = [hashOf('ends'), hashOf('stays')];
      const older = { installCode: 'LinkCode0009', subscriptionKeyHash, createdAtMs: NOW_MS - 1 };
      const keptId = await addLink(store, providerId, older);
      await store.updateLink(providerId, installId, { subscriptionKeyHash: keyHash }, ACT);
      await store.joinLinks({ providerId, installId: keptId, keyHash }, ACT);
      expect(await store.findLink(CODE)).toBeNull();
      const nowMs = NOW_MS + HOUR_MS;
      await store.keepSubscriptionFigures(keptId, READ, 'proxy', nowMs);
      expect(await remindAll(opened(), at, nowMs)).toEqual([]);
    });

    test('once in a period, however long it is; again when the traffic is counted anew', async () => {
      const { store } = opened();
      const at = await shop(opened());
      await addRule(store, at.providerId, { kind: 'traffic', amount: 80 });
      const endless = { endsAtMs: null, totalBytes: 10 * GB };
      const at9 = async (days: number, usedBytes = 9 * GB) => {
        const nowMs = NOW_MS + days * DAY_MS;
        await store.keepSubscriptionFigures(
          at.installId,
          { ...endless, usedBytes },
          'proxy',
          nowMs,
        );
        return (await remindAll(opened(), at, nowMs)).length;
      };
      const counts: number[] = [];
      // Without an end, it is another period.
      for (const day of [1, 2]) await at9(day, 0);
      for (let day = 3; day <= 20; day += 1) counts.push(await at9(day));
      expect(counts.filter((count) => count > 0)).toHaveLength(1);
      expect(await at9(21, 0)).toBe(0);
      expect(await at9(22)).toBe(1);
    });

    test('counts in no bound of what the provider sends, and names nobody in its lists', async () => {
      const { store } = opened();
      const at = await shop(opened());
      const before = await store.readSendUsage(at.providerId);
      await remindAll(opened(), at);
      const [round] = await roundsOf(opened(), at);
      const id = round?.id ?? 0;
      expect(await store.readSendUsage(at.providerId)).toEqual(before);
      const page = { id: null, beforeId: null, countMax: 100 };
      expect(await store.listDistributions(at.providerId, page)).toEqual([]);
      expect(await store.listDistributions(at.providerId, { ...page, id })).toEqual([]);
      expect(await store.listAllDistributions({ providerCode: null, countMax: 9 })).toEqual([]);
      const guard = { from: [10, 20, 30], dueFromMs: 0, nowMs: NOW_MS };
      expect(await store.cancelDistribution(at.providerId, id, guard, ACT)).toBe(
        'notification_not_found',
      );
      expect(await store.claimWork({ ...LEASE, leaseMs: 5_000 })).toEqual([]);
    });

    test('queues a push where there is an address', async () => {
      const { store } = opened();
      const at = await shop(opened());
      await registerAt(store, 'phone', fcm('token'));
      await remindAll(opened(), at);
      const [gateway] = await store.listDestinations(['fcm'], 9);
      expect(gateway).toMatchObject({ waitingCount: 1 });
    });
  },

  listOpenReminders(opened) {
    test('lists what devices have with the figures of their link, and its rule', async () => {
      const { store } = opened();
      const at = await shop(opened());
      await remindAll(opened(), at);
      const list = () => store.listOpenReminders(at.providerId, 0, 10);
      expect(await list()).toMatchObject({
        open: [{ kind: 'before_end', amount: 72, figures: READ, installId: at.installId }],
        nextId: at.installId,
      });
      await store.setReminder(at.providerId, at.rule.id, { enabled: 0 }, ACT);
      await store.forgetSubscriptionFigures(NOW_MS + 1);
      expect((await list()).open).toMatchObject([{ kind: null, figures: null }]);
    });
  },

  endReminders(opened) {
    test('takes a reminder out of inbox, ride and outbox, and ends it once', async () => {
      const { store } = opened();
      const at = await shop(opened());
      await registerAt(store, 'phone', fcm('token'));
      const phone = await deviceId(store, at.providerId, 'phone');
      await remindAll(opened(), at);
      const { open } = await store.listOpenReminders(at.providerId, 0, 10);
      CLOCK.set(NOW_MS + 1);
      for (const _ of [1, 2]) await store.endReminders(at.providerId, open, NOW_MS + 1);
      expect((await store.listOpenReminders(at.providerId, 0, 10)).open).toEqual([]);
      expect(await store.findNamedRides(phone, at.providerId)).toMatchObject([
        { untilMs: NOW_MS + 1 },
      ]);
      expect(await store.listDestinations(['fcm'], 9)).toEqual([]);
      expect(await roundsOf(opened(), at)).toMatchObject([{ recipientCount: 1, endedCount: 1 }]);
      // It is not sent again in the period.
      expect(await remindAll(opened(), at, NOW_MS + 2)).toEqual([]);
    });
  },

  listRounds(opened) {
    test('has one round for a reminder and a day, the newest first', async () => {
      const { store } = opened();
      const at = await shop(opened());
      const traffic = await addRule(store, at.providerId, { kind: 'traffic', amount: 10 });
      await remindAll(opened(), at);
      const day = Math.floor(NOW_MS / DAY_MS);
      const counts = { recipientCount: 1, failedCount: 0, gotCount: 0, endedCount: 0, day };
      const rounds = await roundsOf(opened(), at);
      expect(rounds).toMatchObject([
        { reminderId: traffic.id, kind: 'traffic', amount: 10, ...counts },
        { reminderId: at.rule.id, kind: 'before_end', amount: 72, ...counts },
      ]);
      await store.removeReminder(at.providerId, traffic.id, ACT);
      expect(await roundsOf(opened(), at)).toMatchObject([{ kind: null }, { amount: 72 }]);
      const page = { beforeId: rounds[0]?.id ?? 0, countMax: 1 };
      expect(await store.listRounds(at.providerId, page)).toHaveLength(1);
    });
  },

  forgetReminded(opened) {
    test('deletes what ended in a period that is over', async () => {
      const { store } = opened();
      const at = await shop(opened());
      await remindAll(opened(), at);
      const later = NOW_MS + 40 * DAY_MS;
      const forget = () => store.forgetReminded(later);
      expect(await forget()).toBe(false);
      const { open } = await store.listOpenReminders(at.providerId, 0, 10);
      await store.endReminders(at.providerId, open, NOW_MS + 1);
      // The period goes on: else it would be sent once more.
      expect(await forget()).toBe(false);
      await store.forgetSubscriptionFigures(later);
      expect(await forget()).toBe(true);
      expect(await forget()).toBe(false);
    });
  },
} satisfies Partial<Record<keyof RemindingStore, Suite>>;

/** What reminders send: passes, rounds, the ledger, and the events about subscriptions. */

import { expect, test } from 'bun:test';
import type { OwnReminder } from '../../../src/core/port/reminder.ts';
import type { RemindingStore } from '../../../src/core/port/reminding.ts';
import type { Figures } from '../../../src/core/port/subscription-figures.ts';
import { roundOf } from '../../../src/core/reminder-round.ts';
import { wantedOf } from '../../../src/core/reminder-rules.ts';
import { ACT } from '../../support/actor.ts';
import {
  addDoor,
  addLink,
  CLOCK,
  CODE,
  FACTS,
  knock,
  NOW_MS,
  type OpenedStore,
  provider,
  type Suite,
} from './fixture.ts';
import { toldTo } from './happening.ts';
import { deviceId, holderOf, inboxOf } from './message-fixture.ts';
import { fcm, registerAt } from './outbox-fixture.ts';
import { addWebhook } from './webhook.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const GB = 2 ** 30;
const LEASE = { owner: 'one', nowMs: NOW_MS, leaseMs: 60_000 };
/** How a store sends the reminders of a provider. */
async function howOf(store: OpenedStore['store'], nowMs: number) {
  const owner = await provider(store, 'Provide1');
  const rules = await store.listReminders(owner.id);
  return { ...BOUNDS, rounds: rules.flatMap((rule) => roundOf(rule, owner, nowMs) ?? []) };
}
const BOUNDS = {
  waitingMax: 1_000,
  gateways: ['fcm'],
  rides: { level: 'on', hours: 48 },
} as const;
const TEXTS = { en: '<b>{days_left} left</b>', ru: 'Осталось {days_left}' };
const READ: Figures = { endsAtMs: NOW_MS + 2 * DAY_MS, totalBytes: 10 * GB, usedBytes: GB };

/** A provider with a link whose subscription ends in two days, `phone` on it, and a reminder. */
async function shop({ store }: OpenedStore, more: Partial<OwnReminder> = {}) {
  const door = await addDoor(store);
  const { installId, providerId } = door;
  await store.updateProvider('Provide1', { plan: 'enterprise', subscriptionFigures: 1 }, ACT);
  await knock(store, 'phone');
  await store.keepSubscriptionFigures(installId, READ, 'proxy', NOW_MS);
  const rule = await addRule(store, providerId, more);
  return { ...door, rule };
}

async function addRule(
  store: OpenedStore['store'],
  providerId: number,
  more: Partial<OwnReminder> = {},
) {
  const own = { kind: 'before_end', amount: 72, texts: TEXTS, pushText: 'neutral', enabled: 1 };
  const draft = { ...(own as OwnReminder), ...more };
  const added = await store.addReminder(
    { ...draft, providerId, createdAtMs: NOW_MS, countMax: 10 },
    ACT,
  );
  if (typeof added === 'string') throw new Error(added);
  return added.reminder;
}

type Shop = Awaited<ReturnType<typeof shop>>;

/** Sends what is due to the links of a shop; returns the devices that got something. */
async function remindAll({ store }: OpenedStore, { providerId }: Shop, nowMs = NOW_MS) {
  CLOCK.set(nowMs);
  const rules = await store.listReminders(providerId);
  const links = await store.listCourses(providerId, 0, 100);
  const wanted = links.flatMap((link) => wantedOf(link, rules, nowMs));
  return (await store.remind(providerId, wanted, nowMs, await howOf(store, nowMs))).deviceIds;
}

const roundsOf = ({ store }: OpenedStore, { providerId }: Shop) =>
  store.listRounds(providerId, { beforeId: null, countMax: 50 });

export const remindingContract: Record<keyof RemindingStore, Suite> = {
  nextReminded(opened) {
    test('finds providers with figures one after the other, with their terms', async () => {
      const { store } = opened();
      const { providerId } = await shop(opened());
      await addDoor(store, 'Provide2', 'LinkCode0009');
      expect(await store.nextReminded(0, 0)).toMatchObject({
        provider: { id: providerId, code: 'Provide1', quietFrom: null },
        ...{ stoppedAtMs: null, movedCount: 0, linkCount: 0 },
      });
      expect(await store.nextReminded(providerId, 0)).toBeNull();
    });

    test('leaves out a provider without figures, or with nothing to send, tell or end', async () => {
      const { store } = opened();
      const { providerId, rule } = await shop(opened());
      await store.setReminder(providerId, rule.id, { enabled: 0 }, ACT);
      expect(await store.nextReminded(0, 0)).toBeNull();
      await addWebhook(store, providerId);
      expect(await store.nextReminded(0, 0)).not.toBeNull();
      await store.updateProvider('Provide1', { subscriptionFigures: 0 }, ACT);
      expect(await store.nextReminded(0, 0)).toBeNull();
    });

    test('has one whose reminder was removed, while a device has it', async () => {
      const { store } = opened();
      const at = await shop(opened());
      await remindAll(opened(), at);
      await store.removeReminder(at.providerId, at.rule.id, ACT);
      expect(await store.nextReminded(0, 0)).not.toBeNull();
      const { open } = await store.listOpenReminders(at.providerId, 0, 10);
      await store.endReminders(at.providerId, open, NOW_MS + 1);
      expect(await store.nextReminded(0, 0)).toBeNull();
    });

    test('counts the links that moved, not those that a person has looked at', async () => {
      const { store } = opened();
      const { installId, providerId } = await shop(opened());
      const renewed = { ...READ, endsAtMs: NOW_MS + 30 * DAY_MS };
      await store.keepSubscriptionFigures(installId, renewed, 'proxy', NOW_MS + HOUR_MS);
      const counts = async (sinceMs: number) => {
        const found = await store.nextReminded(0, sinceMs);
        return [found?.movedCount, found?.linkCount];
      };
      expect(await counts(NOW_MS)).toEqual([1, 1]);
      expect(await counts(NOW_MS + HOUR_MS)).toEqual([0, 0]);
      await store.stopReminders(providerId, { moved: 1, links: 1 }, NOW_MS + HOUR_MS);
      await store.resumeReminders(providerId, { ...ACT, atMs: NOW_MS + HOUR_MS });
      expect(await counts(NOW_MS)).toEqual([0, 0]);
    });
  },

  claimPass(opened) {
    test('gives a provider to one worker, who may renew it', async () => {
      const { store, openBeside } = opened();
      const { providerId } = await shop(opened());
      const beside = await openBeside();
      const two = { ...LEASE, owner: 'two' };
      expect(await store.claimPass(providerId, LEASE)).toBe(true);
      expect(await beside.claimPass(providerId, two)).toBe(false);
      CLOCK.set(NOW_MS + 50_000);
      expect(await store.claimPass(providerId, LEASE)).toBe(true);
      CLOCK.set(NOW_MS + 70_000);
      expect(await beside.claimPass(providerId, two)).toBe(false);
      CLOCK.set(NOW_MS + 120_000);
      expect(await beside.claimPass(providerId, two)).toBe(true);
      expect(await store.claimPass(providerId, LEASE)).toBe(false);
    });

    test('gives up a claim from before the clock was set back', async () => {
      const { store } = opened();
      const { providerId } = await shop(opened());
      await store.claimPass(providerId, LEASE);
      CLOCK.set(NOW_MS - DAY_MS);
      expect(await store.claimPass(providerId, { ...LEASE, owner: 'two' })).toBe(true);
    });
  },

  endPass(opened) {
    test('ends the claim of its worker alone', async () => {
      const { store } = opened();
      const { providerId } = await shop(opened());
      const two = { ...LEASE, owner: 'two' };
      await store.claimPass(providerId, LEASE);
      await store.endPass(providerId, 'two');
      expect(await store.claimPass(providerId, two)).toBe(false);
      await store.endPass(providerId, 'one');
      expect(await store.claimPass(providerId, two)).toBe(true);
    });
  },

  findReminding(opened) {
    test('says whether they go on', async () => {
      const { store } = opened();
      const { providerId } = await shop(opened());
      const goesOn = { stoppedAtMs: null, stoppedMoved: null, stoppedLinks: null };
      expect(await store.findReminding(providerId)).toEqual(goesOn);
      await store.stopReminders(providerId, { moved: 7, links: 90 }, NOW_MS);
      expect(await store.findReminding(providerId)).toEqual({
        ...{ stoppedAtMs: NOW_MS, stoppedMoved: 7, stoppedLinks: 90 },
      });
    });
  },

  stopReminders(opened) {
    test('stops them once, with an event', async () => {
      const { store } = opened();
      const at = await shop(opened());
      const webhook = await addWebhook(store, at.providerId);
      expect(await store.stopReminders(at.providerId, { moved: 7, links: 90 }, NOW_MS)).toBe(true);
      expect(await store.stopReminders(at.providerId, { moved: 8, links: 90 }, NOW_MS)).toBe(false);
      expect(await toldTo(store, webhook)).toEqual([
        ['reminders.stopped', { moved_links: 7, all_links: 90 }],
      ]);
      expect(await remindAll(opened(), at)).toEqual([]);
    });
  },

  resumeReminders(opened) {
    test('lets them go on, once', async () => {
      const { store } = opened();
      const at = await shop(opened());
      expect(await store.resumeReminders(at.providerId, ACT)).toBe(false);
      await store.stopReminders(at.providerId, { moved: 7, links: 90 }, NOW_MS);
      expect(await store.resumeReminders(at.providerId, ACT)).toBe(true);
      expect(await remindAll(opened(), at)).toHaveLength(1);
    });
  },

  listCourses(opened) {
    test('lists links with figures by id, of the provider alone', async () => {
      const { store } = opened();
      const { installId, providerId } = await shop(opened());
      const second = await addLink(store, providerId, { installCode: 'LinkCode0003' });
      await store.keepSubscriptionFigures(second, READ, 'panel', NOW_MS);
      await addDoor(store, 'Provide2', 'LinkCode0009');
      const all = await store.listCourses(providerId, 0, 10);
      expect(all).toMatchObject([
        { installId, ...READ, source: 'proxy', periodAtMs: NOW_MS, toldHours: null },
        { installId: second, source: 'panel' },
      ]);
      expect(await store.listCourses(providerId, installId, 10)).toHaveLength(1);
      expect(await store.listCourses(providerId, 0, 1)).toHaveLength(1);
    });

    test('a renewal begins a period when two reads agree, and traffic counts anew', async () => {
      const { store } = opened();
      const { installId, providerId } = await shop(opened());
      const paid = { ...READ, endsAtMs: NOW_MS + 32 * DAY_MS, usedBytes: 0 };
      for (const hours of [1, 2, 3]) {
        await store.keepSubscriptionFigures(installId, paid, 'proxy', NOW_MS + hours * HOUR_MS);
      }
      const [course] = await store.listCourses(providerId, 0, 10);
      expect(course).toMatchObject({
        periodAtMs: NOW_MS + 2 * HOUR_MS,
        trafficAtMs: NOW_MS + HOUR_MS,
        movedAtMs: NOW_MS + 2 * HOUR_MS,
      });
    });
  },

  tellCourses(opened) {
    test('tells each state of a period once', async () => {
      const { store } = opened();
      const { installId, providerId } = await shop(opened());
      const webhook = await addWebhook(store, providerId);
      const tell = async (nowMs: number) => {
        await store.keepSubscriptionFigures(
          installId,
          { ...READ, usedBytes: nowMs > NOW_MS ? 9 * GB : GB },
          'proxy',
          nowMs,
        );
        CLOCK.set(nowMs);
        await store.tellCourses(providerId, [installId], [], nowMs);
        await store.tellCourses(providerId, [installId], [], nowMs);
      };
      await tell(NOW_MS);
      await tell(NOW_MS + DAY_MS + 1);
      await tell(NOW_MS + 2 * DAY_MS);
      const kinds = await store.listDeliveries(webhook, 'waiting', null, 100);
      expect(kinds.map(({ kind }) => kind).reverse()).toEqual([
        'link.ending',
        'link.ending',
        'link.traffic_low',
        'link.ended',
      ]);
    });

    test('a panel that renews and takes back each hour is told once a day', async () => {
      const { store } = opened();
      const { installId, providerId } = await shop(opened());
      const webhook = await addWebhook(store, providerId);
      for (let hours = 1; hours <= 40; hours += 1) {
        const nowMs = NOW_MS + hours * (HOUR_MS + 1);
        const endsAtMs = NOW_MS + (Math.floor(hours / 3) % 2 === 0 ? 2 * DAY_MS : 40 * DAY_MS);
        await store.keepSubscriptionFigures(installId, { ...READ, endsAtMs }, 'proxy', nowMs);
        await store.tellCourses(providerId, [installId], [], nowMs);
      }
      const told = (await store.listDeliveries(webhook, 'waiting', null, 100)).map(
        ({ kind }) => kind,
      );
      expect(told.filter((kind) => kind === 'link.renewed')).toHaveLength(2);
      expect(told.filter((kind) => kind === 'link.ending').length).toBeLessThanOrEqual(4);
    });

    test('says nothing by figures that were read long ago', async () => {
      const { store } = opened();
      const { installId, providerId } = await shop(opened());
      const webhook = await addWebhook(store, providerId);
      await store.tellCourses(providerId, [installId], [], NOW_MS + 2 * DAY_MS + 1);
      expect(await store.listDeliveries(webhook, 'waiting', null, 100)).toEqual([]);
    });
  },

  listSilent(opened) {
    test('lists links last called with in a time, whose subscription goes on', async () => {
      const { store } = opened();
      const { installId, providerId } = await shop(opened());
      await addLink(store, providerId, { installCode: 'LinkCode0003' });
      const nowMs = NOW_MS + DAY_MS;
      const list = (fromMs: number, untilMs: number, atMs = nowMs) =>
        store.listSilent(providerId, { fromMs, untilMs }, atMs, 0, 1);
      expect(await list(NOW_MS, NOW_MS + 1)).toEqual({
        ...{ links: [{ installId, seenAtMs: NOW_MS }], nextId: installId },
      });
      expect((await list(NOW_MS + 1, NOW_MS + 2)).links).toEqual([]);
      expect((await list(NOW_MS, NOW_MS + 1, NOW_MS + 2 * DAY_MS)).links).toEqual([]);
      const rest = await store.listSilent(
        providerId,
        { fromMs: 0, untilMs: 9e15 },
        nowMs,
        installId,
        9,
      );
      expect(rest).toEqual({ links: [], nextId: null });
    });
  },

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
};

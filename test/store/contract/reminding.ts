/** What reminders send: passes, rounds, the ledger, and the events about subscriptions. */

import { expect, test } from 'bun:test';
import type { RemindingStore } from '../../../src/core/port/reminding.ts';
import { ACT } from '../../support/actor.ts';
import { addDoor, addLink, CLOCK, NOW_MS, type Suite } from './fixture.ts';
import { toldTo } from './happening.ts';
import type { remindContract } from './remind.ts';
import { DAY_MS, GB, HOUR_MS, READ, remindAll, shop } from './reminder-fixture.ts';
import { addWebhook } from './webhook.ts';

const LEASE = { owner: 'one', nowMs: NOW_MS, leaseMs: 60_000 };

type Methods = Exclude<keyof RemindingStore, keyof typeof remindContract>;

export const remindingContract: Record<Methods, Suite> = {
  nextReminded(opened) {
    test('finds providers with figures one after the other, with their terms', async () => {
      const { store } = opened();
      const { providerId } = await shop(opened());
      await addDoor(store, 'Provide2', 'LinkCode0009');
      expect(await store.nextReminded(0, 0)).toMatchObject({
        provider: { id: providerId, code: 'Provide1', quietFrom: null },
        stoppedAtMs: null,
        movedCount: 0,
        linkCount: 0,
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
        stoppedAtMs: NOW_MS,
        stoppedMoved: 7,
        stoppedLinks: 90,
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
        links: [{ installId, seenAtMs: NOW_MS }],
        nextId: installId,
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
};

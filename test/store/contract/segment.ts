/** Messages to what a filter finds when their delivery begins. */

import { expect, test } from 'bun:test';
import { ANY_DEVICE } from '../../../src/core/device-search.ts';
import { searchAt, segmentText } from '../../../src/core/message/segment.ts';
import type { DeviceSearch, Segment } from '../../../src/core/port/device-search.ts';
import type { TargetCursor, TargetStep } from '../../../src/core/port/distribution.ts';
import type { RideRules } from '../../../src/core/port/ride.ts';
import type { Store } from '../../../src/core/port/store.ts';
import { ACT } from '../../support/actor.ts';
import { addFigured, countedBy, FIGURE_FILTERS } from './figures-fixture.ts';
import { addDoor, addLink, CODE, FACTS, knock, NOW_MS, OTHER_CODE, type Suite } from './fixture.ts';
import {
  bringTo,
  claim,
  detailOf,
  deviceId,
  HOUR_MS,
  LEASE_MS,
  LEDGER_MAX,
  lease,
  ledgerOf,
  loadAll,
  send,
  sendAll,
  someAtATime,
} from './message-fixture.ts';

const DAY_MS = 86_400_000;
const RIDES: RideRules = { level: 'on', hours: 10 };
const SYSTEMS = ['android', 'ios', 'windows', ''] as const;

/** Ends within three days. */
const SOON: Segment = { ...ANY_DEVICE, figures: { endsFromMs: 0, endsBeforeMs: 3 * DAY_MS } };
const to = (segment: Segment) => ({
  targetOs: null,
  targetHwid: '',
  segment: segmentText(segment),
});

/** Counts in steps, as a check before a send does. */
async function countOf(store: Store, providerId: number, search: DeviceSearch): Promise<number> {
  let count = 0;
  for (let at: TargetCursor | null = null; ; ) {
    const step: TargetStep = await store.scanSegment(providerId, search, at);
    count += step.count;
    expect(step.groups.reduce((sum, group) => sum + group.count, 0)).toBe(step.count);
    if (step.next === null) return count;
    at = step.next;
  }
}

const endsAt = (store: Store, id: number, endsAtMs: number, readAtMs = NOW_MS) =>
  store.keepSubscriptionFigures(
    id,
    { endsAtMs, totalBytes: null, usedBytes: null },
    'proxy',
    readAtMs,
  );

/**
 * Adds links with a hundred devices each, of all systems in turn, whose subscriptions end in two
 * days and in nine, one after the other. Returns the ids of the links.
 */
async function addCustomers(store: Store, providerId: number, linkCount: number) {
  await store.updateProvider('Provide1', { subscriptionFigures: 1 }, ACT);
  const ids: number[] = [];
  for (let n = 0; n < linkCount; n++) {
    const installCode = codeOf(n);
    const id = await addLink(store, providerId, { installCode, installLimit: 100 });
    await endsAt(store, id, NOW_MS + (n % 2 === 0 ? 2 : 9) * DAY_MS);
    ids.push(id);
  }
  await someAtATime(100 * linkCount, (n) => {
    const os = SYSTEMS[n % SYSTEMS.length] ?? '';
    return knock(store, hwidOf(n), codeOf(Math.floor(n / 100)), { ...FACTS, os });
  });
  return ids;
}

const codeOf = (n: number) => `Segment${String(n).padStart(5, '0')}`;
const hwidOf = (n: number) => `of-${Math.floor(n / 100)}-${n}`;
const linkOf = (hwid: string) => Number(hwid.split('-')[1]);

/** Has a worker begin to deliver it at a time. */
async function beginAt(store: Store, id: number, nowMs: number) {
  await claim(store, 'one', nowMs);
  const hold = lease(id, 'one', nowMs);
  await store.moveDistribution(hold, 10, 20, RIDES);
  expect(await store.moveDistribution(hold, 20, 5, RIDES)).toBe(true);
  return hold;
}

const ridesTo = async (store: Store, providerId: number, hwid: string, nowMs = NOW_MS) =>
  (await store.findNamedRides(await deviceId(store, providerId, hwid), providerId)).filter(
    ({ fromMs, untilMs }) => fromMs <= nowMs && nowMs < untilMs,
  );

export const segmentContract: Record<'scanSegment', Suite> = {
  scanSegment(opened) {
    test('counts what a search lists, and a message goes to as many', async () => {
      const { store } = opened();
      const { providerId, links } = await addFigured(store);
      for (const figures of FIGURE_FILTERS) {
        const wanted = countedBy(links, figures).map(({ code }) => `of-${code}`);
        const search = { ...ANY_DEVICE, figures };
        expect(await countOf(store, providerId, search)).toBe(wanted.length);
        const { devices } = await store.searchDevices(providerId, search, null);
        expect(devices.map(({ hwid }) => hwid).toSorted()).toEqual(wanted.toSorted());
        if (wanted.length === 0) continue;
        // The times of a segment are counted from when delivery begins.
        const id = await send(store, providerId, to(searchAt(search, -NOW_MS)));
        await bringTo(store, id, 100);
        expect(Object.keys(await ledgerOf(store, id)).toSorted()).toEqual(wanted.toSorted());
      }
    });

    test('each other condition of a search is one of a segment', async () => {
      const { store } = opened();
      const { providerId, installId, domainId } = await addDoor(store);
      await store.updateLink(providerId, installId, { installLimit: 3 }, ACT);
      await knock(store, 'a', CODE, { ...FACTS, os: 'ios', appVersion: '9' }, NOW_MS - 5 * DAY_MS);
      await knock(store, 'b');
      for (const [wanted, hwids] of [
        [{}, ['a', 'b']],
        [{ os: 'ios' }, ['a']],
        [{ appVersion: '9' }, ['a']],
        [{ language: 'en' }, []],
        [{ seenSinceMs: -DAY_MS }, ['b']],
        [{ unseenSinceMs: -DAY_MS }, ['a']],
        [{ domainId }, []],
        [{ link: CODE.slice(2, 6).toLowerCase() }, ['a', 'b']],
        [{ link: 'nowhere' }, []],
      ] as const) {
        const segment = { ...ANY_DEVICE, ...wanted };
        expect(await countOf(store, providerId, searchAt(segment, NOW_MS))).toBe(hwids.length);
        const id = await send(store, providerId, to(segment));
        await bringTo(store, id, 40);
        expect(Object.keys(await ledgerOf(store, id)).toSorted()).toEqual([...hwids]);
        await store.moveDistribution(lease(id), 40, hwids.length === 0 ? 120 : 100);
      }
    });

    test('3,000 devices: those that match at its time, each once, over a lost worker', async () => {
      const { store } = opened();
      const { providerId } = await addDoor(store);
      await addDoor(store, 'Provide2', OTHER_CODE);
      await knock(store, 'foreign', OTHER_CODE);
      await knock(store, 'of-99-0');
      const ids = await addCustomers(store, providerId, 30);
      const dueAtMs = NOW_MS + HOUR_MS;
      const id = await send(store, providerId, { ...to(SOON), dueAtMs });
      // One is renewed before its time, and one that ended late comes to end soon.
      await endsAt(store, ids[0] ?? 0, NOW_MS + 90 * DAY_MS, NOW_MS + HOUR_MS / 2);
      const soonMs = NOW_MS + 3 * DAY_MS + HOUR_MS / 2;
      await endsAt(store, ids[1] ?? 0, soonMs, NOW_MS + HOUR_MS / 2);
      const isWanted = (hwid: string) => {
        const link = linkOf(hwid);
        return link === 1 || (link > 0 && link < 30 && link % 2 === 0);
      };
      const first = await beginAt(store, id, dueAtMs);
      expect(await store.loadRecipients(first, LEDGER_MAX, RIDES)).toEqual({ isDone: false });
      // The worker is lost; another goes on where its last step ended.
      const laterMs = dueAtMs + LEASE_MS + 1;
      expect((await claim(store, 'two', laterMs)).map((work) => [work.id, work.isBulky])).toEqual([
        [id, true],
      ]);
      expect(await store.loadRecipients(first, LEDGER_MAX, RIDES)).toBeNull();
      const second = lease(id, 'two', laterMs);
      expect(await store.moveDistribution(second, 5, 6, RIDES)).toBe(true);
      expect(await loadAll(store, second, RIDES)).toBeGreaterThan(3);
      expect(await store.moveDistribution(second, 6, 40, RIDES)).toBe(true);
      await sendAll(store, second);
      expect(await store.moveDistribution(second, 40, 100, RIDES)).toBe(true);
      const { distribution } = await detailOf(store, id, 1);
      expect(distribution).toMatchObject({ recipientCount: 1_500, sentCount: 1_500 });
      expect(await countOf(store, providerId, searchAt(SOON, dueAtMs))).toBe(1_500);
      const hwids = Object.keys(await ledgerOf(store, id));
      expect(hwids).toHaveLength(1_500);
      expect(hwids.filter((hwid) => !isWanted(hwid))).toEqual([]);

      const riding = (hwid: string) => ridesTo(store, providerId, hwid, laterMs);
      expect(await riding('of-1-100')).toMatchObject([{ distributionId: id, part: 'message' }]);
      expect(await riding('of-28-2899')).toHaveLength(1);
      for (const hwid of ['of-0-0', 'of-3-300', 'of-29-2999', 'of-99-0'])
        expect(await riding(hwid)).toEqual([]);
      expect(await store.blockDistribution(id, [10, 30], laterMs, ACT)).toBe('ride_ended');
      expect(await riding('of-1-100')).toEqual([]);
      expect(await riding('of-28-2899')).toEqual([]);
      expect(await store.blockDistribution(id, [10, 30], laterMs, ACT)).toBe(100);
    });

    test('is cancelled and blocked as another is, and goes to nobody then', async () => {
      const { store } = opened();
      const { providerId } = await addDoor(store);
      await addCustomers(store, providerId, 2);
      const dueAtMs = NOW_MS + HOUR_MS;
      const cancelled = await send(store, providerId, { ...to(SOON), dueAtMs });
      const guard = { from: [10, 20, 30], dueFromMs: NOW_MS, nowMs: NOW_MS };
      expect(await store.cancelDistribution(providerId, cancelled, guard, ACT)).toBe('ok');
      const blocked = await send(store, providerId, to(SOON));
      const hold = await beginAt(store, blocked, NOW_MS);
      await store.loadRecipients(hold, LEDGER_MAX, RIDES);
      await store.blockDistribution(blocked, [5, 6, 10, 20, 30, 40], NOW_MS, ACT);
      expect(await store.loadRecipients(hold, LEDGER_MAX, RIDES)).toBeNull();
      expect(await ridesTo(store, providerId, 'of-0-0')).toEqual([]);
      expect((await detailOf(store, cancelled)).distribution.recipientCount).toBe(0);
    });

    test('a correction needs the same filter', async () => {
      const { store } = opened();
      const { providerId } = await addDoor(store);
      await addCustomers(store, providerId, 1);
      const old = await send(store, providerId, to(SOON));
      await bringTo(store, old, 100);
      const replacing = { replacesId: old, createdAtMs: NOW_MS + 1 };
      const other = { ...SOON, os: 'ios' };
      expect(send(store, providerId, { ...to(other), ...replacing })).rejects.toThrow(
        'replaced_elsewhere',
      );
      expect(await send(store, providerId, { ...to(SOON), ...replacing })).toBeGreaterThan(old);
    });
  },
};

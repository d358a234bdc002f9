/** What rides on subscriptions: what doors and caches read, and what is kept of it. */

import { describe, expect, test } from 'bun:test';
import type { NewDistribution } from '../../../src/core/port/distribution.ts';
import type { ProviderChange } from '../../../src/core/port/provider.ts';
import type { Ride, RideRules } from '../../../src/core/port/ride.ts';
import type { AdmittedLink } from '../../../src/core/port/slot.ts';
import type { Store } from '../../../src/core/port/store.ts';
import { ACT } from '../../support/actor.ts';
import {
  addDoor,
  addLink,
  CODE,
  FACTS,
  HASH,
  knock,
  NOW_MS,
  OTHER_CODE,
  type Suite,
} from './fixture.ts';
import {
  claim,
  detailOf,
  deviceId,
  HOUR_MS,
  LEDGER_MAX,
  lease,
  loadAll,
  onLink,
  register,
  send,
  sendAll,
  sentAt,
  to,
  WAITING_MAX,
} from './message-fixture.ts';

const ALL_RIDES: RideRules = { level: 'on', hours: 10 };
const MINUTE_MS = 60_000;
const command = { notificationType: 20 } as const;
const settings = (values: Record<string, unknown>) => ({
  ...command,
  actionType: 'set-settings',
  payload: JSON.stringify({ action_type: 'set-settings', settings: values }),
});
const change = (type: 'domain' | 'url') => ({
  ...command,
  actionType: 'sub-change',
  payload: JSON.stringify({ action_type: 'sub-change', change_type: type, change_value: 'x' }),
});

/** Sends, and has a worker begin to deliver it. */
async function begin(
  store: Store,
  providerId: number,
  more: Partial<NewDistribution> = {},
  rules: RideRules = ALL_RIDES,
): Promise<number> {
  const id = await send(store, providerId, more);
  const nowMs = more.createdAtMs ?? NOW_MS;
  if (more.targetHwid) {
    const worker = { owner: 'one', nowMs, leaseMs: 5_000 };
    const bounds = { ledgerRowsMax: LEDGER_MAX, waitingMax: WAITING_MAX, gateways: [] };
    const delivering = { afterChecking: () => 5, ...bounds, rides: rules };
    expect((await store.deliverNamed(worker, delivering)).count).toBe(1);
    return id;
  }
  await loadAll(store, await moveToLoad(store, id, rules, nowMs));
  return deliver(store, id, rules, nowMs);
}

/** Has a worker begin a general one, without its recipients; returns the lease. */
async function moveToLoad(store: Store, id: number, rules = ALL_RIDES, nowMs = NOW_MS) {
  await claim(store, 'one', nowMs);
  const hold = lease(id, 'one', nowMs);
  await store.moveDistribution(hold, 10, 20, rules);
  await store.moveDistribution(hold, 20, 5, rules);
  return hold;
}

/** Delivers a general one whose recipients are written. */
async function deliver(store: Store, id: number, rules = ALL_RIDES, nowMs = NOW_MS) {
  const hold = lease(id, 'one', nowMs);
  await store.moveDistribution(hold, 5, 40, rules);
  await sendAll(store, hold);
  await store.moveDistribution(hold, 40, 100, rules);
  return id;
}

/** What the door of a link says to a device. */
async function doorOf(store: Store, hwid: string, installCode = CODE): Promise<AdmittedLink> {
  const door = await store.findSlot({ installCode, hwid, domainHash: HASH });
  if (typeof door === 'string') throw new Error(door);
  return door.link;
}

const update = (store: Store, wanted: ProviderChange) =>
  store.updateProvider('Provide1', wanted, ACT);

const named = (rides: readonly Ride[]) =>
  rides.map(({ distributionId, os, part }) => `${distributionId} ${os ?? '-'} ${part}`);

async function ofAll(store: Store, providerId: number) {
  return named((await store.findRides(providerId)).rides);
}

async function ofDevice(store: Store, providerId: number, hwid: string) {
  return named(await store.findNamedRides(await deviceId(store, providerId, hwid), providerId));
}

type Method = 'findRides' | 'findNamedRides' | 'noteCarried' | 'forgetRides';

export const rideContract: Record<Method & keyof Store, Suite> = {
  findRides(opened) {
    test('a notification rides from its delivery on, and the door says so', async () => {
      const { store } = opened();
      const { providerId } = await addDoor(store);
      expect((await doorOf(store, 'phone')).rides).toBeUndefined();
      const id = await begin(store, providerId);
      const { rides } = await doorOf(store, 'phone');
      const clearedAtMs = NOW_MS + 20 * HOUR_MS;
      expect(rides).toMatchObject({ version: 1, untilMs: clearedAtMs, deviceId: null });
      expect(await store.findRides(providerId)).toMatchObject({
        version: 1,
        ride: null,
        ridesOnDesktop: false,
        supportUrl: null,
        buttonsAlways: false,
        rides: [
          {
            distributionId: id,
            notificationType: 10,
            os: 'android',
            part: 'message',
            createdAtMs: NOW_MS,
            fromMs: NOW_MS,
            untilMs: NOW_MS + 10 * HOUR_MS,
          },
        ],
      });
    });

    test('it ends with the message, if that is earlier', async () => {
      const { store } = opened();
      const { providerId } = await addDoor(store);
      await begin(store, providerId, { expiresAtMs: NOW_MS + HOUR_MS });
      expect((await store.findRides(providerId)).rides).toMatchObject([
        { untilMs: NOW_MS + HOUR_MS },
      ]);
    });

    test.each([
      ['nothing', 'off', []],
      ['notifications alone', 'notifications', ['1 android message']],
    ] as const)('%s, where no more may ride', async (_, level, expected) => {
      const { store } = opened();
      const { providerId } = await addDoor(store);
      await begin(store, providerId, {}, { level, hours: 10 });
      await begin(store, providerId, change('domain'), { level, hours: 10 });
      expect(await ofAll(store, providerId)).toEqual([...expected]);
    });

    test('a newer one takes the place, system by system, and setting by setting', async () => {
      const { store } = opened();
      const { providerId } = await addDoor(store);
      const both = { targetOs: 'android,ios' };
      await begin(store, providerId, both);
      await begin(store, providerId, { targetOs: 'ios' });
      await begin(store, providerId, settings({ 'ping-type': 'tcp', 'app-auto-start': 1 }));
      await begin(store, providerId, settings({ 'ping-type': 'proxy', 'of-its-own': 1 }));
      expect(await ofAll(store, providerId)).toEqual([
        '4 android set:ping-type',
        '3 android set:app-auto-start',
        '2 ios message',
        '1 android message',
      ]);
      expect((await doorOf(store, 'phone')).rides?.version).toBe(4);
    });

    test('a command waits ten minutes; a URL rides to named devices alone', async () => {
      const { store } = opened();
      const { providerId } = await addDoor(store);
      await begin(store, providerId, change('domain'));
      await begin(store, providerId, change('url'));
      const fromMs = NOW_MS + 10 * MINUTE_MS;
      expect((await store.findRides(providerId)).rides).toMatchObject([
        { part: 'domain', fromMs, untilMs: fromMs + 10 * HOUR_MS },
      ]);
    });

    test('a block ends it, for whoever reads next, at every connection', async () => {
      const { store, openBeside } = opened();
      const { providerId } = await addDoor(store);
      const id = await begin(store, providerId);
      const beside = await openBeside();
      const before = await beside.findRides(providerId);
      await begin(store, providerId, change('domain'));
      const block = (of: number, atMs: number) => store.blockDistribution(of, [40], atMs, ACT);
      expect(await block(id, NOW_MS + 2 * HOUR_MS)).toBe('ride_ended');
      expect(await block(id, NOW_MS + 2 * HOUR_MS)).toBe(100);
      // It never began.
      expect(await block(2, NOW_MS)).toBe('ride_ended');
      const { rides } = await doorOf(beside, 'phone');
      expect(rides?.version).toBeGreaterThan(before.version + 1);
      expect(await ofAll(beside, providerId)).toEqual(['1 android message']);
      await beside.close();
    });

    test.each([
      ['is suspended', (store) => update(store, { suspendedAtMs: NOW_MS + 5 }), NOW_MS + 5],
      ['has ended', (store) => update(store, { activeUntilMs: NOW_MS + 7 }), NOW_MS + 7],
      ['is being removed', (store) => store.closeProvider('Provide1', ACT), 0],
    ] as [string, (store: Store) => Promise<unknown>, number][])(
      'nothing rides of a provider whose subscription %s',
      async (_, end, untilMs) => {
        const { store } = opened();
        const { providerId } = await addDoor(store);
        await knock(store, 'phone');
        await begin(store, providerId);
        await begin(store, providerId, to('phone'));
        const before = (await doorOf(store, 'phone')).rides?.version ?? 0;
        await end(store);
        expect((await doorOf(store, 'phone')).rides?.version).toBe(before + 1);
        expect((await store.findRides(providerId)).rides).toMatchObject([{ untilMs }]);
        const device = await deviceId(store, providerId, 'phone');
        expect(await store.findNamedRides(device, providerId)).toMatchObject([{ untilMs }]);
      },
    );

    test('a binding that is added later has the same version', async () => {
      const { store } = opened();
      const { providerId } = await addDoor(store);
      await begin(store, providerId);
      const other = 'c'.repeat(64);
      await store.addDomain(
        {
          providerId,
          domainHash: other,
          domainName: 'c',
          domainCountMax: 9,
          createdAtMs: 1,
        },
        ACT,
      );
      const door = await store.findSlot({ installCode: CODE, hwid: 'a', domainHash: other });
      expect(typeof door === 'string' ? door : door.link.rides).toMatchObject({ version: 1 });
    });
  },

  findNamedRides(opened) {
    test('what names a device rides to it, and its door says until when', async () => {
      const { store } = opened();
      const { providerId } = await addDoor(store);
      await knock(store, 'phone');
      await knock(store, 'tablet', CODE);
      const later = NOW_MS + MINUTE_MS;
      const id = await begin(store, providerId, { ...to('phone'), ...sentAt(later) });
      expect(await ofDevice(store, providerId, 'phone')).toEqual([`${id} - message`]);
      expect((await doorOf(store, 'phone')).rides).toMatchObject({
        version: 0,
        namedUntilMs: later + 20 * HOUR_MS,
        homeSinceMs: NOW_MS,
        deviceId: await deviceId(store, providerId, 'phone'),
      });
      expect(await ofDevice(store, providerId, 'tablet')).toEqual([]);
      expect((await doorOf(store, 'stranger')).rides).toBeUndefined();
      expect(await ofAll(store, providerId)).toEqual([]);
    });

    test('a newer one takes the place of what names the device too', async () => {
      const { store } = opened();
      const { providerId } = await addDoor(store);
      await knock(store, 'phone');
      await begin(store, providerId, { ...to('phone'), ...change('url') });
      await begin(store, providerId, { ...to('phone'), ...change('url') });
      await begin(store, providerId, { ...to('phone'), ...change('domain') });
      expect(await ofDevice(store, providerId, 'phone')).toEqual(['3 - domain', '2 - url']);
    });

    test('it ends when the device took it with its token', async () => {
      const { store } = opened();
      const { providerId } = await addDoor(store);
      await knock(store, 'phone');
      const holder = await register(store, 'phone', onLink());
      const id = await begin(store, providerId, to('phone'));
      const untilOf = async () =>
        (await store.findNamedRides(holder.id, providerId)).map(({ untilMs }) => untilMs);
      expect(await untilOf()).toEqual([NOW_MS + 10 * HOUR_MS]);
      const takenMs = NOW_MS + HOUR_MS;
      await store.acknowledge(holder, [{ id, state: 'received', detail: null }], takenMs);
      expect(await untilOf()).toEqual([takenMs]);
    });

    test('one that has expired is there to be cleared', async () => {
      const { store } = opened();
      const { providerId } = await addDoor(store);
      await knock(store, 'phone');
      const expiresAtMs = NOW_MS + HOUR_MS;
      const id = await begin(store, providerId, { ...to('phone'), expiresAtMs });
      while ((await store.expireRecipients(expiresAtMs)) !== null);
      expect((await detailOf(store, id)).missing).toMatchObject([{ expiredAtMs: expiresAtMs }]);
      expect(await ofDevice(store, providerId, 'phone')).toEqual([`${id} - message`]);
    });

    test('a block ends it before it begins', async () => {
      const { store } = opened();
      const { providerId } = await addDoor(store);
      await knock(store, 'phone');
      const id = await begin(store, providerId, { ...to('phone'), ...change('url') });
      await store.blockDistribution(id, [40], NOW_MS + MINUTE_MS, ACT);
      expect(await ofDevice(store, providerId, 'phone')).toEqual([]);
    });

    describe('the home link', () => {
      test('is that of the first slot', async () => {
        const { store } = opened();
        const { providerId } = await addDoor(store);
        await addLink(store, providerId, { installCode: OTHER_CODE });
        await knock(store, 'phone');
        await knock(store, 'phone', OTHER_CODE);
        await begin(store, providerId, to('phone'));
        expect((await doorOf(store, 'phone')).rides?.homeSinceMs).toBe(NOW_MS);
        // There the answer costs what it costs when no message names the device.
        expect((await doorOf(store, 'phone', OTHER_CODE)).rides).toBeUndefined();
      });

      const DAY_MS = 86_400_000;
      /** A phone with its home on one link, and a second slot; the days since it was at home. */
      test.each([
        ['seen there', 29, false, null],
        ['seen there', 31, false, 'moves'],
        ['seen there, which ended', 29, true, null],
        ['seen there, which ended', 31, true, 'moves'],
      ] as const)('%s %d days ago: moves to the other (slot gone: %p): %p', async (...row) => {
        const [, days, isGone, moves] = row;
        const { store } = opened();
        const { providerId, installId } = await addDoor(store);
        await addLink(store, providerId, { installCode: OTHER_CODE });
        const enter = (installCode: string, nowMs: number) =>
          store.takeSlot({ installCode, hwid: 'phone', domainHash: HASH }, FACTS, nowMs);
        await enter(CODE, NOW_MS);
        await enter(OTHER_CODE, NOW_MS + DAY_MS);
        if (isGone)
          await store.freeSlot(providerId, { installId, installCode: null }, 'phone', ACT);
        const thenMs = NOW_MS + days * DAY_MS;
        await enter(OTHER_CODE, thenMs);
        await begin(store, providerId, {
          ...to('phone'),
          ...sentAt(thenMs),
          expiresAtMs: thenMs + HOUR_MS,
        });
        const { rides } = await doorOf(store, 'phone', OTHER_CODE);
        expect(rides?.homeSinceMs ?? null).toBe(moves && thenMs);
      });

      test('goes with the registration that claims the place by another link', async () => {
        const { store } = opened();
        const { providerId, installId } = await addDoor(store);
        await addLink(store, providerId, { installCode: OTHER_CODE });
        await knock(store, 'phone');
        await knock(store, 'phone', OTHER_CODE);
        await store.freeSlot(providerId, { installId, installCode: null }, 'phone', ACT);
        await register(store, 'phone', onLink(OTHER_CODE));
        await begin(store, providerId, to('phone'));
        const { rides } = await doorOf(store, 'phone', OTHER_CODE);
        expect(rides?.homeSinceMs).toBe(NOW_MS);
      });
    });
  },

  noteCarried(opened) {
    const stamp = (distributionId: number, deviceId: number | null, atMs = NOW_MS) => ({
      distributionId,
      deviceId,
      hwid: 'phone',
      atMs,
      carried: 'Happ: announce',
    });

    test('a stamp is saved with the figures, once', async () => {
      const { store, openBeside } = opened();
      const { providerId } = await addDoor(store);
      await knock(store, 'phone');
      const id = await begin(store, providerId);
      const device = await deviceId(store, providerId, 'phone');
      store.noteCarried([stamp(id, device), stamp(id, 999)]);
      await store.saveFigures();
      const beside = await openBeside();
      beside.noteCarried([stamp(id, device, NOW_MS + 1)]);
      await beside.saveFigures();
      await beside.close();
      const { missing } = await detailOf(store, id);
      expect(missing).toMatchObject([
        { hwid: 'phone', carriedAtMs: NOW_MS, carried: 'Happ: announce' },
      ]);
      const [sum] = await store.sumFigures(0, 99_999);
      expect(sum?.carried).toBe(1);
    });

    test('a device without a slot on the link before is found by its HWID', async () => {
      const { store } = opened();
      const { providerId } = await addDoor(store);
      await knock(store, 'phone');
      const id = await begin(store, providerId);
      store.noteCarried([stamp(id, null), { ...stamp(id, null), hwid: 'nowhere' }]);
      await store.saveFigures();
      expect((await detailOf(store, id)).missing).toMatchObject([{ carriedAtMs: NOW_MS }]);
    });

    test('a stamp waits until the recipients of its message are written', async () => {
      const { store } = opened();
      const { providerId } = await addDoor(store);
      await knock(store, 'phone');
      const id = await send(store, providerId);
      const hold = await moveToLoad(store, id);
      store.noteCarried([stamp(id, await deviceId(store, providerId, 'phone'))]);
      await store.saveFigures();
      await loadAll(store, hold);
      await deliver(store, id);
      await store.saveFigures();
      expect((await detailOf(store, id)).missing).toMatchObject([{ carriedAtMs: NOW_MS }]);
    });

    test('what is noted when the store closes is saved', async () => {
      const { store, openBeside } = opened();
      const { providerId } = await addDoor(store);
      await knock(store, 'phone');
      const id = await begin(store, providerId);
      const beside = await openBeside();
      beside.noteCarried([stamp(id, await deviceId(store, providerId, 'phone'))]);
      await beside.close();
      expect((await detailOf(store, id)).missing).toMatchObject([{ carriedAtMs: NOW_MS }]);
    });
  },

  forgetRides(opened) {
    test('what ended before a time, and nothing else', async () => {
      const { store } = opened();
      const { providerId } = await addDoor(store);
      await begin(store, providerId, { targetOs: 'ios', expiresAtMs: NOW_MS + HOUR_MS });
      await begin(store, providerId);
      expect(await store.forgetRides(NOW_MS + HOUR_MS)).toBe(false);
      expect(await store.forgetRides(NOW_MS + HOUR_MS + 1)).toBe(true);
      expect(await store.forgetRides(NOW_MS + HOUR_MS + 1)).toBe(false);
      expect(await ofAll(store, providerId)).toEqual(['2 android message']);
    });
  },
};

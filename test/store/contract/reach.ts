/** How messages come to devices: what a store knows before a send, and of its ledger. */

import { expect, test } from 'bun:test';
import type { ReachGroup } from '../../../src/core/port/message-reach.ts';
import type { Store } from '../../../src/core/port/store.ts';
import { ACT } from '../../support/actor.ts';
import {
  addDoor,
  addLink,
  CLOCK,
  CODE,
  FACTS,
  knock,
  NOW_MS,
  OTHER_CODE,
  type Suite,
} from './fixture.ts';
import {
  bringTo,
  checkIn,
  claim,
  deviceId,
  lease,
  loadAll,
  onLink,
  register,
  send,
  sendAll,
  to,
} from './message-fixture.ts';
import { fcm, registerAt } from './outbox-fixture.ts';

const by = (userAgent: string) => ({ ...FACTS, userAgent });

/** A provider with a device of each kind. */
async function crowd(store: Store) {
  const door = await addDoor(store);
  const { providerId } = door;
  await store.updateLink(providerId, door.installId, { installLimit: 9 }, ACT);
  await registerAt(store, 'pushed', fcm('token'));
  await knock(store, 'asks');
  const { tokenHash } = await register(store, 'asks', onLink());
  await store.noteStream((await store.findDeviceByToken(tokenHash))?.tokenId ?? 0);
  for (const hwid of ['happ-1', 'happ-2']) await knock(store, hwid, CODE, by('Happ/1.0'));
  await knock(store, 'karing', CODE, by('Karing/2.0'));
  // Known by its binding alone, it fetches no subscription here.
  await checkIn(store, 'bound');
  // Freed from its home link, and on another one.
  await knock(store, 'moved', CODE, by('Happ/1.0'));
  await addLink(store, providerId, { installCode: OTHER_CODE });
  await knock(store, 'moved', OTHER_CODE, by('Happ/1.0'));
  await store.freeSlot(providerId, { installCode: CODE, installId: null }, 'moved', ACT);
  return { ...door, hwids: ['pushed', 'asks', 'happ-1', 'karing', 'moved'] };
}

/** Lets a distribution begin with what rides, and delivers it. */
async function ride(store: Store, id: number) {
  const rules = { level: 'on', hours: 10 } as const;
  await claim(store);
  await store.moveDistribution(lease(id), 10, 20, rules);
  await store.moveDistribution(lease(id), 20, 5, rules);
  await loadAll(store, lease(id));
  await store.moveDistribution(lease(id), 5, 40, rules);
  await sendAll(store, lease(id));
  await store.moveDistribution(lease(id), 40, 100, rules);
}

const summary = ({ userAgent, count, ...rest }: ReachGroup) => {
  const { isReachable, hasStream, gateway, hasSlot, isAtHome } = rest;
  const flags = [
    isReachable && 'reachable',
    hasStream && 'stream',
    gateway,
    hasSlot && 'slot',
    isAtHome && 'home',
  ];
  return `${count} ${userAgent}: ${flags.filter(Boolean).join(' ')}`;
};

export const reachSuite: Suite = (opened) => {
  test('before a send: devices by app, registration, gateway and home link', async () => {
    const { store } = opened();
    const { providerId, hwids } = await crowd(store);
    const { groups, count, reachableCount } = await store.scanTargets(
      providerId,
      ['android'],
      null,
    );
    expect({ count, reachableCount }).toEqual({ count: 7, reachableCount: 2 });
    expect(groups.map(summary).sort()).toEqual([
      '1 App/2.1.0: ',
      '1 App/2.1.0: reachable fcm slot home',
      '1 App/2.1.0: reachable stream slot home',
      '1 Happ/1.0: slot',
      '1 Karing/2.0: slot home',
      '2 Happ/1.0: slot home',
    ]);
    const found = await store.findTargets(providerId, hwids);
    const named = found.map((device) => device && summary({ ...device, count: 1 }));
    expect(named).toEqual([
      '1 App/2.1.0: reachable fcm slot home',
      '1 App/2.1.0: reachable stream slot home',
      '1 Happ/1.0: slot home',
      '1 Karing/2.0: slot home',
      '1 Happ/1.0: slot',
    ]);
  });

  test('of a ledger: what rides now, by app and home link, and what has ridden', async () => {
    const { store } = opened();
    const { providerId, hwids } = await crowd(store);
    const general = await send(store, providerId);
    await ride(store, general);
    const counts = { reachable: 2, received: 0, isAtLeast: false, carried: 0 };
    expect(await store.countReach(general, 99)).toEqual({
      ...counts,
      inbox: 1,
      stream: 1,
      push: 0,
      fetch: 3,
      unknown: 0,
      none: 2,
    });
    const named = await send(store, providerId, to(...hwids));
    await ride(store, named);
    expect(await store.countReach(named, 99)).toMatchObject({
      inbox: 1,
      stream: 1,
      fetch: 1,
      none: 2,
    });
    // Apps that show nothing of this message are no way, though their parts ride.
    expect(
      await store.countReach(named, 99, { apps: new Set(['INCY']), others: 'none' }),
    ).toMatchObject({
      fetch: 0,
      none: 3,
    });
    const silent = await send(store, providerId);
    await bringTo(store, silent, 100);
    expect(await store.countReach(silent, 99)).toMatchObject({
      inbox: 1,
      stream: 1,
      fetch: 0,
      none: 5,
    });
    const happ = await deviceId(store, providerId, 'happ-1');
    const stamp = { distributionId: general, deviceId: happ, hwid: '', atMs: NOW_MS };
    store.noteCarried([{ ...stamp, carried: 'Happ: x' }]);
    await store.saveFigures();
    await store.blockDistribution(general, [10], NOW_MS + 1, ACT);
    CLOCK.set(NOW_MS + 1);
    expect(await store.countReach(general, 99)).toMatchObject({ carried: 1, fetch: 1, none: 4 });
  });

  test('apps of which nothing is known count apart, also once they carried a message', async () => {
    const { store } = opened();
    const { installId, providerId } = await addDoor(store);
    await store.updateLink(providerId, installId, { installLimit: 9 }, ACT);
    const agents = ['Happ/1.0', 'Shadowrocket/2701', 'NewApp/1', 'Karing/2.0'];
    for (const agent of agents) await knock(store, agent.replace('/', '-'), CODE, by(agent));
    const general = await send(store, providerId);
    await ride(store, general);
    const counts = { fetch: 1, unknown: 2, none: 1 };
    expect(await store.countReach(general, 99)).toMatchObject(counts);
    const known = { apps: new Set(['Karing']), others: 'none' } as const;
    const fewer = { fetch: 1, unknown: 0, none: 3 };
    expect(await store.countReach(general, 99, known)).toMatchObject(fewer);
    for (const hwid of ['Happ-1.0', 'NewApp-1']) {
      const stamp = { distributionId: general, hwid: '', atMs: NOW_MS, carried: 'x: announce' };
      store.noteCarried([{ ...stamp, deviceId: await deviceId(store, providerId, hwid) }]);
    }
    await store.saveFigures();
    expect(await store.countReach(general, 99)).toMatchObject({ ...counts, carried: 2 });
    await store.blockDistribution(general, [10], NOW_MS + 1, ACT);
    CLOCK.set(NOW_MS + 1);
    const ended = { carried: 2, fetch: 1, unknown: 1, none: 2 };
    expect(await store.countReach(general, 99)).toMatchObject(ended);
  });
};

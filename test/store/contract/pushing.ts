/** Messages that go to gateways too. */

import { expect, test } from 'bun:test';
import { PUSH_SERVICES_MAX } from '../../../src/core/port/outbox.ts';
import { PUSH_GATEWAYS } from '../../../src/core/port/registration.ts';
import { nextTurn } from '../../../src/core/turn.ts';
import { ACT } from '../../support/actor.ts';
import {
  addDoor,
  addProvider,
  CODE,
  knock,
  NOW_MS,
  removeProvider,
  type Suite,
} from './fixture.ts';
import {
  bringTo,
  checkIn,
  claim,
  claimedIds,
  detailOf,
  EXPIRES_MS,
  fillBinding,
  IMPORT_DATA,
  inboxOf,
  LEASE_MS,
  lease,
  NOTHING_SHOWN,
  onBinding,
  registration,
  send,
  sendAll,
  someAtATime,
  statusOf,
  to,
  tokenHash,
  WAITING_MAX,
} from './message-fixture.ts';
import {
  ACCEPTED,
  apns,
  claimGateways,
  claimOne,
  countsOf,
  dueAt,
  failedFor,
  fcm,
  MOOT,
  pushesAt,
  registerAt,
  serve,
  settle,
  WELL,
  webpush,
} from './outbox-fixture.ts';

/** Devices enough for several steps, that registered with an address each. */
const SEVERAL = 520;

export const pushingSuite: Suite = (opened) => {
  async function crowd(countMax = SEVERAL) {
    const { store } = opened();
    const { providerId } = await addDoor(store);
    await fillBinding(store, { count: countMax });
    await someAtATime(countMax, (n) => {
      const hwid = `device-${n}`;
      const more = { shown: onBinding(), tokenHash: tokenHash(hwid), push: fcm(hwid) };
      return store.registerDevice(registration(hwid, more));
    });
    return { store, providerId };
  }

  test('who has an address counts once the gateway answered; who has none, at once', async () => {
    const { store } = opened();
    const { providerId } = await addDoor(store);
    const a = await registerAt(store, 'a', fcm('token a'));
    await knock(store, 'b');
    const { id, outcome } = await serve(store, providerId);
    expect(outcome).toEqual({ sentCount: 1, failedCount: 0, isHandedOver: true });
    // Its worker has no more to do with it.
    expect(await store.moveDistribution(lease(id), 40, 100)).toBe(false);
    expect(await store.sendRecipients(lease(id), WAITING_MAX, PUSH_GATEWAYS)).toBeNull();
    expect(await countsOf(store, id)).toEqual([40, 2, 1, 0]);
    expect(await inboxOf(store, a)).toEqual([id]);
    const { distribution, totals, missing } = await detailOf(store, id);
    expect(distribution).toMatchObject({ handedOverAtMs: NOW_MS, finishedAtMs: null });
    expect(totals).toMatchObject({ sent: 2, atGateway: { queued: 1, accepted: 0, failed: 0 } });
    expect(missing).toMatchObject([
      { hwid: 'a', state: 'sent', push: { state: 'queued', problem: null } },
      { hwid: 'b', state: 'sent', push: null },
    ]);
  });

  test('an address at a gateway that is not configured is as none', async () => {
    const { store } = opened();
    const { providerId } = await addDoor(store);
    await registerAt(store, 'a', fcm('token a'));
    const { id, outcome } = await serve(store, providerId, {}, ['apns', 'webpush']);
    expect(outcome).toEqual({ sentCount: 1, failedCount: 0, isHandedOver: false });
    expect(await statusOf(store, id)).toBe(100);
    expect(await store.readOutboxTotals()).toEqual([]);
  });

  test('an address that is none, as an old row may have it, is as none', async () => {
    const { store } = opened();
    const { providerId } = await addDoor(store);
    await registerAt(store, 'a', webpush('no address'));
    const { outcome } = await serve(store, providerId);
    expect(outcome).toEqual({ sentCount: 1, failedCount: 0, isHandedOver: false });
  });

  test('later messages of the provider never wait for a gateway', async () => {
    const { store } = opened();
    const { providerId } = await addDoor(store);
    await registerAt(store, 'a', fcm('token a'));
    const { id: first } = await serve(store, providerId);
    expect(await store.findNextDueMs()).toBeNull();
    expect(await claimedIds(store)).toEqual([]);
    const second = await send(store, providerId);
    expect(await claimedIds(store)).toEqual([second]);
    await bringTo(store, second, 100);
    expect(await statusOf(store, first)).toBe(40);
    expect((await store.readQueueFacts(NOW_MS)).dueCount).toBe(0);
  });

  test('a clock that was set back gives the lane to nothing that was handed over', async () => {
    const { store } = opened();
    const { providerId } = await addDoor(store);
    await registerAt(store, 'a', fcm('token a'));
    const aheadMs = NOW_MS + 3_600_000;
    await serve(store, providerId, { createdAtMs: aheadMs });
    const id = await send(store, providerId);
    expect(await claimedIds(store)).toEqual([id]);
    expect(await claimGateways(store)).toHaveLength(1);
  });

  test('many in several steps; another worker goes on, and nobody is pushed to twice', async () => {
    const { store, providerId } = await crowd();
    const id = await send(store, providerId);
    await bringTo(store, id, 40);
    const first = await store.sendRecipients(lease(id), WAITING_MAX, PUSH_GATEWAYS);
    expect(first?.outcome).toBeNull();
    // Some are answered before the last is served: that ends nothing.
    const { id: destinationId } = await claimOne(store);
    const some = await dueAt(store, destinationId);
    expect(some).toHaveLength(first?.deviceIds.length ?? 0);
    await settle(store, destinationId, some, ACCEPTED);
    expect(await countsOf(store, id)).toEqual([40, SEVERAL, some.length, 0]);
    const laterMs = NOW_MS + LEASE_MS;
    await claim(store, 'another', laterMs);
    expect(await store.sendRecipients(lease(id), WAITING_MAX, PUSH_GATEWAYS)).toBeNull();
    for (let outcome = null; outcome === null; ) {
      const hold = lease(id, 'another', laterMs);
      const step = await store.sendRecipients(hold, WAITING_MAX, PUSH_GATEWAYS);
      if (step === null) throw new Error('lost');
      outcome = step.outcome;
    }
    const rest = await pushesAt(store, destinationId, laterMs);
    expect(new Set(rest.map((due) => due.deviceId)).size).toBe(SEVERAL - some.length);
    const [last = { id: 0 }, ...others] = rest;
    await settle(store, destinationId, others, ACCEPTED, { nowMs: laterMs });
    expect(await statusOf(store, id)).toBe(40);
    await settle(store, destinationId, [last], failedFor('wrong'), { nowMs: laterMs });
    expect(await countsOf(store, id)).toEqual([110, SEVERAL, SEVERAL - 1, 1]);
  });

  test('answered by all before the last is served: it ends as ever', async () => {
    const { store } = opened();
    const { providerId } = await addDoor(store);
    await fillBinding(store, { count: SEVERAL });
    const more = { shown: onBinding(), push: fcm('token') };
    await store.registerDevice(registration('device-0', more));
    const id = await send(store, providerId);
    await bringTo(store, id, 40);
    await store.sendRecipients(lease(id), WAITING_MAX, PUSH_GATEWAYS);
    const { id: destinationId } = await claimOne(store);
    await settle(store, destinationId, await dueAt(store, destinationId), ACCEPTED);
    const steps = await sendAll(store, lease(id));
    expect(steps.at(-1)?.outcome).toEqual({
      sentCount: SEVERAL,
      failedCount: 0,
      isHandedOver: false,
    });
    expect(await store.moveDistribution(lease(id), 40, 100)).toBe(true);
    expect((await detailOf(store, id)).distribution.handedOverAtMs).toBeNull();
  });

  test('over while it is served: what gateways have of it fails in steps', async () => {
    const { store, providerId } = await crowd();
    const id = await send(store, providerId);
    await bringTo(store, id, 40);
    await store.sendRecipients(lease(id), WAITING_MAX, PUSH_GATEWAYS);
    const late = await sendAll(store, lease(id, 'one', EXPIRES_MS));
    expect(late.at(-1)?.outcome).toMatchObject({ isHandedOver: true });
    expect((await countsOf(store, id))[0]).toBe(40);
    while (await store.endHandedOver(EXPIRES_MS)) await nextTurn();
    expect(await countsOf(store, id)).toEqual([120, SEVERAL, 0, SEVERAL]);
    expect(await store.readOutboxTotals()).toMatchObject([{ waitingCount: 0 }]);
  });

  test('the place of nobody has an address of its own', async () => {
    const { store } = opened();
    const { providerId } = await addDoor(store);
    await addProvider(store, 'Provide2');
    await checkIn(store, 'a', { domainHash: null });
    const nobodys = { shown: NOTHING_SHOWN, tokenHash: tokenHash('of nobody') };
    await store.registerDevice(registration('a', { ...nobodys, push: fcm('of nobody') }));
    const { id } = await serve(store, providerId, { ...to('a'), ...IMPORT_DATA, unboundCount: 1 });
    expect(await countsOf(store, id)).toEqual([40, 1, 0, 0]);
    const { id: destinationId } = await claimOne(store);
    expect(await pushesAt(store, destinationId)).toMatchObject([
      { distributionId: id, token: { push: fcm('of nobody') }, moot: null },
    ]);
    // A token that takes a place of the provider later has nothing to do with it.
    await registerAt(store, 'a', fcm('at the provider'));
    expect(await pushesAt(store, destinationId)).toMatchObject([
      { token: { push: fcm('of nobody') } },
    ]);
  });

  test('another address of the token, by the time of the attempt, is the one', async () => {
    const { store } = opened();
    const { providerId } = await addDoor(store);
    const a = await registerAt(store, 'a', fcm('first'));
    await serve(store, providerId);
    await registerAt(store, 'a', fcm('second'), { heldTokenHash: a.tokenHash, locale: 'fa' });
    const { id } = await claimOne(store);
    expect(await pushesAt(store, id)).toMatchObject([
      { token: { push: fcm('second'), locale: 'fa' }, moot: null },
    ]);
  });

  test('another gateway, or none, by then: it is tried there at once, or counts', async () => {
    const { store } = opened();
    const { providerId } = await addDoor(store);
    const a = await registerAt(store, 'a', fcm('first'));
    const { id: first } = await serve(store, providerId);
    const { id: second } = await serve(store, providerId);
    const { id: stopped } = await claimOne(store);
    const health = { ...WELL, stoppedAtMs: NOW_MS, problem: 'wrong key' };
    await settle(store, stopped, [], ACCEPTED, { health });
    const again = await registerAt(store, 'a', apns('second'), { heldTokenHash: a.tokenHash });
    const next = await claimOne(store);
    expect(next).toMatchObject({ kind: 'apns', waitingCount: 2 });
    const [push = { id: 0 }] = await pushesAt(store, next.id);
    expect(push).toMatchObject({ distributionId: first, moot: null });
    await settle(store, next.id, [push], ACCEPTED);
    expect(await countsOf(store, first)).toEqual([100, 1, 1, 0]);
    await registerAt(store, 'a', null, { heldTokenHash: again.tokenHash });
    expect(await countsOf(store, second)).toEqual([100, 1, 1, 0]);
    const { totals } = await detailOf(store, second);
    expect(totals.atGateway).toEqual({ queued: 0, accepted: 0, failed: 0 });
  });

  test('more than follow the device at once are found out when it is their turn', async () => {
    const { store } = opened();
    const { providerId } = await addDoor(store);
    const a = await registerAt(store, 'a', fcm('first'));
    const sentCount = 103;
    for (let n = 0; n < sentCount; n++) await serve(store, providerId);
    const { id: destinationId } = await claimOne(store);
    await registerAt(store, 'a', apns('second'), { heldTokenHash: a.tokenHash });
    const left = await pushesAt(store, destinationId);
    expect(left).toMatchObject(Array(3).fill({ moot: 'moved', token: { push: apns('second') } }));
    await settle(store, destinationId, left, MOOT);
    expect(await claimOne(store)).toMatchObject({ kind: 'apns', waitingCount: sentCount });
  });

  test('a device that lost its link is not pushed to, and counts', async () => {
    const { store } = opened();
    const { providerId, installId } = await addDoor(store);
    await registerAt(store, 'a', fcm('token a'));
    const { id } = await serve(store, providerId);
    await store.freeSlot(providerId, { installCode: CODE, installId }, 'a', ACT);
    const { id: destinationId } = await claimOne(store);
    const due = await pushesAt(store, destinationId);
    expect(due).toMatchObject([{ moot: 'moved' }]);
    await settle(store, destinationId, due, MOOT);
    expect(await countsOf(store, id)).toEqual([100, 1, 1, 0]);
  });

  test('who comes back later is not pushed to what was sent before', async () => {
    const { store } = opened();
    const { providerId, installId } = await addDoor(store);
    await registerAt(store, 'a', fcm('before'));
    const { id } = await serve(store, providerId);
    await store.freeSlot(providerId, { installCode: CODE, installId }, 'a', ACT);
    await registerAt(store, 'a', fcm('after'));
    expect(await countsOf(store, id)).toEqual([100, 1, 1, 0]);
    const { id: next } = await serve(store, providerId);
    const { id: destinationId } = await claimOne(store);
    expect(await pushesAt(store, destinationId)).toMatchObject([
      { distributionId: next, token: { push: fcm('after') } },
    ]);
  });

  test('forgotten while it waits: nobody waits for it any more', async () => {
    const { store } = opened();
    const { providerId } = await addDoor(store);
    await registerAt(store, 'a', fcm('token a'));
    await registerAt(store, 'b', fcm('token b'));
    const { id } = await serve(store, providerId);
    expect(await store.forgetDevice('a', ACT)).toBe('ok');
    expect(await store.readOutboxTotals()).toMatchObject([{ waitingCount: 1 }]);
    const { id: destinationId } = await claimOne(store);
    await settle(store, destinationId, await dueAt(store, destinationId), ACCEPTED);
    expect(await countsOf(store, id)).toEqual([110, 2, 1, 1]);
  });

  test('blocked: what gateways have of it leaves the outbox with the inboxes', async () => {
    const { store, providerId } = await crowd();
    const { id } = await serve(store, providerId);
    await store.blockDistribution(id, [40], NOW_MS, ACT);
    while ((await store.expireRecipients(NOW_MS)) !== null) await nextTurn();
    expect(await countsOf(store, id)).toEqual([140, SEVERAL, 0, SEVERAL]);
    expect(await store.readOutboxTotals()).toMatchObject([{ waitingCount: 0 }]);
    expect(await store.endHandedOver(EXPIRES_MS)).toBe(false);
  });

  test('a provider that is removed leaves nothing for gateways', async () => {
    const { store, providerId } = await crowd(10);
    await serve(store, providerId);
    await send(store, providerId);
    await removeProvider(store, 'Provide1');
    expect(await store.readOutboxTotals()).toMatchObject([{ waitingCount: 0 }]);
    expect(await claimGateways(store)).toEqual([]);
  });

  test('push services are bounded: beyond, the inbox alone has it', async () => {
    const { store } = opened();
    const { providerId } = await addDoor(store);
    const count = PUSH_SERVICES_MAX + 10;
    await fillBinding(store, { count });
    await someAtATime(count, (n) => {
      const push = webpush(`https://push-${n}.example/1`);
      const more = { shown: onBinding(), tokenHash: tokenHash(`${n}`), push };
      return store.registerDevice(registration(`device-${n}`, more));
    });
    // A gateway in the same step takes no service's place.
    await registerAt(store, 'a', apns('a'));
    const { id } = await serve(store, providerId);
    expect(await countsOf(store, id)).toEqual([40, count + 1, 10, 0]);
    const totals = await store.readOutboxTotals();
    expect(totals.find(({ kind }) => kind === 'webpush')?.destinationCount).toBe(PUSH_SERVICES_MAX);
  });

  test('push services that were made up keep out none that took a push before', async () => {
    const { store } = opened();
    const { providerId } = await addDoor(store);
    await registerAt(store, 'a', webpush('https://known.example/a'));
    await serve(store, providerId);
    const { id: knownId } = await claimOne(store);
    await settle(store, knownId, await pushesAt(store, knownId), ACCEPTED);
    await store.releaseDestinations('one', null);
    while (await store.forgetDestinations()) {}

    await fillBinding(store, { count: PUSH_SERVICES_MAX });
    await someAtATime(PUSH_SERVICES_MAX, (n) => {
      const push = webpush(`https://push-${n}.example/1`);
      const more = { shown: onBinding(), tokenHash: tokenHash(`${n}`), push };
      return store.registerDevice(registration(`device-${n}`, more));
    });
    await serve(store, providerId);
    expect(await pushesAt(store, knownId)).toHaveLength(1);
    await registerAt(store, 'b', webpush('https://new.example/b'));
    const { id } = await serve(store, providerId);
    // The new one is kept out: its device has the message in its inbox alone.
    expect((await countsOf(store, id))[2]).toBe(1);
  });
};

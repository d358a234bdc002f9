import { expect, test } from 'bun:test';
import type { NewDistribution } from '../../../src/core/port/distribution.ts';
import type { Store } from '../../../src/core/port/store.ts';
import { ACT } from '../../support/actor.ts';
import {
  addDoor,
  addLink,
  bind,
  CODE,
  FACTS,
  knock,
  NOW_MS,
  OTHER_CODE,
  OTHER_HASH,
  type Suite,
} from './fixture.ts';
import {
  bringTo,
  checkIn,
  claim,
  deliver,
  detailOf,
  EXPIRES_MS,
  fillBinding,
  fillLinks,
  holderOf,
  IMPORT_DATA,
  inboxOf,
  LEASE_MS,
  LEDGER_MAX,
  lease,
  ledgerOf,
  loadAll,
  MANY,
  onLink,
  register,
  send,
  sendAll,
  to,
  WAITING_MAX,
} from './message-fixture.ts';

type Method = 'loadRecipients' | 'sendRecipients';

const LATER_MS = NOW_MS + LEASE_MS;

/** Sends, and has the worker `one` bring it as far as loading. */
async function begin(store: Store, providerId: number, more = {}): Promise<number> {
  const id = await send(store, providerId, more);
  await bringTo(store, id, 5);
  return id;
}

async function countsOf(store: Store, id: number) {
  const { recipientCount, sentCount, failedCount } = (await detailOf(store, id)).distribution;
  return [recipientCount, sentCount, failedCount];
}

export const recipientContract: Record<Method & keyof Store, Suite> = {
  loadRecipients(opened) {
    test('the linked devices with the system, each once wherever it is linked', async () => {
      const { store } = opened();
      const { providerId, domainId } = await addDoor(store);
      await addLink(store, providerId, { installCode: OTHER_CODE });
      await bind(store, providerId, OTHER_HASH);
      await addDoor(store, 'Provide2', 'OtherLink001');
      await knock(store, 'everywhere');
      await knock(store, 'everywhere', OTHER_CODE);
      await checkIn(store, 'everywhere');
      await checkIn(store, 'everywhere', { domainHash: OTHER_HASH });
      await checkIn(store, 'everywhere', { providerCode: 'Provide2' });
      await knock(store, 'on-link');
      await checkIn(store, 'by-binding', { domainHash: OTHER_HASH });
      await checkIn(store, 'by-disabled', {});
      await knock(store, 'ios', OTHER_CODE, { ...FACTS, os: 'ios' });
      await knock(store, 'foreign', 'OtherLink001');
      await checkIn(store, 'foreign', { providerCode: 'Provide2' });
      await checkIn(store, 'seen', { domainHash: null });
      await store.disableDomain(providerId, domainId, ACT);
      const id = await begin(store, providerId);
      await loadAll(store, lease(id));
      expect(await ledgerOf(store, id)).toEqual({
        everywhere: 'queued',
        'on-link': 'queued',
        'by-binding': 'queued',
      });
      expect(await countsOf(store, id)).toEqual([3, 0, 0]);
      await store.blockDistribution(id, [5], NOW_MS, ACT);
      const both = await begin(store, providerId, { targetOs: 'ios,android' });
      await loadAll(store, lease(both));
      expect(await countsOf(store, both)).toEqual([4, 0, 0]);
    });

    test('those that are linked at delivery, not those that were at acceptance', async () => {
      const { store } = opened();
      const { providerId } = await addDoor(store);
      await knock(store, 'freed');
      const id = await send(store, providerId);
      await store.freeSlot(providerId, { installCode: CODE, installId: null }, 'freed', ACT);
      await knock(store, 'late');
      await bringTo(store, id, 5);
      await loadAll(store, lease(id));
      expect(await ledgerOf(store, id)).toEqual({ late: 'queued' });
    });

    test('named devices: who is not the provider’s any more fails, who is unknown counts', async () => {
      const { store } = opened();
      const { providerId } = await addDoor(store);
      await knock(store, 'a');
      await checkIn(store, 'b', { domainHash: null });
      const id = await begin(store, providerId, to('a', 'b', 'nobody'));
      expect(await loadAll(store, lease(id))).toBe(1);
      expect(await ledgerOf(store, id)).toEqual({ a: 'queued', b: 'failed' });
      expect(await countsOf(store, id)).toEqual([3, 0, 2]);
    });

    test.each([
      { reachesUnbound: true, b: 'queued', counts: [2, 0, 0] },
      { reachesUnbound: false, b: 'failed', counts: [2, 0, 1] },
    ])('named devices that are not linked, if it may: $reachesUnbound', async (given) => {
      const { store } = opened();
      const { providerId } = await addDoor(store);
      await knock(store, 'a');
      await checkIn(store, 'b', { domainHash: null });
      const { reachesUnbound } = given;
      const command = { ...to('a', 'b'), ...IMPORT_DATA, reachesUnbound };
      const id = await begin(store, providerId, command);
      await loadAll(store, lease(id));
      expect(await ledgerOf(store, id)).toEqual({ a: 'queued', b: given.b });
      expect(await countsOf(store, id)).toEqual([...given.counts]);
    });

    /** Counts after loading, and after another worker loaded again. */
    async function countsOfTwice(target: Partial<NewDistribution>) {
      const { store } = opened();
      const { providerId } = await addDoor(store);
      await knock(store, 'a');
      await checkIn(store, 'b', { domainHash: null });
      const id = await begin(store, providerId, target);
      await loadAll(store, lease(id));
      const once = await countsOf(store, id);
      const [taken] = await claim(store, 'another', LATER_MS);
      expect(taken).toMatchObject({ id, status: 5, isTakenOver: true });
      const hold = lease(id, 'another', LATER_MS);
      expect(await store.moveDistribution(hold, 5, 6)).toBe(true);
      await loadAll(store, hold);
      return [once, await countsOf(store, id)];
    }

    test('loading again, after a kill before the next move, counts nobody twice', async () => {
      const counts = [1, 0, 0];
      expect(await countsOfTwice({})).toEqual([counts, counts]);
    });

    test('nor does it with named devices', async () => {
      const counts = [3, 0, 2];
      expect(await countsOfTwice(to('a', 'b', 'nobody'))).toEqual([counts, counts]);
    });

    test('many in several steps; another worker goes on where the last one stopped', async () => {
      const { store } = opened();
      const { providerId } = await addDoor(store);
      await fillLinks(store, providerId);
      // Half of these are on the links already.
      await fillBinding(store, { count: MANY / 2 });
      await fillBinding(store, { count: MANY, prefix: 'bound' });
      const id = await begin(store, providerId);
      expect(await store.loadRecipients(lease(id), LEDGER_MAX)).toEqual({ isDone: false });
      const [first = 0] = await countsOf(store, id);
      expect(first).toBeGreaterThan(0);
      expect(first).toBeLessThan(2 * MANY);
      await claim(store, 'another', LATER_MS);
      expect(await store.loadRecipients(lease(id), LEDGER_MAX)).toBeNull();
      expect(await countsOf(store, id)).toEqual([first, 0, 0]);
      expect(await loadAll(store, lease(id, 'another', LATER_MS))).toBeGreaterThan(1);
      expect(await countsOf(store, id)).toEqual([2 * MANY, 0, 0]);
      expect((await detailOf(store, id)).totals).toMatchObject({ queued: 2 * MANY, sent: 0 });
    });

    test('only for the worker that holds it, and only while it is being loaded', async () => {
      const { store } = opened();
      const { providerId } = await addDoor(store);
      await knock(store, 'a');
      const id = await send(store, providerId);
      expect(await store.loadRecipients(lease(id), LEDGER_MAX)).toBeNull();
      await bringTo(store, id, 20);
      expect(await store.loadRecipients(lease(id), LEDGER_MAX)).toBeNull();
      await bringTo(store, id, 5);
      expect(await store.loadRecipients(lease(id, 'another'), LEDGER_MAX)).toBeNull();
      expect(await ledgerOf(store, id)).toEqual({});
      await bringTo(store, id, 40);
      expect(await store.loadRecipients(lease(id), LEDGER_MAX)).toBeNull();
    });
  },

  sendRecipients(opened) {
    test('hands the message over, says to whom, and leaves those that failed', async () => {
      const { store } = opened();
      const { providerId } = await addDoor(store);
      await knock(store, 'a');
      await knock(store, 'b');
      await checkIn(store, 'unbound', { domainHash: null });
      const id = await begin(store, providerId, to('a', 'unbound', 'b', 'nobody'));
      const holders = [await holderOf(store, 'a')];
      holders.push(await holderOf(store, 'b'));
      const ids = holders.map((holder) => holder.id);
      await bringTo(store, id, 40);
      for (const holder of holders) expect(await inboxOf(store, holder)).toEqual([]);
      const hold = lease(id, 'one', NOW_MS + 7);
      const [sent] = await sendAll(store, hold);
      expect(sent?.deviceIds.sort()).toEqual(ids.sort());
      expect(sent?.outcome).toEqual({ sentCount: 2, failedCount: 2, isHandedOver: false });
      for (const holder of holders) expect(await inboxOf(store, holder)).toEqual([id]);
      expect(await ledgerOf(store, id)).toEqual({ a: 'sent', b: 'sent', unbound: 'failed' });
      expect((await detailOf(store, id)).missing[0]).toMatchObject({ sentAtMs: NOW_MS + 7 });
      expect(await countsOf(store, id)).toEqual([4, 2, 2]);
      // Once more, after a kill before the next move.
      expect(await store.sendRecipients(hold, WAITING_MAX, [])).toEqual({
        deviceIds: [],
        outcome: { sentCount: 2, failedCount: 2, isHandedOver: false },
      });
    });

    test('to a device for which as many wait as may, only once it has read some', async () => {
      const { store } = opened();
      const { providerId } = await addDoor(store);
      const rival = await addDoor(store, 'Provide2', OTHER_CODE);
      for (const hwid of ['a', 'b']) await knock(store, hwid);
      await knock(store, 'a', OTHER_CODE);
      const a = await register(store, 'a', onLink());
      const deliverTo = async (owner: number, ...hwids: string[]) => {
        const id = await send(store, owner, to(...hwids));
        await bringTo(store, id, 40);
        const sent = await store.sendRecipients(lease(id), 2, []);
        await store.moveDistribution(lease(id), 40, 100);
        return { id, outcome: sent?.outcome };
      };
      const got = { sentCount: 2, failedCount: 0, isHandedOver: false };
      const first = await deliverTo(providerId, 'a', 'b');
      expect(first.outcome).toEqual(got);
      await deliverTo(providerId, 'a');
      const third = await deliverTo(providerId, 'a', 'b');
      expect(third.outcome).toEqual({ sentCount: 1, failedCount: 1, isHandedOver: false });
      const { missing } = await detailOf(store, third.id);
      expect(missing.find(({ hwid }) => hwid === 'a')).toMatchObject({
        state: 'failed',
        detail: '2 messages of the provider wait for the device already',
      });
      // Another provider has its own two.
      expect((await deliverTo(rival.providerId, 'a')).outcome).toMatchObject({ sentCount: 1 });
      await store.acknowledge(a, [{ id: first.id, state: 'received', detail: null }], NOW_MS);
      expect((await deliverTo(providerId, 'a')).outcome).toMatchObject({ sentCount: 1 });
    });

    test('to many whose inboxes are long in more steps', async () => {
      const { store } = opened();
      const { providerId } = await addDoor(store);
      await fillLinks(store, providerId, { count: 300 });
      const waiting = 80;
      const ids = [];
      for (let i = 0; i < waiting; i++) ids.push(await deliver(store, providerId));
      const id = await send(store, providerId);
      await bringTo(store, id, 40);
      const steps = await sendAll(store, lease(id));
      expect(steps.length).toBeGreaterThan(1);
      expect(steps.at(-1)?.outcome).toEqual({
        sentCount: 300,
        failedCount: 0,
        isHandedOver: false,
      });
    });

    test('nobody to send to is done at once', async () => {
      const { store } = opened();
      const { providerId } = await addDoor(store);
      const id = await send(store, providerId);
      await bringTo(store, id, 40);
      const nothing = {
        deviceIds: [],
        outcome: { sentCount: 0, failedCount: 0, isHandedOver: false },
      };
      expect(await store.sendRecipients(lease(id), WAITING_MAX, [])).toEqual(nothing);
    });

    test('many in several steps; another worker goes on, and nobody is told twice', async () => {
      const { store } = opened();
      const { providerId } = await addDoor(store);
      await fillBinding(store);
      const id = await send(store, providerId);
      await bringTo(store, id, 40);
      const first = await store.sendRecipients(lease(id), WAITING_MAX, []);
      expect(first?.outcome).toBeNull();
      expect(await countsOf(store, id)).toEqual([MANY, first?.deviceIds.length ?? 0, 0]);
      await claim(store, 'another', LATER_MS);
      expect(await store.sendRecipients(lease(id), WAITING_MAX, [])).toBeNull();
      const rest = await sendAll(store, lease(id, 'another', LATER_MS));
      expect(rest.at(-1)?.outcome).toEqual({
        sentCount: MANY,
        failedCount: 0,
        isHandedOver: false,
      });
      const told = [first, ...rest].flatMap((step) => step?.deviceIds ?? []);
      expect(told).toHaveLength(MANY);
      expect(new Set(told).size).toBe(MANY);
      expect(await countsOf(store, id)).toEqual([MANY, MANY, 0]);
    });

    test('a device that was forgotten since loading counts as failed', async () => {
      const { store } = opened();
      const { providerId } = await addDoor(store);
      await knock(store, 'a');
      await knock(store, 'b');
      const id = await send(store, providerId);
      await bringTo(store, id, 40);
      await store.forgetDevice('a', ACT);
      const [sent] = await sendAll(store, lease(id));
      expect(sent?.outcome).toEqual({ sentCount: 1, failedCount: 1, isHandedOver: false });
      expect(await countsOf(store, id)).toEqual([2, 1, 1]);
    });

    test('what has expired by then goes to nobody and counts as failed', async () => {
      const { store } = opened();
      const { providerId } = await addDoor(store);
      await knock(store, 'a');
      const id = await begin(store, providerId);
      await bringTo(store, id, 40);
      const [sent] = await sendAll(store, lease(id, 'one', EXPIRES_MS));
      expect(sent).toEqual({
        deviceIds: [],
        outcome: { sentCount: 0, failedCount: 1, isHandedOver: false },
      });
      expect(await ledgerOf(store, id)).toEqual({ a: 'expired' });
      expect(await inboxOf(store, await holderOf(store, 'a'))).toEqual([]);
    });

    test('only for the worker that holds it, and only while it is being sent', async () => {
      const { store } = opened();
      const { providerId } = await addDoor(store);
      await knock(store, 'a');
      const id = await begin(store, providerId);
      await loadAll(store, lease(id));
      expect(await store.sendRecipients(lease(id), WAITING_MAX, [])).toBeNull();
      await bringTo(store, id, 40);
      expect(await store.sendRecipients(lease(id, 'another'), WAITING_MAX, [])).toBeNull();
      expect(await ledgerOf(store, id)).toEqual({ a: 'queued' });
      await bringTo(store, id, 100);
      expect(await store.sendRecipients(lease(id), WAITING_MAX, [])).toBeNull();
    });
  },
};

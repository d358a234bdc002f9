import { expect, test } from 'bun:test';
import type { DeviceFacts } from '../../../src/core/port/device.ts';
import type {
  FinishedCursor,
  KeepingStore,
  ModelCursor,
  StrangerCursor,
} from '../../../src/core/port/keeping.ts';
import type { Store } from '../../../src/core/port/store.ts';
import { ACT } from '../../support/actor.ts';
import { figuresOf } from './figure.ts';
import {
  ALL,
  addDoor,
  CODE,
  FACTS,
  HASH,
  knock,
  NOW_MS,
  OTHER_CODE,
  removeProvider,
  SILENCE,
  type Suite,
} from './fixture.ts';
import {
  at,
  bringTo,
  deliver,
  detailOf,
  deviceId,
  EXPIRES_MS,
  fillBinding,
  HOUR_MS,
  holderOf,
  lease,
  ledgerOf,
  MANY,
  onLink,
  register,
  registration,
  send,
  sendAll,
  sentAt,
  to,
  tokenHash,
} from './message-fixture.ts';

async function prune(store: Store, beforeMs: number, nowMs: number): Promise<void> {
  let at: FinishedCursor | null = null;
  await untilDone(async () => {
    at = await store.pruneLedger(beforeMs, nowMs, at);
    return at !== null;
  });
}

/** Repeats a step until it says that nothing is left; says how often something was. */
async function untilDone(step: () => Promise<boolean>): Promise<number> {
  for (let steps = 0; steps < 1_000; steps++) if (!(await step())) return steps;
  throw new Error('there is always something left');
}

/** Forgets strangers until nothing is left to look at; says in how many steps. */
async function forgetAll(
  store: Store,
  bounds: { seenBeforeMs: number; countMax: number },
): Promise<number> {
  let at: StrangerCursor | null = null;
  return untilDone(async () => {
    at = await store.forgetStrangers(bounds, at);
    return at !== null;
  });
}

const isPruned = async (store: Store, id: number) =>
  (await detailOf(store, id)).distribution.isPruned;

/** A device that calls a provider, from no binding. */
const visit = (store: Store, hwid: string, nowMs: number, providerCode = 'Provide1') =>
  store.recordCheckIn({ providerCode, domainHash: null, hwid }, SILENCE, nowMs);

const visitAs = (store: Store, hwid: string, facts: DeviceFacts, nowMs: number) =>
  store.recordCheckIn({ providerCode: 'Provide1', domainHash: null, hwid }, facts, nowMs);

/** Forgets all models; says in how many steps. */
async function forgetModelsOf(store: Store): Promise<number> {
  let at: ModelCursor | null = null;
  return untilDone(async () => {
    at = await store.forgetModels(at);
    return at !== null;
  });
}

const known = async (store: Store, ...hwids: string[]) => {
  const found = await Promise.all(hwids.map((hwid) => store.findDevice(hwid)));
  return hwids.filter((_, n) => found[n] !== null);
};

export const keepingContract: Record<keyof KeepingStore, Suite> = {
  pruneLedger(opened) {
    test('what finished long enough ago and has expired; the counts stay', async () => {
      const { store } = opened();
      const { providerId } = await addDoor(store);
      await knock(store, 'a');
      await knock(store, 'b');
      const id = await deliver(store, providerId);
      const later = await deliver(store, providerId, sentAt(NOW_MS + 1));
      const lasting = await deliver(store, providerId, { expiresAtMs: EXPIRES_MS + HOUR_MS });
      await prune(store, NOW_MS, EXPIRES_MS);
      expect(await isPruned(store, id)).toBe(false);
      await prune(store, NOW_MS + 1, EXPIRES_MS - 1);
      expect(await isPruned(store, id)).toBe(false);
      await prune(store, NOW_MS + 1, EXPIRES_MS);
      const { distribution, totals, missing } = await detailOf(store, id);
      const counts = { status: 100, recipientCount: 2, sentCount: 2 };
      expect(distribution).toMatchObject({ ...counts, isPruned: true, payload: 'null' });
      expect(totals).toMatchObject({ queued: 0, sent: 0, expired: 0 });
      expect(missing).toEqual([]);
      for (const other of [later, lasting]) {
        const kept = await detailOf(store, other);
        expect(kept.distribution).toMatchObject({ isPruned: false, payload: '{"body":"hello"}' });
        expect(kept.totals.sent).toBe(2);
      }
      expect(await store.listDistributions(providerId, ALL)).toHaveLength(3);
    });

    test('never what has not ended', async () => {
      const { store } = opened();
      const { providerId } = await addDoor(store);
      await knock(store, 'a');
      const planned = await send(store, providerId, at(EXPIRES_MS));
      const sending = await send(store, providerId);
      await bringTo(store, sending, 40);
      await sendAll(store, lease(sending));
      await prune(store, EXPIRES_MS + HOUR_MS, EXPIRES_MS + HOUR_MS);
      expect(await ledgerOf(store, sending)).toEqual({ a: 'sent' });
      expect(await isPruned(store, planned)).toBe(false);
    });

    test('many in several steps, of one as of several', async () => {
      const { store } = opened();
      const { providerId } = await addDoor(store);
      await fillBinding(store);
      const id = await deliver(store, providerId);
      expect(await store.pruneLedger(EXPIRES_MS, EXPIRES_MS, null)).not.toBeNull();
      const { totals, distribution } = await detailOf(store, id);
      expect(totals.sent).toBeGreaterThan(0);
      expect(totals.sent).toBeLessThan(MANY);
      expect(distribution.isPruned).toBe(false);
      await prune(store, EXPIRES_MS, EXPIRES_MS);
      const after = await detailOf(store, id);
      expect(after.totals.sent).toBe(0);
      expect(after.distribution).toMatchObject({ isPruned: true, sentCount: MANY });
    });

    test('a step looks at a few, however many have not expired', async () => {
      const { store } = opened();
      const { providerId } = await addDoor(store);
      const lasting = { expiresAtMs: EXPIRES_MS + HOUR_MS };
      const block = async (id: number) => {
        await store.blockDistribution(id, [10], NOW_MS, ACT);
        return id;
      };
      const all = Array.from({ length: 600 }, () => send(store, providerId, lasting).then(block));
      await Promise.all(all);
      const over = await block(await send(store, providerId));
      expect(await store.pruneLedger(EXPIRES_MS, EXPIRES_MS, null)).not.toBeNull();
      expect(await isPruned(store, over)).toBe(false);
      await prune(store, EXPIRES_MS, EXPIRES_MS);
      expect(await isPruned(store, over)).toBe(true);
    });

    test.each([
      ['200 texts', 201, '{}'],
      ['1 MiB of texts', 3, JSON.stringify({ body: 'x'.repeat(600_000) })],
    ])('a step frees no more than %s', async (_, count, payload) => {
      const { store } = opened();
      const { providerId } = await addDoor(store);
      const ids = await Promise.all(
        Array.from({ length: count }, () => send(store, providerId, { payload })),
      );
      await Promise.all(ids.map((id) => store.blockDistribution(id, [10], NOW_MS, ACT)));
      const last = Math.max(...ids);
      const next = await store.pruneLedger(EXPIRES_MS, EXPIRES_MS, null);
      expect([await isPruned(store, last - 1), await isPruned(store, last)]).toEqual([true, false]);
      await store.pruneLedger(EXPIRES_MS, EXPIRES_MS, next);
      expect(await isPruned(store, last)).toBe(true);
    });
  },

  forgetDistributions(opened) {
    test('what was pruned and finished before, and nothing else', async () => {
      const { store } = opened();
      const { providerId } = await addDoor(store);
      await knock(store, 'a');
      const old = await deliver(store, providerId);
      const later = await deliver(store, providerId, sentAt(NOW_MS + 1));
      expect(await store.forgetDistributions(EXPIRES_MS)).toBe(false);
      await prune(store, EXPIRES_MS, EXPIRES_MS);
      const open = await send(store, providerId);
      expect(await store.forgetDistributions(NOW_MS)).toBe(false);
      expect(await untilDone(() => store.forgetDistributions(NOW_MS + 1))).toBe(1);
      const listed = await store.listDistributions(providerId, ALL);
      expect(listed.map(({ id }) => id)).toEqual([open, later]);
      expect(await store.findDistribution(old, 1)).toBeNull();
    });
  },

  noteSeen(opened) {
    test('is the last time that a device was seen, whatever it was before', async () => {
      const { store } = opened();
      await addDoor(store);
      await visit(store, 'a', NOW_MS);
      await visit(store, 'b', NOW_MS);
      const seenAt = async (hwid: string) => (await store.findDevice(hwid))?.device.lastSeenAtMs;
      const id = await deviceId(store, 1, 'a');
      for (const nowMs of [NOW_MS + 1, NOW_MS - 1]) {
        await store.noteSeen(id, 0, nowMs);
        expect(await seenAt('a')).toBe(nowMs);
      }
      expect(await seenAt('b')).toBe(NOW_MS);
    });

    test('checks in where the token has a place, and nowhere else', async () => {
      const { store } = opened();
      await addDoor(store);
      await addDoor(store, 'Provide2', OTHER_CODE);
      await knock(store, 'a');
      await knock(store, 'a', OTHER_CODE);
      const { id, tokenHash } = await holderOf(store, 'a');
      const tokenOf = () => store.findDeviceByToken(tokenHash);
      expect(await tokenOf()).toMatchObject({ lastSeenAtMs: NOW_MS });
      await store.noteSeen(id, (await tokenOf())?.tokenId ?? 0, NOW_MS + 1);
      expect(await tokenOf()).toMatchObject({ lastSeenAtMs: NOW_MS + 1 });
      // By another's link it was seen since, and did not show its token.
      await knock(store, 'a', OTHER_CODE, FACTS, NOW_MS + 2);
      expect(await tokenOf()).toMatchObject({ lastSeenAtMs: NOW_MS + 1 });
      expect((await store.findDevice('a'))?.installs).toMatchObject([
        { installCode: OTHER_CODE, lastSeenAtMs: NOW_MS + 2 },
        { installCode: CODE, lastSeenAtMs: NOW_MS + 1 },
      ]);
    });

    test('a device counts as seen once a day at a provider', async () => {
      const { store } = opened();
      const { providerId } = await addDoor(store);
      await knock(store, 'a');
      const { id, tokenHash } = await holderOf(store, 'a');
      const { tokenId = 0 } = (await store.findDeviceByToken(tokenHash)) ?? {};
      for (const hours of [0, 1, 24, 25]) {
        await store.noteSeen(id, tokenId, NOW_MS + hours * HOUR_MS);
      }
      expect(await figuresOf(store, providerId)).toMatchObject({ seen: 2 });
    });
  },

  forgetVisits(opened) {
    test('not where a device is registered that was seen since', async () => {
      const { store } = opened();
      const { providerId } = await addDoor(store);
      await knock(store, 'a');
      const holder = await holderOf(store, 'a');
      await addDoor(store, 'Provide2', OTHER_CODE);
      await knock(store, 'a', OTHER_CODE);
      await register(store, 'a', onLink(OTHER_CODE), holder);
      await store.freeSlot(providerId, { installCode: CODE, installId: null }, 'a', ACT);
      await addDoor(store, 'Provide3', 'LinkCode0003');
      await knock(store, 'a', 'LinkCode0003', FACTS, NOW_MS + 1);
      const places = async () => (await store.findDevice('a'))?.seenBy.length;
      expect(await untilDone(() => store.forgetVisits(NOW_MS + 1))).toBe(1);
      expect(await places()).toBe(3);
      expect(await untilDone(() => store.forgetVisits(NOW_MS + 2))).toBe(1);
      expect(await places()).toBe(2);
    });

    test('also where a device without a token was not seen, though elsewhere it was since', async () => {
      const { store } = opened();
      await addDoor(store);
      await addDoor(store, 'Provide2', OTHER_CODE);
      await visit(store, 'a', NOW_MS);
      await visit(store, 'a', NOW_MS + 1, 'Provide2');
      await untilDone(() => store.forgetVisits(NOW_MS + 1));
      expect((await store.findDevice('a'))?.seenBy).toMatchObject([{ providerCode: 'Provide2' }]);
    });

    test('a provider that has a device on nothing forgets it when it was not seen since', async () => {
      const { store } = opened();
      const { providerId } = await addDoor(store);
      await knock(store, 'linked', CODE, FACTS, NOW_MS);
      for (const [hwid, nowMs] of [
        ['old', NOW_MS],
        ['new', NOW_MS + 1],
        ['freed', NOW_MS],
      ] as const) {
        await visit(store, hwid, nowMs);
      }
      await knock(store, 'freed');
      await store.freeSlot(providerId, { installCode: CODE, installId: null }, 'freed', ACT);
      expect(await store.forgetVisits(NOW_MS)).toBe(false);
      expect(await untilDone(() => store.forgetVisits(NOW_MS + 1))).toBe(1);
      const seenBy = async (hwid: string) => (await store.findDevice(hwid))?.seenBy.length;
      expect(await seenBy('old')).toBe(0);
      expect(await seenBy('freed')).toBe(0);
      expect(await seenBy('new')).toBe(1);
      expect(await seenBy('linked')).toBe(1);
    });
  },

  forgetModels(opened) {
    test('of devices, of what they said without a provider, and of those that were refused', async () => {
      const { store } = opened();
      const { installId, providerId } = await addDoor(store);
      const told = { ...FACTS, deviceName: 'Pixel 9', userAgent: 'Happ/3.2 (Android; Pixel 9)' };
      const hwids = Array.from({ length: 300 }, (_, n) => `phone-${n}`);
      for (const [n, hwid] of hwids.entries()) await visitAs(store, hwid, told, NOW_MS + n);
      await visitAs(store, 'silent', SILENCE, NOW_MS);
      await store.registerDevice({ ...registration('alone'), facts: told });
      const refused = { hwid: 'stranger', deviceName: 'Pixel 9', os: 'android' };
      store.countRefusal({ installId, providerId }, 'link_disabled', NOW_MS, refused);
      await store.saveFigures();
      expect(await forgetModelsOf(store)).toBeGreaterThan(2);

      const facts = await Promise.all(
        [...hwids, 'alone'].map(async (hwid) => (await store.findDevice(hwid))?.device),
      );
      const rest = { ...told, deviceName: '', userAgent: 'Happ/3.2' };
      expect(facts).toEqual(facts.map(() => expect.objectContaining(rest)));
      expect(await store.listRefused(installId)).toMatchObject([{ ...refused, deviceName: '' }]);
      expect((await store.findDevice('silent'))?.device).toMatchObject(SILENCE);
      // What has none is not written again.
      expect(await forgetModelsOf(store)).toBeGreaterThan(2);
    });

    test('of named HWIDs, which an import brought', async () => {
      const { store } = opened();
      const { providerId } = await addDoor(store);
      const told = { ...FACTS, deviceName: 'Pixel 9', userAgent: 'Happ/3.2 (Android; Pixel 9)' };
      const times = { registeredAtMs: NOW_MS, firstSeenAtMs: NOW_MS, lastSeenAtMs: NOW_MS };
      const slot = { ...told, hwid: 'named', ...times, isNamed: true as const };
      const rules = { installCountMax: 100, domainCountMax: 100, updates: true };
      const link = { id: null, installCode: CODE, installLimit: 5, status: 10, note: null };
      await store.importLink(providerId, { ...link, createdAtMs: 0, slots: [slot] }, rules, ACT);
      const key = { installCode: CODE, domainHash: HASH, hwid: 'named' };
      expect(await store.findSlot(key)).toMatchObject({ isNamed: true, device: told });
      await forgetModelsOf(store);
      const rest = { ...told, deviceName: '', userAgent: 'Happ/3.2' };
      expect(await store.findSlot(key)).toMatchObject({ isNamed: true, device: rest });
    });
  },

  forgetStrangers(opened) {
    const NO_LIMIT = 1_000_000;

    test('also whose slots ended on many links, in steps', async () => {
      const { store } = opened();
      const { providerId } = await addDoor(store);
      const selector = { installCode: CODE, installId: null };
      for (let n = 0; n < 5; n++) {
        await knock(store, 'a');
        await store.freeSlot(providerId, selector, 'a', ACT);
      }
      await forgetAll(store, { seenBeforeMs: NOW_MS + 1, countMax: NO_LIMIT });
      expect(await known(store, 'a')).toEqual([]);
    });

    test('who was not seen since and is on nothing, with all that hangs on it', async () => {
      const { store } = opened();
      const { providerId, domainId } = await addDoor(store);
      await knock(store, 'linked');
      await store.recordCheckIn(
        { providerCode: 'Provide1', domainHash: 'a'.repeat(64), hwid: 'tied' },
        SILENCE,
        NOW_MS,
      );
      await visit(store, 'old', NOW_MS);
      await visit(store, 'new', NOW_MS + 1);
      await deliver(store, providerId, {
        ...to('old'),
        notificationType: 20,
        payload: '{"action_type":"import-data"}',
      });
      const forget = (seenBeforeMs: number) =>
        forgetAll(store, { seenBeforeMs, countMax: NO_LIMIT });
      await forget(NOW_MS);
      expect(await known(store, 'linked', 'tied', 'old')).toEqual(['linked', 'tied', 'old']);
      await forget(NOW_MS + 1);
      expect(await known(store, 'linked', 'tied', 'old', 'new')).toEqual(['linked', 'tied', 'new']);
      // Off everything, they are strangers too; a binding that is off ties all the same.
      await store.disableDomain(providerId, domainId, ACT);
      await store.freeSlot(providerId, { installCode: CODE, installId: null }, 'linked', ACT);
      await forget(NOW_MS + 1);
      expect(await known(store, 'linked', 'tied', 'new')).toEqual(['tied', 'new']);
      await removeProvider(store, 'Provide1');
      await forget(NOW_MS + 2);
      expect(await known(store, 'tied', 'new')).toEqual([]);
    });

    test('not one that is seen while a step looks', async () => {
      const { store } = opened();
      await addDoor(store);
      await visit(store, 'a', NOW_MS);
      const step = store.forgetStrangers({ seenBeforeMs: NOW_MS + 1, countMax: NO_LIMIT }, null);
      await Promise.all([step, visit(store, 'a', NOW_MS + 9)]);
      expect(await known(store, 'a')).toEqual(['a']);
    });

    test('those not seen for longest when there are too many', async () => {
      const { store } = opened();
      await addDoor(store);
      for (const [n, hwid] of ['c', 'a', 'b'].entries()) await visit(store, hwid, NOW_MS + n);
      await knock(store, 'linked');
      await visit(store, 'c', NOW_MS + 9);
      const bounds = { seenBeforeMs: 0, countMax: 2 };
      await forgetAll(store, bounds);
      expect(await known(store, 'a', 'b', 'c', 'linked')).toEqual(['b', 'c', 'linked']);
      await visit(store, 'd', NOW_MS + 10);
      await forgetAll(store, bounds);
      expect(await known(store, 'b', 'c', 'd', 'linked')).toEqual(['c', 'd', 'linked']);
    });

    test('many in several steps', async () => {
      const { store } = opened();
      await addDoor(store);
      const hwids = Array.from({ length: 90 }, (_, n) => `stranger-${n}`);
      await Promise.all(hwids.map((hwid) => visit(store, hwid, NOW_MS)));
      const bounds = { seenBeforeMs: NOW_MS + 1, countMax: NO_LIMIT };
      expect(await forgetAll(store, bounds)).toBeGreaterThan(1);
      expect(await known(store, ...hwids)).toEqual([]);
    });

    test('of too many those that hold a token last, however long ago they were seen', async () => {
      const { store } = opened();
      await addDoor(store);
      const early = Array.from({ length: 120 }, (_, n) => `registered-${n}`);
      for (const [n, hwid] of early.entries()) {
        const more = { tokenHash: tokenHash(hwid), nowMs: NOW_MS + n };
        expect(typeof (await store.registerDevice(registration(hwid, more)))).toBe('object');
      }
      const late = Array.from({ length: 30 }, (_, n) => `visitor-${n}`);
      await Promise.all(late.map((hwid) => visit(store, hwid, NOW_MS + HOUR_MS)));
      await forgetAll(store, { seenBeforeMs: 0, countMax: 122 });
      expect(await known(store, ...early)).toEqual(early);
      expect(await known(store, ...late)).toHaveLength(2);
      await forgetAll(store, { seenBeforeMs: 0, countMax: 90 });
      expect(await known(store, ...early, ...late)).toEqual(early.slice(30));
    });
  },
};

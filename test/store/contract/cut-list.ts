import { expect, test } from 'bun:test';
import { BAR_MS, barHashOf } from '../../../src/core/bar.ts';
import { ACT } from '../../support/actor.ts';
import { addKeyed, cutIn, HOST, hashOfNone, lastDeeds } from './cut-fixture.ts';
import { CODE, FACTS, HASH, knock, NOW_MS, type Suite } from './fixture.ts';

type Lists =
  | 'listCuts'
  | 'countWaitingCuts'
  | 'listBars'
  | 'liftBars'
  | 'listCutStops'
  | 'resumeCuts'
  | 'forgetCuts';

export const cutListContract: Record<Lists, Suite> = {
  listCuts(opened) {
    test('those of a link, a provider and all, newest first', async () => {
      const { store } = opened();
      const { ask, installId, providerId } = await addKeyed(store);
      const { id } = cutIn(await ask({ host: null, why: 'none' }));
      const { id: second } = cutIn(await ask({ hwid: 'b' }, NOW_MS + 1));
      const page = { installId: null, isWaiting: false, beforeId: null, countMax: 10 };
      const ids = async (more: object) =>
        (await store.listCuts({ ...page, providerId, ...more })).map((cut) => cut.id);
      expect(await ids({})).toEqual([second, id]);
      expect(await ids({ providerId: null })).toEqual([second, id]);
      expect(await ids({ installId })).toEqual([second, id]);
      expect(await ids({ isWaiting: true })).toEqual([second]);
      expect(await ids({ beforeId: second })).toEqual([id]);
      expect(await ids({ countMax: 1 })).toEqual([second]);
      expect(await ids({ providerId: providerId + 1 })).toEqual([]);
    });
  },

  countWaitingCuts(opened) {
    test('by host, with the time of the oldest', async () => {
      const { store } = opened();
      const { ask } = await addKeyed(store);
      expect(await store.countWaitingCuts()).toEqual([]);
      await ask();
      expect(await store.countWaitingCuts()).toEqual([{ host: HOST, count: 1, askedAtMs: NOW_MS }]);
    });
  },

  listBars(opened) {
    test('a barred HWID is refused whether or not it has a slot, until the bar ends', async () => {
      const { store } = opened();
      const { ask, installId } = await addKeyed(store);
      await ask();
      const key = { installCode: CODE, domainHash: HASH, hwid: 'a' };
      const door = await store.findSlot(key);
      expect(door).toMatchObject({ barredUntilMs: NOW_MS + BAR_MS, device: null });
      expect(await knock(store, 'a', CODE, FACTS, NOW_MS + BAR_MS - 1)).toBe('barred');
      expect(await store.listBars(installId, NOW_MS + BAR_MS - 1)).toHaveLength(1);
      expect(await store.listBars(installId, NOW_MS + BAR_MS)).toEqual([]);
      expect(await knock(store, 'a', CODE, FACTS, NOW_MS + BAR_MS)).toMatchObject({
        deviceCount: 2,
      });
      // By the key of the link, too.
      expect(await knock(store, 'b')).toMatchObject({ deviceCount: 2 });
    });
  },

  liftBars(opened) {
    test('the HWID comes back', async () => {
      const { store } = opened();
      const { ask, installId, providerId } = await addKeyed(store);
      await ask();
      const hash = barHashOf('a');
      expect(await store.liftBars(providerId + 1, installId, [hash], ACT)).toBe(
        'install_not_found',
      );
      expect(await store.liftBars(providerId, installId, [hashOfNone, hash], ACT)).toBe(1);
      expect(await lastDeeds(store, 1)).toEqual([
        `bar.lift {"install_id":${installId},"barred_sha256":"${hash}"}`,
      ]);
      expect(await store.liftBars(providerId, installId, [hash], ACT)).toBe(0);
      expect(await knock(store, 'a')).toMatchObject({ deviceCount: 2 });
    });
  },

  listCutStops(opened) {
    test('a host stops with the fields that changed', async () => {
      const { store } = opened();
      const { ask, claim, end } = await addKeyed(store);
      const { id } = cutIn(await ask());
      await claim();
      await end(id, { state: 'differs', fields: ['expire', 'flow'], fetchUntilMs: NOW_MS });
      expect(await store.listCutStops()).toEqual([
        { host: HOST, fields: ['expire', 'flow'], stoppedAtMs: NOW_MS },
      ]);
    });
  },

  resumeCuts(opened) {
    test('goes on once', async () => {
      const { store } = opened();
      const { ask, claim, end } = await addKeyed(store);
      expect(await store.resumeCuts(HOST, ACT)).toBe(false);
      const { id } = cutIn(await ask());
      await claim();
      await end(id, { state: 'differs', fields: ['expire'], fetchUntilMs: NOW_MS });
      expect(await store.resumeCuts(HOST, ACT)).toBe(true);
      expect(await lastDeeds(store, 1)).toEqual([`cut.resume {"host":"${HOST}"}`]);
      expect(await store.listCutStops()).toEqual([]);
    });
  },

  forgetCuts(opened) {
    test('bars that have ended, and old cut-offs', async () => {
      const { store } = opened();
      const { ask, installId, list } = await addKeyed(store);
      await ask({ host: null, why: 'none' });
      await ask({ hwid: 'b' }, NOW_MS + 1);
      expect(await store.forgetCuts(NOW_MS, NOW_MS)).toBe(false);
      while (await store.forgetCuts(NOW_MS + 1, NOW_MS + BAR_MS));
      // The one that waits stays.
      expect(await list()).toMatchObject([{ state: 'waiting' }]);
      expect(await store.listBars(installId, 0)).toMatchObject([{ hwidHash: barHashOf('b') }]);
      expect(await knock(store, 'a')).toMatchObject({ deviceCount: 1 });
      expect(await knock(store, 'b')).toBe('barred');
    });

    test('a device that is forgotten leaves no bar', async () => {
      const { store } = opened();
      const { ask, installId, list } = await addKeyed(store);
      await ask();
      expect(await store.forgetDevice('a', ACT)).toBe('ok');
      expect(await store.listBars(installId, NOW_MS)).toEqual([]);
      expect(await list()).toMatchObject([{ hwidHash: null }]);
    });
  },
};

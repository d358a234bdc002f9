import { expect, test } from 'bun:test';
import type { Store } from '../../../src/core/port/store.ts';
import type { FutureCursor, KeptTime, TimeStore } from '../../../src/core/port/time.ts';
import { ACT } from '../../support/actor.ts';
import { auditEntries } from '../../support/audit.ts';
import { addAccount, sessionDraft } from './account-fixture.ts';
import { NOW_MS, type Suite } from './fixture.ts';

const LEAP = { leadMs: 86_400_000, sinceRanMs: 5, slackMs: 3_600_000 };
const time = (more: Partial<KeptTime> = {}): KeptTime => ({
  name: '',
  atMs: NOW_MS,
  ranMs: 7,
  leap: null,
  spentMs: { 0: 12 },
  ...more,
});

async function cutAll(store: Store, nowMs: number): Promise<number> {
  let at: FutureCursor | null = null;
  for (let steps = 1; ; steps++) {
    at = await store.cutFuture(nowMs, at);
    if (at === null) return steps;
  }
}

export const timeContract: Record<keyof TimeStore, Suite> = {
  listTimes(opened) {
    test('lists the latest first', async () => {
      const { store } = opened();
      expect(await store.listTimes()).toEqual([]);
      const [one, two] = [time({ name: 'one' }), time({ name: 'two', atMs: NOW_MS + 1 })];
      for (const each of [one, two]) await store.saveTime(each, null);
      expect(await store.listTimes()).toEqual([two, one]);
    });
  },
  saveTime(opened) {
    test('keeps one time of a machine, unless its leap is another', async () => {
      const { store } = opened();
      expect(await store.saveTime(time(), LEAP)).toBe(false);
      expect(await store.listTimes()).toEqual([]);
      expect(await store.saveTime(time(), null)).toBe(true);
      const leapt = time({ leap: LEAP, ranMs: 8, spentMs: { 0: 13, 1: 1 } });
      expect(await store.saveTime(leapt, null)).toBe(true);
      expect(await store.saveTime(time(), null)).toBe(false);
      expect(await store.listTimes()).toEqual([leapt]);
      expect(await store.saveTime(time(), LEAP)).toBe(true);
      expect(await store.listTimes()).toEqual([time()]);
    });

    test('remembers a hundred machines', async () => {
      const { store } = opened();
      for (let n = 0; n < 103; n++) {
        await store.saveTime(time({ name: `node ${n}`, atMs: NOW_MS + n }), null);
      }
      const names = (await store.listTimes()).map(({ name }) => name);
      expect(names).toHaveLength(100);
      expect(names[99]).toBe('node 3');
    });
  },
  trustClocks(opened) {
    test('ends all leaps, with an entry if there was one', async () => {
      const { store } = opened();
      await store.saveTime(time({ name: 'one', leap: LEAP }), null);
      await store.saveTime(time({ name: 'two' }), null);
      expect(await store.trustClocks(ACT)).toBe(1);
      expect(await store.trustClocks(ACT)).toBe(0);
      expect(await store.listTimes()).toEqual([
        time({ name: 'one', atMs: NOW_MS + LEAP.leadMs }),
        time({ name: 'two' }),
      ]);
      expect(await store.saveTime(time({ name: 'one', leap: LEAP }), LEAP)).toBe(false);
      const deeds = await auditEntries({ store });
      expect(deeds.map(({ action, object }) => [action, object])).toEqual([
        ['clock.trust', { count: 1 }],
      ]);
    });
  },
  cutFuture(opened) {
    test('cuts in steps; test/store/future-cuts.test.ts has each column', async () => {
      const { store } = opened();
      const accountId = await addAccount(store, 'anna');
      const session = sessionDraft('a token', accountId);
      await store.openSession({ ...session, createdAtMs: NOW_MS, untilMs: NOW_MS + 1_000 }, ACT);
      expect(await cutAll(store, NOW_MS - 5_000)).toBeGreaterThan(30);
      const [found] = await store.listSessions({ accountId, providerId: null });
      expect(found).toMatchObject({ createdAtMs: NOW_MS - 5_000, untilMs: NOW_MS - 4_000 });
    });
  },
};

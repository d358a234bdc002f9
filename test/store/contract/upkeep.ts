import { expect, test } from 'bun:test';
import type { UpkeepStore } from '../../../src/core/port/upkeep.ts';
import { NOW_MS, type Suite } from './fixture.ts';

const MADE = { atMs: NOW_MS, result: '/backups/one', bytes: 9, tookMs: null };
const FAILED = { atMs: NOW_MS + 1, reason: 'no space', code: 'disk_full' };
const FRESH = {
  task: 'backup',
  schedule: '',
  scheduledAtMs: NOW_MS,
  success: null,
  failure: null,
  isFailing: false,
  failingSinceMs: null,
  failureCount: 0,
};

export const upkeepContract: Record<keyof UpkeepStore, Suite> = {
  listUpkeep(opened) {
    test('none at first; then a record for each task', async () => {
      const { store } = opened();
      expect(await store.listUpkeep()).toEqual([]);
      await store.noteSuccess('release', { atMs: 5, result: '1.2.3', bytes: null, tookMs: null });
      await store.noteSuccess('backup', MADE);
      expect((await store.listUpkeep()).map(({ task }) => task)).toEqual(['backup', 'release']);
    });
  },

  noteSchedule(opened) {
    test('the time is that of the last change', async () => {
      const { openBeside, store } = opened();
      const beside = await openBeside();
      const read = async () => {
        const [row] = await beside.listUpkeep();
        return [row?.schedule, row?.scheduledAtMs];
      };
      await store.noteSchedule('backup', '', NOW_MS);
      expect(await read()).toEqual([undefined, undefined]);
      await store.noteSchedule('backup', '30 3 * * *', NOW_MS);
      await beside.noteSchedule('backup', '30 3 * * *', NOW_MS + 7);
      expect(await read()).toEqual(['30 3 * * *', NOW_MS]);
      await store.noteSchedule('backup', '', NOW_MS + 9);
      expect(await read()).toEqual(['', NOW_MS + 9]);
      expect(await store.listUpkeep()).toEqual([{ ...FRESH, scheduledAtMs: NOW_MS + 9 } as never]);
    });
  },

  noteSuccess(opened) {
    test('the last one stays, and the schedule', async () => {
      const { store } = opened();
      await store.noteSchedule('backup', 'daily', 3);
      await store.noteSuccess('backup', { ...MADE, atMs: 4 });
      await store.noteSuccess('backup', MADE);
      const known = { ...FRESH, schedule: 'daily', scheduledAtMs: 3 };
      expect(await store.listUpkeep()).toEqual([{ ...known, success: MADE } as never]);
    });

    test('one before the last failure ends nothing', async () => {
      const { store } = opened();
      await store.noteFailure('backup', FAILED);
      await store.noteSuccess('backup', { ...MADE, atMs: FAILED.atMs - 1 });
      expect(await store.listUpkeep()).toMatchObject([{ isFailing: true, failureCount: 1 }]);
      await store.noteSuccess('backup', { ...MADE, atMs: FAILED.atMs + 1 });
      expect(await store.listUpkeep()).toMatchObject([{ isFailing: false, failureCount: 1 }]);
    });
  },

  noteFailure(opened) {
    test('failures in a row are counted from their first, until a success', async () => {
      const { openBeside, store } = opened();
      const beside = await openBeside();
      await store.noteSuccess('copy', MADE);
      for (const [on, n] of [store, beside, store].map((one, n) => [one, n] as const)) {
        await on.noteFailure('copy', { ...FAILED, atMs: FAILED.atMs + n });
      }
      const last = { ...FAILED, atMs: FAILED.atMs + 2 };
      const row = { isFailing: true, failingSinceMs: FAILED.atMs, failureCount: 3 };
      expect(await beside.listUpkeep()).toMatchObject([{ success: MADE, failure: last, ...row }]);
      await beside.noteSuccess('copy', { ...MADE, atMs: FAILED.atMs + 5 });
      expect(await store.listUpkeep()).toMatchObject([{ ...row, isFailing: false }]);
      const later = { atMs: FAILED.atMs + 9, reason: 'x', code: null };
      await store.noteFailure('copy', later);
      expect(await store.listUpkeep()).toMatchObject([
        { failure: later, isFailing: true, failingSinceMs: later.atMs, failureCount: 1 },
      ]);
    });
  },
};

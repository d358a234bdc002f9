import { expect, test } from 'bun:test';
import { type SightingStore, SUBJECTS_MAX } from '../../../src/core/port/sighting.ts';
import { NOW_MS, type Suite } from './fixture.ts';

const HOST = 'sub.example.org';
const VLESS = { host: HOST, kind: 'page_with_servers', subject: 'vless' } as const;

export const sightingContract: Record<keyof SightingStore, Suite> = {
  noteSighting(opened) {
    test('counts of all nodes are added, with the first and the last time', async () => {
      const { store, openBeside } = opened();
      const beside = await openBeside();
      store.noteSighting(VLESS, NOW_MS + 5, 3);
      store.noteSighting(VLESS, NOW_MS + 2);
      expect(await store.listSightings()).toEqual([]);
      await store.saveFigures();
      beside.noteSighting(VLESS, NOW_MS + 9, 2);
      await beside.saveFigures();
      // Saved once, not again.
      await Promise.all([store.saveFigures(), beside.saveFigures()]);
      const times = { firstSeenAtMs: NOW_MS + 2, lastSeenAtMs: NOW_MS + 9 };
      expect(await store.listSightings()).toEqual([{ ...VLESS, count: 6, ...times }]);
    });

    test('the first subjects of a kind at a host stay, and go on counting', async () => {
      const { store } = opened();
      const note = (count: number) => {
        for (let n = 0; n < count; n++) {
          store.noteSighting({ ...VLESS, subject: `s${100 + n}` }, NOW_MS + n);
        }
      };
      note(SUBJECTS_MAX);
      await store.saveFigures();
      store.noteSighting({ ...VLESS, subject: 'z' }, NOW_MS);
      store.noteSighting({ ...VLESS, kind: 'dropped_header', subject: 'z' }, NOW_MS);
      store.noteSighting({ ...VLESS, subject: 's100' }, NOW_MS);
      await store.saveFigures();
      note(3 * SUBJECTS_MAX);
      await store.saveFigures();
      const seen = await store.listSightings();
      expect(seen).toHaveLength(SUBJECTS_MAX + 1);
      expect(seen.find(({ subject }) => subject === 's100')?.count).toBe(3);
      expect(seen.filter(({ subject }) => subject === 'z').map(({ kind }) => kind)).toEqual([
        'dropped_header',
      ]);
    });

    test('a long subject is cut', async () => {
      const { store } = opened();
      store.noteSighting({ ...VLESS, subject: 'x'.repeat(500) }, NOW_MS);
      await store.saveFigures();
      expect((await store.listSightings()).map(({ subject }) => subject.length)).toEqual([128]);
    });
  },

  listSightings(opened) {
    test('by host, kind and subject', async () => {
      const { store } = opened();
      const names = ['b a', 'a b', 'a a', 'a B'].map((name) => name.split(' '));
      for (const [host = '', subject = ''] of names) {
        store.noteSighting({ host, kind: 'dropped_header', subject }, NOW_MS);
      }
      await store.saveFigures();
      const seen = (await store.listSightings()).map(({ host, subject }) => `${host} ${subject}`);
      expect(seen).toEqual(['a B', 'a a', 'a b', 'b a']);
    });
  },

  forgetSightings(opened) {
    test('those that were not seen any more', async () => {
      const { store } = opened();
      store.noteSighting(VLESS, NOW_MS);
      store.noteSighting({ ...VLESS, subject: 'trojan' }, NOW_MS);
      store.noteSighting({ ...VLESS, subject: 'trojan' }, NOW_MS + 1);
      await store.saveFigures();
      expect(await store.forgetSightings(NOW_MS)).toBe(false);
      expect(await store.forgetSightings(NOW_MS + 1)).toBe(true);
      expect(await store.forgetSightings(NOW_MS + 1)).toBe(false);
      expect((await store.listSightings()).map(({ subject }) => subject)).toEqual(['trojan']);
    });
  },
};

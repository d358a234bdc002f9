/** Repeats of one call at once: it is done once, and all get its answer. */

import { expect } from 'bun:test';
import { ACT } from '../../support/actor.ts';
import { ALL, addProvider, linkDraft, NOW_MS } from './fixture.ts';
import { draft, UNGUARDED } from './message-fixture.ts';
import type { Race } from './race.ts';

const keyed = (call: string, key: string, countMax = 100) => ({
  key,
  call,
  countMax,
  paramsHash: 'd'.repeat(64),
  afterMs: NOW_MS - 1,
});

const given: Race['given'] = async (store) => ({
  providerId: (await addProvider(store, 'Provide1')).id,
});

const idsOf = (answers: readonly unknown[]) =>
  answers.map((answer) => (answer as { id?: number }).id);

/** Each of two keys six times, in turn. */
const TWICE_SIX = { given, callCount: 12 };
const numbered = (n: number) => (n % 2 === 0 ? 'a' : 'b');

export const IDEMPOTENCY_RACES: Readonly<Record<string, Race>> = {
  'to repeat the addition of a link': {
    ...TWICE_SIX,
    call: (store, { providerId = 0 }, n) => {
      const installCode = `RaceCode${String(n).padStart(4, '0')}`;
      const wanted = linkDraft(providerId, { installCode });
      return store.addLink(wanted, ACT, keyed('add-install', numbered(n)));
    },
    async check(store, { providerId = 0 }, answers) {
      const links = await store.listLinksOf(providerId, ALL);
      expect(links).toHaveLength(2);
      const codes = new Map(links.map(({ id, installCode }) => [id, installCode]));
      for (const { id, installCode } of answers as { id: number; installCode: string }[]) {
        expect(codes.get(id)).toBe(installCode);
      }
      for (const half of [0, 1]) {
        expect(new Set(idsOf(answers.filter((_, n) => n % 2 === half))).size).toBe(1);
      }
    },
  },

  'to repeat a send': {
    ...TWICE_SIX,
    call: (store, { providerId = 0 }, n) => {
      const guards = { ...UNGUARDED, keyed: keyed('command', numbered(n)) };
      return store.addDistribution(draft(providerId), guards, ACT);
    },
    async check(store, { providerId = 0 }, answers) {
      expect(await store.listDistributions(providerId, ALL)).toHaveLength(2);
      for (const half of [0, 1]) {
        expect(new Set(idsOf(answers.filter((_, n) => n % 2 === half))).size).toBe(1);
      }
    },
  },

  'for the last key that is kept': {
    ...TWICE_SIX,
    call: (store, { providerId = 0 }, n) => {
      const guards = { ...UNGUARDED, keyed: keyed('command', `key-${n}`, 5) };
      return store.addDistribution(draft(providerId), guards, ACT);
    },
    async check(store, { providerId = 0 }, answers) {
      const refused = answers.filter((answer) => answer === 'idempotency_keys_full');
      expect(refused).toHaveLength(7);
      expect(await store.listDistributions(providerId, ALL)).toHaveLength(5);
    },
  },
};

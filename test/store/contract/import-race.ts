/** What moves in from several places at the same time, beside what is made here. */

import { expect } from 'bun:test';
import type { Store } from '../../../src/core/port/store.ts';
import { ACT } from '../../support/actor.ts';
import { ALL, addLink, addProvider, FACTS, linkDraft, NOW_MS } from './fixture.ts';
import type { Given, Race } from './race.ts';

const RULES = { installCountMax: 100, domainCountMax: 100, updates: false };
const HWIDS = ['a', 'b', 'c', 'd'];
const CALLS = 36;

const codeOf = (n: number) => `Moving${String(n).padStart(4, '0')}`;
const idIn = (answer: unknown) => (typeof answer === 'object' && answer !== null ? answer : {});

const providerOf = (given: Given, n: number) => given[n % 3 === 1 ? 'two' : 'one'] ?? 0;

/** A link of four devices, which all links have, each in another order. */
function moving(n: number) {
  const times = { registeredAtMs: NOW_MS, firstSeenAtMs: NOW_MS, lastSeenAtMs: NOW_MS };
  const hwids = [...HWIDS.slice(n % 4), ...HWIDS.slice(0, n % 4)];
  return {
    id: 1 + Math.floor(n / 3),
    installCode: codeOf(n),
    installLimit: 4,
    status: 10,
    note: null,
    createdAtMs: NOW_MS,
    slots: hwids.map((hwid) => ({ hwid, ...FACTS, ...times })),
  };
}

export const IMPORT_RACES: Readonly<Record<string, Race>> = {
  'two providers move in with the same ids and devices, beside links that are made': {
    async given(store) {
      const [one, two] = [
        await addProvider(store, 'Provide1'),
        await addProvider(store, 'Provide2'),
      ];
      return { one: one.id, two: two.id };
    },
    callCount: CALLS,
    call: (store: Store, given, n) =>
      n % 3 === 2
        ? store.addLink(linkDraft(providerOf(given, n), { installCode: codeOf(n) }), ACT)
        : store.importLink(providerOf(given, n), moving(n), RULES, ACT),
    async check(store, given, answers) {
      const here = [
        ...(await store.listLinksOf(given['one'] ?? 0, ALL)),
        ...(await store.listLinksOf(given['two'] ?? 0, ALL)),
      ];
      expect(new Set(here.map(({ id }) => id)).size).toBe(CALLS);
      const ids = Object.fromEntries(here.map(({ id, installCode }) => [installCode, id]));
      answers.forEach((answer, n) => {
        expect(idIn(answer)).toMatchObject({ id: ids[codeOf(n)] });
      });
      for (const { installCode, deviceCount } of here) {
        const n = Number(installCode.slice(-4));
        expect({ installCode, deviceCount }).toEqual({
          installCode,
          deviceCount: n % 3 === 2 ? 0 : 4,
        });
      }
      const next = await addLink(store, given['one'] ?? 0, { installCode: codeOf(CALLS) });
      expect(next).toBeGreaterThan(Math.max(...Object.values(ids)));
    },
  },
};

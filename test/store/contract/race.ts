/**
 * What callers of several connections and processes do to the same rows at the same time. Each race
 * is plain calls, so that a process of its own can make its share of them.
 */

import { expect } from 'bun:test';
import type { DistributionGuards } from '../../../src/core/port/distribution.ts';
import type { Store } from '../../../src/core/port/store.ts';
import { ACT } from '../../support/actor.ts';
import {
  ALL,
  addDoor,
  addProvider,
  CODE,
  FACTS,
  HASH,
  knock,
  linkDraft,
  NOW_MS,
  provider,
} from './fixture.ts';
import {
  at,
  claimedIds,
  draft,
  lease,
  registration,
  send,
  statusOf,
  tokenHash,
  UNGUARDED,
} from './message-fixture.ts';

/** Ids that the calls need, as they pass between processes. */
export type Given = Readonly<Record<string, number>>;

export interface Race {
  /** Puts what is raced for, and says where. */
  given(store: Store): Promise<Given>;
  callCount: number;
  /** How many calls a racer makes at the same time; all unless it says. */
  atOnce?: number;
  /** The nth call. */
  call(store: Store, given: Given, n: number): Promise<unknown>;
  /** `answers[n]` is what the nth call was told. */
  check(store: Store, given: Given, answers: readonly unknown[]): Promise<void>;
}

/** What a process of its own is asked to do. */
export interface RaceShare {
  race: string;
  given: Given;
  calls: readonly number[];
}

const codeOf = (n: number) => `RaceCode${String(n).padStart(4, '0')}`;
const idOf = (given: Given, name: string) => given[name] ?? 0;
const count = (answers: readonly unknown[], wanted: unknown) =>
  answers.filter((answer) => answer === wanted).length;
const objects = (answers: readonly unknown[]) =>
  answers.filter((answer) => typeof answer === 'object');

const BY_CODE = { installCode: CODE, installId: null };
const GENERAL = { ...UNGUARDED, generalIntervalMs: 300_000 };
const QUOTA = { ...UNGUARDED, unboundQuota: { sinceMs: 0, countMax: 10 } };
const SENDS = { ...UNGUARDED, bounds: { ...UNGUARDED.bounds, sendsPerMinuteMax: 7 } };
/** As long as what `draft` says, for five. */
const KEPT_BYTES = 5 * (UNGUARDED.bounds.bytesEach + draft(0).payload.length);
const BYTES = { ...UNGUARDED, bounds: { ...UNGUARDED.bounds, keptBytesMax: KEPT_BYTES } };
const PLANNED_MS = NOW_MS + 3_600_000;

async function oneProvider(store: Store): Promise<Given> {
  return { providerId: (await addProvider(store, 'Provide1')).id };
}

async function deviceCount(store: Store, given: Given): Promise<number | undefined> {
  const links = await store.listLinksOf(idOf(given, 'providerId'), ALL);
  return links.find(({ installCode }) => installCode === CODE)?.deviceCount;
}

/** As many devices as are listed, and no more than may be. */
async function checkSlots(store: Store, given: Given): Promise<void> {
  const providerId = idOf(given, 'providerId');
  const [link] = await store.listLinksOf(providerId, ALL);
  const slots = await store.listSlots(providerId, BY_CODE, null, 100);
  expect(link?.deviceCount).toBe(slots.length);
  expect(slots.length).toBeLessThanOrEqual(link?.installLimit ?? 0);
}

/** Sends of one provider, each to three unbound devices: so many are accepted. */
const sends = (guards: DistributionGuards, addedCount: number, refusal: string): Race => ({
  given: oneProvider,
  callCount: 18,
  call: (store, given) => {
    const wanted = draft(idOf(given, 'providerId'), { unboundCount: 3 });
    return store.addDistribution(wanted, guards, ACT);
  },
  async check(store, given, answers) {
    expect(count(answers, refusal)).toBe(18 - addedCount);
    expect(await store.listDistributions(idOf(given, 'providerId'), ALL)).toHaveLength(addedCount);
  },
});

/** So many connections or processes race; every so many-th call is the same one's. */
export const RACERS = 3;

/** Makes a racer's calls. */
export async function makeCalls(
  race: Race,
  store: Store,
  given: Given,
  calls: readonly number[],
): Promise<unknown[]> {
  const answers: unknown[] = [];
  const { atOnce = calls.length } = race;
  for (let i = 0; i < calls.length; i += atOnce) {
    const some = calls.slice(i, i + atOnce).map((n) => race.call(store, given, n));
    answers.push(...(await Promise.all(some)));
  }
  return answers;
}

export const SINGLE_RACES: Readonly<Record<string, Race>> = {
  'for the slots of a link': {
    given: addDoor,
    callCount: 24,
    call: (store, _, n) => knock(store, `hwid-${n % 8}`),
    async check(store, given, answers) {
      expect(await deviceCount(store, given)).toBe(2);
      // Each of the two HWIDs knocked three times.
      expect(objects(answers)).toHaveLength(6);
      expect(count(answers, 'link_limit_reached')).toBe(18);
    },
  },

  'for slots, while the limit falls': {
    async given(store) {
      const { providerId, installId } = await addDoor(store);
      await store.updateLink(providerId, installId, { installLimit: 6 }, ACT);
      return { providerId, installId };
    },
    callCount: 24,
    call: (store, given, n) =>
      n % 4 === 3
        ? store.updateLink(
            idOf(given, 'providerId'),
            idOf(given, 'installId'),
            { installLimit: 2 + (n % 3) },
            ACT,
          )
        : knock(store, `hwid-${n}`),
    async check(store, given, answers) {
      const links = await store.listLinksOf(idOf(given, 'providerId'), ALL);
      const [link] = links;
      const letIn = answers.filter((answer, n) => n % 4 !== 3 && typeof answer === 'object');
      expect(link?.deviceCount).toBe(letIn.length);
      await checkSlots(store, given);
    },
  },

  'for slots that are freed': {
    given: addDoor,
    callCount: 36,
    call: (store, given, n) => {
      const hwid = `hwid-${n % 6}`;
      if (n % 3 !== 2) return knock(store, hwid);
      return store.freeSlot(idOf(given, 'providerId'), BY_CODE, hwid, ACT);
    },
    async check(store, given, answers) {
      expect(objects(answers).length).toBeGreaterThan(12);
      await checkSlots(store, given);
    },
  },

  'for the links that a provider may have': {
    given: oneProvider,
    callCount: 18,
    call: (store, given, n) => {
      const more = { installCode: codeOf(n), installCountMax: 5 };
      return store.addLink(linkDraft(idOf(given, 'providerId'), more), ACT);
    },
    async check(store, given, answers) {
      expect(count(answers, 'install_code_limit_reached')).toBe(13);
      expect(await store.listLinksOf(idOf(given, 'providerId'), ALL)).toHaveLength(5);
      expect((await provider(store, 'Provide1')).installCount).toBe(5);
    },
  },

  'for one code': {
    given: oneProvider,
    callCount: 12,
    call: (store, given) => store.addLink(linkDraft(idOf(given, 'providerId')), ACT),
    async check(store, given, answers) {
      expect(objects(answers)).toHaveLength(1);
      expect(count(answers, 'install_code_exists')).toBe(11);
      expect(await store.listLinksOf(idOf(given, 'providerId'), ALL)).toHaveLength(1);
    },
  },

  'to bind one hash': {
    given: oneProvider,
    callCount: 12,
    call: (store, given) => {
      const providerId = idOf(given, 'providerId');
      const binding = { providerId, domainHash: HASH, domainName: 'shop', createdAtMs: NOW_MS };
      return store.addDomain({ ...binding, domainCountMax: 1 }, ACT);
    },
    async check(store, given, answers) {
      const [first, ...others] = await store.listDomains(idOf(given, 'providerId'), ALL);
      expect(others).toEqual([]);
      const told = answers as { outcome: string; id: number }[];
      expect(told.filter(({ outcome }) => outcome === 'added')).toHaveLength(1);
      expect(new Set(told.map(({ id }) => id))).toEqual(new Set([first?.id ?? 0]));
    },
  },

  'for the last bindings that a provider may have': {
    given: oneProvider,
    callCount: 12,
    call: (store, given, n) => {
      const providerId = idOf(given, 'providerId');
      const domainHash = n.toString(16).padStart(64, '0');
      const binding = { providerId, domainHash, domainName: 'shop', createdAtMs: NOW_MS };
      return store.addDomain({ ...binding, domainCountMax: 5 }, ACT);
    },
    async check(store, given, answers) {
      expect(count(answers, 'domain_limit_reached')).toBe(7);
      expect(await store.listDomains(idOf(given, 'providerId'), ALL)).toHaveLength(5);
    },
  },

  'to activate a binding': {
    async given(store) {
      const { providerId, domainId } = await addDoor(store);
      await store.disableDomain(providerId, domainId, ACT);
      return { providerId, domainId };
    },
    callCount: 12,
    call: (store, given) =>
      store.activateDomain(idOf(given, 'providerId'), idOf(given, 'domainId'), null, ACT),
    async check(_store, _given, answers) {
      expect(count(answers, 'activated')).toBe(1);
      expect(count(answers, 'was_active')).toBe(11);
    },
  },

  'for the one general notification of five minutes': sends(GENERAL, 1, 'general_too_soon'),
  'for the quota of commands to unbound devices': sends(QUOTA, 3, 'unbound_quota_exceeded'),
  'for the sends of a minute': sends(SENDS, 7, 'too_many_sends'),
  'for the bytes that are kept': sends(BYTES, 5, 'kept_bytes_full'),

  'for work': {
    async given(store) {
      const given: Record<string, number> = {};
      for (let i = 0; i < 6; i++) {
        const { id } = await addProvider(store, `Provide${i}`);
        given[`send ${i}`] = await send(store, id);
      }
      return given;
    },
    callCount: 9,
    call: (store, _, n) => claimedIds(store, `worker ${n}`),
    async check(_store, given, answers) {
      expect((answers as number[][]).flat().sort()).toEqual(Object.values(given).sort());
    },
  },

  'between a cancel and the workers': {
    async given(store) {
      const { providerId = 0 } = await oneProvider(store);
      const id = await send(store, providerId, at(PLANNED_MS));
      await claimedIds(store);
      await store.moveDistribution(lease(id), 10, 20);
      return { providerId, id };
    },
    callCount: 9,
    call: (store, given, n) => {
      const id = idOf(given, 'id');
      if (n % 2 === 0) return store.moveDistribution(lease(id), 20, 5);
      const guard = { from: [10, 20, 30], dueFromMs: NOW_MS, nowMs: NOW_MS };
      return store.cancelDistribution(idOf(given, 'providerId'), id, guard, ACT);
    },
    async check(store, given, answers) {
      const isCancelled = answers.includes('ok');
      expect(count(answers, true)).toBe(isCancelled ? 0 : 1);
      expect(count(answers, 'ok')).toBe(isCancelled ? 1 : 0);
      expect(await statusOf(store, idOf(given, 'id'))).toBe(isCancelled ? 130 : 5);
    },
  },

  'to register one HWID': {
    given: async () => ({}),
    callCount: 12,
    call: (store, _, n) => {
      const facts = { ...FACTS, deviceName: `word ${n}` };
      const more = { tokenHash: tokenHash(`word ${n}`), facts, nowMs: NOW_MS + n };
      return store.registerDevice(registration('a', more));
    },
    async check(store, _, answers) {
      expect(objects(answers)).toHaveLength(1);
      expect(count(answers, 'registration_refused')).toBe(11);
      const winner = answers.findIndex((answer) => typeof answer === 'object');
      // What was refused left nothing, although it saw the device before the others did.
      expect((await store.findDevice('a'))?.device).toMatchObject({
        deviceName: `word ${winner}`,
        firstSeenAtMs: NOW_MS + winner,
        lastSeenAtMs: NOW_MS + winner,
      });
      for (const n of answers.keys()) {
        const holder = await store.findDeviceByToken(tokenHash(`word ${n}`));
        expect([n, holder !== null]).toEqual([n, n === winner]);
      }
    },
  },
};

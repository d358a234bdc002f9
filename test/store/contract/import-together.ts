/** Links that move in at once: a store may take them together, but decides each by itself. */

import { expect, test } from 'bun:test';
import type { ImportedLink } from '../../../src/core/port/moving.ts';
import type { Store } from '../../../src/core/port/store.ts';
import { NO_TERMS } from '../../../src/core/slot.ts';
import { ACT } from '../../support/actor.ts';
import {
  ALL,
  addLink,
  addProvider,
  bind,
  CODE,
  HASH,
  knock,
  NOW_MS,
  OTHER_CODE,
  OTHER_HASH,
  SILENCE,
  type Suite,
} from './fixture.ts';

const RULES = { installCountMax: 100, domainCountMax: 100, updates: true };
const THIRD_CODE = 'LinkCode0003';

const slot = (hwid: string, deviceName = `phone ${hwid}`) => ({
  hwid,
  ...SILENCE,
  deviceName,
  registeredAtMs: NOW_MS,
  firstSeenAtMs: NOW_MS,
  lastSeenAtMs: NOW_MS,
});

function link(installCode: string, more: Partial<ImportedLink> = {}): ImportedLink {
  const facts = { id: null, installLimit: 2, status: 10, note: null, createdAtMs: NOW_MS };
  return { ...facts, installCode, slots: [], ...more };
}

/** Brings links to a provider, all at once; what was said to each. */
async function bring(
  store: Store,
  providerId: number,
  links: readonly ImportedLink[],
  rules = RULES,
): Promise<unknown[]> {
  const results = await Promise.all(
    links.map((one) => store.importLink(providerId, one, rules, ACT)),
  );
  return results.map((result) => (typeof result === 'string' ? result : result.was));
}

async function keysOf(store: Store, code: string): Promise<Record<string, string | null>> {
  const records = await Array.fromAsync(store.exportProvider(code));
  const links = records.flatMap((record) => (record.kind === 'install' ? record.install : []));
  return Object.fromEntries(
    links.map(({ installCode, terms }) => [installCode, terms?.subscriptionKeyHash ?? null]),
  );
}

const withKey = (subscriptionKeyHash: string | null) => ({
  terms: { ...NO_TERMS, subscriptionKeyHash },
});

export const importTogetherContract: Suite = (opened) => {
  test('the home of a device is the link that it was on first, whatever comes first', async () => {
    const { store } = opened();
    const { id } = await addProvider(store, 'Provide1');
    await bind(store, id, HASH);
    // A door with a button says where the home is.
    const terms = { ...NO_TERMS, supportUrl: 'tg://resolve' };
    const at = (hwid: string, agoMs: number) => ({ ...slot(hwid), registeredAtMs: NOW_MS - agoMs });
    const homes = async (hwid: string) => {
      const ends = [CODE, OTHER_CODE].map(async (installCode) => {
        const door = await store.findSlot({ installCode, hwid, domainHash: HASH });
        return typeof door === 'string' ? door : door.link.rides?.homeSinceMs;
      });
      return Promise.all(ends);
    };
    await bring(store, id, [
      link(CODE, { terms, slots: [at('a', 1), at('b', 0)] }),
      link(OTHER_CODE, { terms, slots: [at('a', 2)] }),
    ]);
    expect(await homes('a')).toEqual([null, NOW_MS - 2]);
    // One that has left its home keeps it for its time.
    const installId = (await store.findLink(CODE))?.id ?? 0;
    await store.freeSlot(id, { installId, installCode: null }, 'b', ACT);
    const more = [
      link(OTHER_CODE, { slots: [at('b', 3)] }),
      link(THIRD_CODE, { slots: [at('b', 1)] }),
    ];
    await bring(store, id, more);
    expect(await homes('b')).toEqual([null, null]);
  });

  test('the same one twice is added, and then it is here', async () => {
    const { store } = opened();
    const { id } = await addProvider(store, 'Provide1');
    const twice = [
      link(CODE, { slots: [slot('a')] }),
      link(CODE, { slots: [slot('a'), slot('b')] }),
    ];
    expect(await bring(store, id, [...twice, link(OTHER_CODE)])).toEqual([
      ...['added', 'present', 'added'],
    ]);
    expect(await store.listLinksOf(id, ALL)).toMatchObject([
      { installCode: OTHER_CODE },
      { installCode: CODE, deviceCount: 2 },
    ]);
  });

  test('those beyond the cap are refused, not those that are here', async () => {
    const { store } = opened();
    const { id } = await addProvider(store, 'Provide1');
    await addLink(store, id, { installCode: THIRD_CODE });
    const codes = [CODE, OTHER_CODE, THIRD_CODE].map((code) => link(code, { note: 'other' }));
    expect(await bring(store, id, codes, { ...RULES, installCountMax: 2 })).toEqual([
      ...['added', 'install_code_limit_reached', 'updated'],
    ]);
  });

  test('a key goes to the first that wants it, and to another when it is given up', async () => {
    const { store } = opened();
    const { id } = await addProvider(store, 'Provide1');
    const wanted = [link(CODE, withKey(HASH)), link(OTHER_CODE, withKey(HASH))];
    expect(await bring(store, id, wanted)).toEqual(['added', 'added']);
    expect(await keysOf(store, 'Provide1')).toEqual({ [CODE]: HASH, [OTHER_CODE]: null });
    const changed = [link(CODE, withKey(OTHER_HASH)), link(THIRD_CODE, withKey(HASH))];
    expect(await bring(store, id, changed)).toEqual(['updated', 'added']);
    expect(await keysOf(store, 'Provide1')).toEqual({
      [CODE]: OTHER_HASH,
      [OTHER_CODE]: null,
      [THIRD_CODE]: HASH,
    });
  });

  test('an id that two want is the first one\u2019s, and those that want none get others', async () => {
    const { store } = opened();
    const { id } = await addProvider(store, 'Provide1');
    const links = [link(CODE), link(OTHER_CODE, { id: 7 }), link(THIRD_CODE, { id: 7 })];
    await bring(store, id, links);
    const here = await store.listLinksOf(id, ALL);
    expect(new Set(here.map((one) => one.id)).size).toBe(3);
    expect(here.find(({ installCode }) => installCode === OTHER_CODE)?.id).toBe(7);
  });

  test('a device on several is one device, and what is known of it first wins', async () => {
    const { store } = opened();
    const { id } = await addProvider(store, 'Provide1');
    await bind(store, id);
    const first = { ...slot('a', 'first'), firstSeenAtMs: NOW_MS - 9, lastSeenAtMs: NOW_MS - 5 };
    await bring(store, id, [
      link(CODE, { slots: [first, slot('b')] }),
      link(OTHER_CODE, { slots: [{ ...slot('a', 'second'), os: 'ios' }] }),
    ]);
    const found = await store.findDevice('a');
    expect(found?.device).toMatchObject({
      deviceName: 'first',
      os: 'ios',
      firstSeenAtMs: NOW_MS - 9,
      lastSeenAtMs: NOW_MS,
    });
    expect(found?.installs).toHaveLength(2);
    expect(await knock(store, 'c', OTHER_CODE)).toMatchObject({ deviceCount: 2 });
  });

  test('a provider keeps the later time at which it saw a device', async () => {
    const { store } = opened();
    const { id } = await addProvider(store, 'Provide1');
    await bind(store, id);
    await addLink(store, id);
    await knock(store, 'a');
    const earlier = { ...slot('a'), lastSeenAtMs: NOW_MS - 5 };
    expect(await bring(store, id, [link(OTHER_CODE, { slots: [earlier] })])).toEqual(['added']);
    expect((await store.findDevice('a'))?.seenBy).toMatchObject([{ lastSeenAtMs: NOW_MS }]);
  });

  test('one that cannot be saved takes no other with it', async () => {
    const { store } = opened();
    const { id } = await addProvider(store, 'Provide1');
    const links = [link(CODE), link(OTHER_CODE, { installLimit: 101 }), link(THIRD_CODE)];
    const results = await Promise.allSettled(
      links.map((one) => store.importLink(id, one, RULES, ACT)),
    );
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    const codes = (await store.listLinksOf(id, ALL)).map(({ installCode }) => installCode);
    expect(codes).toEqual([THIRD_CODE, CODE]);
  });

  test('of several providers, each with its own', async () => {
    const { store } = opened();
    const one = await addProvider(store, 'Provide1');
    const two = await addProvider(store, 'Provide2');
    const results = await Promise.all([
      bring(store, two.id, [link(CODE, withKey(HASH))]),
      bring(store, one.id, [link(CODE), link(OTHER_CODE, withKey(HASH))]),
    ]);
    expect(results).toEqual([['added'], ['install_code_exists', 'added']]);
    expect(await keysOf(store, 'Provide1')).toEqual({ [OTHER_CODE]: HASH });
  });
};

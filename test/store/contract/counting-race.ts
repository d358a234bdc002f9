/** Devices at a link that only counts, while its provider or the link begins to enforce. */

import { expect } from 'bun:test';
import type { Store } from '../../../src/core/port/store.ts';
import { ACT } from '../../support/actor.ts';
import { ALL, addDoor, CODE, knock } from './fixture.ts';
import type { Given, Race } from './race.ts';

const CALLS = 200;
/** The call that enforces; every RACERS-th call is of the same process. */
const MIDDLE = 61;

async function countOn(store: Store, given: Given): Promise<number> {
  const [link] = await store.listLinksOf(given['providerId'] ?? 0, ALL);
  return link?.deviceCount ?? 0;
}

/** `enforce` turns the limit on; its call answers how many devices there were just after it. */
const counting = (enforce: (store: Store, given: Given) => Promise<unknown>): Race => ({
  callCount: CALLS,
  atOnce: 10,
  async given(store) {
    const { providerId, installId } = await addDoor(store);
    await store.updateProvider('Provide1', { enforce: 0 }, ACT);
    return { providerId, installId };
  },
  async call(store, given, n) {
    if (n !== MIDDLE) return knock(store, `hwid-${n}`);
    await enforce(store, given);
    return countOn(store, given);
  },
  async check(store, given, answers) {
    const admitted = answers.flatMap((answer, n) => (typeof answer === 'object' ? [n] : []));
    const slots = await store.listSlots(
      given['providerId'] ?? 0,
      { installCode: CODE, installId: null },
      null,
      CALLS,
    );
    const hwids = typeof slots === 'string' ? [] : slots.map(({ hwid }) => hwid);
    // All that were let in are still there, and none came after.
    expect(hwids.sort()).toEqual(admitted.map((n) => `hwid-${n}`).sort());
    expect(await countOn(store, given)).toBe(answers[MIDDLE] as number);
    expect(await knock(store, 'newcomer')).toBe('link_limit_reached');
  },
});

export const COUNTING_RACES: Readonly<Record<string, Race>> = {
  'for slots over the limit, until the provider enforces it': counting((store) =>
    store.updateProvider('Provide1', { enforce: 1 }, ACT),
  ),
  'for slots over the limit, until the link enforces it': counting((store, given) =>
    store.updateLink(given['providerId'] ?? 0, given['installId'] ?? 0, { enforce: 1 }, ACT),
  ),
};

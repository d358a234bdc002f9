/**
 * What another customer of the provider can make of codes and addresses that are not his: at each
 * state of his link and of his neighbour's, which key is whose, and who is admitted.
 */

import { afterAll, beforeAll, expect, test } from 'bun:test';
import { subscriptionKeyHash } from '../../../src/core/secret.ts';
import { call, seedProvider } from '../../support/app.ts';
import { type Fronted, startFronted } from '../../support/upstream.ts';

let at: Fronted;
beforeAll(async () => {
  at = await startFronted(undefined, { defaultLimit: 3 });
});
afterAll(() => at.stop());

const statusOf = async (path: string, hwid: string) => (await at.get(path, hwid)).status;
const holderOf = async (key: string) =>
  (await at.app.core.store.findLinksByKey(subscriptionKeyHash(key)))[0] ?? null;

async function addLink(install_code: string, install_limit: number): Promise<void> {
  await call(at.app, '/api/add-install', at.own, { install_code, install_limit });
}

async function update(code: string, change: Record<string, number | string>): Promise<void> {
  const link = await at.app.core.store.findLink(code);
  await call(at.app, '/api/update-install', at.own, { id: link?.id ?? 0, ...change });
}

/** Put the link of a code, with one device, into a state. */
const STATES = {
  active: async () => {},
  disabled: (code: string) => update(code, { status: 5 }),
  ended: async (code: string) => {
    const link = await at.app.core.store.findLink(code);
    await call(at.app, '/api/remove-install', at.own, { id: link?.id ?? 0 });
  },
  full: (code: string) => update(code, { install_limit: 1 }),
};
type State = keyof typeof STATES;
const ALL = Object.keys(STATES) as State[];

let count = 0;
/** Names that no other test has. */
function names() {
  const n = String(++count).padStart(4, '0');
  const [code, key] = [`BotLink0${n}`, `neighbour-key-${n}`];
  return { code, key, thief: `thief-${n}`, neighbour: `neighbour-${n}`, ownKey: `own-key-${n}` };
}

test.each(ALL.flatMap((own) => ALL.map((theirs) => [own, theirs] as const)))(
  'whose own link is %s fetches the address of a neighbour whose link is %s',
  async (own, theirs) => {
    const { code, key, neighbour, ownKey, thief } = names();
    await addLink(code, 2);
    await statusOf(`/sub/${ownKey}?installid=${code}`, thief);
    await update(code, { subscription_key: 'default' });
    await statusOf(`/sub/${key}`, neighbour);
    const made = (await holderOf(key))?.installCode ?? '';
    await STATES[theirs](made);
    await STATES[own](code);
    const before = await holderOf(key);
    const got = await statusOf(`/sub/${key}?installid=${code}`, thief);
    // The link of the key decides; where it ended, that of his code, as before.
    const byOwn = theirs === 'ended' && (own === 'active' || own === 'full');
    expect(got).toBe(theirs === 'active' || byOwn ? 200 : 404);
    expect((await holderOf(key))?.id).toBe(before?.id as never);
    expect((await at.app.core.store.findLink(code))?.hasSubscriptionKey ?? false).toBe(false);
    const isServed = theirs === 'active' || theirs === 'full';
    expect(await statusOf(`/sub/${key}`, neighbour)).toBe(isServed ? 200 : 404);
  },
);

test.each(ALL)('gives the code of a neighbour whose link is %s', async (theirs) => {
  const { code, key, neighbour, ownKey, thief } = names();
  await addLink(code, 3);
  await statusOf(`/sub/${key}?installid=${code}`, neighbour);
  await STATES[theirs](code);
  const before = await holderOf(key);
  // A code opens what its link allows, as before; the link keeps its key.
  expect(await statusOf(`/sub/${ownKey}?installid=${code}`, thief)).toBe(
    theirs === 'active' ? 200 : 404,
  );
  expect((await holderOf(key))?.id).toBe(before?.id as never);
  expect(await holderOf(ownKey)).toBeNull();
});

test('puts the phone of a neighbour on his own link: the provider hears, and takes it back', async () => {
  const { code, key, neighbour, thief } = names();
  await addLink(code, 5);
  await statusOf(`/sub/${key}`, neighbour);
  // A HWID is no secret: with it each device of the neighbour has a slot on the thief's link.
  await statusOf(`/sub/${names().key}?installid=${code}`, neighbour);
  await update(code, { subscription_key: 'default' });
  const made = await holderOf(key);
  await statusOf(`/sub/${key}?installid=${code}`, neighbour);
  expect((await holderOf(key))?.installCode).toBe(code);
  // The neighbour is served all the while.
  expect(await statusOf(`/sub/${key}`, neighbour)).toBe(200);
  const { store } = at.app.core;
  const providerId = (await store.findProvider(at.own.code))?.id ?? 0;
  const ties = await store.listTies(providerId, 'tied', { afterId: 0, countMax: 500 });
  const tie = ties.find(({ formerId }) => formerId === made?.id);
  const actor = { kind: 'operator', name: 'cli', from: 'local' } as const;
  await store.undoTie(providerId, tie?.id ?? 0, { actor, atMs: at.app.clock.nowMs() });
  expect((await holderOf(key))?.installCode).toBe(made?.installCode as never);
  await statusOf(`/sub/${key}?installid=${code}`, thief);
  expect((await holderOf(key))?.installCode).toBe(made?.installCode as never);
});

test('many codes with one key at the same instant: one has it, and each phone is on one link', async () => {
  const { key } = names();
  const codes = Array.from({ length: 8 }, () => names().code);
  for (const code of codes) await addLink(code, 1);
  const asked = codes.flatMap((code) =>
    [0, 1].map((n) => statusOf(`/sub/${key}?installid=${code}`, `${code}-${n}`)),
  );
  const got = await Promise.all(asked);
  expect(got.filter((status) => status !== 200 && status !== 404)).toEqual([]);
  const found = await Promise.all(codes.map((code) => at.app.core.store.findLink(code)));
  const keyed = found.filter((link) => link?.hasSubscriptionKey);
  expect(keyed.map((link) => link?.id)).toEqual([(await holderOf(key))?.id]);
  for (const link of found) expect(link?.deviceCount).toBeLessThanOrEqual(1);
});

test('many keys with one code at the same instant: it gets one, once', async () => {
  const { code } = names();
  const keys = Array.from({ length: 8 }, () => names().key);
  await addLink(code, 3);
  const asked = keys.map((key, n) =>
    statusOf(`/sub/${key}?installid=${code}`, `keys-${code}-${n}`),
  );
  const got = await Promise.all(asked);
  // Its limit holds for all of them together.
  expect(got.filter((status) => status === 200)).toHaveLength(3);
  const holders = await Promise.all(keys.map(holderOf));
  expect(holders.filter((link) => link?.installCode === code)).toHaveLength(1);
  expect((await at.app.core.store.findLink(code))?.deviceCount).toBe(3);
});

test('no rival names them: not at his host, and by no call of his', async () => {
  const { code, key, thief } = names();
  await addLink(code, 2);
  await statusOf(`/sub/${key}?installid=${code}`, 'customer');
  const { store } = at.app.core;
  const own = await store.findProvider(at.own.code);
  const rival = await seedProvider(at.app, { code: 'RivalOne' });
  const theirs = await store.findProvider(rival.code);
  const id = (await store.listTies(own?.id ?? 0, 'tied', { afterId: 0, countMax: 500 })).at(-1)?.id;
  const actor = { kind: 'provider', name: rival.code, from: 'local' } as const;
  const act = { actor, atMs: at.app.clock.nowMs() };
  const rivalId = theirs?.id ?? 0;
  expect(await store.undoTie(rivalId, id ?? 0, act)).toBe('tie_not_found');
  const named = { installCode: code, installId: null };
  expect(await store.giveKey(rivalId, named, subscriptionKeyHash('x'), act)).toBe(
    'install_not_found',
  );
  const fetch = { providerId: rivalId, keyHash: subscriptionKeyHash('x'), hwid: thief };
  expect(await store.tieByFetch({ ...fetch, installCode: code }, act)).toBe(false);
  expect((await holderOf(key))?.installCode).toBe(code);
});

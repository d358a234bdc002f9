/**
 * What another customer of the provider can make of codes and addresses that are not his: at each
 * state of his link and of his neighbour's, which key is whose, and who is admitted.
 */

import { afterAll, beforeAll, expect, test } from 'bun:test';
import { subscriptionKeyHash } from '../../../src/core/secret.ts';
import { call } from '../../support/app.ts';
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

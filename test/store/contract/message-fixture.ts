/** What the suites about messages share: sends, workers that deliver them, and many devices. */

import { expect } from 'bun:test';
import type { Lease, NewDistribution } from '../../../src/core/port/distribution.ts';
import type { Glance, TokenHolder } from '../../../src/core/port/inbox.ts';
import type { NewRegistration, Shown } from '../../../src/core/port/registration.ts';
import type { RideRules } from '../../../src/core/port/ride.ts';
import type { Store } from '../../../src/core/port/store.ts';
import { hashKey } from '../../../src/core/secret.ts';
import { ACT } from '../../support/actor.ts';
import { GUARD_BOUNDS } from '../../support/bounds.ts';
import { addDoor, addLink, CLOCK, CODE, FACTS, HASH, knock, NOW_MS } from './fixture.ts';

export const LEASE_MS = 5_000;
export const HOUR_MS = 3_600_000;
export const EXPIRES_MS = NOW_MS + 24 * HOUR_MS;
/** More devices than a store looks at or serves in one step. */
export const MANY = 2_100;

export function draft(providerId: number, more: Partial<NewDistribution> = {}): NewDistribution {
  return {
    providerId,
    notificationType: 10,
    actionType: null,
    targetOs: 'android',
    targetHwid: '',
    payload: '{"body":"hello"}',
    createdAtMs: NOW_MS,
    dueAtMs: null,
    reachesUnbound: false,
    expiresAtMs: EXPIRES_MS,
    unboundCount: 0,
    ...more,
  };
}

export const to = (...hwids: string[]) => ({ targetOs: null, targetHwid: hwids.join(',') });
export const at = (dueAtMs: number) => ({ dueAtMs });
/** At once, by another clock. */
export const sentAt = (createdAtMs: number) => ({ createdAtMs });
export const IMPORT_DATA = {
  notificationType: 20,
  actionType: 'import-data',
  reachesUnbound: true,
  payload: '{"action_type":"import-data","input-data":"aGk="}',
} as const;

export const UNGUARDED = { generalIntervalMs: null, unboundQuota: null, bounds: GUARD_BOUNDS };

/** Adds a distribution that nothing guards. */
export async function send(
  store: Store,
  providerId: number,
  more: Partial<NewDistribution> = {},
): Promise<number> {
  const added = await store.addDistribution(draft(providerId, more), UNGUARDED, ACT);
  if (typeof added === 'string') throw new Error(added);
  return added.id;
}

/** A hold at a moment: the clock of the stores is set to it, as the worker's is. */
export function lease(id: number, owner = 'one', nowMs = NOW_MS): Lease {
  CLOCK.set(nowMs);
  return { id, owner, nowMs, leaseMs: LEASE_MS };
}

export function claim(store: Store, owner = 'one', nowMs = NOW_MS) {
  CLOCK.set(nowMs);
  return store.claimWork({ owner, nowMs, leaseMs: LEASE_MS });
}

export async function claimedIds(store: Store, owner = 'one', nowMs = NOW_MS): Promise<number[]> {
  return (await claim(store, owner, nowMs)).map(({ id }) => id);
}

/** The status that a worker without trouble gives it next. */
const NEXT: Readonly<Record<number, number>> = { 10: 20, 30: 20, 20: 5, 5: 40, 6: 40, 40: 100 };

/** Has a worker take hold of a distribution and carry it on until it has the status. */
export async function bringTo(
  store: Store,
  id: number,
  wanted: number,
  { owner = 'one', nowMs = NOW_MS } = {},
): Promise<void> {
  const held = (await claim(store, owner, nowMs)).find((work) => work.id === id);
  if (held === undefined) throw new Error(`${owner} did not get hold of ${id}`);
  const hold = lease(id, owner, nowMs);
  for (let { status } = held; status !== wanted; ) {
    if (status === 5 || status === 6) await loadAll(store, hold);
    if (status === 40) await sendAll(store, hold);
    const next = NEXT[status] ?? wanted;
    if (!(await store.moveDistribution(hold, status, next))) throw new Error(`lost at ${status}`);
    status = next;
  }
}

/** Sends and delivers; says which distribution it was. */
export async function deliver(
  store: Store,
  providerId: number,
  more: Partial<NewDistribution> = {},
): Promise<number> {
  const id = await send(store, providerId, more);
  await bringTo(store, id, 100, { nowMs: more.dueAtMs ?? more.createdAtMs ?? NOW_MS });
  return id;
}

/** Loads to the end; says in how many steps. */
export async function loadAll(store: Store, hold: Lease, rides?: RideRules): Promise<number> {
  for (let steps = 1; ; steps++) {
    const step = await store.loadRecipients(hold, LEDGER_MAX, rides);
    if (step === null) throw new Error('lost while loading');
    if (step.isDone) return steps;
  }
}

/** Sends to the end; what each step said. */
export async function sendAll(store: Store, hold: Lease) {
  for (const steps = []; ; ) {
    const step = await store.sendRecipients(hold, WAITING_MAX, []);
    if (step === null) throw new Error('lost while sending');
    steps.push(step);
    if (step.outcome !== null) return steps;
  }
}

export async function detailOf(store: Store, id: number, ledgerCountMax = 5_000) {
  const found = await store.findDistribution(id, ledgerCountMax);
  if (found === null) throw new Error(`there is no distribution ${id}`);
  return found;
}

export async function statusOf(store: Store, id: number): Promise<number> {
  return (await detailOf(store, id)).distribution.status;
}

/** The HWIDs in the ledger that received nothing yet, with their state. */
export async function ledgerOf(store: Store, id: number): Promise<Record<string, string>> {
  const { missing } = await detailOf(store, id);
  return Object.fromEntries(missing.map(({ hwid, state }) => [hwid, state]));
}

export async function deviceId(store: Store, providerId: number, hwid: string): Promise<number> {
  const [found] = await store.findTargets(providerId, [hwid]);
  if (!found) throw new Error(`there is no device ${hwid}`);
  return found.id;
}

/** No limit that a test could reach by accident. */
export const ALL_OF_IT = { countMax: 100, bytesMax: Number.MAX_SAFE_INTEGER };

/** A provider with a device `a` on its link. */
export async function addInbox(store: Store) {
  const door = await addDoor(store);
  await knock(store, 'a');
  return { ...door, a: await holderOf(store, 'a') };
}

/** Lists the ids of an inbox, and checks that a glance finds the same. */
export async function inboxOf(store: Store, holder: TokenHolder, nowMs = NOW_MS, countMax = 100) {
  const limits = { ...ALL_OF_IT, countMax };
  const { messages, isCut } = await store.listInbox(holder, nowMs, limits);
  const glance = await glanceOf(store, holder, nowMs);
  if (glance === 'revoked') expect(messages).toEqual([]);
  else if (glance !== 'more' && glance !== 'ended' && !isCut) expect(glance).toEqual(messages);
  return messages.map((message) => message.id);
}

export async function glanceOf(
  store: Store,
  holder: TokenHolder,
  nowMs = NOW_MS,
): Promise<Glance | undefined> {
  const known = await store.findDeviceByToken(holder.tokenHash);
  const token = { ...holder, tokenId: known?.tokenId ?? 1 };
  const [glance] = await store.glanceInboxes([token], nowMs);
  expect(glance === 'revoked').toBe(known?.id !== holder.id);
  return glance;
}

/** The most rows of ledgers, where no test asks for that. */
export const LEDGER_MAX = GUARD_BOUNDS.ledgerRowsMax;

/** The most that may wait for a device, where a test does not ask for that. */
export const WAITING_MAX = 1_000;

export const onLink = (installCode = CODE, domainHash = HASH) =>
  ({ kind: 'link', installCode, domainHash }) as const;
export const onBinding = (providerCode = 'Provide1', domainHash = HASH) =>
  ({ kind: 'binding', providerCode, domainHash }) as const;
export const NOTHING_SHOWN = { kind: 'nothing', providerCode: null } as const;

/** Registers a device with the link that it has been on for longest, if it is on one. */
export async function holderOf(store: Store, hwid: string): Promise<TokenHolder> {
  const link = (await store.findDevice(hwid))?.installs.at(-1);
  return register(store, hwid, link ? onLink(link.installCode) : NOTHING_SHOWN);
}

let tokenCount = 0;

/** Gives a device a new token; throws when that is refused. */
export async function register(
  store: Store,
  hwid: string,
  shown: Shown = NOTHING_SHOWN,
  held: TokenHolder | null = null,
): Promise<TokenHolder> {
  const hash = tokenHash(`${hwid} ${tokenCount++}`);
  const more = { tokenHash: hash, shown, heldTokenHash: held?.tokenHash ?? null };
  const registered = await store.registerDevice(registration(hwid, more));
  if (typeof registered === 'string') throw new Error(registered);
  return { id: registered.deviceId, tokenHash: hash };
}

export const tokenHash = (word: string) => hashKey(`token ${word}`);

export function registration(hwid: string, more: Partial<NewRegistration> = {}): NewRegistration {
  return {
    hwid,
    facts: FACTS,
    locale: null,
    push: null,
    shown: NOTHING_SHOWN,
    tokenHash: tokenHash(hwid),
    heldTokenHash: null,
    nowMs: NOW_MS,
    ...more,
  };
}

/** Does something so many times, as many at once as a busy server has callers of. */
export async function someAtATime(
  count: number,
  each: (n: number) => Promise<unknown>,
): Promise<void> {
  const all = Array.from({ length: count }, (_, n) => n);
  while (all.length > 0) await Promise.all(all.splice(0, 100).map(each));
}

/** Lets in as many devices as asked for, a hundred on each new link. */
export async function fillLinks(
  store: Store,
  providerId: number,
  { count = MANY, os = 'android', prefix = 'device' } = {},
): Promise<void> {
  const codes = Array.from({ length: Math.ceil(count / 100) }, (_, i) => {
    return `Filled${String(i).padStart(6, '0')}`;
  });
  for (const installCode of codes)
    await addLink(store, providerId, { installCode, installLimit: 100 });
  const facts = { ...FACTS, os };
  await someAtATime(count, (n) =>
    knock(store, `${prefix}-${n}`, codes[Math.floor(n / 100)], facts),
  );
}

export function checkIn(
  store: Store,
  hwid: string,
  { providerCode = 'Provide1', domainHash = HASH as string | null, os = 'android' } = {},
) {
  return store.recordCheckIn({ providerCode, domainHash, hwid }, { ...FACTS, os }, NOW_MS);
}

/** Links as many devices as asked for through the provider's binding. */
export async function fillBinding(
  store: Store,
  { count = MANY, os = 'android', prefix = 'device' } = {},
): Promise<void> {
  await someAtATime(count, (n) => checkIn(store, `${prefix}-${n}`, { os }));
}

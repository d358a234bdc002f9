import { SYSTEM } from '../../../src/core/audit/entry.ts';
import { DAY_MS } from '../../../src/core/calendar.ts';
import type { CutEnd, CutOffStore } from '../../../src/core/port/cut-off.ts';
import type { Store } from '../../../src/core/port/store.ts';
import type { WantedCut } from '../../../src/core/port/wanted-cut.ts';
import { subscriptionKeyHash } from '../../../src/core/secret.ts';
import { ACT } from '../../support/actor.ts';
import { auditEntries, deedOf } from '../../support/audit.ts';
import { addDoor, CODE, HASH, knock, linkDraft, NOW_MS } from './fixture.ts';
import { toldTo } from './happening.ts';
import { addWebhook } from './webhook.ts';

export const HOST = 'sub.example.org';
export const KEY = subscriptionKeyHash('panel-key');
export const LEASE_MS = 120_000;

const actAt = (atMs: number) => ({ ...ACT, atMs });
export const systemAt = (atMs: number) => ({ actor: SYSTEM, atMs });

/** A link with a key and devices. */
export async function addKeyed(store: Store, hwids: string[] = ['a', 'b'], code = CODE) {
  const door = await addDoor(store);
  const { providerId } = door;
  let { installId } = door;
  if (code !== CODE) {
    const added = await store.addLink(linkDraft(providerId, { installCode: code }), ACT);
    installId = typeof added === 'object' ? added.id : 0;
  }
  const keyHash = code === CODE ? KEY : subscriptionKeyHash(code);
  const change = { installLimit: 5, subscriptionKeyHash: keyHash };
  await store.updateLink(providerId, installId, change, ACT);
  for (const hwid of hwids) await knock(store, hwid, code);
  const wanted = (more: Partial<WantedCut> = {}): WantedCut => ({
    installId,
    hwid: 'a',
    keyHash,
    host: HOST,
    why: null,
    isByUser: false,
    ...more,
  });
  const ask = (more: Partial<WantedCut> = {}, atMs = NOW_MS) =>
    store.askCut(providerId, wanted(more), actAt(atMs));
  const claim = (nowMs = NOW_MS, owner = 'one', perHourMax = 20) =>
    store.claimCut(HOST, { owner, nowMs, leaseUntilMs: nowMs + LEASE_MS, perHourMax });
  const end = (id: number, how: CutEnd, atMs = NOW_MS, owner = 'one') =>
    store.endCutAttempt({ id, owner }, how, systemAt(atMs));
  const list = (isWaiting = false) =>
    store.listCuts({ providerId, installId, isWaiting, beforeId: null, countMax: 50 });
  return { ...door, installId, ask, claim, end, list };
}

export const DONE: CutEnd = { state: 'done', fetchUntilMs: NOW_MS + DAY_MS };
export const again = (nextAtMs: number, seen: string | null = null): CutEnd => ({
  state: 'waiting',
  why: 'the panel is away',
  seen,
  nextAtMs,
});

/** The cut-off of an answer. */
export function cutIn(asked: Awaited<ReturnType<CutOffStore['askCut']>>) {
  if (typeof asked === 'string') throw new Error(asked);
  return asked.cut;
}

export const lastDeeds = async (store: Store, count: number) =>
  (await auditEntries({ store })).slice(-count).map(deedOf);

/** Returns whether a link waits for fetches, as a door says it. */
export async function awaits(store: Store, hwid: string): Promise<boolean | undefined> {
  const door = await store.findSlot({ installCode: CODE, domainHash: HASH, hwid });
  return typeof door === 'string' ? undefined : door.link.awaitsFetch;
}

export const hashOfNone = '0'.repeat(64);

export const cutWanted = (installId: number): WantedCut => ({
  installId,
  hwid: null,
  keyHash: KEY,
  host: HOST,
  why: null,
  isByUser: false,
});

/** A link whose provider hears of cut-offs. */
export async function withEvents(store: Store, hwids?: string[]) {
  const keyed = await addKeyed(store, hwids);
  const own = await addWebhook(store, keyed.providerId);
  return {
    ...keyed,
    events: async () =>
      (await toldTo(store, own))
        .filter(([kind]) => kind === 'link.cut_off')
        .map(([kind, data]) => [kind, data['state']]),
  };
}

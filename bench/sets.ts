/**
 * The fast paths of src/store/postgres/set beside the nouns that they stand in for: the same calls
 * to two stores on one PostgreSQL, in turns.
 */

import { SQL } from 'bun';
import type { TokenHolder } from '../src/core/port/inbox.ts';
import type { Store } from '../src/core/port/store.ts';
import { openPostgresStore } from '../src/store/postgres/store.ts';
import {
  addLink,
  addProvider,
  bind,
  FACTS,
  HASH,
  linkDraft,
} from '../test/store/contract/fixture.ts';
import {
  deliver,
  draft,
  onLink,
  register,
  someAtATime,
  UNGUARDED,
} from '../test/store/contract/message-fixture.ts';
import { ACT } from '../test/support/actor.ts';
import { placeOf } from '../test/support/place.ts';
import { type Case, inTurn, median, printTable } from './driver.ts';
import type { Server } from './process.ts';

/** Providers, each a party, links, devices, and messages that wait for each device. */
const [PROVIDERS, LINKS, DEVICES, MESSAGES] = [8, 4_000, 4_000, 12];
/** No link has a limit that a case reaches. */
const NO_LIMIT = { installLimit: 100, installCountMax: 1_000_000_000 };

const codeOf = (n: number) => `Link${String(n % LINKS).padStart(8, '0')}`;
const providerCodeOf = (n: number) => `Provide${n % PROVIDERS}`;
const hwidOf = (n: number) => `device${n % DEVICES}`;
const providerIds: number[] = [];
const linkIds: number[] = [];
const holders: (TokenHolder & { tokenId: number })[] = [];
const messageIds: number[][] = [];
let made = 0;
let acknowledged = 0;
const CALLS: Record<string, (store: Store, n: number) => unknown> = {
  findProvider: (store, n) => store.findProvider(providerCodeOf(n)),
  listLinksOf: (store, n) =>
    store.listLinksOf(at(providerIds, n), { id: at(linkIds, n), beforeId: null, countMax: 1 }),
  findSlot: (store, n) =>
    store.findSlot({ installCode: codeOf(n), domainHash: HASH, hwid: hwidOf(n) }),
  findDeviceByToken: (store, n) => store.findDeviceByToken(at(holders, n).tokenHash),
  addLink: (store, n) => {
    const installCode = `New${made++}`.padEnd(12, 'x');
    return store.addLink(linkDraft(at(providerIds, n), { installCode, ...NO_LIMIT }), ACT);
  },
  takeSlot: (store, n) =>
    store.takeSlot(
      { installCode: codeOf(n), domainHash: HASH, hwid: `new${made++}` },
      FACTS,
      Date.now(),
    ),
  findCheckIn: (store, n) =>
    store.findCheckIn({ providerCode: providerCodeOf(n), domainHash: HASH, hwid: hwidOf(n) }),
  recordCheckIn: (store, n) =>
    store.recordCheckIn(
      { providerCode: providerCodeOf(n), domainHash: HASH, hwid: hwidOf(n) },
      FACTS,
      Date.now(),
    ),
  noteSeen: (store, n) => store.noteSeen(at(holders, n).id, at(holders, n).tokenId, Date.now()),
  listInbox: (store, n) =>
    store.listInbox(at(holders, n), Date.now(), { countMax: 20, bytesMax: 1_000_000 }),
  // Each message of each device once, as far as they go; then repeated ones.
  acknowledge: (store) => {
    const n = acknowledged++;
    const id = at(at(messageIds, n % DEVICES), Math.floor(n / DEVICES));
    return store.acknowledge(at(holders, n), [{ id, state: 'received', detail: null }], Date.now());
  },
  addDistribution: (store, n) =>
    store.addDistribution(
      draft(at(providerIds, n), { createdAtMs: Date.now(), targetOs: null, targetHwid: hwidOf(n) }),
      UNGUARDED,
      ACT,
    ),
};

function at<T>(list: readonly T[], n: number): T {
  return list[n % list.length] as T;
}

async function fill(store: Store): Promise<void> {
  for (let n = 0; n < PROVIDERS; n++) {
    const { id } = await addProvider(store, providerCodeOf(n));
    providerIds.push(id);
    await bind(store, id);
  }
  await someAtATime(LINKS, async (n) => {
    const draftOf = { installCode: codeOf(n), ...NO_LIMIT };
    linkIds[n] = await addLink(store, at(providerIds, n), draftOf);
  });
  await someAtATime(DEVICES, async (n) => {
    const key = { installCode: codeOf(n), domainHash: HASH, hwid: hwidOf(n) };
    await store.takeSlot(key, FACTS, Date.now());
    const holder = await register(store, hwidOf(n), onLink(codeOf(n)));
    const known = await store.findDeviceByToken(holder.tokenHash);
    holders[n] = { ...holder, tokenId: known?.tokenId ?? 0 };
  });
  for (const [n, providerId] of providerIds.entries()) {
    const ids: number[] = [];
    const more = { expiresAtMs: Date.now() + 86_400_000 };
    for (let m = 0; m < MESSAGES; m++) ids.push(await deliver(store, providerId, more));
    messageIds[n] = ids;
  }
}

/** Returns processor time of a call, us, of this process and PostgreSQL together. */
async function run(
  store: Store,
  call: (store: Store, n: number) => unknown,
  callers: number,
  lastMs: number,
  postgres: Server,
): Promise<number> {
  const before = process.cpuUsage();
  const postgresBeforeS = postgres.cpuSeconds();
  const endMs = performance.now() + lastMs;
  let n = 0;
  const caller = async () => {
    while (performance.now() < endMs) {
      const own = n++;
      await store.onBehalfOf(own % PROVIDERS, String, () => call(store, own));
    }
  };
  await Promise.all(Array.from({ length: callers }, caller));
  const { user, system } = process.cpuUsage(before);
  return (user + system + (postgres.cpuSeconds() - postgresBeforeS) * 1e6) / n;
}

export const sets: Case = {
  about:
    'processor time of a call to the store on PostgreSQL, of this process and of PostgreSQL, with the fast paths and without',
  options: { rounds: '5', ms: '1000', callers: '32', only: '' },
  needs: ['initdb'],
  run: async (bench) => {
    const postgres = await bench.postgres();
    const open = (set: boolean) =>
      openPostgresStore(
        { dataDir: '', create: true, commitBatchMax: 1 },
        { ...placeOf(postgres.url), connections: 6, set },
      );
    const stores = [await open(true), await open(false)];
    await fill(stores[0] as Store);
    const db = new SQL({ url: postgres.url, max: 1 });
    await db.unsafe('VACUUM ANALYZE');
    await db.close();
    await postgres.checkpoint();
    const print = printTable(['call', 'callers', 'fast path us', 'noun us', 'times as much']);
    for (const [name, call] of Object.entries(CALLS).filter(([each]) => bench.takes(each))) {
      for (const callers of bench.text('callers').split(',').map(Number)) {
        const costs: number[][] = [[], []];
        for (let round = 0; round < bench.number('rounds'); round++) {
          for (const [n, store] of inTurn([...stores.entries()], round)) {
            const us = await run(store, call, callers, bench.number('ms'), postgres.server);
            costs[n]?.push(us);
          }
        }
        const [set = 0, noun = 0] = costs.map(median);
        print([name, String(callers), set, noun, noun / set]);
      }
    }
    for (const store of stores) await store.close();
    return undefined;
  },
};

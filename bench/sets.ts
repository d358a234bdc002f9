/**
 * The fast paths of src/store/postgres/set beside the nouns that they stand in for: the same calls
 * to two stores on one PostgreSQL, in turns. Prints processor time of a call, of this process and
 * of PostgreSQL; writes nothing to the repository.
 *
 *   bun bench/sets.ts [--rounds 5] [--ms 1000] [--callers 32,128] [--only takeSlot]
 */

import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
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
  installDraft,
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
import { median } from './load.ts';
import { startPostgres } from './peers/postgres.ts';
import { stopAll } from './process.ts';

const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    ms: { type: 'string', default: '1000' },
    callers: { type: 'string', default: '32' },
    only: { type: 'string' },
  },
});
/** Providers, each a party, links, devices, and messages that wait for each device. */
const [PROVIDERS, LINKS, DEVICES, MESSAGES] = [8, 4_000, 4_000, 12];
/** No link has a limit that a case reaches. */
const NO_LIMIT = { installLimit: 100, installCountMax: 1_000_000_000 };

const folder = mkdtempSync(join(tmpdir(), 'gatepost-bench-'));
process.once('exit', () => {
  stopAll();
  rmSync(folder, { recursive: true, force: true });
});
const port = 20_000 + Math.floor(Math.random() * 10_000);
const pgFolder = join(folder, 'postgres');
mkdirSync(pgFolder);
const postgres = await startPostgres(pgFolder, {}, port);
const url = `postgres://bench@127.0.0.1:${port}/postgres`;
const open = (set: boolean) =>
  openPostgresStore(
    { dataDir: '', create: true, commitBatchMax: 1 },
    { ...placeOf(url), connections: 6, set },
  );
const stores = { set: await open(true), noun: await open(false) };

const codeOf = (n: number) => `Link${String(n % LINKS).padStart(8, '0')}`;
const providerCodeOf = (n: number) => `Provide${n % PROVIDERS}`;
const hwidOf = (n: number) => `device${n % DEVICES}`;
const providerIds: number[] = [];
const linkIds: number[] = [];
const holders: (TokenHolder & { tokenId: number })[] = [];
const messageIds: number[][] = [];
await seed(stores.set);

let made = 0;
let acknowledged = 0;
const CASES: Record<string, (store: Store, n: number) => unknown> = {
  findProvider: (store, n) => store.findProvider(providerCodeOf(n)),
  listInstalls: (store, n) =>
    store.listInstalls(at(providerIds, n), { id: at(linkIds, n), beforeId: null, countMax: 1 }),
  findSlot: (store, n) =>
    store.findSlot({ installCode: codeOf(n), domainHash: HASH, hwid: hwidOf(n) }),
  findDeviceByToken: (store, n) => store.findDeviceByToken(at(holders, n).tokenHash),
  addInstall: (store, n) => {
    const installCode = `New${made++}`.padEnd(12, 'x');
    return store.addInstall(installDraft(at(providerIds, n), { installCode, ...NO_LIMIT }), ACT);
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

console.log('| Call | Callers | Fast path, us | Noun, us | Times as much |\n|---|---|---|---|---|');
for (const [name, call] of Object.entries(CASES)) {
  if (options.only !== undefined && options.only !== name) continue;
  for (const callers of options.callers.split(',').map(Number)) await measure(name, call, callers);
}
for (const store of Object.values(stores)) await store.close();
process.exit(0);

function at<T>(list: readonly T[], n: number): T {
  return list[n % list.length] as T;
}

async function seed(store: Store): Promise<void> {
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
  const db = new SQL({ adapter: 'postgres', url, database: 'postgres', max: 1 });
  await db.unsafe('VACUUM ANALYZE');
  await db.close();
  await postgres.checkpoint();
}

/** Returns processor time of a call, us, of this process and PostgreSQL together. */
async function run(store: Store, call: (store: Store, n: number) => unknown, callers: number) {
  const before = process.cpuUsage();
  const postgresBeforeS = postgres.server.cpuSeconds();
  const endMs = performance.now() + Number(options.ms);
  let n = 0;
  const caller = async () => {
    while (performance.now() < endMs) {
      const own = n++;
      await store.onBehalfOf(own % PROVIDERS, String, () => call(store, own));
    }
  };
  await Promise.all(Array.from({ length: callers }, caller));
  const { user, system } = process.cpuUsage(before);
  return (user + system + (postgres.server.cpuSeconds() - postgresBeforeS) * 1e6) / n;
}

async function measure(
  name: string,
  call: (store: Store, n: number) => unknown,
  callers: number,
): Promise<void> {
  const costs = { set: [] as number[], noun: [] as number[] };
  for (let round = 0; round < Number(options.rounds); round++) {
    const kinds = round % 2 === 0 ? (['set', 'noun'] as const) : (['noun', 'set'] as const);
    for (const kind of kinds) costs[kind].push(await run(stores[kind], call, callers));
  }
  const [set, noun] = [median(costs.set), median(costs.noun)];
  const cells = [name, callers, set.toFixed(0), noun.toFixed(0), (noun / set).toFixed(1)];
  console.log(`| ${cells.join(' | ')} |`);
}

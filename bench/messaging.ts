/** One general notification to many devices, whose phones sleep. */

import { Database } from 'bun:sqlite';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { SQL } from 'bun';
import {
  ask,
  type Bench,
  type Case,
  inTurn,
  median,
  notification,
  printTable,
  startCaller,
  type Times,
  who,
} from './driver.ts';
import type { Server } from './process.ts';
import { seed, seedPostgres } from './seed.ts';

/** How long the calls are measured alone, before the notification. */
const QUIET_MS = 5_000;
const DEADLINE_MS = 15 * 60_000;
const DEVICES_PER_LINK = 10;

/** Waits until a distribution has ended; when each status was first seen, ms. */
export async function follow(
  { url }: Pick<Server, 'url'>,
  id: number,
  provider = 1,
  deadlineMs = DEADLINE_MS,
): Promise<Map<number, number>> {
  const seen = new Map<number, number>();
  const giveUpMs = performance.now() + deadlineMs;
  while (performance.now() < giveUpMs) {
    const { data } = await ask(`${url}/remote/list?${who(provider)}&id=${id}`);
    const status = data[0]?.status ?? 0;
    if (!seen.has(status)) seen.set(status, performance.now());
    if (status > 100) throw new Error(`it ended as ${status}`);
    if (status === 100) return seen;
    await Bun.sleep(20);
  }
  throw new Error('it did not end in time');
}

/** Half of the devices are on links, half came in through a binding. */
const shapeOf = (deviceCount: number, providerCount = 1) => ({
  providerCount,
  linkCount: Math.ceil(deviceCount / 2),
  deviceCount: Math.ceil(deviceCount / 2),
  boundCount: Math.floor(deviceCount / 2),
  run: DEVICES_PER_LINK,
});

export const messaging: Case = {
  isSpread: true,
  about:
    'from the call to status 100 with a million devices, and what steady calls of list-install notice; several providers share the devices and send at the same time',
  options: { devices: '1000000', providers: '1', rate: '200' },
  run: async (bench) => {
    const providerCount = bench.number('providers');
    const dataDir = bench.place('data');
    await seed(bench, dataDir, shapeOf(bench.number('devices'), providerCount));
    const server = await bench.serve(dataDir);
    const idleMib = server.peakMib();
    const perSecond = bench.number('rate');
    const caller = startCaller(`${server.url}/api/list-install?${who()}&id=1`, { perSecond });
    await Bun.sleep(1_000);
    await caller.times();
    await Bun.sleep(QUIET_MS);
    const before = await caller.times();
    const sentMs = performance.now();
    const ids = await Promise.all(
      Array.from({ length: providerCount }, (_, n) =>
        ask(`${server.url}/remote/notification?${who(n + 1)}`, notification()),
      ),
    );
    const acceptedMs = performance.now() - sentMs;
    const [seen = new Map()] = await Promise.all(ids.map(({ id }, n) => follow(server, id, n + 1)));
    const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`;
    const tookMs = performance.now() - sentMs;
    const meanwhile = await caller.times();
    const path = [...seen].map(([status, ms]) => `${status} at ${seconds(ms - sentMs)}`);
    console.log(`accepted in ${acceptedMs.toFixed(1)} ms; status ${path.join(', ')}`);
    console.log(`from the call to the end: ${seconds(tookMs)}`);
    const walMib = (statSync(join(dataDir, 'gatepost.db-wal')).size / 1024 ** 2).toFixed(0);
    const peak = `${server.peakMib().toFixed(0)} MiB (${idleMib.toFixed(0)} before)`;
    console.log(`peak memory ${peak}, WAL ${walMib} MiB`);
    const shown = (name: string, { count, p50Ms, p99Ms, longestMs, failed }: Times) => {
      const figures = [p50Ms, p99Ms, longestMs].map((ms) => ms.toFixed(1)).join(', ');
      console.log(
        `list-install ${name}: ${count} calls, p50, p99, max ${figures} ms, failed ${failed}`,
      );
    };
    shown('before', before);
    shown('meanwhile', meanwhile);
    await server.stop();
    return undefined;
  },
};

/** A database of a variant, and statements while no server has it. */
interface Data {
  env: Record<string, string>;
  dataDir: string;
  run(sql: string): Promise<unknown>;
}

async function makeData(bench: Bench, name: string, port: number | null): Promise<Data> {
  const dataDir = bench.place(name);
  const shape = shapeOf(bench.number('devices'));
  if (port !== null) {
    const url = await seedPostgres(bench, port, shape);
    const db = new SQL({ url, max: 1 });
    return { env: { GATEPOST_DATABASE_URL: url }, dataDir, run: (sql) => db.unsafe(sql) };
  }
  await seed(bench, dataDir, shape);
  const run = async (sql: string) => {
    const db = new Database(join(dataDir, 'gatepost.db'));
    db.run(sql);
    db.close();
  };
  return { env: {}, dataDir, run };
}

async function sendOnce(bench: Bench, data: Data, ride: string): Promise<number[]> {
  await data.run('UPDATE provider SET last_general_at_ms = NULL');
  const server = await bench.serve(data.dataDir, { ...data.env, GATEPOST_GATE_RIDE: ride });
  // The first call of a server pays for what is read once.
  await ask(`${server.url}/remote/list?${who()}`);
  const cpuBefore = server.cpuSeconds();
  const startMs = performance.now();
  const { id } = await ask(`${server.url}/remote/notification?${who()}`, notification());
  const acceptedMs = performance.now() - startMs;
  await follow(server, id);
  const endedMs = performance.now() - startMs;
  const cpuMs = (server.cpuSeconds() - cpuBefore) * 1000;
  await server.stop();
  return [acceptedMs, endedMs, cpuMs];
}

export const rideSends: Case = {
  isSpread: true,
  about:
    'one notification to many devices with riding off and on in turns: to its answer, to status 100, and processor time',
  options: { devices: '100000', rounds: '6', store: 'sqlite' },
  run: async (bench) => {
    const port = bench.text('store') === 'postgres' ? (await bench.postgres()).port : null;
    // Each has data of its own: the ledger grows with each send.
    const variants = await Promise.all(
      ['off', 'on'].map(async (ride) => {
        return { ride, data: await makeData(bench, ride, port), all: [] as number[][] };
      }),
    );
    for (let round = 0; round < bench.number('rounds'); round++) {
      for (const { ride, data, all } of inTurn(variants, round)) {
        const figures = await sendOnce(bench, data, ride);
        // The first round pays for cold files.
        if (round > 0) all.push(figures);
      }
    }
    const print = printTable(['riding', 'accepted ms', 'ended ms', 'CPU ms', 'of off']);
    const mediansOf = (all: readonly number[][]) =>
      [0, 1, 2].map((at) => median(all.map((figures) => figures[at] ?? 0)));
    const off = mediansOf(variants[0]?.all ?? []);
    for (const { ride, all } of variants) {
      const own = mediansOf(all);
      const of = own.map((value, at) => (value / (off[at] ?? 1)).toFixed(3));
      print([ride, ...own, of.join(', ')]);
    }
    return undefined;
  },
};

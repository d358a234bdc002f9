/** Servers of Gatepost side by side: two executables, the doors of a gate, the two stores. */

import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { type Bench, type Case, count, median, printTable, verdict } from './driver.ts';
import { environment, processorTimes } from './environment.ts';
import { fillThroughApi } from './fill.ts';
import { inTurns, medians, type Run, ratios, type Side } from './load.ts';
import { seed, seedPostgres } from './seed.ts';

const turnsOf = (bench: Bench) => ({
  rounds: bench.number('rounds'),
  seconds: bench.number('seconds'),
});
const RATIO_MAX = 1.03;
const COMPARED = [
  { kind: 'list-one', connections: 32, isJudged: true },
  { kind: 'known-hwid', connections: 32, isJudged: true },
  { kind: 'add-install', connections: 1, writes: true },
  { kind: 'add-install', connections: 32, writes: true, isJudged: true },
  { kind: 'add-install', connections: 128, writes: true, isJudged: true },
  { kind: 'new-hwid', connections: 32, writes: true },
  { kind: 'wrong-key', connections: 32 },
];

export const compare: Case = {
  about:
    'processor time of a request with two executables, each with a schema of its own; ends with 1 at 3 % more for a list of one id, a known HWID or an added link',
  options: {
    before: '',
    after: '',
    rounds: '9',
    seconds: '2',
    only: '',
    links: '10000',
  },
  needs: ['wrk'],
  run: async (bench) => {
    const executables = [bench.text('before'), bench.text('after') || bench.executable];
    if (executables[0] === '') throw new Error('--before FILE is missing');
    const shape = oneProvider(bench.number('links'));
    const seeded: string[] = [];
    for (const [at, executable] of executables.entries()) {
      const dataDir = bench.place(`side-${at}`);
      await fillThroughApi(bench, dataDir, shape, executable);
      seeded.push(dataDir);
    }
    const head = ['case', 'conn.', 'before us', 'after us', 'ratio', 'least', 'most', 'after/s'];
    const print = printTable([...head, 'rate', '']);
    let isMet = true;
    for (const { kind, connections, writes, isJudged } of COMPARED) {
      if (!bench.takes(kind)) continue;
      const sides: Side[] = [];
      for (const [at, executable] of executables.entries()) {
        const own = seeded[at] ?? '';
        const dataDir = writes ? join(bench.folder, crypto.randomUUID()) : own;
        if (writes) cpSync(own, dataDir, { recursive: true });
        sides.push({ name: executable, servers: [await bench.serve(dataDir, {}, executable)] });
      }
      const [old = [], now = []] = await inTurns(sides, {
        kind,
        connections,
        shape,
        ...turnsOf(bench),
      });
      for (const { servers } of sides) await servers[0]?.stop();
      const cost = ratios(now, old, 'cpuUs');
      const isGood = median(cost) <= RATIO_MAX;
      if (isJudged && !isGood) isMet = false;
      print([
        kind,
        String(connections),
        ...[old, now].map((runs) => medians(runs).cpuUs.toFixed(2)),
        ...[median(cost), Math.min(...cost), Math.max(...cost)].map((each) => each.toFixed(3)),
        medians(now).requestsPerSecond.toFixed(0),
        median(ratios(now, old)).toFixed(3),
        isJudged ? verdict(isGood) : '',
      ]);
    }
    return isMet;
  },
};

/** One provider: ids of links then need no order. */
function oneProvider(linkCount: number) {
  return { providerCount: 1, linkCount, deviceCount: linkCount };
}

export const gate: Case = {
  about: 'processor time of `/gate` by code and by key beside `/install`, for HWIDs that are known',
  options: { rounds: '9', seconds: '2', links: '10000' },
  needs: ['wrk'],
  run: async (bench) => {
    const shape = oneProvider(bench.number('links'));
    const dataDir = bench.place('data');
    await fillThroughApi(bench, dataDir, shape);
    const server = await bench.serve(dataDir, { GATEPOST_TRUSTED_PROXIES: '127.0.0.1' });
    const sides = ['known-hwid', 'gate-code', 'gate-key'].map(
      (kind): Side => ({ name: kind, kind, servers: [server] }),
    );
    const turns = { kind: '', connections: 32, shape, ...turnsOf(bench) };
    const runs = await inTurns(sides, turns);
    await server.stop();
    const print = printTable(['case', 'us', 'requests/s', 'us against /install', 'least', 'most']);
    for (const [at, { name }] of sides.entries()) {
      const own = runs[at] ?? [];
      const cost = ratios(own, runs[0], 'cpuUs');
      const { cpuUs, requestsPerSecond } = medians(own);
      const spread = [median(cost), Math.min(...cost), Math.max(...cost)];
      const figures = spread.map((each) => each.toFixed(3));
      print([name, cpuUs.toFixed(2), requestsPerSecond.toFixed(0), ...figures]);
    }
    return undefined;
  },
};

/** The ratios are those that the store on PostgreSQL was built for. */
const OF_STORES = [
  { title: 'add-install', kind: 'add-install', connections: 128, least: 0.5 },
  { title: 'add-install', kind: 'add-install', connections: 32 },
  { title: 'add-install', kind: 'add-install', connections: 1 },
  { title: 'list-install of one id', kind: 'list-one', connections: 32, least: 0.6 },
  { title: 'list-install of 5000', kind: 'list-5000', connections: 4 },
  { title: '/install, known HWID', kind: 'known-hwid', connections: 32, least: 0.7 },
  { title: '/install, new HWIDs', kind: 'new-hwid', connections: 32 },
  { title: '/install, new HWIDs', kind: 'new-hwid', connections: 128 },
];

export const stores: Case = {
  isSpread: true,
  about:
    'one node on SQLite, one and two on PostgreSQL, with the processor time of each part; all share the machine',
  options: { rounds: '5', seconds: '2', only: '' },
  needs: ['wrk', 'initdb'],
  run: async (bench) => {
    const before = processorTimes();
    const shape = { providerCount: 2, linkCount: 10_000, deviceCount: 10_000 };
    const seeded = bench.place('seed');
    await seed(bench, seeded, shape);
    const postgres = await bench.postgres();
    console.log(`${environment(bench, before)}\n`);
    const head = ['case', 'conn.', 'store', '/s', 'of SQLite', 'Gatepost us', 'PostgreSQL us'];
    const print = printTable([...head, 'p50 ms', 'p99 ms']);
    for (const { title, kind, connections, least } of OF_STORES) {
      if (!bench.takes(kind)) continue;
      // Each on a database of its own, as it was seeded.
      const dataDir = join(bench.folder, crypto.randomUUID());
      cpSync(seeded, dataDir, { recursive: true });
      const sides: Side[] = [{ name: 'SQLite', servers: [await bench.serve(dataDir)] }];
      for (const nodes of [1, 2]) {
        const env = { GATEPOST_DATABASE_URL: await seedPostgres(bench, postgres.port, shape) };
        const servers = [];
        for (let n = 0; n < nodes; n++) {
          servers.push(await bench.serve(bench.place(crypto.randomUUID()), env));
        }
        const name = nodes === 1 ? 'PostgreSQL' : `PostgreSQL, ${nodes} nodes`;
        sides.push({ name, servers, beside: postgres.server });
      }
      await postgres.checkpoint();
      const runs = await inTurns(sides, { kind, connections, shape, ...turnsOf(bench) });
      for (const { servers } of sides) for (const server of servers) await server.stop();
      for (const [at, { name }] of sides.entries()) {
        const own = runs[at] ?? [];
        const { requestsPerSecond, cpuUs, p50Us, p99Us } = medians(own);
        const ratio = median(ratios(own, runs[0]));
        const wanted = least !== undefined && at === 1 ? ` (≥ ${least})` : '';
        print([
          ...[title, String(connections), name, count(requestsPerSecond)],
          `${ratio.toFixed(2)}${wanted}`,
          cpuUs,
          at === 0 ? '–' : median(own.map(({ besideUs }: Run) => besideUs)),
          p50Us / 1000,
          p99Us / 1000,
        ]);
      }
    }
    return undefined;
  },
};

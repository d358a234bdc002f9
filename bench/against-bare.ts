/** The compiled executable beside a bare Bun.serve, on a small and a large database. */

import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { type Bench, type Case, count, median, table, verdict, who } from './driver.ts';
import { environment, processorTimes, writeResult } from './environment.ts';
import { inTurns, medians, type Run, ratios, type Side } from './load.ts';
import { onServerCore, startServer } from './process.ts';
import { seed } from './seed.ts';
import type { Shape } from './shape.ts';

interface Wanted {
  title: string;
  kind: string;
  connections: number;
  /** Requests/s of the bare server that are wanted at least. */
  least?: number;
  /** It leaves rows behind; measured with one commit per request too. */
  writes?: boolean;
}

const CASES: readonly Wanted[] = [
  { title: 'list-install of one id', kind: 'list-one', connections: 32, least: 0.45 },
  { title: 'list-install of 5000', kind: 'list-5000', connections: 4 },
  { title: '/install, known HWID', kind: 'known-hwid', connections: 32, least: 0.38 },
  { title: 'wrong credentials', kind: 'wrong-key', connections: 32, least: 0.45 },
  { title: '/install, new HWIDs', kind: 'new-hwid', connections: 32, writes: true },
  { title: 'add-install', kind: 'add-install', connections: 1, writes: true },
  { title: 'add-install', kind: 'add-install', connections: 32, writes: true },
  { title: 'add-install', kind: 'add-install', connections: 128, writes: true },
];
const SMALL = { providerCount: 2, linkCount: 10_000, deviceCount: 10_000 };
const LARGE = { providerCount: 500, linkCount: 5_000_000, deviceCount: 1_000_000 };
const ONE_COMMIT = { GATEPOST_COMMIT_BATCH_MAX: '1' };
const START_MAX_MS = 150;
const MEMORY_MAX_KIB = 90 * 1024;
/** A list of 5000 against bun:sqlite and JSON.stringify alone. */
const TIMES_ALONE_MAX = 1.2;
/** The large database against the small one. */
const LARGE_MIN = 0.75;

const HOW = `The servers take turns. "ratio" is requests/s against the bare server in the same
round; "CPU us" is processor time of the server per request and "CPU ratio" that of the bare server
against it, which other work on the machine disturbs less; "busy" is the share of the server's core
(well below 100 %: it waited for the disk or for the load generator). Rows are drawn at random over
the whole database. The small database is copied again for each case that writes; for the large one,
one commit per request runs in a second process on the same file. p50 and p99 are under full load:
mostly the queue. Idle memory counts the mapped pages of the executable; "anonymous" does not.`;

interface Seeded extends Shape {
  dataDir: string;
}

export const againstBare: Case = {
  about: 'each call beside a bare Bun.serve, starts and idle memory; writes bench/results/DATE.md',
  options: { quick: false, only: '', run: '1', links: String(LARGE.linkCount) },
  needs: ['wrk'],
  run: async (bench) => {
    const before = processorTimes();
    const [rounds, seconds] = bench.is('quick') ? [2, 1] : [5, 2];
    const bare = compileBare(bench);
    const linkCount = bench.number('links');
    const large = { ...LARGE, linkCount, deviceCount: linkCount / 5 };
    const databases: Seeded[] = [];
    for (const [name, shape] of Object.entries({ small: SMALL, large })) {
      bench.progress(`a database with ${count(shape.linkCount)} links`);
      const own = { ...shape, run: bench.number('run'), dataDir: bench.place(name) };
      await seed(bench, own.dataDir, own);
      databases.push(own);
    }
    const [lines, judged]: [string[][], string[][]] = [[], []];
    if (bench.takes('start')) judged.push(...(await start(bench, databases[1] as Seeded)));
    for (const of of CASES.filter(({ kind }) => bench.takes(kind))) {
      bench.progress(`${of.title}, ${of.connections} connections`);
      const sides = await startSides(bench, of, databases, bare);
      const shape = databases[0] as Seeded;
      const { kind, connections } = of;
      const runs = await inTurns(sides, { kind, connections, shape, rounds, seconds });
      for (const [at, side] of sides.entries()) lines.push(line(of, side, runs[at] ?? [], runs[0]));
      judged.push(...judge(of, sides, runs));
      if (kind === 'list-5000') judged.push(...(await alone(databases, sides, runs, seconds)));
      for (const { servers } of sides) for (const server of servers) await server.stop();
    }
    const head = ['case', 'links', 'conn.', 'requests/s', 'p50 ms', 'p99 ms', 'ratio', 'CPU us'];
    const text = [
      environment(bench, before),
      `Medians of ${rounds} rounds of ${seconds} s. ${HOW}`,
      table([...head, 'CPU ratio', 'busy'], lines),
      table(['what', 'measured', 'wanted', ''], judged),
    ].join('\n\n');
    // Only the whole bench, on what everybody would build, is worth keeping.
    await writeResult(bench, '', `Bench`, text);
    return undefined;
  },
};

/** The same Bun as the product's, compiled the same way. */
function compileBare(bench: Bench): string {
  const file = join(bench.folder, 'bare');
  const flags = ['--compile', '--bytecode', '--format', 'esm', '--minify-syntax'];
  const source = join(import.meta.dir, 'bare-server.ts');
  const build = Bun.spawnSync([process.execPath, 'build', ...flags, '--outfile', file, source]);
  if (build.exitCode !== 0) throw new Error(build.stderr.toString());
  return file;
}

async function startSides(
  bench: Bench,
  { title, writes = false }: Wanted,
  databases: readonly Seeded[],
  bare: string,
): Promise<Side[]> {
  const server = await startServer(onServerCore([bare]));
  const sides: Side[] = [{ name: `**${title}**: bare server`, servers: [server], isBare: true }];
  for (const [at, shape] of databases.entries()) {
    const own = () => {
      if (!writes || at > 0) return shape.dataDir;
      const copy = join(bench.folder, crypto.randomUUID());
      cpSync(shape.dataDir, copy, { recursive: true });
      return copy;
    };
    const add = async (name: string, env: Record<string, string>) =>
      sides.push({ name, shape, servers: [await bench.serve(own(), env)] });
    await add(title, {});
    if (writes) await add('one commit per request', ONE_COMMIT);
  }
  return sides;
}

const ms = (us: number) => (us / 1000).toFixed(us < 10_000 ? 2 : 1);

function line(of: Wanted, side: Side, runs: readonly Run[], bare?: readonly Run[]): string[] {
  const own = medians(runs);
  return [
    side.name,
    side.shape === undefined ? '' : count(side.shape.linkCount),
    String(of.connections),
    count(own.requestsPerSecond),
    ms(own.p50Us),
    ms(own.p99Us),
    median(ratios(runs, bare)).toFixed(3),
    own.cpuUs.toFixed(1),
    (1 / median(ratios(runs, bare, 'cpuUs'))).toFixed(3),
    `${Math.round(own.busy * 100)} %`,
  ];
}

/** Lines of what is compared: by its name, the value, and the least that is wanted. */
function judge(of: Wanted, sides: readonly Side[], runs: readonly Run[][]): string[][] {
  const lines: string[][] = [];
  const first = sides.findIndex(({ name }) => name === of.title);
  for (const [at, side] of sides.entries()) {
    if (side.name !== of.title) continue;
    const own = runs[at] ?? [];
    const name = `${of.title}, ${of.connections} connections, ${count(side.shape?.linkCount ?? 0)} links`;
    const add = (what: string, value: number, least?: number) => {
      const isJudged = least !== undefined;
      const shown = value > 100 ? count(value) : value.toFixed(3);
      const wanted = isJudged ? [`≥ ${least}`, verdict(value >= least)] : ['', ''];
      lines.push([`${name}: ${what}`, shown, ...wanted]);
    };
    if (of.least !== undefined) add('ratio to bare', median(ratios(own, runs[0])), of.least);
    if (of.writes) {
      const isMost = of.connections === 128;
      const gain = median(ratios(own, runs[at + 1]));
      add('against one commit per request', gain, isMost ? 3 : undefined);
      if (isMost) add('requests/s', medians(own).requestsPerSecond, 25_000);
    }
    if (at !== first) {
      add('against the small database', median(ratios(own, runs[first])), LARGE_MIN);
    }
  }
  return lines;
}

/** The processor time of a list of 5000 without Gatepost, on the server's core. */
async function alone(
  databases: readonly Seeded[],
  sides: readonly Side[],
  runs: readonly Run[][],
  seconds: number,
): Promise<string[][]> {
  const lines: string[][] = [];
  for (const { dataDir, providerCount, linkCount } of databases) {
    const script = join(import.meta.dir, 'list-alone.ts');
    const words = [process.execPath, script, dataDir, String(providerCount), String(seconds)];
    const us = Number(Bun.spawnSync(onServerCore(words)).stdout.toString());
    if (!(us > 0)) throw new Error('the list alone failed');
    const at = sides.findIndex(({ shape }) => shape?.linkCount === linkCount);
    const times = medians(runs[at] ?? []).cpuUs / us;
    const what = `a list of 5000, ${count(linkCount)} links: processor time against ${ms(us)} ms alone`;
    const wanted = [`≤ ${TIMES_ALONE_MAX}`, verdict(times <= TIMES_ALONE_MAX)];
    lines.push([what, `${times.toFixed(2)} ×`, ...wanted]);
  }
  return lines;
}

/** From starting the process to the end of its first answer; memory of a server left alone. */
async function start(bench: Bench, { dataDir, deviceCount }: Seeded): Promise<string[][]> {
  const starts = bench.is('quick') ? 3 : 11;
  const times: number[] = [];
  for (;;) {
    const startMs = performance.now();
    const server = await bench.serve(dataDir);
    const answer = await (await fetch(`${server.url}/api/list-install?${who()}&id=1`)).text();
    times.push(performance.now() - startMs);
    if (!answer.startsWith('{"rc":1')) throw new Error(`not an answer: ${answer}`);
    if (times.length < starts) {
      await server.stop();
      continue;
    }
    await Bun.sleep(3_000);
    const { rssKib, pssKib, anonymousKib } = server.memory();
    await server.stop();
    const most = Math.max(...times).toFixed(0);
    const mib = (kib: number) => `${(kib / 1024).toFixed(1)} MB`;
    const firstMs = median(times);
    return [
      [
        `start to first answer, ${count(deviceCount)} devices (median of ${starts}, slowest ${most} ms)`,
        `${firstMs.toFixed(0)} ms`,
        `< ${START_MAX_MS} ms`,
        verdict(firstMs < START_MAX_MS),
      ],
      ['idle memory, VmRSS', mib(rssKib), '< 90 MB', verdict(rssKib < MEMORY_MAX_KIB)],
      ['idle memory, Pss', mib(pssKib), '', ''],
      ['idle memory, anonymous (its own)', mib(anonymousKib), '', ''],
    ];
  }
}

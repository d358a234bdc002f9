/**
 * Gatepost beside its peers, each built as its documentation advises, in one run on one core:
 * throughput, the same on a disk that syncs slowly, tails of a mixed load, and open streams. Writes
 * `bench/results/DATE-peers.md`.
 *
 *   bun bench/peers/run.ts [--quick] [--only throughput|slow-disk|tails|streams]
 *     [--executable FILE]
 *
 * `make bench-peers` installs the packages and runs it. A contestant for which something is missing
 * on the machine is left out, and the report says what it lacks. Any option: no file is written.
 */

import { chmodSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { environment, processorTimes } from '../environment.ts';
import { LOAD_CORE, load, type Measurement, onServerCore } from '../load.ts';
import { onCore, spawnKept, startServer, stopAll } from '../process.ts';
import type { Shape } from '../shape.ts';
import { type Contestant, GATEPOST, PEERS, type Running, type Setting } from './contestants.ts';
import type { Paced } from './paced.ts';
import { markdown, type Row, rowsOf, type TailRow } from './report.ts';
import type { StreamResult } from './streams.ts';
import { paced, peakOf, tailOf } from './tails.ts';

const PARTS = ['throughput', 'slow-disk', 'tails', 'streams'];

const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    only: { type: 'string' },
    executable: { type: 'string' },
  },
});
const root = join(import.meta.dir, '..', '..');
const gatepost = options.executable ?? join(root, 'dist', 'gatepost');
const isKept = !options.quick && !options.only && !options.executable;
const rounds = options.quick ? 2 : 4;
const seconds = options.quick ? 1 : 2;
const pacedSeconds = options.quick ? 2 : 8;
const pacedRounds = options.quick ? 1 : 2;
const streamCount = options.quick ? 2_000 : 10_000;

const SHAPE: Shape = {
  name: 'peers',
  providerCount: 2,
  linkCount: 10_000,
  deviceCount: 10_000,
  run: 1,
};

interface Case {
  title: string;
  kind: string;
  connections: number;
  /** The multiple of each peer that Gatepost is to reach. */
  wanted?: number;
}

const CASES: readonly Case[] = [
  { title: 'list-install of one id', kind: 'list-one', connections: 128, wanted: 2 },
  { title: '/install, known HWID', kind: 'known-hwid', connections: 128, wanted: 2 },
  { title: 'wrong credentials', kind: 'wrong-key', connections: 128, wanted: 2 },
  { title: 'add-install', kind: 'add-install', connections: 1 },
  { title: 'add-install', kind: 'add-install', connections: 128, wanted: 4 },
];

if (options.only !== undefined && !PARTS.includes(options.only)) {
  fail(`unknown part '${options.only}': ${PARTS.join(', ')}`);
}
const cases = options.quick ? CASES.filter(({ wanted }) => wanted !== undefined) : CASES;
if (!Bun.which('wrk')) fail("wrk was not found: 'make bench-tools' installs it");

const folder = mkdtempSync(join(tmpdir(), 'gatepost-peers-'));
// Another user than ours may run PostgreSQL, and must read the library of the slow disk.
chmodSync(folder, 0o711);
process.once('exit', () => {
  stopAll();
  removeFolder();
});
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));

const BARE: Contestant = {
  name: 'bare Bun.serve',
  checkpoints: '',
  missing: () => null,
  start: () => startServer(onServerCore([process.execPath, join(root, 'bench', 'bare.ts')])),
};

const missing: string[] = [];
const contestants = [GATEPOST, ...PEERS].filter((contestant) => {
  const lack = contestant.missing();
  if (lack !== null) missing.push(`${contestant.name}: ${lack}`);
  return lack === null;
});

const startMs = performance.now();
const before = processorTimes();
const isWanted = (part: string) => options.only === undefined || options.only === part;
/** Ids grow by a digit while links are added. */
const ANSWER_BYTES_DEVIATION_MAX = 0.03;
/** The default of pg. More of them cost a core that they share more, and it does no more for it. */
const POOL = 10;
/** Connections that wait for a slow disk together share its syncs. */
const SLOW_POOL = 64;

const fast: Setting = { gatepost, folder, shape: SHAPE, env: {}, pool: POOL };
const slow = isWanted('slow-disk') || isWanted('tails') ? slowDisk() : null;

const throughput = isWanted('throughput') ? await measure([...contestants, BARE], fast, cases) : [];
const slowWrites =
  slow && isWanted('slow-disk') ? await measure(contestants, slow, CASES.slice(-1)) : [];
const tails = isWanted('tails') ? await measureTails([...contestants, BARE], fast) : [];
const slowTails = slow && isWanted('tails') ? await measureTails(contestants, slow) : [];
const streams = isWanted('streams') ? await measureStreams() : { figures: [], missing: [] };
missing.push(...streams.missing);

const date = new Date().toISOString().slice(0, 10);
const text = markdown({
  date,
  minutes: (performance.now() - startMs) / 60_000,
  environment: environment(gatepost, folder, before),
  settings: { rounds, seconds, pacedRounds, pacedSeconds, streamCount },
  throughput,
  slowWrites,
  tails,
  slowTails,
  streams: streams.figures,
  missing,
});
console.log(text);
for (const lack of missing) progress(`left out: ${lack}`);
if (isKept) {
  await Bun.write(join(root, 'bench', 'results', `${date}-peers.md`), text);
  progress(`written to bench/results/${date}-peers.md`);
}
process.exit(0);

function progress(what: string): void {
  console.error(`bench: ${what}`);
}

/** PostgreSQL writes and removes files there to its very end. */
function removeFolder(): void {
  for (let tries = 0; tries < 20 && existsSync(folder); tries += 1) {
    try {
      rmSync(folder, { recursive: true, force: true });
    } catch {
      Bun.sleepSync(50);
    }
  }
}

function fail(says: string): never {
  console.error(says);
  process.exit(2);
}

/** The setting in which every process of every contestant waits 5 ms longer for each sync. */
function slowDisk(): Setting | null {
  const library = join(folder, 'slow-fsync.so');
  const source = join(import.meta.dir, 'slow-fsync.c');
  if (!Bun.which('cc')) {
    missing.push('the slow disk: cc (apt-get install gcc libc6-dev)');
    return null;
  }
  const flags = ['-O2', '-Wall', '-Werror', '-shared', '-fPIC'];
  const build = Bun.spawnSync(['cc', ...flags, '-o', library, source, '-ldl']);
  if (build.exitCode !== 0) throw new Error(build.stderr.toString());
  return { ...fast, env: { LD_PRELOAD: library }, pool: SLOW_POOL };
}

interface Started {
  contestant: Contestant;
  server: Running;
}

async function startAll(all: readonly Contestant[], setting: Setting): Promise<Started[]> {
  const started: Started[] = [];
  for (const contestant of all) {
    started.push({ contestant, server: await contestant.start(setting) });
  }
  return started;
}

/** Order of a round: the second finds another machine than the first, so they change places. */
function inTurn<T>(all: readonly T[], round: number): readonly T[] {
  return round % 2 === 0 ? all : all.toReversed();
}

async function measure(
  all: readonly Contestant[],
  setting: Setting,
  cases: readonly Case[],
): Promise<Row[]> {
  const started = await startAll(all, setting);
  const rows: Row[] = [];
  for (const { title, kind, connections, wanted } of cases) {
    progress(`${title}, ${connections} connections${setting === fast ? '' : ', slow disk'}`);
    const runs = new Map<Contestant, Measurement[]>(all.map((each) => [each, []]));
    const common = { kind, connections, shape: SHAPE };
    const bytes = new Map<Contestant, number>();
    for (const { contestant, server } of started) {
      const looked = await load(server, { ...common, seconds: 1, verify: contestant !== BARE });
      bytes.set(contestant, looked.bytesPerAnswer);
    }
    for (let round = 0; round < rounds; round += 1) {
      for (const { contestant, server } of inTurn(started, round)) {
        const run = await load(server, { ...common, seconds, verify: false });
        checkBytes(contestant.name, run.bytesPerAnswer, bytes.get(contestant));
        runs.get(contestant)?.push(run);
      }
    }
    const figures = started.map(({ contestant, server }) => ({
      name: contestant.name,
      isPeer: PEERS.includes(contestant),
      runs: runs.get(contestant) ?? [],
      ownKib: server.memory().ownKib,
    }));
    rows.push(...rowsOf({ title, connections, wanted: wanted ?? null }, figures));
  }
  for (const { server } of started) await server.stop();
  return rows;
}

/** Answers that are not looked into can still be weighed: a refusal has another size. */
function checkBytes(name: string, bytes: number, looked = Number.NaN): void {
  if (Math.abs(bytes / looked - 1) <= ANSWER_BYTES_DEVIATION_MAX) return;
  throw new Error(`${name}: answers changed from ${looked} to ${bytes} bytes each`);
}

async function measureTails(all: readonly Contestant[], setting: Setting): Promise<TailRow[]> {
  progress(`tails${setting === fast ? '' : ', slow disk'}`);
  const started = await startAll(all, setting);
  const peaks = new Map<Contestant, number>();
  for (const { contestant, server } of started) {
    if (contestant !== BARE) peaks.set(contestant, await peakOf(server, SHAPE, seconds));
  }
  // The bare server gets what Gatepost gets: its tail is that of the generator and the machine.
  const peak = (of: Contestant) => peaks.get(of) ?? peaks.get(GATEPOST) ?? 0;
  const found = new Map<Contestant, Paced[]>(all.map((each) => [each, []]));
  for (let round = 0; round < pacedRounds; round += 1) {
    for (const { contestant, server } of inTurn(started, round)) {
      const rate = Math.floor(peak(contestant) / 2);
      const isChecked = contestant !== BARE;
      found.get(contestant)?.push(await paced(server, SHAPE, rate, pacedSeconds, isChecked));
    }
  }
  for (const { server } of started) await server.stop();
  return started.map(({ contestant }) => ({
    name: contestant.name,
    checkpoints: contestant.checkpoints,
    ...tailOf(peak(contestant), found.get(contestant) ?? []),
  }));
}

/** Measures in a process of its own, whose clients stay on the core of the load. */
async function measureStreams(): Promise<StreamResult> {
  progress(`${streamCount} streams`);
  const script = join(import.meta.dir, 'streams.ts');
  const idleMs = options.quick ? '2000' : '5000';
  const words = ['--streams', String(streamCount), '--idle', idleMs, '--executable', gatepost];
  const command = onCore(LOAD_CORE, [process.execPath, script, ...words]);
  // It stops its own servers.
  const child = spawnKept(command, {}, 'SIGTERM');
  const text = await new Response(child.stdout).text();
  if ((await child.exited) !== 0) throw new Error('the streams failed');
  return JSON.parse(text) as StreamResult;
}

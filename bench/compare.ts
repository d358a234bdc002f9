/**
 * Compares two executables: processor time of the server for each request, and requests a second,
 * the two taking turns in one run.
 *
 *   bun bench/compare.ts --before FILE [--after dist/gatepost] [--rounds 9] [--seconds 2]
 *     [--only CASE] [--links 10000]
 *
 * Each makes a data directory of its own and is filled through its own API, so the two may have
 * different schemas. Ends with 1 if a judged case costs more than 3 % more than before.
 */

import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startGatepost } from './cases.ts';
import { fillThroughApi } from './fill.ts';
import { load, type Measurement, median } from './load.ts';
import { type Server, stopAll } from './process.ts';
import type { Shape } from './shape.ts';

interface Case {
  kind: string;
  connections: number;
  /** It leaves rows behind. */
  writes?: boolean;
  /** May not cost more than `RATIO_MAX` times what it cost before. */
  isJudged?: boolean;
}

const RATIO_MAX = 1.03;
const CASES: readonly Case[] = [
  { kind: 'list-one', connections: 32, isJudged: true },
  { kind: 'known-hwid', connections: 32, isJudged: true },
  { kind: 'add-install', connections: 1, writes: true },
  { kind: 'add-install', connections: 32, writes: true, isJudged: true },
  { kind: 'add-install', connections: 128, writes: true, isJudged: true },
  { kind: 'new-hwid', connections: 32, writes: true },
  { kind: 'wrong-key', connections: 32 },
];

const root = join(import.meta.dir, '..');
const { values: options } = parseArgs({
  options: {
    before: { type: 'string' },
    after: { type: 'string', default: join(root, 'dist', 'gatepost') },
    rounds: { type: 'string', default: '9' },
    seconds: { type: 'string', default: '2' },
    links: { type: 'string', default: '10000' },
    only: { type: 'string' },
  },
});
const [rounds, seconds] = [Number(options.rounds), Number(options.seconds)];
const linkCount = Number(options.links);
const { before, after } = options;
if (before === undefined) fail('--before FILE is missing: the executable to compare with');
if (!Bun.which('wrk')) fail("wrk was not found: 'make bench-tools' installs it");
const wanted = CASES.filter(({ kind }) => options.only === undefined || options.only === kind);
if (wanted.length === 0) {
  fail(`unknown case '${options.only}': ${[...new Set(CASES.map(({ kind }) => kind))].join(', ')}`);
}

/** One provider: ids of links then need no order. */
const SHAPE: Shape = {
  name: 'compared',
  providerCount: 1,
  linkCount,
  deviceCount: linkCount,
  run: 1,
};

const folder = mkdtempSync(join(tmpdir(), 'gatepost-compare-'));
process.once('exit', () => {
  stopAll();
  rmSync(folder, { recursive: true, force: true });
});
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));

const sides = [
  { name: 'before', executable: before, dataDir: join(folder, 'before') },
  { name: 'after', executable: after, dataDir: join(folder, 'after') },
];
for (const { name, executable, dataDir } of sides) {
  console.error(`compare: ${linkCount} links and as many devices for "${name}"`);
  await fillThroughApi(executable, dataDir, SHAPE);
}

const head = [
  'case',
  'conn.',
  'before us',
  'after us',
  'ratio',
  'least',
  'most',
  'after/s',
  'rate',
  '',
];
console.log(line(head));
console.log(line(head.map(() => '---')));
let isMet = true;
for (const of of wanted) {
  const pairs = await measured(of);
  const ratios = pairs.map(([old, now]) => now.cpuUs / old.cpuUs);
  const ratio = median(ratios);
  const isGood = ratio <= RATIO_MAX;
  if (of.isJudged && !isGood) isMet = false;
  const us = (side: 0 | 1) => median(pairs.map((pair) => pair[side].cpuUs)).toFixed(2);
  const each = median(pairs.map(([, now]) => now.requestsPerSecond)).toFixed(0);
  const rate = median(pairs.map(([old, now]) => now.requestsPerSecond / old.requestsPerSecond));
  const spread = [Math.min(...ratios), Math.max(...ratios)].map((each) => each.toFixed(3));
  const verdict = of.isJudged ? (isGood ? 'met' : '**missed**') : '';
  const figures = [us(0), us(1), ratio.toFixed(3), ...spread, each, rate.toFixed(3)];
  console.log(line([of.kind, String(of.connections), ...figures, verdict]));
}
process.exit(isMet ? 0 : 1);

/** Both, round by round. */
async function measured(of: Case): Promise<[before: Measurement, after: Measurement][]> {
  const servers: Server[] = [];
  try {
    for (const { executable, dataDir } of sides) {
      const used = of.writes ? `${dataDir}-${of.kind}-${of.connections}` : dataDir;
      if (of.writes) cpSync(dataDir, used, { recursive: true });
      servers.push(await startGatepost(executable, used));
    }
    const [old, now] = servers as [Server, Server];
    const common = { kind: of.kind, connections: of.connections, shape: SHAPE };
    for (const server of servers) await load(server, { ...common, seconds: 1, verify: true });
    const turn = (server: Server) => load(server, { ...common, seconds, verify: false });
    const pairs: [Measurement, Measurement][] = [];
    for (let round = 0; round < rounds; round++) {
      // The state of the machine changes between runs: the executables change places.
      if (round % 2 === 0) {
        const first = await turn(old);
        pairs.push([first, await turn(now)]);
      } else {
        const first = await turn(now);
        pairs.push([await turn(old), first]);
      }
    }
    return pairs;
  } finally {
    for (const server of servers) await server.stop();
  }
}

function line(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`;
}

function fail(says: string): never {
  console.error(says);
  process.exit(2);
}

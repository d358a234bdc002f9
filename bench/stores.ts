/**
 * The stores side by side: one node on SQLite, one on PostgreSQL, two on PostgreSQL, in turns, with
 * the processor time of each part. Everything shares the machine: the nodes, PostgreSQL and wrk.
 * Prints a table; `--result` writes it to `bench/results/DATE-stores.md` too.
 *
 *   bun bench/stores.ts [--rounds 5] [--seconds 2] [--only add-install] [--result]
 *
 * PostgreSQL is the machine's, as durable as it comes: each commit is on the disk, as on SQLite.
 */

import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { environment, processorTimes } from './environment.ts';
import { type Load, load, type Measurement, median } from './load.ts';
import { missingPostgres, startPostgres } from './peers/postgres.ts';
import { type Server, startServer, stopAll } from './process.ts';
import { seed } from './seed.ts';
import { seedPostgres } from './seed-postgres.ts';
import type { Shape } from './shape.ts';

const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '2' },
    only: { type: 'string' },
    executable: { type: 'string' },
    result: { type: 'boolean', default: false },
  },
});
const rounds = Number(options.rounds);
const seconds = Number(options.seconds);
const root = join(import.meta.dir, '..');
const gatepost = options.executable ?? join(root, 'dist', 'gatepost');

/** The ratios are those that the store on PostgreSQL was built for. */
const CASES = [
  { title: 'add-install', kind: 'add-install', connections: 128, leastRatio: 0.5 },
  { title: 'add-install', kind: 'add-install', connections: 32 },
  { title: 'add-install', kind: 'add-install', connections: 1 },
  { title: 'list-install of one id', kind: 'list-one', connections: 32, leastRatio: 0.6 },
  { title: 'list-install of 5000', kind: 'list-5000', connections: 4 },
  { title: '/install, known HWID', kind: 'known-hwid', connections: 32, leastRatio: 0.7 },
  { title: '/install, new HWIDs', kind: 'new-hwid', connections: 32 },
  { title: '/install, new HWIDs', kind: 'new-hwid', connections: 128 },
].filter(({ kind }) => options.only === undefined || options.only === kind);

const SHAPE: Shape = {
  name: 'small',
  providerCount: 2,
  linkCount: 10_000,
  deviceCount: 10_000,
  run: 1,
};
const NO_LIMITS = {
  GATEPOST_LINKS_PER_PROVIDER_MAX: '1000000000',
  GATEPOST_AUTH_FAILURES_PER_MINUTE_MAX: '1000000000',
};

interface Run extends Measurement {
  /** Processor time of PostgreSQL, all its processes, per request, us. */
  postgresUs: number;
}

interface Contestant {
  name: string;
  servers: Server[];
  postgres: Server | null;
  runs: Run[];
}

const missing = Bun.which('wrk') ? missingPostgres() : 'wrk (make bench-tools)';
if (missing !== null) {
  console.error(`bench: there is no ${missing}`);
  process.exit(1);
}
const folder = mkdtempSync(join(tmpdir(), 'gatepost-bench-'));
process.once('exit', () => {
  stopAll();
  rmSync(folder, { recursive: true, force: true });
});
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));

const before = processorTimes();
seed(gatepost, join(folder, 'seed'), SHAPE, Date.now());
const port = 20_000 + Math.floor(Math.random() * 10_000);
const pgFolder = join(folder, 'postgres');
mkdirSync(pgFolder);
const postgres = await startPostgres(pgFolder, {}, port);
const lines: string[] = [];
for (const of of CASES) lines.push(...(await measure(of)));
const text = [
  `# The stores side by side\n`,
  ...Object.entries(environment(gatepost, folder, before)).map(([what, is]) => `- ${what}: ${is}`),
  `\n${rounds} rounds of ${seconds} s, medians. "of SQLite" compares rates within each round.\n`,
  '| Case | Connections | Store | /s | of SQLite | Gatepost, us | PostgreSQL, us | p50 ms | p99 ms |',
  '|---|---|---|---|---|---|---|---|---|',
  ...lines,
  '',
].join('\n');
console.log(text);
if (options.result) {
  const date = new Date().toISOString().slice(0, 10);
  await Bun.write(join(root, 'bench', 'results', `${date}-stores.md`), text);
}
process.exit(0);

async function measure(of: (typeof CASES)[number]): Promise<string[]> {
  console.error(`bench: ${of.title}, ${of.connections} connections`);
  const contestants = await start();
  const common = { kind: of.kind, connections: of.connections, shape: SHAPE };
  for (const contestant of contestants)
    await run(contestant, { ...common, seconds: 1, verify: true });
  for (let round = 0; round < rounds; round++) {
    // SQLite first is not always on the quieter machine.
    for (const contestant of round % 2 === 0 ? contestants : contestants.toReversed()) {
      contestant.runs.push(await run(contestant, { ...common, seconds, verify: false }));
    }
  }
  for (const { servers } of contestants) for (const server of servers) await server.stop();
  return contestants.map((contestant) => line(of, contestant, contestants[0]?.runs ?? []));
}

/** Each on a database of its own, as it was seeded. */
async function start(): Promise<Contestant[]> {
  const dataDir = mkdtempSync(join(folder, 'sqlite-'));
  cpSync(join(folder, 'seed'), dataDir, { recursive: true });
  const contestants: Contestant[] = [
    { name: 'SQLite', servers: [await serve(dataDir)], postgres: null, runs: [] },
  ];
  for (const nodes of [1, 2]) {
    const url = await seedPostgres(gatepost, port, SHAPE, Date.now());
    const servers = [];
    for (let n = 0; n < nodes; n++) {
      const own = mkdtempSync(join(folder, 'node-'));
      servers.push(await serve(own, { GATEPOST_DATABASE_URL: url }));
    }
    const name = nodes === 1 ? 'PostgreSQL' : `PostgreSQL, ${nodes} nodes`;
    contestants.push({ name, servers, postgres: postgres.server, runs: [] });
  }
  await postgres.checkpoint();
  return contestants;
}

function serve(dataDir: string, env: Record<string, string> = {}): Promise<Server> {
  const command = [gatepost, 'serve', '--data', dataDir, '--port', '0'];
  return startServer(command, { ...NO_LIMITS, ...env });
}

/** Several nodes have equal parts of the connections. */
async function run({ servers, postgres: database }: Contestant, wanted: Load): Promise<Run> {
  const connections = Math.max(1, Math.floor(wanted.connections / servers.length));
  const beforeS = database?.cpuSeconds() ?? 0;
  const parts = await Promise.all(
    servers.map((server) => load(server, { ...wanted, connections })),
  );
  const spentS = (database?.cpuSeconds() ?? 0) - beforeS;
  const total = parts.reduce((sum, part) => sum + part.requestsPerSecond, 0);
  const [first] = parts;
  if (first === undefined) throw new Error('no node serves');
  const mean = (of: (part: Measurement) => number) =>
    parts.reduce((sum, part) => sum + of(part) * part.requestsPerSecond, 0) / total;
  return {
    ...first,
    requestsPerSecond: total,
    cpuUs: mean((part) => part.cpuUs),
    p50Us: mean((part) => part.p50Us),
    p99Us: Math.max(...parts.map((part) => part.p99Us)),
    postgresUs: (spentS * 1e6) / (total * wanted.seconds),
  };
}

function line(of: (typeof CASES)[number], { name, runs }: Contestant, sqlite: Run[]): string {
  const of_ = (figure: (each: Run) => number) => median(runs.map(figure));
  const ratio = median(
    runs.map((each, at) => each.requestsPerSecond / (sqlite[at]?.requestsPerSecond ?? 1)),
  );
  const wanted =
    of.leastRatio !== undefined && name === 'PostgreSQL' ? ` (≥ ${of.leastRatio})` : '';
  const cells = [
    of.title,
    of.connections,
    name,
    Math.round(of_((each) => each.requestsPerSecond)).toLocaleString('en'),
    `${ratio.toFixed(2)}${wanted}`,
    of_((each) => each.cpuUs).toFixed(1),
    name === 'SQLite' ? '–' : of_((each) => each.postgresUs).toFixed(1),
    (of_((each) => each.p50Us) / 1000).toFixed(1),
    (of_((each) => each.p99Us) / 1000).toFixed(1),
  ];
  return `| ${cells.join(' | ')} |`;
}

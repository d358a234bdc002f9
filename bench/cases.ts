/**
 * Measures cases: in short rounds, one server after the other; reports the medians.
 */

import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { type Load, load, type Measurement, median, medians, onServerCore } from './load.ts';
import { type Server, startServer } from './process.ts';
import type { Shape } from './shape.ts';

export interface Case {
  title: string;
  /** A case of `load.lua`. */
  kind: string;
  connections: number;
  /** It leaves rows behind. */
  writes?: boolean;
  /** Measure one commit per request too. */
  againstSingleCommits?: boolean;
  /** Measure bun:sqlite and JSON.stringify alone too. */
  againstAlone?: boolean;
}

const ADD = { kind: 'add-install', writes: true, againstSingleCommits: true };

export const CASES: readonly Case[] = [
  { title: 'list-install of one id', kind: 'list-one', connections: 32 },
  { title: 'list-install of 5000', kind: 'list-5000', connections: 4, againstAlone: true },
  { title: '/install, known HWID', kind: 'known-hwid', connections: 32 },
  { title: 'wrong credentials', kind: 'wrong-key', connections: 32 },
  { title: '/install, new HWIDs', kind: 'new-hwid', connections: 32, writes: true },
  { title: 'add-install', connections: 1, ...ADD },
  { title: 'add-install', connections: 32, ...ADD },
  { title: 'add-install', connections: 128, ...ADD },
];

export interface SeededDatabase {
  shape: Shape;
  dataDir: string;
  /** Small enough to be copied for each case that writes, so that it stays small. */
  isCopied: boolean;
}

export interface Plan {
  gatepost: string;
  bare: string;
  databases: readonly SeededDatabase[];
  rounds: number;
  seconds: number;
  folder: string;
}

/** One line of the result. */
export interface Row {
  case: Case;
  shape: Shape | null;
  variant: 'bare' | 'gatepost' | 'single';
  measured: Measurement;
  /** Requests per second against the bare server, the median over the rounds. */
  ratio: number;
  /** The same in processor time per request, which other work on the machine disturbs less. */
  cpuRatio: number;
  /** Against one commit per request on the same database. */
  gainOverSingle?: number;
  /** Requests per second against the first database. */
  ratioToFirst?: number;
  /** Processor time of a list against bun:sqlite and JSON.stringify alone. */
  timesAlone?: number;
  aloneUs?: number;
  rssKib: number;
}

interface Target {
  variant: Row['variant'];
  shape: Shape;
  database: SeededDatabase | null;
  server: Server;
  /** While warming up, when every answer was looked into. */
  bytesPerAnswer: number;
  runs: Measurement[];
  aloneUs: number[];
}

const NO_LIMITS = {
  GATEPOST_LINKS_PER_PROVIDER_MAX: '1000000000',
  GATEPOST_AUTH_FAILURES_PER_MINUTE_MAX: '1000000000',
};

export function startGatepost(
  gatepost: string,
  dataDir: string,
  env: Record<string, string> = {},
): Promise<Server> {
  const command = onServerCore([gatepost, 'serve', '--data', dataDir, '--port', '0']);
  return startServer(command, { ...NO_LIMITS, ...env });
}

/** Runs one case on every database: A B C, A B C, … */
export async function measure(of: Case, plan: Plan): Promise<Row[]> {
  const targets = await startTargets(of, plan);
  try {
    const common = { kind: of.kind, connections: of.connections };
    for (const target of targets) {
      const { server, shape, variant } = target;
      const verify = variant !== 'bare';
      const looked = await load(server, { ...common, shape, seconds: 1, verify });
      target.bytesPerAnswer = looked.bytesPerAnswer;
    }
    for (let round = 0; round < plan.rounds; round++) {
      for (const target of targets) {
        const { server, shape } = target;
        const wanted: Load = { ...common, shape, seconds: plan.seconds, verify: false };
        const run = await load(server, wanted);
        // Answers that are not looked into can still be weighed: a refusal has another size.
        if (Math.abs(run.bytesPerAnswer / target.bytesPerAnswer - 1) > 0.03) {
          throw new Error(`${of.title}: answers changed: ${run.bytesPerAnswer} bytes each`);
        }
        target.runs.push(run);
        if (of.againstAlone && target.database) {
          target.aloneUs.push(await listAlone(target.database, plan.seconds));
        }
      }
    }
    return targets.map((target) => rowOf(of, target, targets));
  } finally {
    for (const { server } of targets) await server.stop();
  }
}

async function startTargets(of: Case, plan: Plan): Promise<Target[]> {
  const targets: Target[] = [];
  const add = (
    variant: Target['variant'],
    shape: Shape,
    database: Target['database'],
    server: Server,
  ) => targets.push({ variant, shape, database, server, bytesPerAnswer: 0, runs: [], aloneUs: [] });

  const [first] = plan.databases;
  if (!first) throw new Error('there is no database to measure');
  add('bare', first.shape, null, await startServer(onServerCore([plan.bare])));
  for (const database of plan.databases) {
    const { shape } = database;
    const fresh = () => (of.writes && database.isCopied ? copy(database, plan.folder) : database);
    const used = fresh();
    add('gatepost', shape, used, await startGatepost(plan.gatepost, used.dataDir));
    if (of.againstSingleCommits) {
      // On a database of its own where that is cheap: two writers would share one lock.
      const { dataDir } = fresh();
      const env = { GATEPOST_COMMIT_BATCH_MAX: '1' };
      add('single', shape, database, await startGatepost(plan.gatepost, dataDir, env));
    }
  }
  return targets;
}

let copies = 0;

function copy(database: SeededDatabase, folder: string): SeededDatabase {
  copies += 1;
  const dataDir = join(folder, `${database.shape.name}-${copies}`);
  cpSync(database.dataDir, dataDir, { recursive: true });
  return { ...database, dataDir };
}

/** Processor time (us) of a list of 5000 without Gatepost, on the server's core. */
async function listAlone({ dataDir, shape }: SeededDatabase, seconds: number): Promise<number> {
  const script = join(import.meta.dir, 'list-alone.ts');
  const words = [dataDir, String(shape.providerCount), String(seconds)];
  const alone = Bun.spawn(onServerCore([process.execPath, script, ...words]), { stdout: 'pipe' });
  const us = Number(await new Response(alone.stdout).text());
  if ((await alone.exited) !== 0 || !(us > 0)) throw new Error('the list alone failed');
  return us;
}

function rowOf(of: Case, target: Target, all: readonly Target[]): Row {
  const { variant, shape, server, aloneUs } = target;
  const measured = medians(target.runs);
  const row: Row = {
    case: of,
    shape: variant === 'bare' ? null : shape,
    variant,
    measured,
    ratio: ratioOf(target, all[0]),
    cpuRatio: median(target.runs.map((run, i) => (all[0]?.runs[i]?.cpuUs ?? 0) / run.cpuUs)),
    rssKib: server.memory().rssKib,
  };
  if (variant !== 'gatepost') return row;
  const single = all.find((other) => other.variant === 'single' && other.shape === shape);
  if (single) row.gainOverSingle = ratioOf(target, single);
  const first = all.find((other) => other.variant === 'gatepost');
  if (first && first !== target) row.ratioToFirst = ratioOf(target, first);
  if (aloneUs.length > 0) {
    row.aloneUs = median(aloneUs);
    row.timesAlone = median(target.runs.map((run, i) => run.cpuUs / (aloneUs[i] ?? Number.NaN)));
  }
  return row;
}

/** The median of the ratios round by round: what disturbs one round disturbs both of its halves. */
function ratioOf(target: Target, other: Target | undefined): number {
  return median(
    target.runs.map((run, i) => run.requestsPerSecond / (other?.runs[i]?.requestsPerSecond ?? 0)),
  );
}

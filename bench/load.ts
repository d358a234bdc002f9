/** Loads servers with wrk, in turns: requests of `load.lua`, or one request again and again. */

import { join } from 'node:path';
import { inTurn, median } from './driver.ts';
import { onLoadCore, type Server } from './process.ts';
import type { Shape } from './shape.ts';

export interface Load {
  /** A case of `load.lua`; or a request, by its target and headers. */
  kind: string | { target: string; headers: Record<string, string> };
  connections: number;
  seconds: number;
  shape: Shape;
  /** Look into every answer and throw when one is not as it should be. */
  verify: boolean;
}

export interface Measurement {
  requestsPerSecond: number;
  p50Us: number;
  p99Us: number;
  /** Processor time of the server per request, us. */
  cpuUs: number;
  /** Share of the time in which the server's core worked for it. */
  busy: number;
  bytesPerAnswer: number;
}

/** Numbers for new links and devices: above those of the seed, never twice in one bench. */
let nextFresh = 10_000_000;
const FRESH_PER_RUN = 2_000_000;

/** The first of a run's numbers for new links and devices. */
export function takeFresh(): number {
  nextFresh += FRESH_PER_RUN;
  return nextFresh - FRESH_PER_RUN;
}

const SCRIPT = join(import.meta.dir, 'load.lua');

/** Loads `server` and reports what it did. Throws on any failed request. */
export async function load(server: Server, wanted: Load): Promise<Measurement> {
  const { kind, connections, seconds, shape, verify } = wanted;
  const { providerCount, linkCount, deviceCount, run = 1 } = shape;
  const numbers = [providerCount, linkCount, deviceCount, run, takeFresh()].map(String);
  const options = ['-t1', `-c${connections}`, `-d${seconds}s`, '--timeout', '10s', '-s', SCRIPT];
  const isCase = typeof kind === 'string';
  const named = isCase
    ? []
    : Object.entries(kind.headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`]);
  const url = isCase ? server.url : server.url + kind.target;
  const words = [isCase ? kind : 'given', ...numbers, ...(verify ? ['verify'] : [])];
  const cpuBefore = server.cpuSeconds();
  const wrk = Bun.spawn(onLoadCore(['wrk', ...options, ...named, url, '--', ...words]), {
    stdout: 'pipe',
    stderr: 'pipe',
  });
  const output = await new Response(wrk.stdout).text();
  const line = /^RESULT (.*)$/m.exec(output)?.[1];
  if ((await wrk.exited) !== 0 || line === undefined) {
    throw new Error(`wrk failed: ${output}${await new Response(wrk.stderr).text()}`);
  }
  return read(line, words[0] ?? '', server.cpuSeconds() - cpuBefore);
}

function read(line: string, kind: string, cpuSeconds: number): Measurement {
  const number = (name: string) => Number(new RegExp(`${name}=(\\d+)`).exec(line)?.[1]);
  const requests = number('requests');
  if (requests === 0 || number('errors') > 0 || number('misfits') > 0) {
    throw new Error(`${kind}: failed or wrong answers: ${line}`);
  }
  const seconds = number('us') / 1e6;
  return {
    requestsPerSecond: requests / seconds,
    p50Us: number('p50'),
    p99Us: number('p99'),
    cpuUs: (cpuSeconds * 1e6) / requests,
    busy: cpuSeconds / seconds,
    bytesPerAnswer: number('bytes') / requests,
  };
}

/** The median of each figure on its own. */
export function medians(runs: readonly Measurement[]): Measurement {
  const of = (name: keyof Measurement) => median(runs.map((run) => run[name]));
  return {
    requestsPerSecond: of('requestsPerSecond'),
    p50Us: of('p50Us'),
    p99Us: of('p99Us'),
    cpuUs: of('cpuUs'),
    busy: of('busy'),
    bytesPerAnswer: of('bytesPerAnswer'),
  };
}

/** One of those that are loaded in turns. */
export interface Side {
  name: string;
  /** Several share the connections. */
  servers: readonly Server[];
  /** A server beside them whose processor time counts: a database. */
  beside?: Server | null;
  /** If not that of all. */
  kind?: Load['kind'];
  shape?: Shape;
  /** Its answers are not looked into. */
  isBare?: boolean;
}

export interface Run extends Measurement {
  /** Processor time of the server beside it per request, us. */
  besideUs: number;
}

type Turns = Omit<Load, 'verify'> & { rounds: number };

/** Short answers that are not looked into can be weighed: a refusal has another size. */
const BYTES_DEVIATION_MAX = 0.03;

/** Warms each up and looks into its answers; then loads them in turns. */
export async function inTurns(sides: readonly Side[], wanted: Turns): Promise<Run[][]> {
  const bytes: number[] = [];
  const runs: Run[][] = sides.map(() => []);
  for (const [at, side] of sides.entries()) {
    const looked = await runSide(side, { ...wanted, seconds: 1, verify: side.isBare !== true });
    bytes[at] = looked.bytesPerAnswer;
  }
  for (let round = 0; round < wanted.rounds; round++) {
    for (const [at, side] of inTurn([...sides.entries()], round)) {
      const run = await runSide(side, { ...wanted, verify: false });
      const deviation = Math.abs(run.bytesPerAnswer / (bytes[at] ?? 0) - 1);
      if (typeof wanted.kind === 'string' && deviation > BYTES_DEVIATION_MAX) {
        throw new Error(`${side.name}: answers changed to ${run.bytesPerAnswer} bytes each`);
      }
      runs[at]?.push(run);
    }
  }
  return runs;
}

/** Several nodes have equal parts of the connections. */
async function runSide(side: Side, wanted: Load): Promise<Run> {
  const { servers, beside = null, kind = wanted.kind, shape = wanted.shape } = side;
  const connections = Math.max(1, Math.floor(wanted.connections / servers.length));
  const beforeS = beside?.cpuSeconds() ?? 0;
  const parts = await Promise.all(
    servers.map((server) => load(server, { ...wanted, kind, shape, connections })),
  );
  const spentS = (beside?.cpuSeconds() ?? 0) - beforeS;
  const total = parts.reduce((sum, part) => sum + part.requestsPerSecond, 0);
  const mean = (name: keyof Measurement) =>
    parts.reduce((sum, part) => sum + part[name] * part.requestsPerSecond, 0) / total;
  return {
    requestsPerSecond: total,
    cpuUs: mean('cpuUs'),
    p50Us: mean('p50Us'),
    p99Us: Math.max(...parts.map((part) => part.p99Us)),
    busy: mean('busy'),
    bytesPerAnswer: mean('bytesPerAnswer'),
    besideUs: (spentS * 1e6) / (total * wanted.seconds),
  };
}

/**
 * The ratios of one side to another, round by round: what disturbs one round disturbs both of its
 * halves.
 */
export function ratios(
  own: readonly Run[],
  other: readonly Run[] | undefined,
  name: keyof Run = 'requestsPerSecond',
): number[] {
  return own.map((run, at) => run[name] / (other?.[at]?.[name] ?? Number.NaN));
}

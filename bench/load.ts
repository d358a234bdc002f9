/** One run of wrk with `load.lua` against one server. */

import { join } from 'node:path';
import { onCore, type Server } from './process.ts';
import type { Shape } from './shape.ts';

const SERVER_CORE = 0;
export const LOAD_CORE = 1;

export const onServerCore = (command: string[]) => onCore(SERVER_CORE, command);

export interface Load {
  /** A case of `load.lua`. */
  kind: string;
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

/** Loads `server` and reports what it did. Throws on any failed request. */
export async function load(server: Server, wanted: Load): Promise<Measurement> {
  const { kind, connections, seconds, shape, verify } = wanted;
  const { providerCount, linkCount, deviceCount, run } = shape;
  const numbers = [providerCount, linkCount, deviceCount, run, takeFresh()].map(String);
  const script = join(import.meta.dir, 'load.lua');
  const options = ['-t1', `-c${connections}`, `-d${seconds}s`, '--timeout', '10s', '-s', script];
  const words = [kind, ...numbers, ...(verify ? ['verify'] : [])];
  const cpuBefore = server.cpuSeconds();
  const wrk = Bun.spawn(onCore(LOAD_CORE, ['wrk', ...options, server.url, '--', ...words]), {
    stdout: 'pipe',
    stderr: 'pipe',
  });
  const output = await new Response(wrk.stdout).text();
  const line = /^RESULT (.*)$/m.exec(output)?.[1];
  if ((await wrk.exited) !== 0 || line === undefined) {
    throw new Error(`wrk failed: ${output}${await new Response(wrk.stderr).text()}`);
  }
  return read(line, kind, server.cpuSeconds() - cpuBefore);
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

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? Number.NaN)) / 2;
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

/** Tails: a mixed load at half of what each contestant can do at most, in turns. */

import { join } from 'node:path';
import { LOAD_CORE, load, median, takeFresh } from '../load.ts';
import { onCore } from '../process.ts';
import type { Shape } from '../shape.ts';
import type { Running } from './contestants.ts';
import type { Paced } from './paced.ts';

export interface Tail {
  /** Requests/s at most; half of it is the load. */
  peak: number;
  p50Us: number;
  p99Us: number;
  p999Us: number;
  /** Maximum over all rounds, as `stallUs`; the others are medians of them. */
  longestUs: number;
  stallUs: number;
}

const PEAK_CONNECTIONS = 64;
const script = join(import.meta.dir, 'paced.ts');

export async function peakOf(server: Running, shape: Shape, seconds: number): Promise<number> {
  const mixed = { kind: 'mixed', connections: PEAK_CONNECTIONS, shape };
  await load(server, { ...mixed, seconds: 1, verify: true });
  return (await load(server, { ...mixed, seconds, verify: false })).requestsPerSecond;
}

export async function paced(
  server: Running,
  shape: Shape,
  perSecond: number,
  seconds: number,
  isChecked: boolean,
): Promise<Paced> {
  const { providerCount, linkCount, deviceCount } = shape;
  const numbers = [perSecond, seconds, providerCount, linkCount, deviceCount, takeFresh()];
  const words = [process.execPath, script, server.url, ...numbers.map(String)];
  const generator = Bun.spawn(onCore(LOAD_CORE, words), { stdout: 'pipe', stderr: 'inherit' });
  const midway = server.checkpoint
    ? Bun.sleep(seconds * 500).then(() => server.checkpoint?.())
    : undefined;
  const text = await new Response(generator.stdout).text();
  await midway;
  if ((await generator.exited) !== 0) throw new Error('the paced load failed');
  const found = JSON.parse(text) as Paced;
  if (isChecked && found.wrong > 0) {
    throw new Error(`${found.wrong} answers were not as they should be`);
  }
  return found;
}

export function tailOf(peak: number, rounds: readonly Paced[]): Tail {
  const of = (name: 'p50Us' | 'p99Us' | 'p999Us') => median(rounds.map((round) => round[name]));
  return {
    peak,
    p50Us: of('p50Us'),
    p99Us: of('p99Us'),
    p999Us: of('p999Us'),
    longestUs: Math.max(...rounds.map(({ longestUs }) => longestUs)),
    stallUs: Math.max(...rounds.map(({ stallUs }) => stallUs)),
  };
}

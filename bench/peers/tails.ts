/** Tails: a mixed load at half of what each contestant can do at most, in turns. */

import { join } from 'node:path';
import { inTurn, median } from '../driver.ts';
import { load, takeFresh } from '../load.ts';
import { onLoadCore, spawnKept } from '../process.ts';
import type { Shape } from '../shape.ts';
import type { Started } from './contestants.ts';
import type { Paced } from './paced.ts';

const PEAK_CONNECTIONS = 64;

async function paced({ server }: Started, shape: Shape, perSecond: number, seconds: number) {
  const { providerCount, linkCount, deviceCount } = shape;
  const numbers = [perSecond, seconds, providerCount, linkCount, deviceCount, takeFresh()];
  const script = join(import.meta.dir, 'paced.ts');
  const words = [process.execPath, script, server.url, ...numbers.map(String)];
  const generator = spawnKept(onLoadCore(words));
  const midway = server.checkpoint
    ? Bun.sleep(seconds * 500).then(() => server.checkpoint?.())
    : undefined;
  const text = await new Response(generator.stdout).text();
  await midway;
  if ((await generator.exited) !== 0) throw new Error('the paced load failed');
  return JSON.parse(text) as Paced;
}

/** Rows of the table of tails; the first is Gatepost. */
export async function tailsOf(
  started: readonly Started[],
  shape: Shape,
  { rounds, seconds }: { rounds: number; seconds: number },
): Promise<string[][]> {
  const peaks: number[] = [];
  for (const { contestant, server } of started) {
    const mixed = { kind: 'mixed', connections: PEAK_CONNECTIONS, shape };
    // The bare server gets what Gatepost gets: its tail is that of the generator and the machine.
    if (contestant.isBare) peaks.push(peaks[0] ?? 0);
    else {
      await load(server, { ...mixed, seconds: 1, verify: true });
      const most = await load(server, { ...mixed, seconds: Math.ceil(seconds / 4), verify: false });
      peaks.push(most.requestsPerSecond);
    }
  }
  const found: Paced[][] = started.map(() => []);
  for (let round = 0; round < rounds; round += 1) {
    for (const [at, each] of inTurn([...started.entries()], round)) {
      const one = await paced(each, shape, Math.floor((peaks[at] ?? 0) / 2), seconds);
      if (one.wrong > 0 && !each.contestant.isBare) throw new Error(`${one.wrong} wrong answers`);
      found[at]?.push(one);
    }
  }
  const ms = (us: number) => (us / 1000).toFixed(2);
  return started.map(({ contestant }, at) => {
    const own = found[at] ?? [];
    const all = (name: keyof Paced) => own.map((round) => round[name]);
    return [
      contestant.name,
      (peaks[at] ?? 0).toFixed(0),
      ...(['p50Us', 'p99Us', 'p999Us'] as const).map((name) => ms(median(all(name)))),
      ...(['longestUs', 'stallUs'] as const).map((name) => ms(Math.max(...all(name)))),
      contestant.checkpoints,
    ];
  });
}
